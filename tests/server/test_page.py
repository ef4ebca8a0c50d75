"""The page at / and its routes, over HTTP and in a browser: trying an answer."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.judges import BERTScore, RegexJudge
from served import Rule, ask, served

CANDIDATE = "I first thought of Sydney, but it is Canberra."
ROW = {"question": "What is the capital of Australia?", "reference": "Canberra", "candidate": CANDIDATE}
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


def test_the_page_needs_no_key_but_its_routes_do(starter: BERTJudge) -> None:
    with served({"starter": starter}, keys=["secret"]) as url:
        for path in ("/", "/page.css", "/page.js"):
            status, _, headers = ask(url, path)
            assert (status, headers["X-Content-Type-Options"]) == (200, "nosniff")
            assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert ask(url, "/v1/explain", ROW)[0] == 401


def test_an_answer_is_tried_in_a_browser(browser: Any, url: str) -> None:
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
    page.fill("#candidate", "It's `Canberra`: $HOME\n\\n")
    page.click("#judge")
    page.click("summary")
    page.click("#copy")
    page.get_by_role("button", name="Copied").wait_for()
    words = shlex.split(page.inner_text("#request"))
    assert words[:2] == ["curl", f"{url}/v1/systemone"]
    status, answer, _ = ask(url, "/v1/systemone", words[words.index("-d") + 1])
    assert (status, list(answer["answers"])) == (200, ["correct"])
    assert json.loads(words[words.index("-d") + 1])["state"]["output"] == "It's `Canberra`: $HOME\n\\n"
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    assert errors == []
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
