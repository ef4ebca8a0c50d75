"""Results as one document, a title and blocks, rendered as text for a terminal, as Markdown and as LaTeX.

The macros of `report/parts.html` render the blocks as HTML. Texts of answers never become markup.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bert_judge.measures import Estimate
from bert_judge.records import Signature, __version__
from bert_judge.wording import LONGEST, LONGEST_LINE, clipped, code, escaped, latex, visible


@dataclass(frozen=True, slots=True)
class BarCell:
    """A text in a table; in HTML with a bar below it (a rate with its interval) and a tooltip (`hint`)."""

    text: str
    estimate: Estimate
    hint: str = ""

    def __str__(self) -> str:
        return self.text


Content = str | int | BarCell | None
"""A cell of a table: a text, a count, or nothing, which is shown as `-`."""


def shown(cell: Content) -> str:
    """A cell as a text."""
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the columns `left` are aligned to the left, the others to the right.

    `of` is a judge or model that the heading names; the line `below` says how the figures were computed.
    """

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[Content]]
    below: str = ""
    of: str = ""
    left: Collection[int] = (0,)
    macro: ClassVar[str] = "table"

    @property
    def heading(self) -> str:
        """The title in full."""
        return f"{self.title}: {self.of}" if self.of else self.title

    def text(self) -> str:
        """As lines of a terminal."""
        rows = [[shown(cell) for cell in row] for row in (self.head, *self.body)]
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
        rows = [[escaped(shown(cell)) for cell in row] for row in (self.head, *self.body)]
        rows.insert(1, rule)
        return _under(self.heading, "\n".join(f"| {' | '.join(row)} |" for row in rows), escaped(self.below))

    def latex(self) -> str:
        """As a table of LaTeX, with the rules of booktabs."""
        head, *rows = [" & ".join(map(_latex_cell, row)) for row in (self.head, *self.body)]
        # An asterisk or a bracket at the start of a row would belong to the command that ends the row before.
        rows = [("{}" if row.startswith(("*", "[")) else "") + rf"{row} \\" for row in rows]
        rows[:0] = [rf"{head} \\", r"\midrule"] if any(self.head) else []
        columns = "".join("l" if place in self.left else "r" for place in range(len(self.head)))
        caption = [rf"\caption{{{latex(self.heading)}}}"] if self.heading else []
        below = [rf"\par\smallskip{{\footnotesize {latex(self.below)}\par}}"] if self.below else []
        lines = [r"\begin{table}", r"\centering", *caption, rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *below, r"\end{table}"])


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: `drawing` is SVG, `key` the HTML that explains it. The terminal shows none; Markdown has its `data`."""

    title: str
    of: str = ""
    drawing: str = ""
    key: str = ""
    data: Table | None = None
    macro: ClassVar[str] = "chart"

    def text(self) -> str:
        """Empty, as a terminal shows no charts."""
        return ""

    def markdown(self) -> str:
        """The data, if there are any."""
        return self.data.markdown() if self.data else ""

    def latex(self) -> str:
        """The data, if there are any."""
        return self.data.latex() if self.data else ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values, a line each."""

    pairs: Sequence[tuple[str, str]]
    title: str = ""
    macro: ClassVar[str] = "facts"

    def text(self) -> str:
        """As lines of a terminal."""
        width = max(len(name) for name, _ in self.pairs)
        lines = [f"{name:{width}}  {value}".rstrip() for name, value in self.pairs]
        return "\n".join([*filter(None, [self.title]), *lines])

    def markdown(self) -> str:
        """As a list, with values as code: they can be copied as they are."""
        return _under(self.title, "\n".join(f"- {escaped(name)}: {code(value)}" for name, value in self.pairs))

    def latex(self) -> str:
        """As a table of two columns without a head."""
        return Table(self.title, ("", ""), self.pairs, left=(0, 1)).latex()


@dataclass(frozen=True, slots=True)
class Example:
    """An answer that is shown: a line about it, and its texts by name."""

    line: str
    texts: Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Examples:
    """Some of `total` answers of a kind. The terminal shows the first `most`; `more` says where the others are, with a
    placeholder for their number. Files have at most `longest` characters of a text.
    """

    title: str
    examples: Sequence[Example]
    total: int
    most: int
    more: str
    longest: int = LONGEST

    def text(self) -> str:
        """As lines of a terminal."""
        lines = [f"{self.title}:"]
        for example in self.examples[: self.most]:
            width = max(len(name) for name, _ in example.texts)
            lines.append(f"  {clipped(example.line, LONGEST_LINE)}")
            lines += [f"    {name:{width}}  {clipped(text, LONGEST_LINE)}" for name, text in example.texts]
        left = self.total - self.most
        return "\n".join([*lines, *([f"  ({self.more.format(left)})"] if left > 0 else [])])

    def markdown(self) -> str:
        """As a numbered list; texts are code, in which odd spaces can be seen."""
        lines = []
        for number, example in enumerate(self.examples, 1):
            lines.append(f"{number}. {escaped(clipped(example.line, LONGEST))}")
            lines += [f"    - {escaped(name)}: {code(text, self.longest)}" for name, text in example.texts]
        return _under(self.title, "\n".join(lines))

    def latex(self) -> str:
        """As a numbered list."""
        lines = []
        for example in self.examples:
            texts = [latex(f"{name}: {clipped(text, self.longest)}") for name, text in example.texts]
            lines.append(latex(clipped(example.line, LONGEST)) + "\n" + _latex_list("itemize", texts))
        return f"\\paragraph{{{latex(self.title)}}}\n{_latex_list('enumerate', lines)}"


@dataclass(frozen=True, slots=True)
class PagePanel:
    """A panel of the page, which `macro` renders from `data`; text and Markdown have it as `plain`."""

    macro: str
    data: Any
    plain: Table | Facts

    def text(self) -> str:
        """As lines of a terminal."""
        return self.plain.text()

    def markdown(self) -> str:
        """As Markdown."""
        return self.plain.markdown()

    def latex(self) -> str:
        """As LaTeX."""
        return self.plain.latex()


Block = str | Table | Chart | Facts | Examples | PagePanel
"""A part of a document: a paragraph, or what `macro`, one of `report/parts.html`, renders as HTML."""


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """Results in parts; notes, which a reader of the figures must know; and the judges with their signatures."""

    title: str
    parts: Sequence[Block]
    notes: Sequence[str] = ()
    judges: Sequence[tuple[str, Signature]] = ()

    def __repr__(self) -> str:
        return self.text()

    def joined(self, other: Document) -> Document:
        """With the parts, notes and judges of another one after its own."""
        notes, judges = [*self.notes, *other.notes], [*self.judges, *other.judges]
        return Document(self.title, [*self.parts, *other.parts], notes, judges)

    def text(self) -> str:
        """As lines of a terminal, without the title. Notes come last, where they are seen; signatures are short."""
        parts = [part if isinstance(part, str) else part.text() for part in self.parts]
        judges = "\n".join(
            f"judge  {signature.short}" if name in ("", signature.short) else f"judge  {name}: {signature.short}"
            for name, signature in self.judges
        )
        return "\n\n".join(filter(None, [*parts, judges, "\n".join(f"note: {note}" for note in self.notes)]))

    def markdown(self) -> str:
        """As a file of Markdown. Notes come first; signatures are complete."""
        parts = [escaped(part) if isinstance(part, str) else part.markdown() for part in self.parts]
        judges = [(name or signature.short, str(signature)) for name, signature in self.judges]
        parts += [Facts(judges, "Signatures").markdown()] if judges else []
        notes = "\n".join(f"- {escaped(note)}" for note in self.notes)
        return "\n\n".join(filter(None, [f"# {escaped(self.title)}", notes, *parts])) + "\n"

    def latex(self) -> str:
        """As a part of a LaTeX file that uses booktabs. Notes come last; the title and the signatures are comments."""
        about = [
            self.title,
            f"bert-judge {__version__}",
            *(f"judge {name or judge.short}: {judge}" for name, judge in self.judges),
        ]
        about.append(r"\usepackage{booktabs}; texts beyond Latin letters need LuaLaTeX or XeLaTeX")
        comments = "\n".join(f"% {visible(line)}" for line in about if line)
        parts = [latex(part) if isinstance(part, str) else part.latex() for part in self.parts]
        notes = _latex_list("itemize", list(map(latex, self.notes)))
        return "\n\n".join(filter(None, [comments, *parts, notes])) + "\n"


def _under(title: str, *parts: str) -> str:
    return "\n\n".join(filter(None, [f"## {escaped(title)}" if title else "", *parts]))


def _latex_cell(cell: Content) -> str:
    text = shown(cell)
    return "--" if text == "-" else latex(text)


def _latex_list(kind: str, items: Sequence[str]) -> str:
    """A list of LaTeX; nothing without items. The braces keep an item's bracket from being its label."""
    lines = [rf"\begin{{{kind}}}", *(rf"\item {{}}{item}" for item in items), rf"\end{{{kind}}}"]
    return "\n".join(lines) if items else ""
