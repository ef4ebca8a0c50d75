"""The example file is what its README says."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
FILE = EXAMPLES / "answers.jsonl"
KEYS = ["id", "task", "question", "references", "candidate", "label", "model"]
TASKS = {
    *("short_facts", "numbers_units", "multiple_choice", "dates", "lists", "hedged", "refusals", "long_reasoning"),
    *("paraphrase", "trap", "other_languages", "math", "reading", "unanswerable"),
}


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return [json.loads(line) for line in FILE.read_bytes().decode("utf-8").splitlines()]


def test_each_row_has_the_form_of_the_readme(rows: list[dict]) -> None:
    for row in rows:
        assert list(row) == KEYS
        texts = [row["id"], row["question"], *row["references"]]
        assert row["references"]
        assert all(isinstance(text, str) and text == text.strip() != "" for text in texts)
        assert row["candidate"] == row["candidate"].strip()
        assert type(row["label"]) is int and row["label"] in (0, 1)
        assert row["model"] in ("model-a", "model-b")


def test_rows_are_unique_and_balanced_in_every_task(rows: list[dict]) -> None:
    assert 60 <= len(rows) <= 100
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({(row["question"], row["candidate"]) for row in rows}) == len(rows)
    assert 0.45 <= sum(row["label"] for row in rows) / len(rows) <= 0.55
    assert 0.4 <= sum(row["model"] == "model-a" for row in rows) / len(rows) <= 0.6
    labels, references = defaultdict(list), defaultdict(set)
    for row in rows:
        labels[row["task"]].append(row["label"])
        references[row["question"]].add(tuple(row["references"]))
    assert set(labels) == TASKS
    assert all(0.3 <= sum(values) / len(values) <= 0.7 for values in labels.values())
    assert {len(variants) for variants in references.values()} == {1}  # whatever the answer
    assert len(references) < len(rows)


def test_readme_names_every_key_and_the_number_of_rows(rows: list[dict]) -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{key}` |" in readme for key in KEYS)
    assert f"holds {len(rows)} answers" in readme


def test_long_reasoning_is_long_and_wrong_answers_name_the_reference(rows: list[dict]) -> None:
    long = [row for row in rows if row["task"] == "long_reasoning"]
    assert all(150 <= len(row["candidate"].split()) <= 300 for row in long)
    for row in long:
        *_, end = row["candidate"].splitlines()
        assert row["references"][0] in row["candidate"]
        assert (row["references"][0] in end) == bool(row["label"])
