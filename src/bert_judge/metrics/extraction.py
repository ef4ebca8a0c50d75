"""Extracting an answer from a text: the chosen option, the contents of boxes, the text without markup."""

from __future__ import annotations

import re
import unicodedata

from bert_judge.metrics.text import exact_match

_MARKUP = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)(?=\s*\{)|[*_`$\"'“”‘’{}]")
_SPACES, _LINES = re.compile(r"[^\S\n]+"), re.compile(r" ?\n[ \n]*")
# "A" and "I" are words, too: they are options only if no sentence continues after them.
_ALONE = r"(?![)\].]? ?(?:,|/|&|or\b|and\b) ?[(\[]?(?-i:[A-HJ-Z])(?![\w']))"  # "A or B" chooses neither
_LETTER = (
    r"[(\[]?(?-i:([B-HJ-Z])(?![\w+#])"
    r"|([AI])(?=$|[\n)\].:,;]| ?[-–—]| (?:because|since|as|for|which|due|and)\b))" + _ALONE
)
_SMALL_LETTER = r"|[(\[]?(?-i:([b-hj-z])(?![\w-])|(?<=[(\[])([ai])(?=[)\]])|([ai])(?=\W*$))" + _ALONE
_STATED = re.compile(
    r"(?:\b(?:answer(?: to (?:the|this) (?:question|problem))?|(?:correct|right|best) (?:option|choice)"
    r"|antwort|respuesta|réponse|resposta|risposta|ответ)|答案)"
    r"(?: is| would be| should be| ist| es| est| é| è|是|为| ?[:=])*\s*(?:(?:therefore|thus|then|clearly),? )?"
    rf"(?:(?:option|choice) )?(?:{_LETTER}{_SMALL_LETTER})"
    r"|\b(?:its|it is|(?:i|id|i would|ill|i will|my) (?:choose|pick|select|go (?:with|for)|say|choice is|pick is))"
    rf" (?:option )?(?:{_LETTER}{_SMALL_LETTER})"
    r"|(?<!\w)(?-i:([A-Z]))\)? is (?:the )?(?:correct|right|best)\b",
    re.IGNORECASE,
)
# `<answer>B</answer>` and "#### B" at the end of a line are "answer: B".
_FRAMED = re.compile(
    r"<(?:final_?)?(answer|choice|option)>\s*(.*?)\s*</(?:final_?)?\1>|^()#{2,6}[ \t]*(\(?[A-Za-z][).]?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_LONE = re.compile(r"[(\[]?([A-Za-z])[)\]]?[.:,]?")
_LABEL = re.compile(r"^(?:\(([A-Za-z])\)|([A-Za-z])\)|([A-Z])[.:])(?!\S)" + _ALONE, re.MULTILINE)
_OPENING = re.compile(r"([A-Z])" + _ALONE + r"(?:[,;\n]| [-–—] | (?:because|since|as)\b)")
_OPTION_TEXT = re.compile(r"\(?[A-Za-z][).:]\s*(.+)", re.DOTALL)
_MARKED = re.compile(r"\(([A-Z])\)|\*\*\(?([A-Z])\)?[.:]?\*\*|\b[Oo]ption ([A-Z])\b|\\boxed\{([A-Z])\}")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_ENCLOSING = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_LAYERS = 8  # of markup around an answer: more than anyone writes, but bounded for hostile texts


def choice(candidate: str, reference: str) -> float:
    """1.0 if the candidate chooses the option that the reference names, else 0.0.

    "A", "(A)", "**A**.", "A) Paris", "The answer is (A)" name the same option. A candidate that names none is right if
    it is the option's text ("Paris" for "A) Paris"). A reference that is not an option ("NO", "42") is compared by
    `exact_match`.
    """
    text = _plain(reference)
    option = _LONE.fullmatch(text) or _LABEL.match(text)
    if option is None:
        return exact_match(candidate, reference)
    chosen = find_choice(candidate)
    content = _OPTION_TEXT.fullmatch(text)
    if chosen is None and content:
        return exact_match(candidate, content[1])
    return float(chosen == _letter(option))


def find_choice(text: str) -> str | None:
    """The letter, in upper case, of the option that an answer chooses; None if it names none, or several.

    Looked for in this order: a letter alone ("b", "**B**."); the last one stated as the answer ("the answer is (B)",
    "Correct option: B", "answer: b", "It's B", "<answer>B</answer>", "#### B", "Antwort: B", "B is correct"); the first
    word ("B, as …"); the label at the start, unless other lines have other labels; the only option that is set off from
    the text ("I go for (B) here").
    """
    plain = _plain(text)
    if lone := _LONE.fullmatch(plain):
        return _letter(lone)
    if stated := list(_STATED.finditer(plain)):
        return _letter(stated[-1])
    if opening := _OPENING.match(plain):
        return _letter(opening)
    labels = {_letter(match) for match in _LABEL.finditer(plain)}
    if not _LABEL.match(plain):
        labels = {_letter(match) for match in _MARKED.finditer(unicodedata.normalize("NFKC", text))}
    return labels.pop() if len(labels) == 1 else None


def find_boxed(text: str) -> list[str]:
    r"""The contents of each `\boxed{…}` or `\fbox{…}` of a LaTeX text, in order, with the braces inside.

    A box inside another is part of the outer one; a box that is not closed is left out.
    """
    closed = _braces(text)
    contents, position = [], 0
    for box in _BOX.finditer(text):
        end = closed.get(box.end() - 1)
        if box.start() >= position and end is not None:
            contents.append(text[box.end() : end])
            position = end
    return contents


def strip_markup(text: str) -> str:
    r"""An answer without the white space, `*`, backticks, full stops, `$…$`, `\(…\)` and box around it.

    "**A**." becomes "A", `$\boxed{\frac{1}{2}}$.` becomes `\frac{1}{2}`; an amount such as "$5" stays.
    """
    for _ in range(_LAYERS):
        text = text.strip().strip("*`").strip().rstrip(".。").rstrip()
        for opening, closing in _ENCLOSING:
            inside = text[len(opening) : -len(closing)]
            if text == opening + inside + closing and closing not in inside:
                text = inside
        box = _BOX.match(text)
        if box and _braces(text).get(box.end() - 1) == len(text) - 1:
            text = text[box.end() : -1]
    return text.strip()


def _plain(text: str) -> str:
    """NFKC without Markdown, quotation marks and LaTeX's boxes and fonts; single-spaced, lines kept."""
    text = _FRAMED.sub(lambda framed: f"answer: {framed[2] or framed[4] or ''}", text)
    text = _MARKUP.sub("", unicodedata.normalize("NFKC", text))
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()


def _letter(match: re.Match[str]) -> str:
    return str(match[match.lastindex or 0]).upper()


def _braces(text: str) -> dict[int, int]:
    """The place of the closing brace by that of the opening one; braces after a backslash don't count."""
    opened: list[int] = []
    closed = {}
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            closed[opened.pop()] = match.start()
    return closed
