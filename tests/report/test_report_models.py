"""The page of several models in headless Chromium: the grid, counts that are filters, a reader's labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from bert_judge import Sample
from bert_judge.records import Row, Verdict
from bert_judge.report import write_report
from bert_judge.studies.table import VerdictTable, collect
from report_pages import ALL_READ, FAINT, opened_pages
from saved_runs import LARGE, STARTER, make_run

QUESTIONS = 60
HOSTILE = "<img src=x onerror=window.pwned=1></script><script>window.pwned=1</script>"
MODELS = ("alpha", "beta", HOSTILE)
ANSWERS = len(MODELS) * QUESTIONS
WORDS = {1: "✓ correct", 0: "✗ incorrect", None: "? undecided"}
Shown = Callable[..., Any]


def _verdict(question: int, model: int, judge: int) -> Verdict:
    if (question, model, judge) == (5, 1, 0):
        return Verdict(None)
    score = round((question * 37 + model * 53 + judge * 11) * 29 % 997 / 997, 4)
    return Verdict(score, int(score >= 0.45), out_of_scope="in German" if question == 7 else None)


def _sample(question: int, model: int) -> Sample:
    candidate = HOSTILE if question == 2 else f"{MODELS[model][:4]} says {question}"
    gold = None if question % 2 else int((question + model) % 3 > 0)
    return Sample(candidate, ("yes", "no"), f"Question {question} {HOSTILE}", f"q{question}", gold)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VerdictTable]:
    """A page of three models and two judges, and the table behind it: model after model, question after question."""
    folder = tmp_path_factory.mktemp("models")
    pairs = [(question, model) for model in range(len(MODELS)) for question in range(QUESTIONS)]
    samples = [_sample(*pair) for pair in pairs]
    named = [
        Sample(sample.candidate, sample.references, sample.question, sample.id, sample.gold, {"model": MODELS[model]})
        for sample, (_, model) in zip(samples, pairs, strict=True)
    ]
    runs = [
        make_run(folder / name, named, [_verdict(*pair, judge) for pair in pairs], signature)
        for judge, (name, signature) in enumerate({"small": STARTER, "large": LARGE}.items())
    ]
    write_report(runs, folder / "report.html")
    return folder / "report.html", collect(runs)


@pytest.fixture(scope="module")
def shown(browser: Any, made: tuple[Path, VerdictTable]) -> Iterator[Shown]:
    with opened_pages(browser, made[0]) as show:
        yield show


@pytest.fixture(scope="module")
def page(shown: Shown) -> Any:
    return shown()


@pytest.fixture
def fresh(page: Any) -> Any:
    """One page for tests that begin with a reset."""
    page.evaluate("part('detail').close(); part('filters').reset()")
    _counted(page, f"{QUESTIONS} questions, {ANSWERS} answers")
    return page


def _counted(page: Any, words: str) -> None:
    page.wait_for_function("words => part('count').textContent === words", arg=words)


def _fitting(page: Any, questions: int, answers: int) -> None:
    """Wait until so many fit."""
    of = f"{QUESTIONS} questions" if questions == QUESTIONS else f"{questions} of {QUESTIONS} questions"
    _counted(page, f"{of}; {answers} of {ANSWERS} answers match")


def _label(table: VerdictTable, judge: int, model: int, question: int) -> int | None:
    row = table.judges[judge].verdicts[model * QUESTIONS + question]
    assert row is not None
    return row.label


def _rows(table: VerdictTable, judge: int = 0) -> list[tuple[int, Row, Row]]:
    """The place of each answer, what a judge says of it, and the answer."""
    places = range(ANSWERS)
    return [*zip(places, table.judges[judge].verdicts, table.rows, strict=True)]


def _lines(places: Iterable[int]) -> list[int]:
    return sorted({place % QUESTIONS for place in places})


def test_a_line_is_a_question_and_a_column_a_model(fresh: Any, made: tuple[Path, VerdictTable]):
    heads = fresh.locator("#table thead th").all_inner_texts()
    assert [head.split(" ")[0] for head in heads] == ["#", "question", "reference", "alpha", "beta", "<img"]
    for question in (0, 5, 7):
        cells = fresh.locator(f"#table tbody tr >> nth={question} >> td.model")
        for model, text in enumerate(cells.all_inner_texts()):
            assert text.startswith(WORDS[_label(made[1], 0, model, question)])
            assert _sample(question, model).candidate in text
            assert ("out of scope" in text) == (question == 7)
    assert "doubtful" in fresh.locator("#table tbody tr >> nth=5 >> td.model >> nth=1").inner_text()  # undecided
    assert len({fresh.locator(f"#table td.is-{kind}-cell").first.evaluate(_BACKGROUND) for kind in _KINDS}) == 3
    fresh.select_option("#f-view", label="one answer per line")
    _counted(fresh, f"{ANSWERS} answers")
    assert fresh.locator("#table tbody tr").count() == 25
    assert fresh.locator("#table thead th", has_text="candidate").count() == 1


_BACKGROUND = "cell => getComputedStyle(cell).backgroundColor"
_KINDS = ("right", "wrong", "undecided")


def test_cards_and_differences_stand_above(fresh: Any, made: tuple[Path, VerdictTable]):
    cards = fresh.locator("#overview .card").all_inner_texts()
    names = [card.split("\n")[0] for card in cards]
    assert sorted(names[:3]) == sorted(MODELS)
    assert names[3:] == ["small", "large"]
    rates = []
    for name, card in zip(names[:3], cards, strict=False):
        labels = [_label(made[1], 0, MODELS.index(name), question) for question in range(QUESTIONS)]
        known = [label for label in labels if label is not None]
        rates.append(sum(known) / len(known))
        assert f"{rates[-1]:.1%}" in card
    assert rates == sorted(rates, reverse=True)
    assert "second minus first" in fresh.inner_text("#overview")
    assert [
        text.startswith(f"By {judge}, ")
        for judge, text in zip(
            ("small", "large", "human labels"), fresh.locator(".lead").all_inner_texts(), strict=True
        )
    ] == [True] * 3


def test_the_cells_of_a_confusion_table_are_filters(fresh: Any, made: tuple[Path, VerdictTable]):
    for judge, name in enumerate(("small", "large")):
        for human in (1, 0):
            for label in (1, 0):
                rows = [i for i, verdict, row in _rows(made[1], judge) if (row.gold, verdict.label) == (human, label)]
                button = fresh.locator(
                    f".confusion td[data-judge={name}][data-human='{human}'][data-verdict='{label}'] button"
                )
                assert button.inner_text().split()[0] == str(len(rows))
                button.click()
                _fitting(fresh, len(_lines(rows)), len(rows))
                assert button.get_attribute("aria-pressed") == "true"
                assert fresh.evaluate("part('f-judge').value") == str(judge)
                assert fresh.locator("[aria-pressed=true]").count() >= 1
    button.click()  # once more: all again
    _counted(fresh, f"{QUESTIONS} questions, {ANSWERS} answers")
    assert button.get_attribute("aria-pressed") == "false"


def test_the_bars_of_a_histogram_are_filters(fresh: Any, made: tuple[Path, VerdictTable]):
    bars = fresh.locator(".chart .scores[data-judge=small]")
    assert bars.count() == 20
    total = 0
    for place in range(20):
        bar = bars.nth(place)
        low, high = place / 20, (place + 1) / 20
        scores = {i: verdict.score for i, verdict, _ in _rows(made[1]) if verdict.score is not None}
        rows = [i for i, score in scores.items() if low <= score + 1e-9 < high + (high == 1)]
        total += len(rows)
        assert bar.get_attribute("data-count") == str(len(rows))
        bar.press("Enter") if place % 2 else bar.dispatch_event("click")
        _fitting(fresh, len(_lines(rows)), len(rows))
        assert bar.get_attribute("aria-pressed") == "true"
        assert fresh.evaluate("document.activeElement.id") == "count"  # where what is shown is told
    assert total == ANSWERS - 1


def test_one_model_right_and_the_other_wrong(fresh: Any, shown: Shown, made: tuple[Path, VerdictTable]):
    for right, wrong in permutations(range(3), 2):
        questions = [
            question
            for question in range(QUESTIONS)
            if (_label(made[1], 0, right, question), _label(made[1], 0, wrong, question)) == (1, 0)
        ]
        button = fresh.locator(f"#versus tbody tr >> nth={right} >> td >> nth={wrong} >> button")
        assert button.inner_text() == str(len(questions))
        button.click()
        _fitting(fresh, len(questions), 2 * len(questions))
        lines = fresh.locator("#table tbody tr td.n").all_inner_texts()
        assert [int(line) - 1 for line in lines] == questions[:25]
    fragment = fresh.evaluate("location.hash")
    assert "right+by=" in fragment
    other = shown(fragment)
    assert other.inner_text("#count") == fresh.inner_text("#count")
    fresh.select_option("#f-right", label="alpha · large")  # runs are named by model and judge
    fresh.select_option("#f-wrong", label="alpha · small")
    questions = [q for q in range(QUESTIONS) if _label(made[1], 1, 0, q) == 1 and _label(made[1], 0, 0, q) == 0]
    _fitting(fresh, len(questions), len(questions))


def test_of_a_long_answer_the_grid_shows_both_ends(browser: Any, tmp_path: Path):
    long = f"Good question! {'Let me think about it step by step. ' * 20}So the capital must be Rome."
    runs = [
        make_run(tmp_path / name, [Sample(text, ("Rome",), "Capital?", "1")], [Verdict(1.0, 1)], sha=name)
        for name, text in (("short", "Rome"), ("long", long))
    ]
    write_report(runs, tmp_path / "r.html")
    with opened_pages(browser, tmp_path / "r.html") as show:
        seen = show("").locator("#table td.model .clip").all_inner_texts()
        assert seen[0] == "Rome"
        assert seen[1].startswith("Good question! Let me")
        assert seen[1].endswith("So the capital must be Rome.")
        assert len(seen[1]) < 200


def test_right_before_and_wrong_now(browser: Any, tmp_path: Path):
    """The same file, made anew: its two runs are called as their folders."""
    before, now = ("1110", "1011")
    texts = ("Paris", "Rome", "Bern", "Oslo")
    runs = [
        make_run(
            tmp_path / name,
            [Sample(f"{text} {name}", (text,), f"Capital {place}?", str(place)) for place, text in enumerate(texts)],
            [Verdict(float(letter), int(letter)) for letter in letters],
            sha=name,
        )
        for name, letters in (("before", before), ("now", now))
    ]
    write_report(runs, tmp_path / "r.html")
    with opened_pages(browser, tmp_path / "r.html") as show:
        page = show("#right+by=before&wrong+by=now")
        assert page.inner_text("#count") == "1 of 4 questions; 2 of 8 answers match"
        assert page.locator("#table td.model .clip").all_inner_texts() == ["Rome before", "Rome now"]
        assert page.locator("#versus [aria-pressed=true]").inner_text() == "1"


def test_quick_filters_tell_how_many_there_are(fresh: Any, made: tuple[Path, VerdictTable]):
    doubtful = [
        i
        for i, verdict, _ in _rows(made[1])
        if verdict.score is None or verdict.verdict.out_of_scope or abs((verdict.label or 0) - verdict.score) >= 0.2
    ]
    apart = [q for q in range(QUESTIONS) if {0, 1} <= {_label(made[1], 0, model, q) for model in range(3)}]
    for words, questions, answers in [
        ("doubtful", _lines(doubtful), len(doubtful)),
        ("models differ", apart, 3 * len(apart)),
    ]:
        button = fresh.locator("#quick button", has_text=words)
        assert button.inner_text() == f"{words} {len(questions) if words != 'doubtful' else answers}"
        button.click()
        _fitting(fresh, len(questions), answers)


def test_what_sorts_is_marked(fresh: Any, made: tuple[Path, VerdictTable]):
    scores = [made[1].judges[0].verdicts[QUESTIONS + question].score for question in range(QUESTIONS)]
    decided = [question for question in range(QUESTIONS) if scores[question] is not None]
    mark = "button => getComputedStyle(button, '::after').content"
    button = fresh.locator("#table thead button", has_text="beta")
    for order, sign, arrow in (("descending", -1, "↓"), ("ascending", 1, "↑"), ("none", 0, "⇅")):
        button.click()
        fresh.wait_for_selector(f"#table th[aria-sort={order}]:has-text('beta')")
        assert arrow in button.evaluate(mark)
        expected = sorted(decided, key=lambda question: sign * scores[question]) if sign else [*range(QUESTIONS)]
        assert [int(line) - 1 for line in fresh.locator("#table tbody td.n").all_inner_texts()] == expected[:25]
        assert fresh.input_value("#f-sort") == {-1: "m1+", 1: "m1-", 0: ""}[sign]
    fresh.select_option("#f-sort", label="most doubtful first")
    fresh.wait_for_function("() => state.sort === 'doubt'")
    assert fresh.locator("#table tbody td.n").first.inner_text() == "6"  # the undecided one


def test_keys_in_the_grid(fresh: Any):
    here = "(() => { const { activeElement: e } = document; return [e.closest('tr')?.rowIndex, e.dataset.model]; })()"
    fresh.evaluate("document.activeElement.blur()")
    cells = {"j": [1, "0"], "ArrowRight": [1, "1"], "ArrowDown": [2, "1"], "k": [1, "1"], "ArrowLeft": [1, "0"]}
    for key, expected in cells.items():
        fresh.keyboard.press(key)
        assert fresh.evaluate(here) == expected
    fresh.keyboard.press("ArrowRight")
    fresh.keyboard.press("Enter")
    fresh.wait_for_selector("#detail[open]")
    assert fresh.inner_text("#detail-title").startswith(f"Answer {QUESTIONS + 1} ")
    fresh.keyboard.press("j")
    fresh.wait_for_function(f"() => part('detail-title').textContent.startsWith('Answer {QUESTIONS + 2} ')")
    fresh.locator("#detail .models button", has_text="alpha").click()
    fresh.wait_for_function("() => part('detail-title').textContent.startsWith('Answer 2 ')")
    assert "row=2" in fresh.evaluate("location.hash")
    fresh.keyboard.press("Escape")
    fresh.wait_for_function("() => document.activeElement.dataset.model === '0'")
    assert fresh.evaluate(here) == [2, "0"]


def test_no_text_is_run(fresh: Any):
    fresh.locator("#table tbody tr >> nth=2 >> td.model >> nth=2").click()
    fresh.wait_for_selector("#detail[open]")
    assert HOSTILE in fresh.inner_text("#detail .sides")
    assert HOSTILE in fresh.inner_text("#detail-title")
    fresh.fill("#detail textarea", HOSTILE)
    fresh.locator("#detail button", has_text="Close").click()
    assert fresh.locator("img").count() == 0
    assert fresh.evaluate("window.pwned") is None


def test_labels_are_saved_as_evaluate_reads_them(
    shown: Shown, made: tuple[Path, VerdictTable], tmp_path: Path, printed: Callable[..., str]
):
    page = shown()
    assert not page.is_visible("#save-labels")
    for question, key, note in ((3, "1", ""), (4, "0", ""), (5, "", "Which one?"), (6, "1", ""), (8, "0", "no")):
        page.locator(f"#table tbody tr >> nth={question} >> td.model >> nth=1").click()
        page.wait_for_function(
            f"() => part('detail-title').textContent.startsWith('Answer {QUESTIONS + question + 1} ')"
        )
        if key:
            page.keyboard.press(key)
        page.fill("#detail textarea", note)
        page.keyboard.press("Escape")
        page.wait_for_function("() => !part('detail').open")
    page.wait_for_function("() => document.querySelector('#table tbody').textContent.includes('you: incorrectnote')")
    page.reload()
    page.wait_for_selector(ALL_READ)
    assert page.inner_text("#save-labels") == "Save 5 of your labels"
    page.check("#f-own")
    _fitting(page, 5, 5)
    with page.expect_download() as download:
        page.click("#save-labels")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(record["id"], record["label"], record.get("note")) for record in records] == [
        *(("q3", 1, None), ("q4", 0, None), ("q5", None, "Which one?"), ("q6", 1, None), ("q8", 0, "no")),
    ]
    assert all("labelled_at" in record and "probability" not in record for record in records)  # what `correct` looks at
    expected = _sample(3, 1)
    texts = (expected.question, list(expected.references), expected.candidate)
    assert tuple(records[0][name] for name in ("question", "references", "candidate")) == texts
    printed("report", made[0].parent / "small", "--labels", path, "-o", tmp_path / "r.html")
    gold = json.loads((tmp_path / "r.json").read_text())["gold"]
    assert (gold["n"], gold["value"]) == (4, 0.5)
    assert "4 rows" in printed("evaluate", made[0].parent / "small", "--labels", path, "--output_dir", tmp_path / "e")
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#discard-labels")
    page.wait_for_function("() => part('own').hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1440])
def test_every_text_stands_out_and_nothing_is_too_wide(shown: Shown, width: int, scheme: str):
    page = shown(width=width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true })")
    page.locator("#quick button").first.click()
    page.wait_for_selector("[aria-pressed=true]")
    assert page.evaluate(FAINT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#table .open").first.click()
    page.wait_for_selector("#detail[open]")
    page.keyboard.press("1")
    assert page.evaluate(FAINT) == []
    box = page.locator("#detail").bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width


def test_everything_has_a_name(fresh: Any):
    fresh.locator("#table .open").first.click()
    fresh.wait_for_selector("#detail[open]")
    names = fresh.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, [role=button]')].filter(e =>"
        " e.checkVisibility())"
        ".map(e => e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent)"
    )
    assert len(names) > 100
    assert all(name.strip() for name in names)
