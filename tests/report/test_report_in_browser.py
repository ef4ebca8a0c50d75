"""The page in headless Chromium: what a person clicks, types and sees, at three widths, in the dark and on paper."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from made_runs import LARGE, SIMILAR, STARTER, make_run

from bert_judge import Sample
from bert_judge.analysis.results import load_run
from bert_judge.analysis.table import VerdictTable, collect
from bert_judge.artifacts import write_explanations
from bert_judge.evidence import AGREEING, match
from bert_judge.judges import BERTScore, RegexJudge
from bert_judge.judges.occlusion import explain
from bert_judge.report import write_report
from bert_judge.types import Verdict

ROWS = 1200
HOSTILE = "<img src=x onerror='window.pwned=1'></script><script>window.pwned=1</script> 😀 nine and 😀 ten"
_ALL_READ = "html[data-read=all]"


def _sample(i: int) -> Sample:
    candidate = HOSTILE if i == 3 else f"It is town number {i}, C++ (really)." if i % 7 else "I don't know."
    gold = None if i % 5 == 0 else i % 2
    return Sample(
        candidate,
        ("9 of them",) if i == 3 else (f"town {i}", "Überlingen"),
        f"Where is place {i % 90}?",
        f"id-{i}",
        gold,
        {"task": f"task {i % 3}", "model": "m" + "12"[i % 2], "note": f"note {i}"},
    )


def _verdict(i: int, of: int) -> Verdict:
    if (i + of) % 50 == 0:
        return Verdict(None, None, "the reply has no verdict")
    score = (i * 37 * of % 1000) / 1000
    cut = {"candidate": 12} if i % 40 == 1 else {}
    return Verdict(
        score,
        int(score >= 0.5),
        matched_reference=0,
        truncated=cut,
        details={"logit": score - 0.5},
        outside="in German" if i % 60 == 2 else None,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VerdictTable]:
    """A page of two judges, and the table behind it."""
    folder, samples = tmp_path_factory.mktemp("page"), [_sample(i) for i in range(ROWS)]
    runs = [
        make_run(folder / name, samples, [_verdict(i, of) for i in range(ROWS)], signature)
        for name, of, signature in (("small", 1, STARTER), ("large", 3, LARGE))
    ]
    write_report(runs, folder / "report.html")
    return folder / "report.html", collect(runs)


@pytest.fixture(scope="module")
def shown(browser: Any, made: tuple[Path, VerdictTable]) -> Iterator[Callable[..., Any]]:
    """Opens the page anew; at the end nothing was fetched, and the console is empty."""
    told: list[str] = []
    contexts = []

    def show(fragment: str = "", width: int = 1400, path: Path = made[0], **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or told.append(request.url))
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector(_ALL_READ)
        return page

    yield show
    for context in contexts:
        context.close()
    assert told == []


@pytest.fixture(scope="module")
def page(shown: Callable[..., Any]) -> Any:
    """One page for tests that begin with a reset."""
    return shown()


@pytest.fixture
def fresh(page: Any) -> Any:
    page.evaluate("part('detail').close(); part('filters').reset()")
    _counted(page, ROWS)
    return page


def _counted(page: Any, count: int) -> None:
    """Wait until so many answers are shown."""
    words = f"{ROWS:,} answers" if count == ROWS else f"{count:,} of {ROWS:,} answers"
    page.wait_for_function("words => part('count').textContent === words", arg=words)


def _numbers(page: Any) -> list[int]:
    return [int(text.replace(",", "")) - 1 for text in page.locator("#table .open").all_inner_texts()]


def _is(row: int, table: VerdictTable, judge: int = 0) -> Any:
    return table.judges[judge].verdicts[row]


FILTERS: dict[str, tuple[dict[str, str | bool], Callable[[int, VerdictTable], bool]]] = {
    "task": ({"f-0": "task 1"}, lambda row, table: row % 3 == 1),
    "model": ({"f-1": "m2"}, lambda row, table: row % 2 == 1),
    "correct": ({"f-verdict": "correct"}, lambda row, table: _is(row, table).label == 1),
    "undecided": ({"f-verdict": "undecided"}, lambda row, table: _is(row, table).score is None),
    "another judge": ({"f-judge": "large", "f-verdict": "incorrect"}, lambda row, table: _is(row, table, 1).label == 0),
    "agrees": (
        {"f-gold": "judge agrees"},
        lambda row, table: table.rows[row].gold is not None and table.rows[row].gold == _is(row, table).label,
    ),
    "disagrees": (
        {"f-gold": "judge disagrees"},
        lambda row, table: None not in (pair := (table.rows[row].gold, _is(row, table).label)) and pair[0] != pair[1],
    ),
    "no label": ({"f-gold": "no label"}, lambda row, table: row % 5 == 0),
    "scores": ({"f-low": "0.25", "f-high": "0.75"}, lambda row, table: 0.25 <= (_is(row, table).score or -1) <= 0.75),
    "truncated": ({"f-cut": True}, lambda row, table: bool(_is(row, table).truncated)),
    "outside": ({"f-outside": True}, lambda row, table: row % 60 == 2),
    "judges disagree": (
        {"f-differ": True},
        lambda row, table: {_is(row, table, 0).label, _is(row, table, 1).label} == {0, 1},
    ),
    "several": ({"f-0": "task 2", "f-cut": True}, lambda row, table: row % 3 == 2 and row % 40 == 1),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters(fresh: Any, made: tuple[Path, VerdictTable], name: str):
    settings, wanted = FILTERS[name]
    for control, value in settings.items():
        place = fresh.locator(f"#{control}")
        if value is True:
            place.check()
        elif place.evaluate("each => each.tagName") == "SELECT":
            place.select_option(label=value)
        else:
            place.fill(value)
            place.press("Tab")
    expected = [row for row in range(ROWS) if wanted(row, made[1])]
    _counted(fresh, len(expected))
    assert 0 < len(expected) < ROWS
    assert _numbers(fresh) == expected[:25]
    assert f"({len(settings) - ('f-judge' in settings)} set)" in fresh.inner_text("#active-filters")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("town", lambda i: True),
        ("NUMBER 17,", lambda i: "17," in (c := _sample(i).candidate) and "number" in c),
        ('"number 17,"', lambda i: "number 17," in _sample(i).candidate),
        ("C++ (really)", lambda i: "C++" in _sample(i).candidate),
        ("überLINGEN", lambda i: i != 3),
        ("id-1199", lambda i: i == 1199),
        ('"place 42?"', lambda i: i % 90 == 42),
        ("no verdict", lambda i: (i + 1) % 50 == 0 or (i + 3) % 50 == 0),
        ("<img onerror", lambda i: i == 3),
        ("nowhere at all", lambda i: False),
    ],
)
def test_search(fresh: Any, text: str, wanted: Callable[[int], bool]):
    fresh.fill("#search", text)
    expected = [row for row in range(ROWS) if wanted(row)]
    _counted(fresh, len(expected))
    assert _numbers(fresh) == expected[:25]
    assert fresh.is_visible("#none") is not bool(expected)


def test_the_shown_rows_are_summed_up(fresh: Any, made: tuple[Path, VerdictTable]):
    fresh.select_option("#f-0", label="task 1")
    _counted(fresh, 400)
    labels = [row.label for row in made[1].judges[0].verdicts[1::3] if row and row.label is not None]
    text = fresh.inner_text("#slice")
    assert text.startswith(f"small: judged correct {sum(labels) / len(labels):.1%} [")
    assert re.search(r"agreement with human labels \d\d\.\d% \[\d\d\.\d, \d\d\.\d\]$", text)


def test_pages(fresh: Any):
    assert fresh.inner_text("#pager span") == "page 1 of 48"
    fresh.click("#pager [aria-label='Next page']")
    fresh.wait_for_function("() => part('pager').textContent.includes('page 2 of 48')")
    assert _numbers(fresh) == [*range(25, 50)]
    fresh.click("#pager [aria-label='Last page']")
    fresh.wait_for_function("() => part('pager').textContent.includes('page 48 of 48')")
    assert _numbers(fresh) == [*range(1175, 1200)]
    fresh.select_option("#pager select", "100")
    fresh.wait_for_function("() => part('pager').textContent.includes('page 1 of 12')")
    assert _numbers(fresh) == [*range(100)]
    fresh.select_option("#pager select", "25")


def test_sorting_by_a_judge_up_and_down_and_back(fresh: Any, made: tuple[Path, VerdictTable]):
    scores = [row.score for row in made[1].judges[1].verdicts]
    up = sorted((row for row in range(ROWS) if scores[row] is not None), key=lambda row: (scores[row], row))
    down = sorted((row for row in range(ROWS) if scores[row] is not None), key=lambda row: (-scores[row], row))
    for expected, told in ((down, "descending"), (up, "ascending"), ([*range(ROWS)], "none")):
        fresh.locator("#table thead button", has_text="large").click()
        fresh.wait_for_selector(f"#table th[aria-sort={told}]:has-text('large')")
        assert _numbers(fresh) == expected[:25]
        assert fresh.input_value("#f-sort") == {"descending": "1+", "ascending": "1-", "none": ""}[told]
    fresh.select_option("#f-sort", label="judges differ most")
    fresh.wait_for_function("() => state.sort === 'differ'")
    assert _numbers(fresh) != [*range(25)]


def test_keys(fresh: Any):
    fresh.evaluate("document.activeElement.blur()")
    fresh.keyboard.press("j")
    fresh.keyboard.press("j")
    fresh.keyboard.press("ArrowDown")
    fresh.keyboard.press("k")
    assert fresh.evaluate("document.activeElement.textContent") == "2"
    fresh.keyboard.press("Enter")
    fresh.wait_for_selector("#detail[open]")
    fresh.keyboard.press("ArrowRight")
    fresh.wait_for_function("() => part('detail-title').textContent.startsWith('Answer 3')")
    for _ in range(24):
        fresh.keyboard.press("j")
        fresh.wait_for_timeout(5)
    fresh.wait_for_function("() => part('detail-title').textContent.startsWith('Answer 27')")
    fresh.keyboard.press("Escape")
    fresh.wait_for_function("() => document.activeElement.textContent === '27'")  # on the page of the last answer
    fresh.keyboard.press("/")
    assert fresh.evaluate("document.activeElement.id") == "search"
    fresh.keyboard.type("j/k")
    assert fresh.input_value("#search") == "j/k"


def test_an_answer_side_by_side(fresh: Any, made: tuple[Path, VerdictTable]):
    row = made[1].rows[3]
    fresh.fill("#search", "id-3")
    fresh.wait_for_function("() => state.shown.includes(3) && state.shown.length < 1200")
    fresh.locator("#table .open", has_text=re.compile("^4$")).click()
    fresh.wait_for_selector("#detail[open]")
    texts = fresh.locator("#detail .sides .text").all_inner_texts()
    assert texts == [row.question, row.references[0], row.candidate]
    found = match(row.candidate, row.references)
    pairs = ((row.references[0], found.references[0]), (row.candidate, found.candidate))
    marked = [text[span.start : span.end] for text, own in pairs for span in own if span.relation in AGREEING]
    assert marked == ["9", "nine"]
    assert fresh.locator("#detail mark").all_inner_texts() == marked
    assert "logit" in fresh.inner_text("#detail")
    assert "note 3" in fresh.inner_text("#detail")
    assert fresh.evaluate("window.pwned") is None
    assert fresh.locator("#detail img, #table img").count() == 0


def test_a_link_to_an_answer_opens_it(shown: Callable[..., Any]):
    page = shown("#row=1100")
    page.wait_for_selector("#detail[open]")
    assert page.inner_text("#detail-title").startswith("Answer 1,100 · id-1099")
    assert "the reply has no verdict" in page.inner_text("#detail")


@pytest.mark.parametrize("width", [360, 900, 1400])
def test_nothing_is_wider_than_the_screen(shown: Callable[..., Any], width: int):
    page = shown(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#table .open").first.click()
    page.wait_for_selector("#detail[open]")
    box = page.locator("#detail").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.locator("#more-filters").evaluate("each => each.open") == (width >= 832)


@pytest.mark.parametrize("width", [360, 1400])
def test_a_table_that_goes_on_has_a_shadow_at_its_edge(shown: Callable[..., Any], width: int):
    page = shown(width=width)
    box = page.locator(".panel:has(h3:text('Agreement of judges')) .scroll")
    wider = box.evaluate("each => each.scrollWidth > each.clientWidth")
    assert wider == (width == 360)

    def edge() -> bytes:
        """The last points of the box, without the table's words and lines."""
        place = box.bounding_box()
        clip = {"x": place["x"] + place["width"] - 12, "y": place["y"], "width": 12, "height": place["height"]}
        return bytes(page.screenshot(full_page=True, clip=clip))

    box.locator("table").evaluate("each => { each.style.visibility = 'hidden' }")
    page.evaluate("scrollTo(0, 0)")
    begun = edge()
    box.evaluate("each => { each.scrollLeft = each.scrollWidth }")
    assert (edge() != begun) == wider


def test_the_head_of_the_table_stays_in_sight(shown: Callable[..., Any]):
    page = shown()
    page.evaluate("scrollTo(0, part('table').tBodies[0].getBoundingClientRect().top + 500)")
    assert page.locator("#table th").first.bounding_box()["y"] == 0
    assert page.locator("#table tbody tr").first.bounding_box()["y"] < 0


def test_a_verdict_against_the_human_label_is_marked(fresh: Any, made: tuple[Path, VerdictTable]):
    rows, verdicts = made[1].rows[:25], made[1].judges[0].verdicts
    against = [
        None not in (row.gold, said.label) and row.gold != said.label
        for row, said in zip(rows, verdicts[:25], strict=True)
    ]
    cells = fresh.locator("#table tbody td[data-label=small]").all_inner_texts()
    assert ["≠ human label" in text for text in cells] == against
    assert any(against)
    tinted = fresh.locator("#table tbody td[data-label=small]").evaluate_all("all => all.map(e => e.className)")
    assert [name == "against" for name in tinted] == against


def test_filters_stand_in_the_address(shown: Callable[..., Any], made: tuple[Path, VerdictTable]):
    page = shown()
    page.select_option("#f-0", label="task 1")
    page.select_option("#f-judge", label="large")
    page.select_option("#f-verdict", label="incorrect")
    page.fill("#search", "town & C++")
    page.select_option("#f-sort", label="large: lowest first")
    page.check("#f-cut")
    page.uncheck("#f-show-r")
    wanted = sum(
        row % 3 == 1 and _is(row, made[1], 1).label == 0 and row % 40 == 1 and "town" in made[1].rows[row].candidate
        for row in range(ROWS)
    )
    page.fill("#search", "town C++")
    _counted(page, wanted)
    order = _numbers(page)
    page.locator("#table .open").nth(1).click()
    page.wait_for_selector("#detail[open]")
    again = shown("#" + page.evaluate("location.hash.slice(1)"))
    again.wait_for_selector("#detail[open]")
    assert f"Answer {order[1] + 1:,}" in again.inner_text("#detail-title")
    _counted(again, wanted)
    assert (_numbers(again), again.input_value("#search")) == (order, "town C++")
    assert again.locator("#table thead").inner_text().count("reference") == 0
    again.keyboard.press("Escape")
    again.evaluate("part('filters').reset()")
    _counted(again, ROWS)
    assert again.evaluate("location.hash") == "#answers"
    strange = shown("#verdict=7&column+task=none&sort=9%2B&row=99999&low=x")
    _counted(strange, ROWS)


def test_the_shown_rows_are_saved(fresh: Any, made: tuple[Path, VerdictTable], tmp_path: Path):
    fresh.select_option("#f-0", label="task 0")
    fresh.select_option("#f-gold", label="judge disagrees")
    rows = [row for row in range(0, ROWS, 3) if FILTERS["disagrees"][1](row, made[1])]
    _counted(fresh, len(rows))
    for name in ("CSV", "JSON lines"):
        with fresh.expect_download() as download:
            fresh.click(f"text=Save {name}")
        download.value.save_as(tmp_path / name)
    lines = [json.loads(line) for line in (tmp_path / "JSON lines").read_text("utf-8").splitlines()]
    with (tmp_path / "CSV").open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [line["id"] for line in lines] == [line["id"] for line in cells] == [f"id-{row}" for row in rows]
    for line, cell, row in zip(lines, cells, rows, strict=True):
        of, said = made[1].rows[row], _is(row, made[1], 1)
        assert (line["candidate"], line["references"]) == (of.candidate, list(of.references))
        assert (line["human label"], line["large: label"], line["task"]) == (of.gold, said.label, "task 0")
        assert line["large: score"] == (None if said.score is None else pytest.approx(said.score, abs=1e-4))
        assert cell["candidate"].removeprefix("'") == of.candidate
        assert json.loads(cell["references"]) == list(of.references)


def test_a_text_that_is_a_formula_is_none_in_the_table(shown: Callable[..., Any], tmp_path: Path):
    samples = [Sample('=HYPERLINK("http://x")', ("a, b",), "-1?", "one"), Sample('say "hi"\n+1', ("c",), None, "two")]
    run = make_run(tmp_path / "formula", samples, [Verdict(0.9, 1), Verdict(None)], STARTER)
    write_report([run], tmp_path / "formula.html")
    page = shown(path=tmp_path / "formula.html")
    with page.expect_download() as download:
        page.click("text=Save CSV")
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["candidate"], first["question"]) == ('\'=HYPERLINK("http://x")', "'-1?")
    (label,) = (name for name in second if name.endswith(": label"))
    assert (second["candidate"], second["question"], second[label], first[label]) == ('say "hi"\n+1', "", "", "1")


def test_columns_are_hidden_and_drawn(fresh: Any):
    widths = "all => all.map(e => Math.round(e.getBoundingClientRect().width))"
    before = fresh.locator("#table th").evaluate_all(widths)
    for key in ("q", "s1"):
        fresh.uncheck(f"#f-show-{key}")
    fresh.wait_for_function("document.querySelectorAll('#table th').length === 5")
    assert "large" not in fresh.inner_text("#table thead")
    assert fresh.locator("#table tbody tr").first.locator("td").count() == 5
    fresh.evaluate("part('filters').reset()")
    fresh.wait_for_function("document.querySelectorAll('#table th').length === 7")
    grip = fresh.locator("#table th .grip").nth(1).bounding_box()
    fresh.mouse.move(grip["x"] + 3, grip["y"] + 5)
    fresh.mouse.down()
    fresh.mouse.move(grip["x"] + 63, grip["y"] + 5)
    fresh.mouse.up()
    drawn = fresh.locator("#table th").evaluate_all(widths)
    assert drawn[2] - before[2] in range(55, 66)
    fresh.locator("#table th .grip").nth(1).dblclick()
    assert fresh.locator("#table th").evaluate_all(widths) == before


def test_a_search_says_what_it_can_not_find(shown: Callable[..., Any], tmp_path: Path):
    samples = [Sample(f"start {i} {'x' * 400} middle {'y' * 400} end", ("r",), "q?", str(i)) for i in range(20)]
    run = make_run(tmp_path / "long", samples, [Verdict(0.9, 1)] * 20, STARTER)
    write_report([run], tmp_path / "long.html", budget=8_000)
    page = shown(path=tmp_path / "long.html")
    assert page.inner_text("#count") == "20 answers"
    page.fill("#search", "middle")
    page.locator("#count", has_text="0 of 20").wait_for()
    assert "texts of over 300 characters are searched without their middle" in page.inner_text("#count")


def test_light_and_dark(shown: Callable[..., Any]):
    colour = "getComputedStyle(document.body).backgroundColor"
    page = shown(color_scheme="dark")
    dark = page.evaluate(colour)
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: light"
    light = page.evaluate(colour)
    page.click("#theme")
    assert (page.evaluate(colour), light != dark) == (dark, True)
    page.reload()
    page.wait_for_selector(_ALL_READ)
    assert page.inner_text("#theme") == "Theme: dark"


def test_on_paper(shown: Callable[..., Any]):
    page = shown(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.inner_text("#printed") == f"Answers 1 to 25 of the {ROWS:,} answers"
    for place, visible in {"#filters": 0, "#pager": 0, "#theme": 0, "#table": 1, ".cards": 1, "#figures": 1}.items():
        assert page.is_visible(place) == bool(visible)


def test_a_screen_reader_has_names_for_everything(fresh: Any):
    names = fresh.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(each => each.checkVisibility()).map(each => "
        "each.getAttribute('aria-label') ?? each.labels?.[0]?.textContent ?? each.textContent)"
    )
    assert len(names) > 40
    assert all(name.strip() for name in names)
    assert fresh.get_attribute("#count", "aria-live") == "polite"
    assert fresh.locator("#table [role=row]").count() == 26
    assert fresh.locator("svg.chart:not([aria-label])").count() == 0
    levels = fresh.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(each => Number(each.tagName[1]))")
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_without_a_script_the_figures_are_there(browser: Any, made: tuple[Path, VerdictTable]):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made[0].as_uri())
    assert page.is_visible("#figures .chart >> nth=0")
    assert page.locator("noscript p").bounding_box()["height"] > 0
    assert page.is_visible("text=bert-judge score 'my answers.jsonl'")
    assert not page.is_visible("#filters")
    context.close()


def test_the_alignment_of_bertscore_is_a_heat_map(shown: Callable[..., Any], tmp_path: Path):
    samples = [Sample("the cat sat", ("dogs", "a cat was sitting")), Sample("", ("x",)), *[Sample("b", ("c",))] * 2]
    verdicts = list(BERTScore(dtype="float32", alignments=3).assess(samples))
    assert ["alignment" in verdict.details for verdict in verdicts] == [True, False, True, False]
    found = verdicts[0].details["alignment"]
    assert [len(found[side]["tokens"]) for side in ("candidate", "reference")] == [
        len(found["similarity"]),
        len(found["similarity"][0]),
    ]
    assert found["f1"] == pytest.approx(verdicts[0].score, abs=1e-3)
    write_report([make_run(tmp_path / "out", samples, verdicts, SIMILAR)], tmp_path / "report.html")
    page = shown("#row=1", path=tmp_path / "report.html")
    page.wait_for_selector("#detail .alignment svg")
    tokens = page.locator("#detail .alignment [role=option]")
    assert tokens.all_text_contents() == [*found["candidate"]["tokens"], *found["reference"]["tokens"]]
    paths = page.locator("#detail .alignment .heat")
    cells = sum(paths.nth(i).get_attribute("d").count("M") for i in range(paths.count()))
    assert cells == len(found["similarity"]) * len(found["similarity"][0])
    tokens.nth(1).hover()
    told = page.locator("#detail .alignment output").text_content()
    assert told.startswith("candidate token “cat”")
    assert f"best match “cat” ({found['similarity'][1][1]:.3f})" in told
    assert "alignment" not in page.locator("#detail dt").all_inner_texts()


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two judges, one of which explains three of its four rows; in the last two, words belie the verdict."""
    folder = tmp_path_factory.mktemp("explained")
    texts = ["😀 Not I. It was <b>Mary</b> Shelley!", "Byron", "Mary Shelley? No.", "Lord Byron"]
    samples = [Sample(text, ("Shelley", "Mary W. Shelley"), "Who?", str(i)) for i, text in enumerate(texts)]
    judge = RegexJudge("none", "containment")
    verdicts = list(judge.assess(samples))
    runs = [
        make_run(folder / "plain", samples, [*verdicts[:2], Verdict(0.1, 0, None, 0), Verdict(0.9, 1, None, 0)], LARGE)
    ]
    make_run(folder / "why", samples, verdicts, STARTER)
    pairs = [(sample, verdict.score) for sample, verdict in zip(samples, verdicts, strict=True)]
    write_explanations(folder / "why", dict(enumerate(explain(judge, pairs[:3]))))
    write_report([*runs, load_run(folder / "why")], folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("width", [360, 1400])
def test_why_an_answer_has_its_score(shown: Callable[..., Any], explained: Path, width: int):
    page = shown("#row=1", width, explained)
    page.wait_for_selector("#detail[open]")
    why = page.locator("#detail .say .why")
    assert why.count() == 1  # of the judge that explains
    assert why.locator("p").nth(0).inner_text() == (
        "“Shelley” speaks most for the candidate: without it the score is 0.000."
    )
    assert why.locator(".text").inner_text() == "😀 Not I. It was <b>Mary</b> Shelley +1.00!"
    assert why.locator(".text mark.for").all_inner_texts() == ["Shelley +1.00"]
    assert "speak for the candidate: without them the score is 0.38 lower" in why.locator(".key").inner_text()
    line = "each => getComputedStyle(each).borderBottomStyle"  # the two sides differ without their colours, too
    assert [why.locator(f".key mark.{side}").evaluate(line) for side in ("for", "against")] == ["solid", "dashed"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = why.bounding_box()
    assert box["x"] + box["width"] <= width
    assert page.locator("#detail b").all_inner_texts() == ["plain", "why"]


def test_a_score_that_no_part_carries(shown: Callable[..., Any], explained: Path):
    page = shown("#row=2", path=explained)
    page.wait_for_selector("#detail[open]")
    assert page.inner_text("#detail .why") == "Nothing could be left out: the candidate is a single word, or empty."


def test_explained_answers_can_be_found(shown: Callable[..., Any], explained: Path):
    page = shown(path=explained)
    page.check("#f-why")
    page.wait_for_function("() => part('count').textContent === '3 of 4 answers'")
    assert _numbers(page) == [0, 1, 2]


def test_shared_words_that_contradict_a_verdict_say_so(shown: Callable[..., Any], explained: Path):
    said = {
        3: "all of the reference's words, although it is judged incorrect",
        4: "none of the reference's words, although it is judged correct",
    }
    for row, expected in said.items():
        page = shown(f"#row={row}", path=explained)
        page.wait_for_selector("#detail[open]")
        assert page.locator("#detail div:has(> dt:text-is('shares')) dd").all_inner_texts() == [expected]
    page = shown("#row=1", path=explained)
    page.wait_for_selector("#detail[open]")
    assert page.locator("#detail dt:text-is('shares')").count() == 0
    assert "marked: words that stand in the reference, too" in page.inner_text("#detail")
