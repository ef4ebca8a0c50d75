"""Verdicts in parts: what is in them, what an interruption leaves, and that every command reads them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bert_judge import BERTJudge
from bert_judge.errors import InputError, OutputError
from bert_judge.inputs import Source, open_source
from bert_judge.judges import Judge
from bert_judge.results import Identity, ResultFolder, read_verdicts
from bert_judge.studies.score import score_source
from conftest import Command
from failing_judges import Steady
from json_lines import EXAMPLES, read_rows

ROWS = [
    {"question": f"q{n}", "reference": ["1", "one"], "candidate": str(n % 3), "label": n % 2, "task": "t", "n": n}
    for n in range(23)
]


def write_rows(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """Rows in the format that the name asks for; a packed one is JSON lines."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".csv":
        cells = [{**row, "reference": "1"} for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in cells)]))
    else:
        text = "\n\n".join(map(json.dumps, rows)).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def folder_for(source: Source, path: Path) -> ResultFolder:
    options = {"part_rows": source.part_rows}
    return ResultFolder(path, Identity(Steady.info.signature, source.sha256, options))


def judged(source: Source, path: Path, judge: Judge | None = None) -> ResultFolder:
    folder = folder_for(source, path)
    list(score_source(source, judge or Steady(), folder))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return open_source(write_rows(tmp_path / "rows.jsonl"), part_rows=5)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv", "rows.parquet", "rows.jsonl.gz"])
def test_the_parts_of_a_source_are_its_samples(tmp_path: Path, name: str) -> None:
    source = open_source(write_rows(tmp_path / name), part_rows=5)
    parts = [list(source.part(number)) for number in range(5)]
    assert [len(part) for part in parts] == [5, 5, 5, 5, 3]
    assert [sample for part in parts for sample in part] == list(source)
    assert [sample.id for sample in parts[2]] == [str(n) for n in range(11, 16)]
    assert list(source.part(1)) == parts[1]  # in any order, any number of times


def test_parts_begin_after_bad_rows_and_in_later_files(tmp_path: Path) -> None:
    rows: list[Any] = [*ROWS[:7], {"question": "no reference", "candidate": "1"}, *ROWS[7:12]]
    (tmp_path / "in").mkdir()
    write_rows(tmp_path / "in/a.jsonl", rows)
    (tmp_path / "in/b.jsonl").write_bytes(b"\xff not UTF-8\n \n[1]\n" + json.dumps(ROWS[0]).encode() + b"\n\n")
    write_rows(tmp_path / "in/c.parquet")
    source = open_source(tmp_path / "in", part_rows=4, skip_bad_rows=True)
    assert len(source.bad_rows) == 3
    parts = [list(source.part(number)) for number in range(9)]
    assert [sample for part in parts for sample in part] == list(source)
    assert len(list(source)) == 12 + 1 + 23
    limited = open_source(tmp_path / "in", part_rows=4, skip_bad_rows=True, limit=17)
    assert [len(list(limited.part(number))) for number in range(4)] == [4, 4, 4, 2]


def test_parts_hold_what_lines_hold(source: Source, tmp_path: Path) -> None:
    folder = judged(source, tmp_path / "parts")
    assert folder.finished
    lines = ResultFolder(tmp_path / "lines", Identity(Steady.info.signature, source.sha256, {}))
    list(score_source(source, Steady(), lines))
    assert list(folder.records()) == list(lines.records())
    assert next(folder.records())["n"] == 0
    assert (tmp_path / "parts/scores.json").read_bytes() == (tmp_path / "lines/scores.json").read_bytes()
    assert folder.run["summary"] == lines.run["summary"]
    table = pq.read_table(tmp_path / "parts/verdicts")  # what other tools see
    assert table.column("score").to_pylist() == [record["score"] for record in lines.records()]
    assert json.loads(table.column("columns").to_pylist()[3]) == {"task": "t", "n": 3}


def test_a_run_that_broke_goes_on_with_the_part_that_is_missing(source: Source, tmp_path: Path) -> None:
    whole = judged(source, tmp_path / "whole")
    with pytest.raises(RuntimeError):
        judged(source, tmp_path / "r", Steady(fail_at="13"))
    again = folder_for(source, tmp_path / "r")
    assert (again.finished, again.rows_done) == (False, 10)
    judge = Steady()
    assert list(score_source(source, judge, again)) == list(range(11, 24))
    assert judge.judged == [str(n) for n in range(11, 24)]
    for part in sorted((tmp_path / "whole/verdicts").glob("*.parquet")):
        assert part.read_bytes() == (tmp_path / "r/verdicts" / part.name).read_bytes()
    assert list(again.records()) == list(whole.records())


def test_a_damaged_part_is_judged_again(source: Source, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        judged(source, tmp_path / "r", Steady(fail_at="18"))
    begun = tmp_path / "r/verdicts.partial"
    damaged = bytearray((begun / "part-00001.parquet").read_bytes())
    damaged[100] ^= 255
    (begun / "part-00001.parquet").write_bytes(damaged)
    (begun / "part-00002.parquet").unlink()
    with (begun / "_parts.jsonl").open("a") as list_of_parts:
        list_of_parts.write('{"number": 3, "ro')  # a killed process
    with pytest.warns(UserWarning, match=r"part-0000[12].parquet is missing or damaged; its 5 rows are judged again"):
        again = folder_for(source, tmp_path / "r")
    assert again.rows_done == 5
    judge = Steady()
    list(score_source(source, judge, again))
    assert judge.judged == [str(n) for n in range(6, 24)]
    assert [record["id"] for record in again.records()] == [str(n) for n in range(1, 24)]


def test_rows_on_which_the_judge_failed_are_judged_again_alone(source: Source, tmp_path: Path) -> None:
    first = judged(source, tmp_path / "r", Steady(failing=["2", "4", "22"]))
    assert folder_for(source, tmp_path / "r").failed == 3
    judge = Steady(failing=["22"])
    again = judged(source, tmp_path / "r", judge)
    assert judge.judged == ["2", "4", "22"]
    assert folder_for(source, tmp_path / "r").failed == 1
    records = list(again.records())
    assert [record["id"] for record in records if record.get("failed")] == ["22"]
    assert again.run["summary"]["rows"] == 23 == len(records)
    assert not first.finished or not folder_for(source, tmp_path / "r").finished


def test_another_input_or_size_of_parts_is_refused_unless_it_may_be_overwritten(source: Source, tmp_path: Path) -> None:
    judged(source, tmp_path / "r")
    other = open_source(write_rows(tmp_path / "other.jsonl", ROWS[:9]), part_rows=4)
    with pytest.raises(OutputError, match=r"another input and other options .part_rows: 5, not 4"):
        folder_for(other, tmp_path / "r")
    for options, replaced in [({}, "verdicts"), ({"part_rows": 4}, "verdicts.jsonl")]:
        identity = Identity(Steady.info.signature, other.sha256, options)
        list(score_source(other, Steady(), ResultFolder(tmp_path / "r", identity, overwrite=True)))
        assert len(list(read_verdicts(tmp_path / "r"))) == 9
        assert not (tmp_path / "r" / replaced).exists()


def test_values_that_have_no_place_are_refused_and_half_characters_are_replaced(source: Source, tmp_path: Path) -> None:
    folder, row = folder_for(source, tmp_path / "r"), {"id": "1", "score": 1.0, "label": 1}
    with folder.writing():
        for values in ({"score": float("nan")}, {"score": float("inf")}, {"details": {"a": object()}}):
            with pytest.raises(OutputError, match="the verdict of row 1 can't be written"):
                list(folder.write(0, range(1), [row | values]))
        list(folder.write(0, range(1), [row | {"explanation": "\ud83d!"}]))
        folder.finish({})
    assert list(folder.records()) == [row | {"explanation": "\ufffd!"}]


def test_a_missing_list_of_parts_is_said(source: Source, tmp_path: Path) -> None:
    judged(source, tmp_path / "r")
    (tmp_path / "r/verdicts/_parts.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"_parts\.jsonl can't be read"):
        list(read_verdicts(tmp_path / "r"))


def test_every_command_reads_parts(command: Command, folder: Path) -> None:
    for name, judge in (("a", "containment"), ("b", "exact_match")):
        words = ("score", EXAMPLES, "--judge", judge, "--output_dir")
        status, out, _ = command(*words, name, "--output_format", "parquet", "--part_rows", 30)
        assert (status, f"files  {name}/: verdicts/, scores.json, run.json, report.html" in out) == (0, True)
        command(*words, f"{name}-lines")
    assert len(list(Path("a/verdicts").glob("*.parquet"))) == 4
    for words in ("compare a b", "show a", "correct a"):
        status, out, _ = command(*words.split())
        lines = " ".join(f"{word}-lines" if word in ("a", "b") else word for word in words.split())
        expected = command(*lines.split())
        assert status == expected[0] == 0, (words, out)
        assert out.split() == expected[1].replace("-lines", "").split()
    assert command("doctor", "a", "--input", EXAMPLES)[0] == 0
    part = Path("a/verdicts/part-00002.parquet")
    part.write_bytes(part.read_bytes()[:-1])
    status, out, error = command("doctor", "a")
    assert (status, "part-00002.parquet has" in out + error) == (1, True)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--part_rows", 5], "--part_rows is for parts; add --output_format parquet"),
        (["--actors", "2"], "--actors and --ray_address are for --engine ray"),
        (["--engine", "ray", "--output_format", "jsonl"], "--engine ray writes parts"),
    ],
)
def test_flags_that_do_not_fit_are_refused(complaint: Callable[..., str], flags: list[object], message: str) -> None:
    assert message in complaint("score", EXAMPLES, "--judge", "containment", *flags)


def test_the_bytes_of_a_part_do_not_depend_on_other_parts(tmp_path: Path, starter: BERTJudge) -> None:
    """The last bits of a score depend on the batch that it was computed in, so no part takes scores of another."""
    rows = read_rows(EXAMPLES)
    source = open_source(write_rows(tmp_path / "rows.jsonl", rows * 2), part_rows=37)
    identity = Identity(starter.info.signature, source.sha256, {"part_rows": 37})
    list(score_source(source, starter, ResultFolder(tmp_path / "whole", identity)))
    next(islice(score_source(source, starter, ResultFolder(tmp_path / "stopped", identity)), 37 * 3, None))
    list(score_source(source, starter, ResultFolder(tmp_path / "stopped", identity)))
    for part in sorted((tmp_path / "whole/verdicts").glob("*.parquet")):
        assert part.read_bytes() == (tmp_path / "stopped/verdicts" / part.name).read_bytes()
