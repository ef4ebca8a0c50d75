"""The same rows in every format give the same samples, read any number of times."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import random
import subprocess
import sys
import tempfile
import tracemalloc
from itertools import islice, product
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bert_judge.errors import InputError
from bert_judge.inputs import Source, open_source
from bert_judge.records import Sample

ROWS: list[dict[str, object]] = [
    {"id": "a", "question": "Hauptstadt\nvon Perú?", "references": ["Lima", "Líma"], "candidate": "Lima", "label": 1},
    {"id": "b", "question": "2 + 2, “quoted”?", "references": ["4"], "candidate": 'It is "4",\tyes', "label": 0},
    {"id": "c", "question": "Nothing said?", "references": ["日本"], "candidate": "", "label": None},
]
SAMPLES = [
    Sample("Lima", ("Lima", "Líma"), "Hauptstadt\nvon Perú?", "a", 1),
    Sample('It is "4",\tyes', ("4",), "2 + 2, “quoted”?", "b", 0),
    Sample("", ("日本",), "Nothing said?", "c", None),
]
ROLES = ("id", "question", "reference", "candidate", "gold")


def as_table(delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(ROWS[0])
    for row in ROWS:
        writer.writerow((row | {"references": json.dumps(row["references"], ensure_ascii=False)}).values())
    return text.getvalue()


def as_lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, name: str) -> Path:
    """Write `ROWS` into a file of that name."""
    path = folder / name
    kind = name.removesuffix(".gz").rsplit(".", 1)[1]
    dataset = datasets.Dataset.from_list(ROWS)
    tables = {
        "parquet": lambda: dataset.to_parquet(path),
        "saved": lambda: dataset.save_to_disk(path, num_shards=2),
        "splits": lambda: datasets.DatasetDict({"test": dataset}).save_to_disk(path),
    }
    if kind in tables:
        tables[kind]()
        return path
    texts = {
        "jsonl": as_lines(ROWS),
        "ndjson": as_lines(ROWS).replace("\n", "\r\n"),
        "json": json.dumps(ROWS, indent=2, ensure_ascii=False),
        "flat": json.dumps(ROWS),
        "csv": as_table(","),
        "tsv": as_table("\t"),
    }
    data = texts[kind].encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_every_format_gives_the_same_samples(tmp_path: Path, subtests: pytest.Subtests) -> None:
    files = {
        "jsonl": ["x.jsonl", "x.ndjson", "x.jsonl.gz"],
        "json": ["x.json", "x.flat", "x.json.gz"],
        "csv": ["x.csv", "x.csv.gz"],
        "tsv": ["x.tsv", "x.tsv.gz"],
        "parquet": ["x.parquet"],
        "datasets": ["x.saved", "x.splits"],
    }
    for kind, name in [(kind, name) for kind, names in files.items() for name in names]:
        with subtests.test(name=name, kind=kind):
            path = write(tmp_path, name)
            source = open_source(path)
            assert list(source) == list(source) == SAMPLES
            assert (source.path, source.format, source.bad_rows) == (str(path), kind, ())
            assert source.rows == len(source) == 3
            assert source.columns == dict(zip(ROLES, ROWS[0], strict=True))
            if path.is_file():
                assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
            assert list(open_source(path, limit=2)) == SAMPLES[:2]


def test_byte_order_marks_lose_no_column(tmp_path: Path, subtests: pytest.Subtests) -> None:
    marks = ["\ufeff", "\ufeff\ufeff"]
    for mark, encoding, kind in product(marks, ["utf-8", "utf-16"], ["csv", "tsv", "jsonl", "json", "flat"]):
        with subtests.test(marks=len(mark), encoding=encoding, kind=kind):
            text = write(tmp_path, f"x.{kind}").read_bytes().decode()
            path = tmp_path / f"marked.{kind.replace('flat', 'json')}"
            path.write_bytes(f"{mark}{text}".encode(encoding))
            assert list(open_source(path)) == SAMPLES
    path = tmp_path / "x.jsonl"  # two files put together
    path.write_bytes(as_lines(ROWS[:1]).encode("utf-8-sig") + as_lines(ROWS[1:]).encode("utf-8-sig"))
    assert list(open_source(path)) == SAMPLES


def test_line_ends_of_several_kinds_large_cells_and_lines_in_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'question,answer,output\r\nq1,a,"b\re"\nq2,f,g\r\n')
    assert [(row.question, row.candidate) for row in open_source(path)] == [("q1", "b\re"), ("q2", "g")]
    path.write_bytes(b"question,answer,output\rq1,a,b\r")
    with pytest.raises(InputError, match=r"line 1 is not valid CSV \(new-line character seen in unquoted field"):
        open_source(path)
    path.write_text(f"answer,output\nyes,{'y' * 200_000}\n")
    assert [len(sample.candidate) for sample in open_source(path)] == [200_000]
    path = tmp_path / "x.json"
    path.write_text("\n" + as_lines(ROWS))
    assert open_source(path).format == "jsonl"


def test_the_digest_of_a_folder_is_of_its_data(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.saved"), write(tmp_path, "b.saved")
    assert open_source(first).sha256 == open_source(second).sha256
    (first / "data-00000-of-00002.arrow").rename(first / "z.arrow")
    state = first / "state.json"
    state.write_text(state.read_text().replace("data-00000-of-00002.arrow", "z.arrow"))
    assert open_source(first).sha256 != open_source(second).sha256


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: type[bytes]) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = pack(as_lines(ROWS).encode())
    feed(monkeypatch, data)
    source = open_source("-")
    (copy,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert list(source) == list(source) == SAMPLES
    assert (source.path, source.format) == ("-", "jsonl")
    assert source.sha256 == hashlib.sha256(data).hexdigest()
    first, second = iter(source), iter(source)
    assert [next(first).id, next(second).id, next(first).id] == ["a", "a", "b"]
    assert copy.exists()
    del source, first, second
    assert not copy.exists()


def test_other_formats_and_errors_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, as_table("\t").encode())
    assert list(open_source("-", input_format="tsv")) == SAMPLES
    feed(monkeypatch, json.dumps(ROWS).encode())
    assert list(open_source("-")) == SAMPLES
    feed(monkeypatch, b"hello\n")
    with pytest.raises(InputError, match="standard input line 1 is not valid JSON"):
        open_source("-")
    feed(monkeypatch, b"")
    with pytest.raises(InputError, match="standard input is empty"):
        open_source("-")


def test_a_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl")
    script = "import sys; from bert_judge.inputs import open_source; print([s.id for s in open_source(sys.argv[1])])"
    command = f"'{sys.executable}' -c '{script}' <(cat '{path}')"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['a', 'b', 'c']"


def test_a_json_list_is_the_same_wherever_its_chunks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bert_judge.inputs import texts

    rows = [{**row, "n": [1.5e-3, -12, True, None, {"a": '\\"é\ud83d\ude00'}]} for row in ROWS]
    path = tmp_path / "x.json"
    for indent in (None, 30):
        path.write_text(json.dumps(rows, indent=indent) + "\n")
        for chunk in range(1, 40):
            monkeypatch.setattr(texts, "_CHUNK", chunk)
            assert list(open_source(path)) == SAMPLES


@pytest.mark.parametrize(("kind", "count"), [("jsonl", 50_000), ("json", 15_000), ("csv", 15_000), ("parquet", 15_000)])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str, count: int) -> None:
    path = tmp_path / f"x.{kind}"
    rows = ({"answer": f"reference {n} " * 10, "output": f"answer {n} " * 10} for n in range(count))
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    else:
        texts = {
            "jsonl": lambda: "\n".join(map(json.dumps, rows)),
            "json": lambda: "[" + ",".join(map(json.dumps, rows)) + "]",
            "csv": lambda: "\n".join(["answer,output", *(",".join(row.values()) for row in rows)]),
        }
        path.write_text(texts[kind]())
    next(iter(open_source(path, limit=1)))
    tracemalloc.start()
    try:
        source = open_source(path)
        assert sum(1 for _ in source) == count
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000
    assert kind == "parquet" or path.stat().st_size > peak


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl")
    source: Source = open_source(path)
    assert list(islice(source, 1)) == SAMPLES[:1]
    with path.open("a") as file:
        file.write(as_lines(ROWS))
    with pytest.raises(InputError, match=r"x\.jsonl was changed while it was being read"):
        list(source)


def test_a_large_row_group_of_parquet_is_not_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    texts = [random.Random(n).randbytes(200).hex() for n in range(30_000)]
    pq.write_table(pa.table({"answer": texts, "output": texts}), path)
    source = open_source(path)
    before = pa.total_allocated_bytes()
    peak = max(pa.total_allocated_bytes() - before for _ in source)
    assert peak < 8_000_000 < path.stat().st_size
