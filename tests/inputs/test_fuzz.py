"""Any bytes under any name: a file is read, or refused in a sentence; nothing else is raised, no other file written."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from bert_judge.errors import BertJudgeError
from bert_judge.inputs import open_source

LOGS = Path(__file__).parents[1] / "logs"
SEEDS = sorted(path for path in LOGS.rglob("*") if path.is_file() and path.stat().st_size < 200_000)
NAMES = sorted({"rows.jsonl", "rows.json", "rows.csv", "rows.tsv", "rows.parquet", "x", *(path.name for path in SEEDS)})
ROLES = "question reference references candidate answer id label target resps doc output".split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(ROLES) | st.text(max_size=5), inner),
    max_leaves=12,
)
MEMBERS = ["samples/a_epoch_1.json", "header.json", "../../out.json", "/etc/x.json", "_journal/s.json"]
SLOW = [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow]
FUZZ = hypothesis.settings(max_examples=150, deadline=None, suppress_health_check=SLOW)


def read(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.write_bytes(content)
    try:
        with contextlib.suppress(BertJudgeError):
            for skip in (False, True):
                list(open_source(path, skip_bad_rows=skip))
        assert sorted(folder.iterdir()) == [path]
    finally:
        path.unlink()


@FUZZ
@hypothesis.given(name=st.sampled_from(NAMES), content=st.binary(max_size=300))
def test_any_bytes(name: str, content: bytes, tmp_path: Path) -> None:
    read(tmp_path, name, content)


@FUZZ
@hypothesis.given(name=st.sampled_from(NAMES), rows=st.lists(JSON, max_size=4), as_list=st.booleans())
def test_any_json(name: str, rows: list[Any], as_list: bool, tmp_path: Path) -> None:
    texts = [json.dumps(rows)] if as_list else [json.dumps(row) for row in rows]
    read(tmp_path, name, "\n".join(texts).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: str(path.relative_to(LOGS)))
def test_a_damaged_log(seed: Path, tmp_path: Path) -> None:
    whole = seed.read_bytes()

    @hypothesis.settings(FUZZ, max_examples=15)
    @hypothesis.given(st.data())
    def damaged(data: st.DataObject) -> None:
        start = data.draw(st.integers(0, max(0, len(whole) - 1)))
        length = data.draw(st.integers(0, 40))
        put = data.draw(st.binary(max_size=10) | st.sampled_from([b"null", b"[]", b"{}", b'"', b"-1", b"1e999", b"\0"]))
        end = len(whole) if data.draw(st.booleans()) and length == 0 else start + length
        read(tmp_path, seed.name, whole[:start] + put + whole[end:])

    damaged()


@pytest.mark.parametrize("seed", [s for s in SEEDS if ".json" in s.name], ids=lambda path: str(path.relative_to(LOGS)))
def test_a_log_with_something_else_in_a_field(seed: Path, tmp_path: Path) -> None:
    lines = seed.read_text(encoding="utf-8").splitlines() if seed.suffix == ".jsonl" else [seed.read_text("utf-8")]

    @hypothesis.settings(FUZZ, max_examples=30)
    @hypothesis.given(st.data())
    def changed(data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(lines) - 1))
        whole = replaced(json.loads(lines[place]), data)
        read(tmp_path, seed.name, "\n".join([*lines[:place], json.dumps(whole), *lines[place + 1 :]]).encode())

    changed()


def replaced(value: Any, data: st.DataObject) -> Any:
    """The value with any JSON in the place of one of its parts, or without that."""
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 3)) == 0:
        return data.draw(JSON)
    key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    copy = value.copy()
    if data.draw(st.integers(0, 5)) == 0:
        del copy[key]
    else:
        copy[key] = replaced(value[key], data)
    return copy


@FUZZ
@hypothesis.given(member=st.sampled_from(MEMBERS), value=JSON)
def test_any_member_of_an_archive(member: str, value: Any, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        if member != "header.json":
            archive.writestr("header.json", json.dumps({"eval": {"task": "t", "model": "m"}, "status": "success"}))
        archive.writestr(member, json.dumps(value))
    read(tmp_path, "log.eval", packed.getvalue())
