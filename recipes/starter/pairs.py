"""Questions, references and candidates without a label, for a judge that learns from the scores of a larger one.

A teacher tells more than a label does, and needs none: `pairs` puts known answers to other questions, beside other
references, changes them, cuts them and joins them. None of the questions that measure or calibrate are among them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from data import TABLES, divide
from made.bank import LETTERS, first_word, near_value, read_folder, shape

from bert_judge.measures.questions import question_key
from bert_judge.records import Sample

LONGEST = 1_500  # characters of a text that is changed or becomes a reference
REMARKS = (
    " I hope this helps.",
    " Let me know if you need more.",
    " (from memory)",
    ", I think",
    " Source: Wikipedia.",
)
SENTENCES = ("The answer is {}.", "It is {}.", "I believe it was {}.", "**{}**", "Answer: {}", "{}, as far as I know.")
Change = Callable[[str, Random], str | None]


def pairs(folder: Path, seed: int = 0, most: int = 200_000) -> Iterator[Sample]:
    """At most so many different pairs, the same for the same folder and seed; `meta` has the source, "pairs:KIND"."""
    answers = _answers(folder)
    makers = [(kind, make(answers, Random(f"{seed}{kind}")), share) for kind, (make, share) in KINDS.items()]
    seen = set()
    for kind, made, share in makers:
        for row in islice(made, int(most * share)):
            key = (row.candidate, row.references, row.question)
            if row.candidate.strip() and key not in seen:
                seen.add(key)
                yield replace(row, gold=None, id=f"{kind}-{len(seen)}", meta={"source": f"pairs:{kind}"})


def _answers(folder: Path) -> list[Sample]:
    """The labelled answers, and the references of tasks as correct ones, of the questions that are trained on."""
    rows = []
    for source, records in read_folder(folder / "labelled"):
        for row in records if source in TABLES["taken"] else ():
            question, references = row.get("question") or None, tuple(row["references"])
            rows.append(Sample(row["candidate"], references, question, gold=row["label"], meta={"source": source}))
    for task, records in read_folder(folder / "tasks"):
        for row in records:
            references = row["reference"] if isinstance(row["reference"], list) else [row["reference"]]
            meta = {"source": task, "choices": tuple(row.get("choices") or ())}
            rows.append(Sample(references[0], tuple(references), row["question"], gold=1, meta=meta))
    return divide(rows)[0]


def _shuffled(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """Rows in random order, three times; small sources more often than their size suggests."""
    by_source = defaultdict(list)
    for row in rows:
        by_source[row.meta["source"]].append(row)
    for _ in range(3):
        queues = [chance.sample(part, len(part)) for part in by_source.values()]
        while queues := [queue for queue in queues if queue]:
            yield chance.choices(queues, [len(queue) ** 0.5 for queue in queues])[0].pop()


def answers_as_references(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """An answer beside a correct one to the same question, in place of the references."""
    rights = defaultdict(list)
    for row in rows:
        if row.gold and 0 < len(row.candidate) <= LONGEST:
            rights[question_key(row.question, row.references)].append(row.candidate)
    for row in _shuffled(rows, chance):
        others = rights.get(question_key(row.question, row.references), ())
        reference = chance.choice(others) if others else row.candidate
        if reference != row.candidate:
            yield replace(row, references=(reference,))


def answers_to_others(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """An answer to another question of its source: one that asks for the same, or whose answer looks alike."""
    alike = defaultdict(list)
    for row in rows:
        for key in _looks(row):
            alike[key].append(row.candidate)
    for row in _shuffled(rows, chance):
        others = alike[chance.choice(_looks(row))]
        yield replace(row, candidate=chance.choice(others))


def _looks(row: Sample) -> list[tuple[str, ...]]:
    source, asked = row.meta["source"], first_word(row.question or "")
    return [(source, asked, shape(row.references[0][:80])), (source, shape(row.references[0][:80]))]


def changed_answers(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """An answer or a reference as candidate, changed once or twice."""
    for row in _shuffled(rows, chance):
        text = chance.choice(row.references) if chance.random() < 0.4 else row.candidate
        changed = _changed(text, chance)
        if changed and chance.random() < 0.3:
            changed = _changed(changed, chance)
        if changed:
            yield replace(row, candidate=changed)


def changed_references(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """An answer beside a changed reference."""
    for row in _shuffled(rows, chance):
        changed = _changed(chance.choice(row.references), chance)
        if changed:
            yield replace(row, references=(changed,))


def cut_answers(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """A long answer that breaks off, or has the end of another answer to its source."""
    ends: dict[str, str] = {}
    for row in _shuffled([row for row in rows if len(row.candidate) > 120], chance):
        text, source = row.candidate, row.meta["source"]
        parts = re.split(r"(?<=[.!?\n])\s+", text)
        kept = " ".join(parts[: chance.randint(1, len(parts))])
        if chance.random() < 0.4 and source in ends:
            kept = f"{' '.join(parts[:-1])} {ends[source]}"
        ends[source] = parts[-1]
        yield replace(row, candidate=kept)


def joined_answers(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """Two answers to a question in one, correct or not."""
    texts = defaultdict(list)
    for row in rows:
        if 0 < len(row.candidate) <= 300:
            texts[question_key(row.question, row.references)].append(row.candidate)
    joints = (" or ", ", or rather ", ". No, wait: ", "\n", "; ", " and ", " (not ", ". ")
    for row in _shuffled([row for row in rows if len(row.candidate) <= 300], chance):
        other = chance.choice(texts[question_key(row.question, row.references)] or [row.references[0]])
        if other != row.candidate:
            yield replace(row, candidate=f"{row.candidate.rstrip('.')}{chance.choice(joints)}{other}")


def chosen_options(rows: Sequence[Sample], chance: Random) -> Iterator[Sample]:
    """One or two of a question's options, by letter, text or both, the options in the question or not."""
    for row in _shuffled([row for row in rows if row.meta.get("choices")], chance):
        choices = row.meta["choices"]
        listed = "\n".join(f"({letter}) {text}" for letter, text in zip(LETTERS, choices, strict=False))
        styles = ("{t}", "({l}) {t}", "{l}", "The answer is ({l}).", "I'd say {t}.", "{l}) {t}")
        picked = [chance.randrange(len(choices)) for _ in range(1 if chance.random() < 0.8 else 2)]
        texts = [chance.choice(styles).format(l=LETTERS[n], t=choices[n]) for n in picked]
        question = f"{row.question}\n{listed}" if chance.random() < 0.7 else row.question
        yield replace(row, question=question, candidate=chance.choice((" ", " or ", "\n")).join(texts))


def _changed(text: str, chance: Random) -> str | None:
    """A text with one of `CHANGES`; None where it is too long or none fits."""
    if not 0 < len(text) <= LONGEST:
        return None
    for change in chance.sample(CHANGES, 4):
        changed = change(text, chance)
        if changed and changed.strip() and changed != text:
            return changed.strip()
    return None


def _without_words(text: str, chance: Random) -> str | None:
    words = text.split()
    if len(words) < 2:
        return None
    start = chance.randrange(len(words))
    return " ".join(words[:start] + words[start + chance.randint(1, max(1, len(words) // 4)) :])


def _swapped(text: str, chance: Random) -> str | None:
    words = text.split()
    if len(words) < 2:
        return None
    n = chance.randrange(len(words) - 1)
    words[n], words[n + 1] = words[n + 1], words[n]
    return " ".join(words)


def _other_number(text: str, chance: Random) -> str | None:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return None
    number = chance.choice(numbers)
    other = str(max(0, int(number[0][:15]) + chance.choice((-10, -2, -1, 1, 2, 10, 100))))
    return text[: number.start()] + other + text[number.end() :]


def _first_clause(text: str, chance: Random) -> str | None:
    parts = re.split(r"[,;:.(]\s", text)
    return parts[0] if len(parts) > 1 else None


def _last_clause(text: str, chance: Random) -> str | None:
    parts = re.split(r"[,;:.]\s", text)
    return parts[-1] if len(parts) > 1 else None


def _denied(text: str, chance: Random) -> str | None:
    verb = re.search(r"\b(is|are|was|were|can|will|does|did|has|have)\b(?! not)", text)
    if verb and " not " not in text:
        return f"{text[: verb.end()]} not{text[verb.end() :]}"
    return text.replace(" not ", " ", 1) if " not " in text else f"not {text}"


def _items_moved(text: str, chance: Random) -> str | None:
    items = re.split(r",\s*(?:and\s+)?|\s+and\s+|;\s*", text)
    if not 2 <= len(items) <= 12:
        return None
    kept = chance.sample(items, len(items) if chance.random() < 0.5 else len(items) - 1)
    return ", ".join(kept)


def _year_alone(text: str, chance: Random) -> str | None:
    year = re.search(r"\b1\d{3}\b|\b20\d\d\b", text)
    return year[0] if year else None


CHANGES: tuple[Change, ...] = (
    _without_words,
    _without_words,
    _swapped,
    _other_number,
    _first_clause,
    _last_clause,
    _denied,
    _items_moved,
    _year_alone,
    near_value,
    lambda text, chance: f"{chance.choice(('about', 'roughly', 'probably', 'at least', 'before', 'the'))} {text}",
    lambda text, chance: text + chance.choice(REMARKS),
    lambda text, chance: chance.choice(SENTENCES).format(text.rstrip(".")) if len(text) < 120 else None,
    lambda text, chance: text.upper() if chance.random() < 0.3 else text.lower(),
    lambda text, chance: text.split()[-1],
    lambda text, chance: text.split()[0],
    lambda text, chance: text[:-1] if text.endswith("s") else f"{text}s",
    lambda text, chance: re.sub(r"\b(\w)\w+\s+(?=[A-Z])", r"\1. ", text, count=1),
)

# What is made, and how much of all that is asked for.
KINDS: dict[str, tuple[Callable[[Sequence[Sample], Random], Iterator[Sample]], float]] = {
    "answers as references": (answers_as_references, 0.24),
    "answers to others": (answers_to_others, 0.14),
    "changed answers": (changed_answers, 0.26),
    "changed references": (changed_references, 0.14),
    "cut answers": (cut_answers, 0.08),
    "joined answers": (joined_answers, 0.06),
    "chosen options": (chosen_options, 0.08),
}
