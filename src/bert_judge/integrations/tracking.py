"""Finished results as runs of MLflow or Weights & Biases."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Literal

from bert_judge.errors import OutputError, first_line
from bert_judge.results.runs import figures, load_record

Tracker = Literal["mlflow", "wandb"]


def track(folder: Path, name: str, tracker: Tracker) -> None:
    """Send a finished result as a run of this name: figures, settings of the judge, and the folder with its texts.

    The package's own environment variables and settings say where. Raises OutputError where it fails.
    """
    record, package = load_record(folder), import_module(tracker)
    summary, judge = record["summary"], record["identity"]["signature"]
    ends = {f"accuracy.{end}": summary["accuracy"][end] for end in ("low", "high")}
    numbers = {key: float(value) for key, value in {**figures(summary), **ends}.items() if value is not None}
    settings = {"judge": judge["name"], **judge["settings"], "input": record["input"]["path"][:500]}
    failure: type[Exception] = package.MlflowException if tracker == "mlflow" else package.Error
    try:
        if tracker == "mlflow":
            with package.start_run(run_name=name):
                package.log_params(settings)
                package.log_metrics(numbers)
                package.log_artifacts(str(folder))
        else:
            with package.init(name=name, config=settings) as run:
                run.summary.update(numbers)
                run.log_artifact(str(folder), type="result")
    except failure as error:
        raise OutputError(
            f"the result in {folder} is whole, but {tracker} did not take it ({first_line(error)}); fix this and run "
            "the same command again: nothing is judged again."
        ) from error
