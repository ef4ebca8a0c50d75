"""Everything that can be wrong with a file is told in one sentence, before anything is judged."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from pathlib import Path

import datasets
import pytest

from bert_judge.errors import InputError
from bert_judge.inputs import RawRow, open_source
from bert_judge.records import Sample
from packed import zstd

GOOD = '{"answer": "a", "output": "x"}\n'


def refusal(path: str | Path, match: str, **options: object) -> str:
    with pytest.raises(InputError, match=match) as caught:
        open_source(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    return message


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_broken_files(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, content, match in [
        ("x.jsonl", "", r"x\.jsonl is empty"),
        ("x.jsonl", "\n \n", r"x\.jsonl has no rows"),
        ("x.json", "\n", r"x\.json is empty"),
        ("x.json", "[ ]", r"x\.json has no rows"),
        ("x.csv", "answer,output\n", r"x\.csv has no rows"),
        ("x.jsonl", GOOD * 6 + '{"answer": \n', r"line 7 is not valid JSON \(Expecting value.*skip_bad_rows=True"),
        ("x.jsonl", GOOD + "\n[1]\n" + "x\n" * 3, r"line 3 holds no JSON object.* \(and 3 more\); fix it, or set such"),
        ("x.jsonl", json.dumps([1]), r"input_format='json'"),
        ("x.jsonl", GOOD + "[" * 100_000, r"line 2 is not valid JSON \(it is nested too deeply\)"),
        ("x.jsonl", b'\n{"answer": "\xff"}\n', r"line 2 is not UTF-8 text \(the byte 0xff at its position 13"),
        ("x.json", b'[{"answer": "a",\n "output": "\xff"}]', r"line 2 is not UTF-8 text .the byte 0xff"),
        ("x.csv", b'answer,output\n"a\nb",x\na,\x81\n', r"line 4 is not UTF-8 .*0x81 at its position 3; save.*iconv"),
        ("x.csv", b"answer,\xff\na,b\n", r"line 1 is not UTF-8 .*its header must be right"),
        ("x.csv", 'answer,output\na,"x\nb,y\n', r"line 2 is not valid CSV \(unexpected end of data\)"),
        ("x.tsv", 'answer\toutput\na\t"x"y\n', r"line 2 is not valid TSV"),
        ("x.csv", 'answer,output\n"a\nb",x\n\na,x,y\n', r"line 5 has 3 cells where the header has 2"),
        ("x.csv", "answer,answer,output\na,b,c\n", r"more than one column 'answer'"),
        ("x.json", "[" + GOOD + ",\n{]", r"line 3 is not valid JSON .*one object per line"),
        ("x.json", "[" + GOOD + GOOD + "]", r"line 2 is not valid JSON \(',' or ']' was expected\)"),
        ("x.json", "[" + GOOD, r"it has no end"),
        ("x.json", "[" + GOOD + "] x", r"there is more after the end of the list"),
        ("x.json", "[" + GOOD + ",]", r"is not valid JSON \(Expecting value\)"),
        ("x.json", "[" + GOOD + ", 7]", r"row 2 holds no JSON object"),
        ("x.json", '{\n "answer": "a",\n "output": "x"\n}', r"x\.json is one JSON object; a list of objects, or an"),
        ("x.json", '{"n": 1,\n "d": [' + GOOD + "]}", r"is one JSON object; .*; its list 'd' may hold the rows: save"),
        ("x.json", '{"answer": "a",\n "output": "x"', r"line 1 is not valid JSON"),
        ("x.json", "7", r"neither JSON lines nor a JSON list.*input_format='csv' \(jsonl, json, csv, tsv, parquet\)"),
        ("x.dat", "a;b", r"neither JSON lines nor a JSON list; give .*a name that ends with \.csv, .*input_format="),
        ("x.xlsx", "PK\x03\x04", r"x\.xlsx is a workbook .*save its sheet there as CSV"),
        ("x.jsonl.gz", GOOD, r"x\.jsonl\.gz is not gzip, though its name ends so"),
        ("x.jsonl.gz", gzip.compress(GOOD.encode(), mtime=0)[:-9], r"gzip file that was cut short"),
        ("x.jsonl.gz", gzip.compress(GOOD.encode(), mtime=0)[:10] + b"\xff" * 40, r"damaged gzip file"),
        ("x.parquet", "PAR1 but not more", r"x\.parquet cannot be read as parquet \("),
        ("x.parquet.gz", gzip.compress(b"PAR1", mtime=0), r"parquet file inside gzip.*unpack it first"),
        ("x.parquet.zst", zstd(b"PAR1"), r"parquet file inside zstd.*unpack it first"),
        ("x.jsonl.zst", GOOD, r"x\.jsonl\.zst is not zstd, though its name ends so"),
        ("x.jsonl.zst", gzip.compress(GOOD.encode(), mtime=0), r"x\.jsonl\.zst is not zstd, though its name ends so"),
        ("x.jsonl.zst", zstd(GOOD.encode())[:-9], r"damaged or cut zstd file \(Truncated compressed stream\)"),
        ("x.jsonl.zst", zstd(GOOD.encode())[:6] + b"\xff" * 40, r"damaged or cut zstd file"),
        ("x.jsonl.bz2", bz2.compress(GOOD.encode())[:-9], r"bzip2 file that was cut short"),
        ("x.jsonl.xz", lzma.compress(GOOD.encode())[:20] + b"\xff" * 40, r"damaged xz file"),
    ]:
        with subtests.test(name=name, content=content, match=match):
            refusal(write(tmp_path, name, content), match)


def test_bad_rows(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for row, match in [
        ({"answer": "a"}, r"has no candidate: the column 'output' is missing"),
        ({"output": "x"}, r"has no reference: the column 'answer' is missing"),
        ({"answer": None, "output": "x"}, r"has no reference: the column 'answer' holds null"),
        ({"answer": [], "output": "x"}, r"has no reference: the column 'answer' holds an empty list"),
        ({"answer": {"text": []}, "output": "x"}, r"has no reference"),
        ({"answer": " ", "output": "x"}, r"has an empty reference in the column 'answer'"),
        ({"answer": ["a", ""], "output": "x"}, r"has an empty reference"),
        ({"answer": [None], "output": "x"}, r"has no reference: the column 'answer' holds a list"),
        ({"answer": {"a": 1}, "output": "x"}, r"has an object in the column 'answer'"),
        ({"answer": "a", "output": ["x"]}, r"has a list in the column 'output'.*columns=\{'candidate': 'output\.0'\}"),
        ({"answer": [["a"]], "output": "x"}, r"has a list in the column 'answer', where text was expected"),
        ({"answer": "a", "output": 0.5}, r"has the number 0\.5 in the column 'output'.*numbers_as_text=True"),
        ({"answer": 5, "output": "x"}, r"has the number 5 in the column 'answer'"),
        ({"answer": "a", "output": "x", "question": 5}, r"has the number 5 in the column 'question'"),
        ({"answer": "a", "output": "x", "question": [{"role": "system"}]}, r".*no message of a user was found"),
        ({"answer": "a", "output": "x", "id": {}}, r"has an object in the column 'id', where an id was"),
        ({"answer": "a", "output": "x", "label": "maybe"}, r"has 'maybe' in the column 'label'.*=\{'label': ''\}"),
        ({"answer": "a", "output": "x", "label": 2}, r"has 2 in the column 'label', where a label was expected"),
    ]:
        with subtests.test(row=row, match=match):
            text = json.dumps(row)
            path = write(tmp_path, "x.jsonl", GOOD + text + "\n" + GOOD)
            assert "skip_bad_rows=True" in refusal(path, f"line 2 {match}")
            source = open_source(path, skip_bad_rows=True)
            assert list(source) == [Sample("x", ("a",), id="1"), Sample("x", ("a",), id="3")]
            assert source.rows == 2
            (bad,) = source.bad_rows
            assert (bad.line, bad.text, bad.file) == (2, text, "")
            assert bad.reason in refusal(path, match)


def test_bad_rows_of_a_table_or_without_columns_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", 'answer,output\n"a\nb",x\n,é\na,b,c\n"a"a,b\nz,y\n')
    source = open_source(path, skip_bad_rows=True)
    assert [sample.id for sample in source] == ["1", "5"]
    bad_rows = [(4, '{"answer": "", "output": "é"}'), (5, '["a", "b", "c"]'), (6, "[]")]
    assert [(bad.line, bad.text) for bad in source.bad_rows] == bad_rows

    path = write(tmp_path, "x.jsonl", '{"error": "timeout"}\n{"target": "t"}\n' + GOOD)
    source = open_source(path, skip_bad_rows=True)
    assert list(source) == [Sample("x", ("a",), id="3")]
    reason = "has no candidate: the column 'output' is missing"
    assert source.bad_rows[0] == RawRow(1, None, reason, '{"error": "timeout"}')
    assert len(source.bad_rows) == 2


def test_nothing_but_bad_rows_and_what_a_limit_hides(tmp_path: Path) -> None:
    first = r"no good row: all 2 were set aside, the first because .*x\.jsonl line 1 has an empty"
    refusal(write(tmp_path, "x.jsonl", '{"answer": "", "output": "x"}\n{\n'), first, skip_bad_rows=True)
    refusal(write(tmp_path, "x.jsonl", "{\n"), r"no good row: all 1 were set aside", skip_bad_rows=True)
    path = write(tmp_path, "x.jsonl", GOOD * 3 + "broken\n")
    assert len(list(open_source(path, limit=3))) == 3
    refusal(path, "line 4", limit=4)
    refusal(path, "the limit is 0", limit=0)


@pytest.mark.parametrize("skip_bad_rows", [False, True])
def test_missing_columns(tmp_path: Path, skip_bad_rows: bool) -> None:
    both = r"\{'reference': 'COLUMN', 'candidate': 'COLUMN'\}\."
    for name, content, match in [
        ("x.csv", "id,gold\n1,3\n", r"candidate: found id, gold; name it with columns=\{'candidate': 'COLUMN'\}\."),
        ("x.jsonl", '{"id": 1}\n', f"reference and none for the candidate: found id; name them with columns={both}"),
        ("x.jsonl", "{}\n", r"reference.*found none at all"),
    ]:
        path = write(tmp_path, name, content)
        refusal(path, f"has no column for the {match}", skip_bad_rows=skip_bad_rows)


def test_mappings_that_do_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", GOOD)
    match = r"no column 'out', which was named for the candidate; did you mean output\?"
    refusal(path, match, columns={"candidate": "out"})
    match = r"no column 'y', which was named for the label; choose from answer, output\."
    refusal(path, match, columns={"label": "y"})
    refusal(path, r"no column 'output\.q', which was named for the question", columns={"question": "output.q"})
    refusal(path, r"'answer' can't be mapped to a column; expected one of", columns={"answer": "answer"})
    refusal(path, r"for the column 'Frage' write question=Frage", columns={"Frage": "question"})
    refusal(path, r"the candidate is needed, but mapped to no column", columns={"candidate": ""})


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    write(tmp_path, "answers.jsonl", GOOD)
    refusal(tmp_path / "anwsers.jsonl", r"anwsers\.jsonl does not exist; did you mean .*/answers\.jsonl\?")
    refusal(tmp_path / "other", r"other does not exist; give the path of a file, or - for standard input")
    for path in (tmp_path / "no" / "x", tmp_path / "answers.jsonl" / "x"):
        refusal(path, "does not exist; give the path of a file")
    refusal(tmp_path / ("x" * 300), r"cannot be read \(File name too long\)")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", GOOD)
    path.chmod(0)
    refusal(path, r"x\.jsonl cannot be read \(Permission denied\)")


def test_formats_and_folders_that_do_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", GOOD)
    refusal(path, r"'xml' is not a format that can be read; expected one of jsonl, json", input_format="xml")
    refusal(path, r"is a file, and a saved dataset is a folder", input_format="datasets")
    match = r"folder without answers: no file in it ends in \.csv \(or in one of these and"
    refusal(tmp_path, match, input_format="csv")
    assert open_source(write(tmp_path, "x.data", GOOD), input_format="jsonl").rows == 1

    refusal(tmp_path, r"not one that `save_to_disk` of datasets wrote", input_format="datasets")
    rows = datasets.Dataset.from_list([{"answer": "a", "output": "x"}])
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(tmp_path / "d")
    match = r"holds 2 splits \(test, train\) where one was expected; give the folder of one, such as .*/d/test"
    refusal(tmp_path / "d", match)
    assert open_source(tmp_path / "d" / "test").rows == 1
    write(tmp_path / "d" / "test", "data-00000-of-00001.arrow", "broken")
    refusal(tmp_path / "d" / "test", r"the folder .*test cannot be read as a saved dataset")
