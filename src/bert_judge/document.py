"""Results as one document, a title and parts, which is rendered as text for a terminal, as Markdown, and as HTML.

How a number is put into words stands here, too, so that a rate looks the same everywhere. Texts of answers are a
model's: in no rendering do they become markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from bert_judge.types import Signature

SAID = {1: "correct", 0: "incorrect", None: "undecided"}
"""What a label is called."""

_LONGEST, _LONGEST_LINE = 400, 120  # characters of an example's text in a file, and on the terminal
_MARKUP = re.compile(r"([\\`*_{}<>#|~&$]|\](?=[(\[:]))")


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A text in a table; in HTML it has a small drawing (SVG) below it, and a hint where one points at it."""

    said: str
    drawing: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return self.said


Content = str | DrawnCell
"""What stands in a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts: the columns `left` are aligned to the left, the others to the right.

    The title may name what it is a table `of`; the line `below` says how the figures were found.
    """

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[Content]]
    below: str = ""
    of: str = ""
    left: Collection[int] = (0,)

    @classmethod
    def of_lines(cls, title: str, lines: Sequence[Sequence[tuple[str, Content]]], below: str = "") -> Table:
        """A table of one or more lines, each of which names its columns: the same ones in all."""
        return cls(title, [name for name, _ in lines[0]], [[cell for _, cell in line] for line in lines], below)

    @property
    def heading(self) -> str:
        """The title in full."""
        return f"{self.title}: {self.of}" if self.of else self.title

    def text(self) -> str:
        """As lines of a terminal."""
        rows = [[str(cell) for cell in row] for row in (self.head, *self.body)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                text.ljust(width) if place in self.left else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*filter(None, [self.heading]), *lines, *filter(None, [self.below])])

    def markdown(self) -> str:
        """As a table of Markdown."""
        rule = ["---" if place in self.left else "---:" for place in range(len(self.head))]
        rows = [[escaped(str(cell)) for cell in row] for row in (self.head, *self.body)]
        rows.insert(1, rule)
        return _under(self.heading, "\n".join(f"| {' | '.join(row)} |" for row in rows), escaped(self.below))

    def html(self) -> str:
        """As a panel; a table that is wider than the screen can be moved sideways."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(str(first))}</th>{"".join(map(_html_cell, others))}</tr>'
            for first, *others in self.body
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        scroll = f'<div class="scroll" tabindex="0" role="group" aria-label="Table">{table}</div>'
        return _panel(self.title, self.of, scroll, escape(self.below), wide=True)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: `drawing` is SVG or HTML, `key` the HTML that explains it. The terminal has none; Markdown has the
    `file` with its picture, or the table of its `data`.
    """

    title: str
    of: str = ""
    drawing: str = ""
    key: str = ""
    data: Table | None = None
    file: str = ""

    def text(self) -> str:
        """Nothing."""
        return ""

    def markdown(self) -> str:
        """The picture, or the data, as far as they are there."""
        return f"![{escaped(self.title)}]({self.file})" if self.file else self.data.markdown() if self.data else ""

    def html(self) -> str:
        """As a panel."""
        return _panel(self.title, self.of, self.drawing, self.key)


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what is said of each, a line each."""

    pairs: Sequence[tuple[str, str]]
    title: str = ""

    def text(self) -> str:
        """As lines of a terminal."""
        width = max(len(name) for name, _ in self.pairs)
        lines = [f"{name:{width}}  {said}".rstrip() for name, said in self.pairs]
        return "\n".join([*filter(None, [self.title]), *lines])

    def markdown(self) -> str:
        """As a list, in which what is said is code: it can be copied as it stands."""
        return _under(self.title, "\n".join(f"- {escaped(name)}: {code(said)}" for name, said in self.pairs))

    def html(self) -> str:
        """As a panel with a list of terms."""
        lines = (f"<div><dt>{escape(name)}</dt><dd>{escape(said)}</dd></div>" for name, said in self.pairs)
        return _panel(self.title, "", f"<dl>{''.join(lines)}</dl>", wide=True)


@dataclass(frozen=True, slots=True)
class Example:
    """An answer that is shown: what is said of it, and its texts by name."""

    said: str
    texts: Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Examples:
    """Some of `total` answers of a kind. The terminal has the first `most`; `more` has a place for the number of the
    others, and says where these are.
    """

    title: str
    examples: Sequence[Example]
    total: int = 0
    most: int = 0
    more: str = ""

    def text(self) -> str:
        """As lines of a terminal."""
        if not self.most:
            return ""
        lines = [f"{self.title}:"]
        for example in self.examples[: self.most]:
            width = max(len(name) for name, _ in example.texts)
            lines.append(f"  {clipped(example.said, _LONGEST_LINE)}")
            lines += [f"    {name:{width}}  {clipped(text, _LONGEST_LINE)}" for name, text in example.texts]
        left = self.total - self.most
        return "\n".join([*lines, *([f"  ({self.more.format(left)})"] if left > 0 else [])])

    def markdown(self) -> str:
        """As a numbered list; texts are code, in which odd spaces can be seen."""
        lines = []
        for number, example in enumerate(self.examples, 1):
            lines.append(f"{number}. {escaped(clipped(example.said, _LONGEST))}")
            lines += [f"    - {escaped(name)}: {code(text)}" for name, text in example.texts]
        return _under(self.title, "\n".join(lines))

    def html(self) -> str:
        """As a panel."""
        shown = (
            f"<p><b>{escape(example.said)}</b></p>"
            + "".join(f"<p>{escape(name)}: {escape(text or '(no text)')}</p>" for name, text in example.texts)
            for example in self.examples
        )
        return _panel(self.title, "", "".join(shown), wide=True)


Part = str | Table | Chart | Facts | Examples
"""What a document is made of; a text is a paragraph."""


@dataclass(frozen=True, slots=True)
class Document:
    """What was found, in parts; notes, which say what a reader must know of the figures; and who judged."""

    title: str
    parts: Sequence[Part]
    notes: Sequence[str] = ()
    judges: Sequence[tuple[str, Signature]] = ()

    def text(self) -> str:
        """As lines of a terminal, without the title. The notes are last, where they are seen; signatures are short."""
        parts = [part if isinstance(part, str) else part.text() for part in self.parts]
        judges = "\n".join(
            f"judge  {signature.short}" if name in ("", signature.short) else f"judge  {name}: {signature.short}"
            for name, signature in self.judges
        )
        return "\n\n".join(filter(None, [*parts, judges, "\n".join(f"note: {note}" for note in self.notes)]))

    def markdown(self) -> str:
        """As a file of Markdown. The notes are first; signatures are whole."""
        parts = [escaped(part) if isinstance(part, str) else part.markdown() for part in self.parts]
        judges = [(name or signature.short, str(signature)) for name, signature in self.judges]
        parts += [Facts(judges, "Judges").markdown()] if judges else []
        notes = "\n".join(f"- {escaped(note)}" for note in self.notes)
        return "\n\n".join(filter(None, [f"# {escaped(self.title)}", notes, *parts])) + "\n"

    def html(self) -> str:
        """As the body of a page, with the classes of `report.css`."""
        parts = [f"<p>{escape(part)}</p>" if isinstance(part, str) else part.html() for part in self.parts]
        judges = [(name or signature.short, str(signature)) for name, signature in self.judges]
        parts += [Facts(judges, "Judges").html()] if judges else []
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "\n".join([f"<h1>{escape(self.title)}</h1>", f'<ul class="notes">{notes}</ul>', *parts])


def percent(value: float | None) -> str:
    """A rate: `66.7%`."""
    return "-" if value is None else f"{value:.1%}"


def number(value: float | None) -> str:
    """A measure: `0.667`."""
    return "-" if value is None else f"{value:.3f}"


def points(value: float | None) -> str:
    """A difference of two rates in points: `-6.7`."""
    return "-" if value is None else f"{value * 100:+.1f}"


def p_value(value: float) -> str:
    """A p-value: `0.0123`."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def duration(seconds: float) -> str:
    """A time: `4.9 s`, `12.0 min`, `3.1 h`."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def bracketed(
    value: float | None,
    ends: tuple[float | None, float | None] | None,
    shown: Callable[[float | None], str] = percent,
) -> str:
    """A value with the ends of its interval, if it has one: `66.7% [20.8, 93.9]`."""
    if value is None or ends is None or None in ends:
        return shown(value)
    low, high = (shown(end).removesuffix("%") for end in ends)
    return f"{shown(value)} [{low}, {high}]"


class _Estimate(Protocol):
    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def interval(found: _Estimate | None, shown: Callable[[float | None], str] = percent) -> str:
    """An estimate with its interval; `-` for none."""
    return "-" if found is None else bracketed(found.value, (found.low, found.high), shown)


def clipped(text: str | None, most: int) -> str:
    """A text on one line that a terminal can show; a long one keeps both ends."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text or "(no text)").split())
    return line if len(line) <= most else f"{line[: most // 2].rstrip()} … {line[-(most // 2) :].lstrip()}"


def code(text: str | None, most: int = _LONGEST) -> str:
    """A text as code of Markdown, which nothing in it can end; odd spaces are escapes, a long text keeps both ends."""
    if text is None:
        return "none"
    shown = visible(text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}")
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if shown.strip(" `") != shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown.strip() else f"`{text!r}`"


def visible(text: str) -> str:
    """A text on one line, with white space and what can't be printed as escapes."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def escaped(text: str) -> str:
    """A text in which nothing is markup of Markdown, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _under(title: str, *parts: str) -> str:
    return "\n\n".join(filter(None, [f"## {escaped(title)}" if title else "", *parts]))


def _html_cell(cell: Content) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    return f"<td{hint}>{escape(cell.said)}{cell.drawing}</td>"


def _panel(title: str, of: str, content: str, key: str = "", wide: bool = False) -> str:
    small = f" <small>{escape(of)}</small>" if of else ""
    heading = f"<h3>{escape(title)}{small}</h3>" if title else ""
    below = f'<p class="key">{key}</p>' if key else ""
    return f'<section class="panel{" wide" if wide else ""}">{heading}{content}{below}</section>'
