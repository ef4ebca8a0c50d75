"""Invariances: changes of an answer, or of what it is judged against, that leave it as correct or incorrect as it was.

`invariances.json` holds them. A change of the answer's text is one of three: a frame with `{}` for the answer, two rows
of characters of which the second stands in for the first, or the name of a function of `_REWRITING`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from bert_judge.audit.items import AuditItem, neutral_sentences, read_data
from bert_judge.types import Sample

Change = str | Sequence[Sequence[str]]
Texts = Iterable[tuple[str, str]]
"""Patterns (what was changed) with the changed text of an answer."""
Pairs = Iterable[tuple[str, Sample, Sample]]
"""Patterns with a plain sample and its changed form, which a person judges alike."""


@dataclass(frozen=True, slots=True)
class Invariance:
    """What is changed (`about`), and how: an entry of `invariances.json`.

    `how` names the function that makes the pairs, from `changes` by their patterns. `draws` texts are drawn from what
    it makes (None: all are taken, in order). Long trials are made for `most` items only.
    """

    about: str
    how: str = "changed"
    changes: Mapping[str, Change] = field(default_factory=dict)
    draws: int | None = None
    most: int | None = None

    def pairs(self, item: AuditItem, plain: Sample, chance: Random) -> Pairs:
        """Pairs of samples for an item; `plain` holds an answer to it that a person has judged."""
        if self.how in _AROUND:
            yield from _AROUND[self.how](item, plain)
            return
        texts = list(_TEXTS[self.how](self.changes, item, plain, chance))
        for pattern, text in texts if self.draws is None else chance.sample(texts, len(texts))[: self.draws]:
            yield pattern, plain, replace(plain, candidate=text)


def _rewritten(
    rewrite: Callable[[Change, str], str],
) -> Callable[[Mapping[str, Change], AuditItem, Sample, Random], Texts]:
    """The answer's text by each of the changes that do change it."""

    def make(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Texts:
        texts = ((pattern, rewrite(change, plain.candidate)) for pattern, change in changes.items())
        return [(pattern, text) for pattern, text in texts if text != plain.candidate]

    return make


def _changed(change: Change, text: str) -> str:
    if not isinstance(change, str):
        ours, theirs = change
        return text.translate({ord(old): new for old, new in zip(ours, theirs, strict=True)})
    return change.replace("{}", text) if "{}" in change else _REWRITING[change](text)


def _stated(change: Change, text: str) -> str:
    """Changed, with a full stop after an answer that ends in a word."""
    return _changed(change, text if re.search(r"\w$", text) is None else text + ".")


def _cased(change: Change, text: str) -> str:
    """A change of case, if case carries no meaning: not in symbols, units, variables, option letters, code."""
    words = re.findall(r"[^\W\d_]+", text)
    odd = [word for word in words if len(word) <= 3 and word.lower() not in _LITTLE]
    meant = [word for word in odd if word != word.lower() or re.search(r"[\d^=]", text)]
    code = re.search(r"[\\{}`]", text)
    return _changed(change, text) if len(words) > len(odd) and not meant and not code else text


def _ended(ending: Change, text: str) -> str:
    """Other punctuation at the end, but no "!" after a number, where it is a factorial."""
    return text if ending == "!" and text.rstrip(".")[-1:].isdigit() else f"{text.rstrip('. ')}{ending}"


_LITTLE = frozenset("a an and are at by for has he in is it of on one she that the they to two up was we you".split())
_REWRITING: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "alternating": lambda text: "".join(c.upper() if i % 2 else c.lower() for i, c in enumerate(text)),
    "decomposed accents": lambda text: unicodedata.normalize("NFD", text),
    "no accents": lambda text: "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)),
    "a line break": lambda text: text.replace(" ", "\n", 1) if text.count(" ") > 1 else text,
}


def _in_long_text(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Texts:
    """The answer, stated clearly, amid a thousand words that have nothing to do with the question.

    `{before}` and `{after}` are the halves of that text, which goes from a random sentence on and around to it.
    """
    sentences = neutral_sentences()
    start = chance.randrange(len(sentences))
    turned = [*sentences[start:], *sentences[:start]]
    paragraphs = [" ".join(turned[i : i + 6]) for i in range(0, len(turned), 6)]
    half = len(paragraphs) // 2
    before, after = "\n\n".join(paragraphs[:half]), "\n\n".join(paragraphs[half:])
    for pattern, frame in changes.items():
        yield pattern, _stated(str(frame).replace("{before}", before).replace("{after}", after), plain.candidate)


def _reworded(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Texts:
    """The value in other words, alone or in a sentence as the answer has it."""
    value, others = (item.value, item.same) if plain.gold else (next(iter(item.near), None), item.near_same)
    if value is not None and plain.candidate in (value, item.sentence(value)):
        for other in others:
            yield f"{item.kind or 'value'} in other words", other if plain.candidate == value else item.sentence(other)


_TEXTS = {
    "changed": _rewritten(_changed),
    "stated": _rewritten(_stated),
    "cased": _rewritten(_cased),
    "ended": _rewritten(_ended),
    "long text": _in_long_text,
    "reworded": _reworded,
}


def _without_question(item: AuditItem, plain: Sample) -> Pairs:
    if plain.question is not None:
        yield "no question", plain, replace(plain, question=None)


def _references_reversed(item: AuditItem, plain: Sample) -> Pairs:
    references = tuple(dict.fromkeys((*item.references, *item.aliases, *item.same)))
    if len(references) > 1:
        yield "reversed", replace(plain, references=references), replace(plain, references=references[::-1])


def _references_added(item: AuditItem, plain: Sample) -> Pairs:
    more = tuple(text for text in (*item.aliases, *item.same) if text not in item.references)
    if more:
        yield "after the others", plain, replace(plain, references=(*item.references, *more))
        yield "before the others", plain, replace(plain, references=(*more, *item.references))


# Changes of what the answer is judged against: they leave its text alone.
_AROUND = {
    "no question": _without_question,
    "references reversed": _references_reversed,
    "references added": _references_added,
}


def _load() -> dict[str, Invariance]:
    """The invariances by name; a list of changes stands for changes that are their own pattern."""
    entries = read_data("invariances.json")
    for entry in entries.values():
        if isinstance(entry.get("changes"), list):
            entry["changes"] = {change: change for change in entry["changes"]}
    return {name: Invariance(**entry) for name, entry in entries.items()}


INVARIANCES = _load()
"""Every invariance, by its name. A judge should say of the changed sample what it says of the plain one."""
