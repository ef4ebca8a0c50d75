"""Pairs without a label: the same each time, none twice, and never of a question that measures or calibrates."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from bert_judge.records import Sample
from bert_judge.training.rows import is_held_out

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "starter"))

from made.bank import DEV_SHARE
from pairs import KINDS, pairs


def _name(number: int) -> str:
    """A number in letters, which no change of an answer alters."""
    return f"z{number:03}".translate(str.maketrans("0123456789", "abcdefghij"))


CITIES = "Lima Quito Oslo Rome Paris Cairo Hanoi Dakar Accra Tunis Minsk Riga Sofia Berne Delhi".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled answers and questions of tasks, some of which fall among those that are held out."""
    folder = tmp_path_factory.mktemp("data")
    labelled, tasks, options = [], [], []
    for n in range(400):
        city, other = CITIES[n % 15], CITIES[(n + 4) % 15]
        question = f"Which city held fair {_name(n)}?"
        for candidate, label in ((f"It was {city}.", 1), (f"{city}, in {1900 + n % 90}", 1), (f"I think {other}.", 0)):
            labelled.append({"question": question, "references": [city], "candidate": candidate, "label": label})
        long = f"Fair {_name(n)} is well known. " * 8 + f"So the answer is {city}."
        labelled.append({"question": question, "references": [city], "candidate": long, "label": 1})
        tasks.append({"question": f"Where was congress {n}?", "reference": [city, f"{city} and {other}"]})
        choices = [city, other, "none of them"]
        options.append({"question": f"Where did voyage {n} end?", "reference": f"(A) {city}", "choices": choices})
    for name, rows in (("labelled/evouna_nq", labelled), ("tasks/open", tasks), ("tasks/options", options)):
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_pairs_are_the_same_each_time_and_none_is_there_twice(folder: Path) -> None:
    rows = list(pairs(folder, seed=3, most=2_000))
    assert rows == list(pairs(folder, seed=3, most=2_000))
    assert rows != list(pairs(folder, seed=4, most=2_000))
    assert len({(row.question, row.references, row.candidate) for row in rows}) == len(rows) > 1_500
    assert all(row.gold is None and row.candidate.strip() for row in rows)


def test_every_kind_is_made_in_its_share(folder: Path) -> None:
    counts = Counter(row.meta["source"].removeprefix("pairs:") for row in pairs(folder, most=2_000))
    assert counts.keys() == KINDS.keys()
    assert all(counts[kind] <= 2_000 * share for kind, (_, share) in KINDS.items())


def test_no_question_that_measures_or_calibrates_is_used(folder: Path) -> None:
    rows = list(pairs(folder, most=5_000))
    texts = {text for row in rows for text in (row.candidate, *row.references, row.question or "")}
    held_out = [
        number
        for number in range(400)
        if is_held_out(Sample("", (CITIES[number % 15],), f"Which city held fair {_name(number)}?"), DEV_SHARE)
    ]
    assert held_out
    names = [_name(number) for number in held_out]
    assert not [text for text in texts if any(name in text for name in names)]
