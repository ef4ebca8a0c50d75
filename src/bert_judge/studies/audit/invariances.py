"""Invariances: changes of an answer, or of what it is judged against, that leave it as correct or incorrect as it was.

`invariances.json` holds them. A change of the answer's text is one of three: a frame with `{}` for the answer, two rows
of characters of which the second stands in for the first, or the name of a function of `_REWRITING`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from bert_judge.records import Sample
from bert_judge.studies.audit.items import AuditItem, Trial, neutral_sentences, read_data, spread

Change = str | Sequence[Sequence[str]]
Pairs = Iterable[tuple[str, Sample, Sample]]
"""Patterns (what was changed) with a plain sample and its changed form, which a person judges alike."""


@dataclass(frozen=True, slots=True)
class Invariance:
    """What is changed (`about`), and how: an entry of `invariances.json`.

    `how` names the function that makes the pairs, from `changes` by their patterns. `draws` pairs are drawn from what
    it makes (None: all are taken, in order). Long trials are made for `most` items only.
    """

    about: str
    how: str = "changed"
    changes: Mapping[str, Change] = field(default_factory=dict)
    draws: int | None = None
    most: int | None = None

    def trials(self, name: str, items: Sequence[AuditItem]) -> Iterator[Trial]:
        """The trials of this invariance, called `name`: one correct and one incorrect answer of each item, changed."""
        for item in spread(items, self.most):
            chance = Random(f"{name}|{item.id}")
            for answers in filter(None, item.answers):
                pairs = list(_HOW[self.how](self.changes, item, chance.choice(answers), chance))
                if self.draws is not None:
                    pairs = chance.sample(pairs, len(pairs))[: self.draws]
                for pattern, plain, changed in pairs:
                    yield Trial(name, pattern, changed, plain)


def _rewritten(
    rewrite: Callable[[Change, str], str], changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random
) -> Pairs:
    """The answer's text by each of the changes that do change it."""
    for pattern, change in changes.items():
        text = rewrite(change, plain.candidate)
        if text != plain.candidate:
            yield pattern, plain, replace(plain, candidate=text)


def _changed(change: Change, text: str) -> str:
    if not isinstance(change, str):
        letters, replacements = change
        return text.translate({ord(old): new for old, new in zip(letters, replacements, strict=True)})
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


def _in_long_text(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Pairs:
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
        text = _stated(str(frame).replace("{before}", before).replace("{after}", after), plain.candidate)
        yield pattern, plain, replace(plain, candidate=text)


def _reworded(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    """The value in other words, alone or in a sentence as the answer has it."""
    value, others = (item.value, item.same) if plain.gold else (next(iter(item.near), None), item.near_same)
    if value is not None and plain.candidate in (value, item.sentence(value)):
        for other in others:
            text = other if plain.candidate == value else item.sentence(other)
            yield f"{item.kind or 'value'} in other words", plain, replace(plain, candidate=text)


def _without_question(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    if plain.question is not None:
        yield "no question", plain, replace(plain, question=None)


def _references_reversed(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    references = tuple(dict.fromkeys((*item.references, *item.aliases, *item.same)))
    if len(references) > 1:
        yield "reversed", replace(plain, references=references), replace(plain, references=references[::-1])


def _references_added(changes: Mapping[str, Change], item: AuditItem, plain: Sample, chance: Random) -> Pairs:
    more = tuple(text for text in (*item.aliases, *item.same) if text not in item.references)
    if more:
        yield "after the others", plain, replace(plain, references=(*item.references, *more))
        yield "before the others", plain, replace(plain, references=(*more, *item.references))


_HOW: dict[str, Callable[[Mapping[str, Change], AuditItem, Sample, Random], Pairs]] = {
    "changed": partial(_rewritten, _changed),
    "stated": partial(_rewritten, _stated),
    "cased": partial(_rewritten, _cased),
    "ended": partial(_rewritten, _ended),
    "long text": _in_long_text,
    "reworded": _reworded,
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
"""Every invariance, by its name. A judge should give the changed sample the label of the plain one."""
