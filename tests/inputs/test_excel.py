"""Tables as Excel and PowerShell write them: semicolons, tabs, a line `sep=;`, UTF-16, other encodings; and packed."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from itertools import product
from pathlib import Path

import pytest

from bert_judge.errors import InputError
from bert_judge.inputs import open_source
from bert_judge.records import Sample
from packed import PACKERS

ROWS = [
    Sample("3,14; about", ("3,14",), "What is\r\nπ?", "1", 1),
    Sample("“Lima”, or\tso", ("Lima",), "Capital of “Perú”?", "2", 0),
]
EXCEL = (
    'Question;Answer;Output;Label;Seconds\r\n"What is\r\nπ?";3,14;"3,14; about";1;0,5\r\n'
    "Capital of “Perú”?;Lima;“Lima”, or\tso;0;1,5\r\n;;;;\r\n"
)


def test_a_table_of_excel_is_read_in_every_encoding_and_packing(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text in (EXCEL, "sep=;\r\n" + EXCEL, '"sep=;"\r\n' + EXCEL, "\r\n" + EXCEL):
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            path.write_bytes(text.encode(encoding))
            source = open_source(path)
            assert list(source) == list(source) == ROWS
            assert [sample.meta for sample in source] == [{"Seconds": "0,5"}, {"Seconds": "1,5"}]
    path.write_bytes(b"\xfe\xff" + EXCEL.encode("utf-16-be"))
    assert list(open_source(path)) == ROWS


def test_unicode_text_of_excel_has_tabs(tmp_path: Path) -> None:
    for name in ("x.csv", "x.tsv"):
        (tmp_path / name).write_bytes('question\tanswer\toutput\r\n"a, b; c"\tr\tx;y\r\n'.encode("utf-16"))
        assert list(open_source(tmp_path / name)) == [Sample("x;y", ("r",), "a, b; c", "1")]


def test_delimiters_inside_quotes_do_not_count(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for header, row in [
        ('"a; b; c; d",answer,output', "q,r,c"),
        ('answer,"a; b; c; d",output', "r,q,c"),
        ('"a, b, c, d";answer;output', "q;r;c"),
        ('answer;"in\r\n; two, lines, yes, two";output', "r;q;c"),
        ("answer;how sure (0, 1);output", "r;q;c"),
        ('"say ""a, b, c""";answer;output', "q;r;c"),
        ("answer,output;", "r,c"),
    ]:
        with subtests.test(header=header, row=row):
            path = tmp_path / "x.csv"
            path.write_text(f"{header}\r\n{row}\r\n", newline="")
            columns = {"candidate": "output;"} if header.endswith(";") else None
            (sample,) = open_source(path, columns=columns)
            assert (sample.candidate, sample.references) == ("c", ("r",))


def test_errors_of_a_semicolon_table_name_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('sep=;\n"ans\nwer";output\nr;c\n"r"x;c\n')
    with pytest.raises(InputError, match=r"x\.csv line 5 is not valid CSV"):
        open_source(path, columns={"reference": "ans\nwer"})
    path.write_text("sep=;\nanswer;output\nr;c\nr;c;d\n")
    with pytest.raises(InputError, match=r"x\.csv line 4 has 3 cells where the header has 2"):
        open_source(path)


def test_every_text_format_in_every_packing(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for encoding, (ending, pack) in product(["utf-8", "utf-16"], {"": bytes, **PACKERS}.items()):
        with subtests.test(encoding=encoding, ending=ending):
            rows = [{"answer": "é\u2028", "output": "日本 🎉", "n": n} for n in range(3)]
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\r\n" for row in rows)
            texts = {
                "jsonl": lines,
                "json": json.dumps(rows, ensure_ascii=False, indent=1),
                "csv": "answer,output\n" + "é\u2028,日本 🎉\n" * 3,
                "tsv": "answer\toutput\n" + "é\u2028\t日本 🎉\n" * 3,
            }
            for kind, text in texts.items():
                path = tmp_path / f"x.{kind}{ending}"
                path.write_bytes(pack(text.encode(encoding)))
                source = open_source(path)
                assert source.format == kind
                assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
                assert list(source) == [Sample("日本 🎉", ("é\u2028",), None, str(n)) for n in (1, 2, 3)]
            (tmp_path / "x.dat").write_bytes(pack(lines.encode(encoding)))
            assert len(open_source(tmp_path / "x.dat")) == 3


@pytest.mark.parametrize("ending", PACKERS)
def test_parts_and_standard_input_are_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    line, pack = b'{"answer": "a", "output": "x"}\n', PACKERS[ending]
    (tmp_path / f"x.jsonl{ending}").write_bytes(pack(line) + pack(line * 2))
    assert len(open_source(tmp_path / f"x.jsonl{ending}")) == 3
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(line * 3))))
    assert len(open_source("-")) == 3  # known by its beginning


def test_a_large_file_of_utf_16_is_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bert_judge.inputs import streams

    path = tmp_path / "x.jsonl"
    row = json.dumps({"answer": "a", "output": "日本 🎉é" * 9}, ensure_ascii=False) + "\n"
    path.write_bytes((row * 50).encode("utf-16"))
    for chunk in (4, 7, 64, 1000):
        monkeypatch.setattr(streams, "CHUNK", chunk)
        assert {sample.candidate for sample in open_source(path)} == {"日本 🎉é" * 9}
    monkeypatch.undo()
    path.write_bytes(row.encode("utf-16")[:-3] + b"\x00\xd8")  # cut in a character
    with pytest.raises(InputError, match="line 1 is not valid JSON"):
        open_source(path)


def test_other_encodings_are_told_with_what_helps(tmp_path: Path) -> None:
    help_with = r"save it as UTF-8, in Excel as \"CSV UTF-8\", or convert it with iconv -f WINDOWS-1252 -t UTF-8"
    path = tmp_path / "x.csv"
    path.write_bytes("answer;output\nPerú;Lima\n".encode("cp1252"))
    with pytest.raises(InputError, match=rf"line 2 is not .*0xfa at its position 4; {help_with}"):
        open_source(path)
    path = tmp_path / "x.json"
    path.write_bytes('[{"answer": "a",\n "output": "5 €"}]'.encode("cp1252"))
    with pytest.raises(InputError, match=rf"x\.json line 2 is not UTF-8 text \(the byte 0x80\); {help_with}\.$"):
        open_source(path)
