"""Results as the Hub shows them on a model's page: YAML files in the folder `.eval_results` of the model's repository.

The format: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from typing import Any

from bert_judge.errors import InputError
from bert_judge.integrations.exports.base import Exported, ExportOptions, TaskVerdicts, by_task, in_a_path, started
from bert_judge.records import __version__
from bert_judge.results.runs import Run


def export_eval_results(run: Run, options: ExportOptions) -> Exported:
    """A file for each model, `MODEL/.eval_results/TASK.yaml`, with the accuracy in percent.

    Raises InputError without a data set, and for several tasks, as each has a data set of its own.
    """
    import yaml

    if not options.dataset:
        raise InputError("the Hub shows results by data set; name it, as in dataset='openai/gsm8k'.")
    verdicts = by_task(run, options)
    tasks = dict.fromkeys(of_task.task for of_task in verdicts)
    if len(tasks) > 1:
        raise InputError(
            f"{run.folder} has the tasks {', '.join(tasks)}, but a data set belongs to one; name it, as in task='NAME'."
        )
    files = {}
    for of_task in verdicts:
        folders = "/".join(map(in_a_path, of_task.model.split("/")))
        entry = yaml.safe_dump([_entry(of_task, run, options)], sort_keys=False, allow_unicode=True)
        files[f"{folders}/.eval_results/{in_a_path(of_task.task)}.yaml"] = entry
    return Exported(files, f"the results of {len(files):,} model{'s' * (len(files) > 1)} for the Hub")


def _entry(verdicts: TaskVerdicts, run: Run, options: ExportOptions) -> dict[str, Any]:
    time = started(run)
    left_out = f", {verdicts.undecided:,} undecided ones left out" if verdicts.undecided else ""
    return {
        "dataset": {"id": options.dataset, "task_id": options.dataset_task},
        "value": round(100 * (verdicts.accuracy.value or 0.0), 2),
        **({"date": time[:10]} if time else {}),
        **({"source": {"url": options.source_url}} if options.source_url else {}),
        "notes": f"accuracy in %, judged by {run.signature.short} (bert-judge {__version__}): "
        f"{len(verdicts.rows):,} answers{left_out}",
    }
