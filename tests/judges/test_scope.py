"""What a judge knows: rows outside of it say so, and are counted, and their scores stay as they are."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.cli import main
from bert_judge.errors import InputError
from bert_judge.reading import LANGUAGES, JudgeConfig, Scope
from bert_judge.results.summary import Tally
from conftest import Command, MakeJudge, Refused
from json_lines import read_rows, write_rows
from tables import table

ENGLISH = Scope(("en",), 150)
GERMAN = "Die Stadt liegt an der Elbe, und sie ist nach Berlin die größte von Deutschland."


def test_languages_are_told_by_letters_and_words_of_grammar(subtests: pytest.Subtests) -> None:
    for expected, text in table("outside")["languages"]:
        with subtests.test(text=text):
            assert ENGLISH.reason(Sample(text, ("42",))) == expected
            assert ENGLISH.reason(Sample("42", (text,))) == expected
            assert ENGLISH.reason(Sample("42", ("42",), text)) == expected


def test_names_numbers_formulas_and_code_are_in_no_other_language(subtests: pytest.Subtests) -> None:
    for text in table("outside")["inside"]:
        with subtests.test(text=text):
            assert ENGLISH.reason(Sample(text, (text or "42",), text)) is None


def test_any_of_the_languages_may_be_the_judges(subtests: pytest.Subtests) -> None:
    codes = {language.name: code for code, language in LANGUAGES.items()}
    for expected, text in table("outside")["languages"]:
        name = expected.removeprefix("in ")
        with subtests.test(text=text):
            if name in codes:
                assert Scope(("en", codes[name])).reason(Sample(text, ("42",))) is None
                assert Scope(("ru",)).reason(Sample(text, ("42",))) == "in Latin script"
    for text, *codes in [("Столица — Париж.", "ru"), ("東京の人口", "ja"), ("42, x = 5", "ru"), ("水", "zh", "en")]:
        assert Scope(tuple(codes)).reason(Sample(text, ("42",))) is None


def test_one_reference_that_the_judge_knows_is_enough(subtests: pytest.Subtests) -> None:
    long = "with a reference of over 150 words"
    for candidate, references, expected in [
        ("Moscow", ["Москва"], "in Cyrillic script"),
        ("Москва", ["Moscow"], "in Cyrillic script"),
        ("Moscow", ["Москва", "Moscow"], None),
        ("Moscow", ["word " * 151, "Moscow"], None),
        ("yes", ["word " * 150, "a " * 200], None),
        ("yes", ["word " * 151, "a " * 200], long),
    ]:
        with subtests.test(candidate=candidate, references=references):
            assert ENGLISH.reason(Sample(candidate, tuple(references))) == expected
    assert Scope(("en",)).reason(Sample("yes", ("word " * 151,))) is None
    assert Scope(reference_words=150).reason(Sample(GERMAN, ("42",))) is None


def test_a_scope_that_nobody_can_check_is_refused(refused: Refused) -> None:
    with refused("the language 'xx' can't be told from others; known: ", error=InputError):
        Scope(("en", "xx"))
    with refused("reference_words is 0; a number of at least 1 was expected.", error=InputError):
        Scope(reference_words=0)


def test_the_starter_says_which_rows_it_does_not_know(starter: BERTJudge) -> None:
    rows = [Sample(GERMAN, ("Hamburg",)), Sample("Hamburg", ("Hamburg",)), Sample("Hamburg", ("Hamburg " * 200,))]
    verdicts = list(starter.assess(rows))
    assert [verdict.out_of_scope for verdict in verdicts] == ["in German", None, "with a reference of over 150 words"]
    assert all(verdict.score is not None for verdict in verdicts)


def test_a_scope_changes_no_score_and_no_signature(make_judge: MakeJudge, tmp_path: Path) -> None:
    folder, rows = Path(shutil.copytree(make_judge("bert"), tmp_path / "judge")), [Sample(GERMAN, ("Hamburg",), "Wo?")]
    JudgeConfig().save(folder)
    silent = BERTJudge(str(folder))
    before, signature = list(silent.assess(rows)), silent.info.signature
    assert before[0].out_of_scope is None
    JudgeConfig(scope=ENGLISH).save(folder)
    assert JudgeConfig.load(folder).scope == ENGLISH
    after = BERTJudge(str(folder))
    assert after.info.signature == signature
    assert list(after.assess(rows)) == [replace(before[0], out_of_scope="in German")]


def test_rows_outside_are_counted_with_the_accuracy_of_the_others() -> None:
    rows = [("in German", 1, 0), ("in German", 0, 1), ("in Han script", 1, 1), (None, 1, 1), (None, 0, 0), (None, 1, 0)]
    records = []
    for i, (reason, gold, label) in enumerate(rows):
        outside = {"out_of_scope": reason} if reason else {}
        records.append({"id": str(i), "score": 0.5, "label": label, "gold": gold, **outside})
    counts = Tally(records).summary().out_of_scope
    assert (counts.rows, counts.reasons) == (3, {"in German": 2, "in Han script": 1})
    assert (counts.accuracy, counts.agreement) == (1 / 3, 2 / 3)
    assert Tally(records[3:]).summary().out_of_scope is None
    alone = Tally([{"id": "1", "score": 0.5, "label": None, "out_of_scope": "in German"}]).summary().out_of_scope
    assert (alone.accuracy, alone.agreement) == (None, None)


def test_the_table_run_json_show_and_report_have_them(folder: Path, command: Command) -> None:
    candidates = [GERMAN, "It is Hamburg.", "它是汉堡。", GERMAN + " Ja."]
    write_rows("rows.jsonl", [{"reference": "Hamburg", "candidate": text, "label": 1} for text in candidates])
    status, out, _ = command("score", "rows.jsonl", "--output_dir", "out")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert status == 0
    assert "out of scope 3: 2 in German, 1 in Han script" in lines
    assert lines.count("100.0% without rows out of scope") == 2
    run = json.loads(Path("out/run.json").read_text())
    assert run["summary"]["out_of_scope"]["reasons"] == {"in German": 2, "in Han script": 1}
    reasons = [record.get("out_of_scope") for record in read_rows("out/verdicts.jsonl")]
    assert reasons == ["in German", None, "in Han script", "in German"]
    shown = command("show", "out", "--out_of_scope")[1]
    assert "out: 3 of 4 rows (out of scope)" in shown
    assert "scope       out of scope: in German" in shown
    assert main(["report", "out", "-o", "page.html", "--quiet"]) == 0
    assert "3: 2 in German, 1 in Han script" in Path("page.md").read_text()
    assert "3: 2 in German, 1 in Han script" in Path("page.html").read_text()
