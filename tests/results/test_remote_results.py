"""Results at an address: whole or not at all, gone on with, and replaced only where that is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from bert_judge.errors import OutputError
from bert_judge.inputs import Source, open_source
from bert_judge.judges import Judge, RegexJudge
from bert_judge.records import Sample, Verdict
from bert_judge.results import ResultFolder
from bert_judge.studies.score import open_result, score_source
from conftest import Command
from json_lines import EXAMPLES

PARTS = {"part_rows": 20}


class Counting(RegexJudge):
    """Containment, which breaks at a row, or fails on one."""

    def __init__(self, breaks_at: int | None = None, fails_at: int | None = None) -> None:
        super().__init__(pattern="none", metric="containment")
        self.breaks_at, self.fails_at, self.judged = breaks_at, fails_at, 0

    def assess(self, samples: Iterator[Sample]) -> Iterator[Verdict]:
        for sample in samples:
            if self.judged == self.breaks_at:
                raise RuntimeError("the judge broke")
            self.judged += 1
            failed = Verdict(None, failed=True, explanation="no reply")
            yield from [failed] if self.judged == self.fails_at else super().assess([sample])


@pytest.fixture
def source() -> Source:
    return open_source(EXAMPLES, part_rows=20)


@pytest.fixture(params=["memory", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A folder in an object store, and in a file system."""
    yield f"memory://bucket{tmp_path}" if request.param == "memory" else (tmp_path / "results").as_uri()
    fsspec.filesystem("memory").store.clear()


def judged(source: Source, judge: Judge, address: str | Path, overwrite: bool = False) -> ResultFolder:
    fitted, folder = open_result(source, judge, address, PARTS, overwrite)
    for _ in score_source(source, fitted, folder):
        pass
    return folder


def content(address: str) -> dict[str, bytes]:
    """The files there, by their names, but for run.json, which has the time."""
    files, path = fsspec.url_to_fs(address)
    return {name.removeprefix(path): files.cat_file(name) for name in files.find(path) if not name.endswith("run.json")}


def test_files_are_those_of_a_folder(source: Source, address: str, tmp_path: Path) -> None:
    there, here = judged(source, Counting(), address), judged(source, Counting(), tmp_path / "here")
    assert content(address) == content((tmp_path / "here").as_uri())
    assert list(there.records()) == list(here.records())
    assert there.run["summary"] == here.run["summary"]
    assert there.run["files"] == here.run["files"]
    assert ResultFolder(address, there._identity).finished


def test_a_run_that_broke_goes_on_and_a_damaged_part_is_judged_again(source: Source, address: str) -> None:
    with pytest.raises(RuntimeError, match="the judge broke"):
        judged(source, Counting(breaks_at=70), address)
    files, path = fsspec.url_to_fs(address)
    assert not files.exists(f"{path}/run.json")
    files.pipe_file(f"{path}/verdicts/part-00001.parquet", b"other bytes")
    files.pipe_file(f"{path}/verdicts/part-00009.parquet.1234", b"half a part")
    rest = Counting()
    with pytest.warns(UserWarning, match="part-00001.parquet is missing or damaged; its 20 rows are judged again"):
        folder = judged(source, rest, address)
    assert rest.judged == 98 - 40
    assert [record["id"] for record in folder.records()] == [sample.id for sample in source]
    assert len(content(address)) == 5 + 2  # parts, their list, scores


def test_failed_rows_are_judged_again_alone(source: Source, address: str) -> None:
    assert judged(source, Counting(fails_at=45), address).run["summary"]["failed"] == 1
    again = Counting()
    folder = judged(source, again, address)
    assert again.judged == 1
    assert folder.run["summary"]["failed"] == 0
    assert len(list(folder.records())) == 98


def test_another_judge_s_result_is_replaced_only_where_that_is_asked_for(source: Source, address: str) -> None:
    judged(source, Counting(), address)
    other = RegexJudge(pattern="none", metric="token_f1")
    with pytest.raises(OutputError, match="holds a result of another judge"):
        judged(source, other, address)
    folder = judged(source, other, address, overwrite=True)
    assert folder.run["identity"]["signature"] != Counting().info.signature
    assert len(content(address)) == 5 + 2


def test_what_an_address_cannot_be_is_said(complaint: Callable[..., str], tmp_path: Path) -> None:
    common = ("score", EXAMPLES, "--judge", "containment", "--output_dir")
    assert "--output_dir is an address, where verdicts are written in parts" in complaint(*common, "memory://b/x")
    parts = ("--output_format", "parquet", "--quiet", "--no_report")
    error = complaint(*common, "nowhere://user:pa55word@host/x?key=k3y", *parts)
    assert "nowhere://host/x can't be reached (ValueError: Protocol not known: nowhere)" in error
    assert "pa55word" not in error
    assert "k3y" not in error
    (tmp_path / "file").touch()
    assert "can't be written (Not a directory)" in complaint(*common, (tmp_path / "file" / "x").as_uri(), *parts)
    with pytest.raises(OutputError, match="is an address, where verdicts are written in parts"):
        open_result(open_source(EXAMPLES), Counting(), "memory://bucket/lines", {})


def test_several_judges_and_explanations_at_an_address(command: Command, tmp_path: Path) -> None:
    address = (tmp_path / "results").as_uri()
    flags = ("--output_format", "parquet", "--output_dir", address, "--explain", 2)
    status, out, error = command("score", EXAMPLES, "--judge", "containment,token_f1", *flags)
    assert status == 0
    assert f"files  in {address}/JUDGE: verdicts/, scores.json, run.json" in out
    assert "Traceback" not in error
    one = (*flags[:2], "--output_dir", f"{address}/one", "--explain", 2, "--limit", 20)
    status, out, error = command("score", EXAMPLES, "--judge", "starter", *one)
    assert status == 0
    assert f"note: {address}/one is an address, where no page is written" in error
    assert len((tmp_path / "results/one/explanations.jsonl").read_text().splitlines()) == 2
    assert json.loads((tmp_path / "results/one/run.json").read_text())["summary"]["rows"] == 20
    assert command("report", tmp_path / "results/one", "--output", tmp_path / "page.html")[0] == 0
