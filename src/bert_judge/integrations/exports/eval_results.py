"""Results as the Hub shows them on a model's page: YAML files in the folder `.eval_results` of the model's repository.

The format: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from typing import Any

from bert_judge.errors import InputError
from bert_judge.integrations.exports.base import Exported, ExportOptions
from bert_judge.integrations.exports.parts import Part, in_a_path, parts_of
from bert_judge.records import __version__
from bert_judge.results.runs import Run


def export_eval_results(run: Run, options: ExportOptions) -> Exported:
    """A file for each model, `MODEL/.eval_results/TASK.yaml`, with the accuracy in percent.

    Raises InputError without a data set, and where there are several tasks, of which each has a data set of its own.
    """
    import yaml

    if not options.dataset:
        raise InputError("the Hub shows results by data set; name it with --dataset, like openai/gsm8k.")
    parts = parts_of(run, options)
    tasks = dict.fromkeys(part.task for part in parts)
    if len(tasks) > 1:
        raise InputError(
            f"{run.folder} has the tasks {', '.join(tasks)}, and a data set is one's; name it with --task."
        )
    files = {
        f"{'/'.join(map(in_a_path, part.model.split('/')))}/.eval_results/{in_a_path(part.task)}.yaml": yaml.safe_dump(
            [_entry(part, run, options)], sort_keys=False, allow_unicode=True
        )
        for part in parts
    }
    return Exported(files, f"the results of {len(parts):,} model{'s' * (len(parts) > 1)} for the Hub")


def _entry(part: Part, run: Run, options: ExportOptions) -> dict[str, Any]:
    started = run.record.get("timings", {}).get("started")
    return {
        "dataset": {"id": options.dataset, "task_id": options.dataset_task},
        "value": round(100 * (part.accuracy.value or 0.0), 2),
        **({"date": started[:10]} if started else {}),
        **({"source": {"url": options.source_url}} if options.source_url else {}),
        "notes": f"accuracy in %, judged by {run.signature.short} (bert-judge {__version__}): {part.described()}",
    }
