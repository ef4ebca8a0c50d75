"""`--format` of every command: each that prints a table takes it, and prints what it names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.cli import COMMANDS, main
from conftest import Command
from json_lines import EXAMPLES, write_rows
from latex import check_latex

FORMATS = ("json", "markdown", "latex", "text")
WITHOUT_TABLE = {"serve": "", "label": "out", "generate": "--model_path m --tasks gsm8k_test"}
THREE = EXAMPLES.with_name("three_models.csv")
TINY = "--dev_share 0.3 --num_train_epochs 1 --evaluations 1 --max_tokens 60"
LINES = {
    "try": "q a b --judge containment",
    "score": f"{EXAMPLES} --judge containment --output_dir scored",
    "show": "out three --wrong --limit 2 --full",
    "report": "out -o page.html",
    "compare": "three/model_a three/model_b three/model_c --output_dir comparison --resamples 200",
    "evaluate": "out --output_dir evaluation --resamples 200",
    "correct": "out",
    "cascade": f"--judge exact_match,containment --calibration {EXAMPLES} --target_agreement 0.3 --delta 0.4 -o c.json",
    "gate": "three --min_accuracy 0.1 --min_rows 1",
    "audit": "--judge containment --items 2 --families negated --output_dir audit",
    "tasks": "",
    "judge": "--judge containment --dataset sums.jsonl --candidates_dir candidates --output_dir scores",
    "train": f"--model_path MODEL --dataset_path {EXAMPLES} --output_dir trained {TINY}",
    "bertscore": "--texts -r She_died -c He_died -s",
    "doctor": "out three",
}
FILES = {
    "report": "page.json",
    "compare": "comparison/compare.json",
    "evaluate": "evaluation/evaluation.json",
    "cascade": "c.json",
    "audit": "audit/audit.json",
    "train": "trained/metrics.json",
}
"""Where JSON is printed that is in a file, too."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the answers that come with the package, and candidates of a task."""
    place = tmp_path_factory.mktemp("formats")
    judge, quiet = ["--judge", "containment"], ["--quiet", "--no_report"]
    assert main(["score", str(EXAMPLES), *judge, "-o", str(place / "out"), *quiet]) == 0
    models = ["--candidates", "model_a,model_b,model_c"]
    assert main(["score", str(THREE), *models, *judge, "-o", str(place / "three"), *quiet]) == 0
    write_rows(
        place / "sums.jsonl", [{"question": "1 + 1?", "reference": "2"}, {"question": "1 + 2?", "reference": "3"}]
    )
    (place / "candidates" / "sums" / "A_B").mkdir(parents=True)
    (place / "candidates" / "sums" / "A_B" / "candidates.json").write_text('["2", "4"]')
    return place


def strictly(text: str) -> dict:
    """A JSON object in ASCII, without NaN."""
    assert text.isascii()
    value = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert isinstance(value, dict) and value
    return value


def test_no_command_is_left_out() -> None:
    assert {*LINES} | {*WITHOUT_TABLE} == {*COMMANDS}, "a new command prints its table in every format"


@pytest.mark.parametrize("name", LINES)
def test_every_command_in_every_format(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, request
) -> None:
    monkeypatch.chdir(place)
    model = str(request.getfixturevalue("make_judge")("bert")) if name == "train" else ""
    words = LINES[name].replace("MODEL", model).split()
    output = {}
    for form in FORMATS:
        status, output[form], error = command(name, *words, "--format", form)
        assert status == 0, error
    tables = re.findall(r"(?:^\|.*\|\n)+", output["markdown"] + "\n", re.MULTILINE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table
    assert output["markdown"].startswith("# ") and (tables or name in ("show", "try", "doctor", "score"))
    check_latex(output["latex"], tmp_path)
    begun, ruled = (output["latex"].count(text) for text in (r"\begin{tabular}", r"\toprule"))
    assert begun == ruled > 0 or name in ("show", "try")
    record = strictly(output["json"])
    if name in FILES:
        written = strictly(json.dumps(json.loads((place / FILES[name]).read_text(encoding="utf-8"))))
        for values in (record, written):
            values.pop("command", None), values.pop("seconds", None)
        assert record == written
    assert "begin{table" not in output["text"] and not output["text"].startswith(("# ", "{"))


@pytest.mark.parametrize("form", FORMATS)
def test_several_results_in_every_format(form: str, place: Path, tmp_path: Path, printed: Callable[..., str]) -> None:
    models = ["--candidates", "model_a,model_b", "--judge", "containment", "--no_report"]
    shown = printed("score", THREE, *models, "-o", tmp_path / "several", "--format", form)
    sentence = "On 36 questions model_a is judged correct in "
    if form == "json":
        record = strictly(shown)
        assert record["results"].keys() == {"model_a", "model_b"}
        assert record["results"]["model_a"]["sentence"].startswith("Of 36 answers ")
        (pair,) = record["models"][0]["pairs"]
        shown = pair["sentence"]
    if form == "latex":
        check_latex(shown, tmp_path)
    assert sentence in shown.replace("\\_", "_")


def test_what_is_not_a_table_goes_to_standard_error(place: Path, command: Command) -> None:
    status, out, error = command("score", EXAMPLES, "--judge", "containment", "-o", place / "out", "--format", "json")
    record = strictly(out)
    assert status == 0 and "was judged before" in error and "files  " in error
    run = json.loads((place / "out" / "run.json").read_text(encoding="utf-8"))
    assert record == {**run, "sentence": record["sentence"]}
    assert record["sentence"].endswith(
        "; judge: RegexJudge containment-none" + record["sentence"].rpartition("none")[2]
    )
    agreement = run["summary"]["agreement"]["accuracy"]
    assert f"agreement with {agreement['n']} human labels {agreement['value']:.1%} (95% CI " in record["sentence"]


def test_no_text_of_an_answer_is_markup(folder: Path, printed: Callable[..., str]) -> None:
    odd = r"\input{x} & % $ # _ {} ~ ^ | <b> [a](b) `c` -- ''' \\ " + "\x1b]0;t\x07 \u202e \x9f\nline *two*"
    models = {"[m": odd, f"*{odd}": "[yes"}
    rows = [
        {"question": f"{n} {odd}", "candidate": text, "model": name} for n in (1, 2) for name, text in models.items()
    ]
    write_rows("odd.jsonl", [row | {"reference": "[yes"} for row in rows])
    printed("score", "odd.jsonl", "--judge", "containment", "--quiet", "--no_report", "-o", "out")
    for line in ("show out", "compare out --by model", "report out"):
        check_latex(printed(*line.split(), "--format", "latex"), folder)
        assert strictly(printed(*line.split(), "--format", "json"))
    shown = strictly(printed("show", "out", "--format", "json"))
    assert shown["results"][0]["answers"][0]["candidate"] == odd


def test_other_scripts_stay_as_they_are(folder: Path, printed: Callable[..., str]) -> None:
    write_rows("a.jsonl", [{"question": "中国的首都？", "reference": "北京", "candidate": "北京"}])
    printed("score", "a.jsonl", "--judge", "containment", "--quiet", "--no_report", "-o", "out")
    assert "北京" in printed("show", "out", "--format", "latex")
    assert "need LuaLaTeX" in printed("show", "out", "--format", "latex")


def test_what_makes_no_sense(complaint: Callable[..., str], subtests: pytest.Subtests) -> None:
    lines = {f"{name} {words} --format json": "there is no flag --format" for name, words in WITHOUT_TABLE.items()}
    lines |= {
        "tasks --format html": "argument --format: invalid choice: 'html'",
        "correct out --json": "there is no flag --json",
        "score a.csv --quiet --format latex": "--quiet prints no table, so --format latex has",
        "bertscore --texts -r a -c b --plot a.png --format json": "--plot prints no table, so --format json",
    }
    for line, sentence in lines.items():
        with subtests.test(line=line):
            assert sentence in complaint(*line.split(), status=2)
