"""Flags from signatures, in both spellings, and the file of --config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from bert_judge.cli.flags import Parser, add_flags, read_config
from bert_judge.errors import InputError
from bert_judge.judges.naming import JudgeSpec
from conftest import Refused


@dataclass(frozen=True)
class Options:
    output_dir: Annotated[str, "where, 100 % sure"] = "out"
    limit: Annotated[int | None, "how many"] = None
    threshold: float = 0.5
    quiet: bool = False
    mode: Literal["fast", "exact"] = "fast"
    columns: Annotated[Mapping[str, str] | None, "names"] = None


class Judge:
    def __init__(self, model_path: str, batch_size: int | None = None) -> None: ...


def parser(signature: object = Options) -> Parser:
    made = Parser("tool do", "FILE", "Does it.", "examples:\n  tool do x\n")
    add_flags(made.add_argument_group("flags"), signature)
    return made


def test_defaults_are_those_of_the_signature_or_constructor():
    assert parser().parse([]) == vars(Options())
    assert parser(Judge).parse(["--model-path", "m"]) == {"model_path": "m", "batch_size": None}


def test_both_spellings(subtests: pytest.Subtests):
    for spelling in ["--output_dir", "--output-dir"]:
        with subtests.test(spelling=spelling):
            assert parser().parse([spelling, "there"])["output_dir"] == "there"
            assert parser().parse([f"{spelling}=there"])["output_dir"] == "there"


def test_values_have_the_types_of_the_signature():
    line = "--limit 3 --threshold 0.25 --quiet --mode exact --columns question=q,label="
    assert parser().parse(line.split()) == {
        "output_dir": "out",
        "limit": 3,
        "threshold": 0.25,
        "quiet": True,
        "mode": "exact",
        "columns": {"question": "q", "label": ""},
    }


def test_columns_are_named_with_commas_and_spaces_and_by_several_flags(subtests: pytest.Subtests):
    for texts, columns in [
        (["question=q,reference=right answer"], {"question": "q", "reference": "right answer"}),
        (['reference="Right, ""so""", candidate = Model A ,'], {"reference": 'Right, "so"', "candidate": "Model A"}),
        (["candidate=a=b,label="], {"candidate": "a=b", "label": ""}),
        (['candidate="",reference=5" disk'], {"candidate": "", "reference": '5" disk'}),
        (["question=q", "candidate=c,reference=r"], {"question": "q", "candidate": "c", "reference": "r"}),
        (["reference=a,reference=b"], {"reference": ("a", "b")}),
        (["reference=a", "reference=b,id=i", "reference=c"], {"reference": ("a", "b", "c"), "id": "i"}),
    ]:
        with subtests.test(texts=texts, columns=columns):
            assert parser().parse([part for text in texts for part in ("--columns", text)])["columns"] == columns


def test_wrong_usage_is_one_sentence_and_status_2(capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests):
    for line, said in [
        ("--limit x", "argument --limit: 'x' is not a whole number"),
        ("--limit 2.5", "'2.5' is not a whole number"),
        ("--threshold high", "argument --threshold: 'high' is not a number"),
        ("--mode slow", "invalid choice: 'slow'"),
        ("--columns q", "'q' is not of the form name=column,name=column"),
        ("--columns ,", "',' is not of the form name=column,name=column"),
        ('--columns a="b', "is not of the form name=column"),
        ('--columns a="b"c', 'double quotes: reference="right, in short"'),
        ("--columns =b", "'=b' is not of the form name=column"),
        ("--treshold 1", "there is no flag --treshold, did you mean --threshold?"),
        ("--treshold=1", "there is no flag --treshold=1, did you mean --threshold?"),
        ("--lim 1", "there is no flag --lim, did you mean --limit?"),
        ("--zzz", "there is no flag --zzz;"),
        ("file", "nothing was expected here, not file"),
        ("--limit", "argument --limit: expected one argument"),
    ]:
        with subtests.test(line=line, said=said):
            with pytest.raises(SystemExit) as end:
                parser().parse(line.split())
            error = capsys.readouterr().err
            assert end.value.code == 2
            assert said in error
            assert error.startswith("tool do: ")
            assert error.endswith("see tool do --help.\n")
            assert error.count("\n") == 1


def test_help_shows_each_flag_once_with_default_and_examples(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        parser().parse(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert end.value.code == 0
    assert "--output_dir TEXT where, 100 % sure (default: out)" in text
    assert "--output-dir" not in text
    assert "--mode {fast,exact}" in text
    assert text.endswith("examples: tool do x")


def with_config(tmp_path: Path, text: str, arguments: str = "") -> dict[str, object]:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    made = parser()
    made.set_config(read_config(str(path)), "c.yaml")
    return made.parse(arguments.split())


def test_a_config_file_sets_defaults_and_flags_win(tmp_path: Path):
    text = "limit: 3\noutput-dir: there\nquiet: true\nthreshold:\ncolumns:\n  question: q\n"
    values = with_config(tmp_path, text, "--limit 4")
    assert values["limit"] == 4
    assert values["output_dir"] == "there"
    assert values["quiet"] is True
    assert values["threshold"] == 0.5  # no value: as if the line were not there
    assert values["columns"] == {"question": "q"}
    assert with_config(tmp_path, "") == vars(Options())


def test_a_config_file_names_columns_as_they_are(tmp_path: Path):
    text = 'columns:\n  reference: [right, "so, too"]\n  candidate: Model A, "big"\n  label:\n  id: 7\n'
    columns = {"reference": ("right", "so, too"), "candidate": 'Model A, "big"', "label": "", "id": "7"}
    assert with_config(tmp_path, text)["columns"] == columns
    assert with_config(tmp_path, 'columns: a=b,c="d, e"')["columns"] == {"a": "b", "c": "d, e"}
    assert with_config(tmp_path, text, "--columns id=n --columns label=y")["columns"] == {"id": "n", "label": "y"}
    with pytest.raises(InputError, match=r"sets a column of columns to \{'b': 1\}; a name was expected"):
        with_config(tmp_path, "columns:\n  a:\n    b: 1\n")


def test_a_wrong_config_file_is_told(tmp_path: Path, refused: Refused):
    for text, said in [
        ("limit: x", "c.yaml sets limit to what the flag would not take: 'x' is not a whole number."),
        ("limit: 2.5", "'2.5' is not a whole number"),
        ("limit: true", "true is not a single value"),
        ("limit: [1]", r"\[1\] is not a single value"),
        ("output_dir: {a: b}", "is not a single value"),
        ("columns: 3", "'3' is not of the form name=column"),
        ("quiet: 1", "sets quiet to 1; true or false was expected"),
        ("mode: slow", "sets mode to 'slow'; one of fast, exact was expected"),
        ("limt: 3", "sets 'limt', which is not a flag of tool do; there is output_dir, limit"),
        ("help: 3", "sets 'help', which is not a flag"),
        ("- a", "holds a list; names and values, as of flags, were expected"),
        ("a: [", "is not valid YAML"),
    ]:
        with refused(match=said, text=text):
            with_config(tmp_path, text)
    with pytest.raises(InputError, match=r"no.yaml can't be read \(No such file"):
        read_config("no.yaml")


def test_a_parameter_that_can_not_be_a_flag_is_told():
    def odd(paths: list[str]) -> None: ...

    with pytest.raises(InputError, match=r"parameter paths of odd can't be a flag, as it takes list\[str\]"):
        parser(odd)
    made = parser()
    with pytest.raises(InputError, match="parameter output_dir of Options can't be a flag, as there is one of that"):
        add_flags(made.add_argument_group("again"), Options)


ALIASES = "\n".join(
    ["- &a0 [x, x, x, x, x, x, x, x, x]", *(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))]
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfea: 1", "is not UTF-8 text"),
        (b"limit: 2020-13-45", "month must be in 1..12"),
        (b"limit: " + b"1" * 5_000, "a number has thousands of digits"),
        (b"limit: " + b"[" * 3_000 + b"]" * 3_000, "nested too deeply"),
        (b"limit: " + b"x" * (1 << 20), "has over 1 MiB"),
        (b"[a]: 1", "is not valid YAML"),
    ],
)
def test_no_file_of_settings_ends_in_a_traceback(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    for read in (read_config, JudgeSpec.of):
        with pytest.raises(InputError, match=re.escape(message)):
            read(str(path))


def test_values_that_hold_each_other_are_shown_in_a_few_words(tmp_path: Path) -> None:
    judge = tmp_path / "judge.yaml"
    judge.write_text("judge_type: RegexJudge\nmetric: containment\npattern:\n" + ALIASES)
    with pytest.raises(InputError) as error:
        JudgeSpec.of(str(judge)).make()
    assert len(str(error.value)) < 500
