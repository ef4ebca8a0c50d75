"""A document of results as text and Markdown, and how numbers and texts are written in it."""

from __future__ import annotations

from bert_judge.measures import Estimate
from bert_judge.records import Signature
from bert_judge.report.document import BarCell, Chart, Document, Example, Examples, Facts, Table
from bert_judge.wording import clipped, code, duration, escaped, interval, latex, number, p_value, percent, points
from latex import check_latex

CELLS = [["a_b", "10"], ["c", BarCell("2", Estimate(0.2, 0.1, 0.3))]]
TABLE = Table("Scores", ["judge", "rows"], CELLS, "below", of="x|y")


def test_a_table_is_aligned_on_the_terminal_and_escaped_in_markdown():
    assert TABLE.text() == "Scores: x|y\njudge  rows\na_b      10\nc         2\nbelow"
    cells = "| judge | rows |\n| --- | ---: |\n| a\\_b | 10 |\n| c | 2 |"
    assert TABLE.markdown() == f"## Scores: x\\|y\n\n{cells}\n\nbelow"
    three = Table("", ["name", "n", "remark"], [["a", 1234, ""], ["b", None, "no"]], left=(0, 2))
    assert three.text() == "name      n  remark\na     1,234\nb         -  no"


def test_a_document_in_both_forms():
    judge = Signature.make("Judge", model="m", threshold=0.5)
    document = Document("All *of* it", ["Two rows.", TABLE], ["a <note>"], [("j", judge)])
    assert document.text() == f"Two rows.\n\n{TABLE.text()}\n\njudge  j: Judge m\n\nnote: a <note>"
    assert repr(document) == document.text()
    assert document.markdown() == (
        "# All \\*of\\* it\n\n- a \\<note\\>\n\nTwo rows.\n\n"
        f"{TABLE.markdown()}\n\n## Signatures\n\n- j: `Judge|model:m|threshold:0.5`\n"
    )
    assert Document("", [Chart("", data=TABLE)]).markdown() == f"# \n\n{TABLE.markdown()}\n"
    assert Document("", [Facts([("a", "1"), ("long", "2")], "Facts")]).text() == "Facts\na     1\nlong  2"


def test_a_document_as_latex(tmp_path):
    cells = [["*a_b", "-3.5 [-6, +1]"], ["[c]", None], ["d", BarCell("50% & <1", Estimate(0.2))]]
    table = Table("50% of #1", ["judge", "points"], cells, "a\nb", of="x_y")
    judge, examples = Signature.make("Judge", model="a\nb"), [Example("[line]", [("candidate", "2^3 ~ {x}")])]
    parts = [
        "Two \\rows.",
        table,
        Facts([("a", "1")], "Facts"),
        Chart("", data=TABLE),
        Chart(""),
        Examples("Rows", examples, 1, 1, ""),
    ]
    text = Document("A\n\\title", parts, ["a -- note"], [("j", judge)]).latex()
    check_latex(text, tmp_path)
    assert text.startswith("% A\\n\\title\n% bert-judge ") and "\n% judge j: Judge|model:a\\nb\n" in text
    rows = "{}*a\\_b & $-$3.5 [$-$6, +1] \\\\\n{}[c] & -- \\\\\nd & 50\\% \\& $<$1 \\\\\n\\bottomrule"
    assert "\\caption{50\\% of \\#1: x\\_y}" in text and f"judge & points \\\\\n\\midrule\n{rows}" in text
    assert "\\footnotesize a b\\par" in text and "\\toprule\na & 1 \\\\" in text
    assert "\\item {}[line]\n\\begin{itemize}\n\\item {}candidate: 2\\^{}3 \\~{} \\{x\\}" in text
    assert text.endswith("\\item {}a -{}- note\n\\end{itemize}\n")


def test_letters_of_latex():
    for text, expected in {
        "a-1 2024-01-02 -.5 (-1)": "a-1 2024-01-02 $-$.5 ($-$1)",
        "--- ''' ,, a'b": "-{}-{}- '{}'{}' ,{}, a'b",
        '"x" `y`': "''x'' {}`{}y{}`{}",
        "\\ ^ ~ | < >": "$\\backslash$ \\^{} \\~{} $|$ $<$ $>$",
        "{$&#%_}": "\\{\\$\\&\\#\\%\\_\\}",
        " a\n\tb\x07": "a b$\\backslash$x07",
    }.items():
        assert latex(text) == expected


def test_examples_are_short_on_the_terminal_and_data_in_markdown():
    example = Example("score 1", [("question", None), ("candidate", "`a`\t<b> \x1b[31m" + "x" * 500)])
    shown = Examples("Where it fails", [example] * 4, total=9, most=1, more="{:,} more there")
    lines = shown.text().splitlines()
    assert lines[:3] == ["Where it fails:", "  score 1", "    question   (no text)"]
    assert lines[3].startswith("    candidate  `a` <b> [31mx") and len(lines[3]) < 140 and "\x1b" not in shown.text()
    assert lines[4:] == ["  (8 more there)"]
    text = shown.markdown()
    assert text.count("\n    - candidate: `` `a`\\t<b> \\x1b[31mx") == 4 and "\n4. score 1\n" in text


def test_no_text_ends_the_code_that_it_stands_in():
    for text, expected in {"a b": "`a b`", "a`b": "``a`b``", "``": "``` `` ```", " a": "`  a `", "": "`''`"}.items():
        assert code(text) == expected
    assert code(None) == "none"
    assert code("x" * 50, 20) == f"`{'x' * 10} … {'x' * 10}`"
    assert escaped("[x](y) 50% [1, 2]\n*z*") == "[x\\](y) 50% [1, 2] \\*z\\*"
    assert clipped("a " * 50, 20) == "a a a a a … a a a a a"


def test_numbers():
    assert (percent(2 / 3), number(2 / 3), points(-0.0667), percent(None)) == ("66.7%", "0.667", "-6.7", "-")
    assert (p_value(0.00001), p_value(0.0365)) == ("< 0.0001", "0.0365")
    assert (duration(4.94), duration(720), duration(11_160)) == ("4.9 s", "12.0 min", "3.1 h")
    for estimate, form, expected in [
        (Estimate(2 / 3, 0.208, 0.939, 3, "Wilson interval"), percent, "66.7% [20.8, 93.9]"),
        (Estimate(0.5, 0.25, 0.75), number, "0.500 [0.250, 0.750]"),
        (Estimate(0.5), percent, "50.0%"),
        (Estimate(None), percent, "-"),
        (None, number, "-"),
    ]:
        assert interval(estimate, form) == expected
