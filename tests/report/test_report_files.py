"""What is written: the page's rows as they are read again, its policy, and the figures beside it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bert_judge import Sample
from bert_judge.errors import OutputError
from bert_judge.reading import match
from bert_judge.records import Signature, Verdict
from bert_judge.report import write_report
from bert_judge.report.rows import CHUNK
from saved_runs import LARGE, answers, make_run, says

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> ${title} & \u2028"


def read(page: Path, name: str) -> Any:
    """The columns or a chunk of a page."""
    script = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(script[1])))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(samples: list[Sample], verdicts: list[Verdict], **settings: Any) -> Path:
        path = tmp_path / "report.html"
        write_report([make_run(tmp_path / "out", samples, verdicts)], path, **settings)
        return path

    return write


def spans(text: str, gaps: list[int]) -> list[str]:
    marked, at = [], 0
    for before, length in zip(gaps[::2], gaps[1::2], strict=True):
        marked.append(text[at + before : at + before + length])
        at += before + length
    return marked


def test_all_rows_can_be_read_again(written: Callable[..., Path]):
    count = CHUNK + 3
    samples = [
        Sample(f"answer {i} \ud800 é 北", ("north", f"r{i % 2}"), f"question {i % 5}", f"id{i}", i % 2, {"n": [i]})
        for i in range(count)
    ]
    page = written(samples, says(*(None if i == 7 else i / count for i in range(count))))
    columns, chunks = read(page, "columns"), [read(page, "texts-0"), read(page, "texts-1")]
    assert columns["gold"] == ("01" * count)[:count]
    assert columns["verdict"][0][7] == "?"
    assert columns["score"][0][:9] == [round(i / count, 4) if i != 7 else None for i in range(9)]
    assert [len(chunk["id"]) for chunk in chunks] == [CHUNK, 3]
    assert chunks[0]["candidate"][3] == samples[3].candidate
    assert chunks[1]["id"] == [f"id{i}" for i in range(CHUNK, count)]
    assert chunks[0]["question"][:7] == [*(f"question {i}" for i in range(5)), 0, 1]  # the row that has it
    assert chunks[1]["references"] == [0, 1, 0]
    assert chunks[0]["more"][4] == {"n": [4]}


def test_marks_are_the_evidence_of_the_matched_reference(written: Callable[..., Path]):
    candidate, references = "😀 It was nine, or Cafés, 1,000.0 of them", ("x 1000 z", "the 9 cafe", "nothing")
    samples = [Sample(candidate, references, "q")] * 2
    page = written(samples, [Verdict(1.0, 1, matched_reference=0), Verdict(1.0, 1)])
    told, computed = read(page, "texts-0")["marks"]
    assert (told[0], spans(candidate, told[1]), spans(references[0], told[2])) == (0, ["1,000.0"], ["1000"])
    best = match(candidate, references).best_reference
    assert (computed[0], spans(candidate, computed[1])) == (best, ["nine", "Cafés"])
    assert spans(references[1], computed[2]) == ["9", "cafe"]


def test_explanation_details_and_what_was_cut_are_there(written: Callable[..., Path]):
    details = {"logit": -1.23456789, "reply": "no", "rules": {"a": [0.5]}}
    verdict = Verdict(0.25, 0, "too short", 0, {"candidate": 9}, details, out_of_scope="in German")
    page = written(answers("a", "b", "c"), [verdict, Verdict(0.5, 1, matched_reference=0), Verdict(0.5, 1)])
    shares = "none of the reference's words, although it is judged correct"
    first = {"explanation": "too short", "matched": 0, "truncated": {"candidate": 9}, "out_of_scope": "in German"}
    second = {"matched": 0, "shares": shares}
    assert read(page, "texts-0")["verdicts"] == [[{**first, "details": {**details, "logit": -1.2346}}], [second], [0]]
    assert read(page, "columns")["cut"] == read(page, "columns")["out_of_scope"] == ["1  "]


def test_a_page_that_would_be_too_large_shows_the_answers_to_some_questions(written: Callable[..., Path]):
    samples = [Sample("a" * 1000, ("r",), f"q{i // 2}", str(i)) for i in range(20)]
    page = written(samples, says(*[1.0] * 20), budget=10_500)
    shown = read(page, "texts-0")["id"]
    assert len(shown) == 10 and {int(row) // 2 for row in shown} == {int(row) // 2 for row in shown[::2]}
    assert read(page, "columns")["verdict"] == ["1" * 10]
    text = page.read_text(encoding="utf-8")
    assert "it shows 10 of the 20 answers, whole questions at random" in text and "<p>20 answers</p>" in text
    assert len(read(written(samples, says(*[1.0] * 20), budget=10), "texts-0")["id"]) == 1


def test_no_text_becomes_markup_and_nothing_is_fetched(written: Callable[..., Path], tmp_path: Path):
    sample = Sample(HOSTILE, (HOSTILE,), HOSTILE, HOSTILE, 1, {"task": HOSTILE, "model": HOSTILE})
    page = written([sample, Sample("b", ("b",), meta={"task": "$facts"})], says(1, 0), title=HOSTILE)
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text
    assert "alert(1)</script" not in text
    assert html.escape(HOSTILE) in text
    assert set(re.findall(r'(?:src|href)="([^"#]*)"', text)) == {"data:,"}
    assert "@import" not in text
    facts = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert json.loads(facts[1])["facets"][0]["levels"] == ["$facts", HOSTILE]
    assert "<h1>&lt;/script" in text
    assert HOSTILE not in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "report.json").read_text())["title"] == HOSTILE


def test_the_policy_lets_this_script_and_style_run_and_no_other(written: Callable[..., Path]):
    text = written(answers("a"), says(1)).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    for name, pattern in (("script", r"<script>(.*?)</script>"), ("style", r"<style>(.*?)</style>")):
        (content,) = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"\sstyle=|\son\w+=\"", text.split("<script")[0])  # the policy would refuse these


def test_the_page_tells_the_figures_without_a_script(tmp_path: Path):
    samples = answers("a", "b", "c", "d", golds="110 ", task="t", model="m")
    small = make_run(tmp_path / "small", samples, says(0.9, 0.4, 0.6, None))
    large = make_run(tmp_path / "large", samples, says(0.9, 0.9, 0.1, 0.1), LARGE)
    write_report([small, large], tmp_path / "r.html")
    text = re.sub(r"<script.*?</script>", "", (tmp_path / "r.html").read_text(encoding="utf-8"), flags=re.DOTALL)
    words = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)))
    for expected in (
        "4 answers, 2 judges; 3 with human labels, 66.7% of these correct",
        "66.7% [9.4, 97.5]",
        "judge: correct",
        "bert-judge score 'my answers.jsonl'",
        "model:large",
        "weights:34cd",
        "2 answers have different labels",
    ):
        assert expected in " ".join(words.split())
    assert text.count('class="chart"') == 4  # two histograms, two reliability diagrams


def test_markdown_and_json_have_the_same_figures_each_time(tmp_path: Path):
    run = make_run(tmp_path / "out", answers("a", "b", golds="10"), says(0.9, 0.8))
    report = write_report([run], tmp_path / "r.html")
    text, record = (tmp_path / "r.md").read_text(), json.loads((tmp_path / "r.json").read_text())
    (agreement,) = report.data("agreement")
    assert agreement.agreement.accuracy.value == record["agreement"][0]["agreement"]["accuracy"]["value"] == 0.5
    assert record["judges"][0]["right"]["value"] == 1.0
    assert "| agreement with human labels | 50.0% [5.5, 94.5] |" in text
    assert "bert-judge score 'my answers.jsonl'" in text
    assert "95 % intervals, by question where questions have several answers" in text
    for name in ("a.html", "b.html"):
        write_report([run], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_each_judge_is_told_with_its_folder(tmp_path: Path):
    other = Signature.make("BERTJudge", model="starter", weights="other")
    runs = [
        make_run(tmp_path / name, answers(name), says(1), signature, sha=name)
        for name, signature in {"a1": LARGE, "a2": LARGE, "b": other}.items()
    ]
    write_report(runs, tmp_path / "r.html", notes=["told before"])
    text, words = (tmp_path / "r.html").read_text(encoding="utf-8"), (tmp_path / "r.md").read_text().replace("\\", "")
    cards = re.findall(r'<article class="card">.*?</article>', text, re.DOTALL)
    a1, a2, b = (str(tmp_path / name) for name in ("a1", "a2", "b"))
    for card, told in zip(cards[-2:], (f"{a1} and 1 more", b), strict=True):  # after those of two models, a1 and a2
        assert f"<dt>result</dt><dd>{told}</dd>" in card
    for folders in (f"{a1}, {a2}", b):
        assert f"- result: `{folders}`\n" in words
    assert "<li>told before</li>" in text


def test_the_title_is_the_name_of_the_input(tmp_path: Path):
    candidates = {"path": "c/gsm8k/Llama_1B/candidates.json", "format": "candidates"}
    first = make_run(tmp_path / "a", answers("a"), says(1))
    second = make_run(tmp_path / "b", answers("b"), says(1), input=candidates)
    write_report([first, second], tmp_path / "r.html")
    assert "<h1>answers.jsonl, gsm8k, Llama_1B</h1>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_where_it_cannot_be_written_is_told(tmp_path: Path):
    run = make_run(tmp_path / "out", answers("a"), says(1))
    for path, message in [
        ("report.pdf", r"a file that ends with \.html was expected"),
        ("out/run.json/report.html", "can't be written"),
        ("typo/new/report.html", "typo is not there; make it, or choose another file"),
    ]:
        with pytest.raises(OutputError, match=message):
            write_report([run], tmp_path / path)
    assert not (tmp_path / "typo").exists()
    assert not list(tmp_path.rglob("*.partial"))
