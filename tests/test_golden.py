"""What users hold us to: flags, files, Python signatures and the starter's scores, as they stand in `tests/golden/`.

A change here is one that users see. After one that is meant: `UPDATE_GOLDEN=1 python -m pytest tests/test_golden.py`.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import bert_judge
from bert_judge import judges, training, utils
from bert_judge.cli import COMMANDS, main
from bert_judge.judges import BERTJudge

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).parents[1] / "examples" / "answers.jsonl"
_FLAG = re.compile(r"^\s+(?:(-\w), )?(--\S+)", re.MULTILINE)


def check(name: str, value: Any) -> None:
    """Compare with the golden file, or write it where that is asked for."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert value == json.loads(path.read_text(encoding="utf-8")), f"differs from {path}; see the head of this file"


def shape(value: Any) -> Any:
    """The names and kinds of a JSON value; of a list those of its items."""
    if isinstance(value, dict):
        return {name: shape(field) for name, field in sorted(value.items())}
    if isinstance(value, list):
        kinds: list[Any] = []
        for kind in map(shape, value):
            if kind not in kinds:
                kinds.append(kind)
        return kinds
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_the_flags_of_every_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    flags = {}
    judged = [f"score --judge_type {name}" for name in judges.JUDGES]
    for command in (*COMMANDS, *judged):
        assert main([*command.split(), "--help"]) == 0
        flags[command] = sorted(" ".join(filter(None, flag)) for flag in _FLAG.findall(capsys.readouterr().out))
    check("flags.json", flags)


def test_the_files_of_a_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["score", str(EXAMPLES), "--output_dir", str(out), "--dtype", "float32", "--quiet"]) == 0
    verdicts = [json.loads(line) for line in (out / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    # What evidence there is depends on the answer: the names alone are one of many kinds of rows.
    for verdict in verdicts:
        verdict.get("details", {}).pop("evidence", None)
    run = json.loads((out / "run.json").read_text())
    run["versions"] = {}
    report = json.loads((out / "report.json").read_text())
    names = sorted({name for verdict in verdicts for name in verdict})
    files = sorted(path.name for path in out.iterdir())
    scores = shape(json.loads((out / "scores.json").read_text()))
    judge = shape(json.loads((Path(bert_judge.__file__).parent / "starter" / "judge.json").read_text()))
    check(
        "files.json",
        {
            "folder": files,
            "verdicts.jsonl": {name: shape([v[name] for v in verdicts if name in v]) for name in names},
            "scores.json": scores,
            "run.json": shape(run),
            "report.json": shape(report),
            "judge.json": judge,
        },
    )


def test_the_python_interface() -> None:
    ours = {
        "BERTJudge": BERTJudge.__init__,
        "BERTJudge.predict": BERTJudge.predict,
        "BERTJudge.fit": BERTJudge.fit,
        "LLMJudge": judges.LLMJudge.__init__,
        "LLMJudge.predict": judges.LLMJudge.predict,
        "RegexJudge": judges.RegexJudge.__init__,
        "RegexJudge.predict": judges.RegexJudge.predict,
        "load_dataset": utils.load_dataset,
        "load_hf_encoder": utils.load_hf_encoder,
        "bert_score": bert_judge.bert_score,
        "BERTScorer": bert_judge.BERTScorer.__init__,
        "BERTScorer.score": bert_judge.BERTScorer.score,
        "train": training.train,
    }
    parameters = {
        name: [f"{arg.name}={arg.default!r}" if arg.default is not arg.empty else arg.name for arg in listed]
        for name, function in ours.items()
        for listed in [inspect.signature(function).parameters.values()]
    }
    check("python.json", {"names": sorted(bert_judge.__all__), "parameters": parameters})


def test_the_starter_s_scores() -> None:
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    columns = ([row[name] for row in rows] for name in ("question", "candidate", "references"))
    scores = [round(float(score or 0.0), 4) for score in BERTJudge(dtype="float32").predict(*columns)]
    path = GOLDEN / "scores.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(json.dumps(scores) + "\n")
    assert scores == pytest.approx(json.loads(path.read_text()), abs=1e-3)
