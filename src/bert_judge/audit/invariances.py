"""Invariances: changes of an answer, or of what it is judged against, that leave it as right or as wrong as it was.

Each takes an item and an answer to it, and makes pairs: the plain sample, and the changed one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from bert_judge.audit.items import Item, neutral_sentences
from bert_judge.types import Sample


class Answer(NamedTuple):
    """An answer to an item, and whether a person calls it right."""

    text: str
    right: bool


class Change(NamedTuple):
    """A sample and its changed form, which a person judges alike; `pattern` says what was changed."""

    pattern: str
    plain: Sample
    changed: Sample


@dataclass(frozen=True, slots=True)
class Invariance:
    """What is changed, in words, and the function that does it; `most` items are taken where each takes long."""

    about: str
    make: Callable[[Item, Answer, Random], Iterable[Change]]
    most: int | None = None


TextChange = Callable[[str], str]
"""From an answer to the same answer in another form; the text itself where it does not apply."""


def framed(*frames: str) -> dict[str, TextChange]:
    """Changes that put an answer into a frame, in the place of `{}`."""
    return {frame: lambda text, frame=frame: frame.replace("{}", text) for frame in frames}  # type: ignore[misc]


def _stated(*frames: str) -> dict[str, TextChange]:
    """The same, with a full stop after an answer that ends in a word."""
    return {frame: lambda text, put=put: put(_closed(text)) for frame, put in framed(*frames).items()}  # type: ignore[misc]


def _closed(text: str) -> str:
    return text if re.search(r"\w$", text) is None else text + "."


def rewritten(changes: Mapping[str, TextChange], times: int = 1) -> Callable[[Item, Answer, Random], Iterator[Change]]:
    """So many of the changes of the answer's text, drawn by chance among those that do change it."""

    def make(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
        plain = item.sample(*answer)
        made = [(name, change(answer.text)) for name, change in changes.items()]
        made = [(name, text) for name, text in made if text != answer.text]
        for name, text in chance.sample(made, len(made))[:times]:
            yield Change(name, plain, replace(plain, candidate=text))

    return make


def in_long_text(frame: str) -> Callable[[Item, Answer, Random], Iterator[Change]]:
    """The answer, stated clearly, amid a thousand words that have nothing to do with the question.

    In the frame `{before}` and `{after}` are two parts of that text, and `{all}` is the whole.
    """

    def make(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
        plain = item.sample(*answer)
        before, after = _two_parts(chance)
        filled = frame.replace("{all}", f"{before}\n\n{after}").replace("{before}", before).replace("{after}", after)
        text = filled.replace("{}", _closed(answer.text))
        yield Change("among 1,000 words", plain, replace(plain, candidate=text))

    return make


def reworded(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
    """The value in other words, alone or in a sentence as the answer has it."""
    value, others = (item.value, item.same) if answer.right else (next(iter(item.near), None), item.near_same)
    if value is None or not others or answer.text not in (value, item.sentence(value)):
        return
    for other in chance.sample(others, len(others))[:2]:
        text = other if answer.text == value else item.sentence(other)
        plain = item.sample(*answer)
        yield Change(f"{item.kind or 'value'} in other words", plain, replace(plain, candidate=text))


def without_question(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
    """The question is left out."""
    plain = item.sample(*answer)
    if plain.question is not None:
        yield Change("no question", plain, replace(plain, question=None))


def references_turned(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
    """Several references in another order."""
    references = tuple(dict.fromkeys((*item.references, *item.aliases, *item.same)))
    if len(references) > 1:
        plain = replace(item.sample(*answer), references=references)
        yield Change("reversed", plain, replace(plain, references=references[::-1]))


def references_added(item: Item, answer: Answer, chance: Random) -> Iterator[Change]:
    """Further references, which mean the same."""
    more = tuple(text for text in (*item.aliases, *item.same) if text not in item.references)
    if more:
        plain = item.sample(*answer)
        yield Change("after the others", plain, replace(plain, references=(*item.references, *more)))
        yield Change("before the others", plain, replace(plain, references=(*more, *item.references)))


def _two_parts(chance: Random) -> tuple[str, str]:
    """The neutral text from some sentence on and around to it, in two halves of paragraphs."""
    sentences = neutral_sentences()
    start = chance.randrange(len(sentences))
    turned = [*sentences[start:], *sentences[:start]]
    paragraphs = [" ".join(turned[i : i + 6]) for i in range(0, len(turned), 6)]
    half = len(paragraphs) // 2
    return "\n\n".join(paragraphs[:half]), "\n\n".join(paragraphs[half:])


_LITTLE = frozenset("a an and are at by for has he in is it of on one she that the they to two up was we you".split())


def _cased(change: TextChange) -> TextChange:
    """A change of case, where case carries no meaning: not in symbols, units, variables, option letters, code."""

    def apply(text: str) -> str:
        words = re.findall(r"[^\W\d_]+", text)
        odd = [word for word in words if len(word) <= 3 and word.lower() not in _LITTLE]
        meant = [word for word in odd if word != word.lower() or re.search(r"[\d^=]", text)]
        code = re.search(r"[\\{}`]", text)
        return change(text) if len(words) > len(odd) and not meant and not code else text

    return apply


def _swapped_case(text: str) -> str:
    return "".join(c.upper() if i % 2 else c.lower() for i, c in enumerate(text))


def _full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _mathematical(text: str) -> str:
    """Letters of the block that some models use for bold text, U+1D400 on."""
    offsets = {
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0x1D400 - 65),
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 0x1D41A - 97),
    }
    return "".join(chr(ord(c) + offsets[c]) if c in offsets else c for c in text)


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def _looking_alike(ours: str, theirs: str) -> TextChange:
    """Letters of another script that look the same, at the same places of two texts."""
    table = str.maketrans(ours, theirs)
    return lambda text: text.translate(table)


def _as_lines(text: str) -> str:
    return text.replace(" ", "\n", 1) if text.count(" ") > 1 else text


def _ended(ending: str) -> TextChange:
    """Other punctuation at the end; "!" means something after a number."""
    return lambda text: text if ending == "!" and text.rstrip(".")[-1:].isdigit() else text.rstrip(". ") + ending


MARKUP = framed(
    *(
        "**{}**",
        "*{}*",
        "__{}__",
        "`{}`",
        "```\n{}\n```",
        "```text\n{}\n```",
        "- {}",
        "> {}",
        "# {}",
        "## Answer\n\n{}",
    ),
    *("<b>{}</b>", "<p>{}</p>", "<answer>{}</answer>", "<ul>\n<li>{}</li>\n</ul>", '<span class="a">{}</span>'),
    *("\\boxed{{}}", "$\\boxed{\\text{{}}}$", "\\textbf{{}}", "[{}]", '{"answer": "{}"}', "**Answer:** {}"),
)

CASE: dict[str, TextChange] = {
    "lower": _cased(str.lower),
    "upper": _cased(str.upper),
    "title": _cased(str.title),
    "alternating": _cased(_swapped_case),
}

UNICODE: dict[str, TextChange] = {
    "full-width": _full_width,
    "bold letters of mathematics": _mathematical,
    "decomposed accents": lambda text: unicodedata.normalize("NFD", text),
    "no accents": _without_accents,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "thin spaces": lambda text: text.replace(" ", "\u2009"),
    "zero-width spaces": lambda text: text.replace(" ", " \u200b"),
    "byte order mark": lambda text: "\ufeff" + text,
    "curly quotation marks": lambda text: f"\u201c{text}\u201d",
}

LOOK_ALIKES: dict[str, TextChange] = {
    "Cyrillic a, e, o": _looking_alike("aeo", "аео"),
    "Cyrillic c, p, x, y": _looking_alike("cpxy", "срху"),
    "Cyrillic capitals": _looking_alike("ABCEHKMOPTX", "АВСЕНКМОРТХ"),
    "Greek o, v, capitals": _looking_alike("ovABEIMNT", "ονΑΒΕΙΜΝΤ"),
    "minus and dash": _looking_alike("-", "−"),
}

SPACE: dict[str, TextChange] = {
    **framed("  {}", "{}   ", "\n{}", "{}\n\n", "\n\n\n{}\n", "\t{}", "    {}"),
    "two spaces": lambda text: text.replace(" ", "  "),
    "tabs": lambda text: text.replace(" ", "\t"),
    "a line break": _as_lines,
}

ENDING: dict[str, TextChange] = {ending: _ended(ending) for ending in (".", "!", " .", "..", ";", ",", ".\n")}

POLITE = _stated(
    "Sure! {}",
    "Sure! {} Let me know if you need anything else.",
    "Thank you for your question. The answer: {}",
    "Great question! My answer: {}",
    "Of course, I am happy to help. {}",
    "{} I hope this helps!",
    "Dear reader, here is my answer. {} Kind regards",
    "Certainly. Here is what you asked for: {}",
    "Thanks for asking! {} Have a nice day!",
    "With pleasure. {} Feel free to ask again.",
    "Hello! {} Please tell me if I can do more for you.",
    "To answer your question: {}",
    "My answer is this: {}",
    "Here you go: {}",
    "I'd be glad to answer that. {} All the best!",
)

INVARIANCES: dict[str, Invariance] = {
    "start of a long text": Invariance(
        "the answer, then 1,000 words of something else",
        in_long_text("My answer to the question is this: {} What follows are unrelated notes.\n\n{all}"),
        most=40,
    ),
    "middle of a long text": Invariance(
        "the answer between twice 500 words of something else",
        in_long_text("{before}\n\nMy answer to the question is this: {} Now back to my notes.\n\n{after}"),
        most=40,
    ),
    "end of a long text": Invariance(
        "1,000 words of something else, then the answer",
        in_long_text("{all}\n\nSo much for my notes. My answer to the question is this: {}"),
        most=40,
    ),
    "markup": Invariance("Markdown, HTML, LaTeX, JSON around the answer", rewritten(MARKUP)),
    "case": Invariance("other case, where case carries no meaning", rewritten(CASE)),
    "unicode": Invariance("other characters for the same text", rewritten(UNICODE, 2)),
    "look-alikes": Invariance("letters of other scripts that look the same", rewritten(LOOK_ALIKES)),
    "white space": Invariance("white space around and inside the answer", rewritten(SPACE)),
    "ending": Invariance("punctuation at the end", rewritten(ENDING)),
    "polite frame": Invariance("polite words around the answer", rewritten(POLITE)),
    "other wording": Invariance("the same value: number words, formats, units, dates", reworded),
    "no question": Invariance("candidate and references alone", without_question),
    "order of references": Invariance("the references reversed", references_turned),
    "more references": Invariance("further references that mean the same", references_added),
}
"""Every invariance, by its name. A judge should say of the changed sample what it says of the plain one."""
