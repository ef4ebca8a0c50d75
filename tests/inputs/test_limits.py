"""What one file may cost: limits on lines, records, values, columns and texts, whatever the file is packed in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from bert_judge.errors import InputError
from bert_judge.inputs import open_source
from bert_judge.inputs.limits import Limits
from packed import PACKERS

ROW = {"question": "q", "reference": "r", "candidate": "c"}
SMALL = Limits(whole=10_000, columns=50)


def text_of(candidate: str) -> str:
    return json.dumps({**ROW, "candidate": candidate})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", text_of("c") + "\n" + text_of("x" * 20_000), "a.jsonl line 2 has over 0 MiB"),
        ("a.json", "[" + text_of("x" * 600_000) + "]", "the value at line 1 of"),
        ("a.csv", 'question,reference,candidate\nq,r,"' + "x\n" * 9_000 + '"\n', "the record at line"),
        ("a.csv", "question,reference,candidate\nq,r," + "x" * 20_000, "a.csv line 2 has over"),
        ("a.csv", ",".join(f"c{n}" for n in range(51)) + "\n", "has 51 columns; up to 50 are taken"),
    ],
)
def test_a_file_beyond_a_limit_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as error:
        open_source(path, limits=SMALL)
    assert message in str(error.value)


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("inside", ["jsonl", "json", "csv"])
def test_a_packed_line_without_an_end_is_refused(tmp_path: Path, inside: str, ending: str) -> None:
    head = {"jsonl": b'{"question": "', "json": b'[{"question": "', "csv": b"question,reference,candidate\nq,r,"}
    path = tmp_path / f"a.{inside}{ending}"
    path.write_bytes(PACKERS[ending](head[inside] + b"0" * 3_000_000))
    with pytest.raises(InputError, match="than is read as a whole"):
        open_source(path, limits=Limits(whole=1 << 20))


def test_a_member_of_an_archive_that_grows_too_much_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    sample = {"id": 1, "epoch": 1, "input": "q", "target": "r", "output": {"completion": "r"}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
        archive.writestr("samples/2_epoch_1.json", '{"id": 2, "events": [' + "0," * 4_000_000 + "0]}")
    with pytest.raises(InputError, match=r"samples/2_epoch_1\.json|row 2 has over \d+ MiB when it is unpacked"):
        open_source(path)
    source = open_source(path, skip_bad_rows=True)
    assert (len(source), len(source.bad_rows)) == (1, 1)


def test_a_header_of_many_columns_is_read_at_once_and_rows_are_not_limited(tmp_path: Path) -> None:
    columns = [*ROW, *(f"c{n}" for n in range(15_000))]
    path = tmp_path / "a.csv"
    path.write_text(",".join(columns) + "\n" + ",".join(["x"] * len(columns)) + "\n")
    assert len(open_source(path)) == 1
    path.write_text(",".join([*columns, "c7"]) + "\n")
    with pytest.raises(InputError, match="more than one column 'c7'"):
        open_source(path)
    path = tmp_path / "a.jsonl"
    path.write_text((text_of("x" * 90) + "\n") * 3_000)
    assert len(open_source(path, limits=Limits(whole=10_000))) == 3_000
