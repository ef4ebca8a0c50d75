"""The page at / and its routes, over HTTP and in a browser: trying an answer, the report of a file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.judges import BERTScore, RegexJudge
from json_lines import EXAMPLES
from served import Rule, Slow, ask, figure, served
from waiting import wait_until

ROW = {
    "question": "What is the capital of Australia?",
    "reference": "Canberra",
    "candidate": "I first thought of Sydney, but it is Canberra.",
}
LOGS = Path(__file__).parents[1] / "logs" / "lm_eval"
SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def url(starter: BERTJudge) -> Iterator[str]:
    with served({"starter": starter, "containment": RegexJudge("none", "containment")}) as address:
        yield address


def test_explanations_are_those_of_explain(url: str, starter: BERTJudge) -> None:
    status, body, _ = ask(url, "/v1/explain", {**ROW, "id": "x"})
    assert (status, body["id"], body["judge"], body["label"]) == (200, "x", "starter", 1)
    explanation = starter.explain(Sample(ROW["candidate"], (ROW["reference"],), ROW["question"]))
    assert [part["text"] for part in body["carrying"]] == [part.text for part in explanation.carrying()]
    effects = [part.effect for part in explanation.words]
    assert [part["effect"] for part in body["words"]] == pytest.approx(effects, abs=1e-2)
    assert ask(url, "/v1/explain", {**ROW, "candidate": ""})[1]["carrying"] == []
    assert ask(url, "/v1/explain", {"candidate": "Canberra"})[0] == 422


def test_a_file_gets_its_report(url: str) -> None:
    status, body, _ = ask(url, "/v1/report?name=..%2F..%2Fanswers.jsonl", EXAMPLES.read_bytes())
    assert (status, body["rows"], body["set_aside"]) == (200, 98, {})
    page = ask(url, body["page"])[1]
    assert "answers.jsonl" in page
    assert "agreement with human labels" in page
    assert "/bert-judge-" not in page  # where the file lay
    status, body, _ = ask(url, "/v1/report?name=rows.jsonl&judge=containment", json.dumps(ROW) + "\nnonsense\n")
    assert (status, body["rows"], body["set_aside"]) == (200, 1, {"that can't be read": 1})


def test_unjudgeable_rows_of_a_saved_run_are_counted(url: str) -> None:
    kinds = [next(LOGS.rglob(f"samples_local_{task}_*.jsonl")) for task in ("qa", "mc")]
    body = b"".join(path.read_bytes() for path in kinds)
    kept = "with another score of the same answer, which is kept"
    aside = {kept: 4, "of log-likelihoods, without a generated answer": 4}
    status, answer, _ = ask(url, "/v1/report?name=samples_x.jsonl", body)
    assert (status, answer["rows"], answer["set_aside"]) == (200, 4, aside)


def test_files_that_get_no_report(starter: BERTJudge) -> None:
    with served({"starter": starter}, max_file_rows=50, max_text=2000) as url:
        long = json.dumps({**ROW, "candidate": "x" * 2001})
        for body, expected, message in [
            (EXAMPLES.read_bytes(), 413, "a.jsonl has more than 50 rows, the most allowed here; bert-judge"),
            ("nonsense", 422, "a.jsonl"),
            ('{"question": "Where?", "candidate": "Here."}', 422, "has no column for the reference"),
            ("", 422, "a.jsonl"),
            (long, 413, "a.jsonl row 1 has 2,001 characters in a text; up to 2,000 are taken"),
            (gzip.compress(json.dumps(ROW).encode()), 422, "a.jsonl is compressed"),
        ]:
            status, answer, _ = ask(url, "/v1/report?name=a.jsonl", body)
            assert (status, message in json.dumps(answer)) == (expected, True), answer
            assert "/tmp" not in json.dumps(answer)
        assert ask(url, "/v1/report?name=a.jsonl&judge=other", "{}")[0] == 404
        for kind in ("text/plain", "application/x-www-form-urlencoded", "Multipart/Form-Data; boundary=x", ""):
            # Pages of other sites may send these without a preflight request.
            status, answer, _ = ask(url, "/v1/report", json.dumps(ROW), Content_Type=kind)
            assert (status, "octet-stream" in answer["error"]["message"]) == (422, True)


def test_a_file_may_have_any_name(url: str, subtests: pytest.Subtests) -> None:
    odd = ["a%00b.jsonl", "result", "report.html", "..", "a%5Cb%22%3Ci%20x%3E", "%ED%A0%80"]
    for name in (*odd, "a" * 5000, "%F0%A0%80%80" * 99):
        with subtests.test(name=name):
            status, body, _ = ask(url, f"/v1/report?name={name}", json.dumps(ROW))
            assert (status, body["rows"]) == (200, 1)
            assert "<i x>" not in ask(url, body["page"])[1]


def test_a_report_ends_when_its_client_is_gone() -> None:
    slow = Slow(held=True)
    rows = "".join(json.dumps({**ROW, "id": number}) + "\n" for number in range(640))
    with served({"slow": slow}, batch_rows=16) as url:
        connection = HTTPConnection(urlsplit(url).netloc)
        connection.request("POST", "/v1/report?name=a.jsonl", rows, {"Content-Type": "application/octet-stream"})
        wait_until(lambda: slow.batches, "the first rows are judged")
        connection.close()
        wait_until(lambda: figure(url, 'bert_judge_dropped_rows_total{judge="slow"}'), "its other rows are dropped")
        slow.let_through()
        assert ask(url, "/v1/report?name=b.jsonl", json.dumps(ROW))[0] == 200
        assert slow.batches == [16, 1]


def test_a_report_of_a_file_larger_than_the_queue(starter: BERTJudge) -> None:
    with served({"starter": starter}, max_rows=16, queue_rows=64) as url:
        assert ask(url, "/v1/report?name=a.jsonl", EXAMPLES.read_bytes())[1]["rows"] == 98


def test_the_page_needs_no_key_but_its_routes_do(starter: BERTJudge) -> None:
    with served({"starter": starter}, keys=["secret"]) as url:
        for path in ("/", "/page.css", "/page.js"):
            status, _, headers = ask(url, path)
            assert (status, headers["X-Content-Type-Options"]) == (200, "nosniff")
            assert "default-src 'none'" in headers["Content-Security-Policy"]
        for path in ("/v1/explain", "/v1/report"):
            assert ask(url, path, ROW)[0] == 401
        path = "/v1/report?name=answers.jsonl"
        page = ask(url, path, EXAMPLES.read_bytes(), Authorization="Bearer secret")[1]["page"]
        assert ask(url, page)[0] == 200  # its address is the secret


def test_an_answer_is_tried_in_a_browser(browser: Any, url: str, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(url)
    page.locator("#judges", has_text="containment").wait_for()
    page.fill("#candidate", f"🙂 It is Canberra. {SCRIPT}")
    page.press("#candidate", "Control+Enter")
    page.wait_for_selector("#why:not([hidden])")
    assert page.locator("#verdicts li").count() >= 2
    assert "correct" in page.inner_text("#verdicts li:nth-child(2)")
    assert SCRIPT in page.inner_text("#carried")
    assert page.title() == "Try an answer · bert-judge"
    page.fill("#candidate", "🙂 I think that it is Canberra.")
    page.click("#judge")
    page.wait_for_selector("#carried mark.for")
    assert "Canberra" in page.inner_text("#carried mark.for")
    page.set_input_files("#file", str(EXAMPLES))
    link = page.locator("#files a")
    link.wait_for()
    assert "98 rows judged by starter" in page.inner_text("#files li")
    with page.context.expect_page() as opened:
        link.click()
    report = opened.value
    report.wait_for_selector("text=answers.jsonl")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert errors == []
    report.close()
    page.close()


def test_a_key_is_asked_for_in_the_browser(browser: Any, starter: BERTJudge) -> None:
    with served({"starter": starter}, keys=["secret"]) as url:
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#key-form:not([hidden])")
        page.wait_for_load_state("networkidle")
        assert not page.is_visible("#error")  # nobody has typed a key yet
        page.click("#judge")
        page.wait_for_load_state("networkidle")
        assert not page.is_visible("#error")
        page.fill("#key", "wrong")
        page.press("#key", "Enter")
        page.wait_for_selector("#error:not([hidden])")
        assert "key" in page.inner_text("#error")
        page.fill("#key", "secret")
        page.press("#key", "Enter")
        page.locator("#judges", has_text="starter").wait_for()
        assert not page.is_visible("#key-form")
        assert not page.is_visible("#error")
        page.close()


def test_judges_of_all_kinds_stand_beside_each_other(browser: Any, starter: BERTJudge) -> None:
    judges = {"starter": starter, "BERTScore": BERTScore(), "polite": Rule(lambda candidate: "zzz" not in candidate)}
    with served(judges) as url:
        page = browser.new_page()
        page.goto(url)
        page.locator("#judges", has_text="polite").wait_for()
        page.fill("#references", "")
        page.click("#judge")
        page.wait_for_selector("#verdicts li:nth-child(1).refused")
        assert "no reference" in page.inner_text("#verdicts li:nth-child(1)")
        page.locator("#verdicts li:nth-child(3) span.score").wait_for()
        page.close()
