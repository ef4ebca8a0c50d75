"""Results in MLflow and W&B: one sentence without the package; figures and files where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from conftest import Command
from json_lines import EXAMPLES

pytestmark = pytest.mark.usefixtures("folder")
SCORE = ("score", EXAMPLES, "--judge", "containment", "--quiet", "--output_dir")


@pytest.mark.parametrize("tracker", ["mlflow", "wandb"])
def test_without_the_package_nothing_is_judged(tracker: str, complaint: Callable[..., str]) -> None:
    if find_spec(tracker):
        pytest.skip(f"{tracker} is installed")
    assert complaint(*SCORE, "out", "--report_to", tracker) == (
        f"bert-judge score: --report_to {tracker} needs the package {tracker}; install it with `pip install {tracker}` "
        f"(of the extra [{tracker}])."
    )
    assert not Path("out").exists()


def test_a_run_of_mlflow_has_figures_settings_and_files(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", Path("runs").absolute().as_uri())
    status, _, err = command(*SCORE, "out", "--report_to", "mlflow")
    assert status == 0, err
    (run,) = mlflow.MlflowClient().search_runs(["0"])
    accuracy = json.loads(Path("out/run.json").read_text())["summary"]["accuracy"]
    figures = {"accuracy": accuracy["value"], "accuracy.low": accuracy["low"], "accuracy.high": accuracy["high"]}
    assert figures.items() <= run.data.metrics.items()
    assert (run.info.run_name, run.info.status, run.data.metrics["rows"]) == ("out", "FINISHED", 98)
    assert run.data.params["judge"] == "RegexJudge"
    files = {file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert files == {path.name for path in Path("out").iterdir()}


def test_a_tracker_that_is_not_there_leaves_the_result_whole(
    complaint: Callable[..., str], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    assert "the result in out is whole, but mlflow did not take it (" in complaint(
        *SCORE, "out", "--report_to", "mlflow"
    )
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", Path("runs").absolute().as_uri())
    assert command(*SCORE, "out", "--report_to", "mlflow")[0] == 0


def test_a_run_of_wandb_has_figures_and_files() -> None:
    pytest.importorskip("wandb")
    words = [sys.executable, "-m", "bert_judge", *map(str, SCORE), "out", "--report_to", "wandb"]
    done = subprocess.run(words, env={**os.environ, "WANDB_MODE": "offline"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (run,) = Path("wandb").glob("offline-run-*/run-*.wandb")  # written whole when the process ends
    assert all(name in run.read_bytes() for name in (b"accuracy.low", b"RegexJudge", b"verdicts.jsonl"))
