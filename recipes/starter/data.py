"""The rows that the starter judge learns from: labelled answers of real systems, and answers made from questions.

Input is a folder with two folders of JSON lines (`.jsonl` or `.jsonl.gz`); a file's name is its source:

    labelled/NAME.jsonl   question (or null), references (a list), candidate, label (1, 0, or null: left out),
                          and if you have them id and label_by (human, program, llm)
    tasks/NAME.jsonl      question, reference (a text or a list), and choices (a list) where there are options

    {"question": "Who wrote Emma?", "references": ["Jane Austen"], "candidate": "It was Austen.", "label": 1}
    {"question": "What is the capital of Peru?", "reference": "Lima"}

The table below says how many rows of each labelled source are taken. For answers of your own put `rows.json` into the
folder, which stands for it: `{"NAME": 5000}`. What is made from the questions in `tasks` is the business of `made`.
Everything is deterministic: the same folder and seed give the same rows in the same order.
"""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from made import KINDS, made_rows

from bert_judge.evidence import find_evidence
from bert_judge.types import Sample

# Rows taken of each source. Human labels and hard negatives get the weight; sources whose labels a program made from
# the string itself get little. `truthfulqa_human` is left out: its labels say "true", not "matches the reference".
ROWS = {
    "ae_train": 7_300,
    "efficientqa": 4_600,
    "evouna_nq": 10_800,
    "evouna_tq": 7_400,
    "godel_agent": 1_900,
    "gsm8k_openai": 1_000,
    "gsm8k_tora": 800,
    "hotpot_agents": 950,
    "mmlu_pro": 4_500,
    "saf_english": 1_150,
    "sas_nq": 2_500,
    "sas_squad": 550,
    "semeval13_beetle": 3_500,
    "semeval13_scientsbank": 5_400,
    "squad_systems": 6_000,
    "verify_cot": 380,
    "zeroeval_gsm8k": 2_000,
    "zeroeval_math5": 2_500,
}
# Benchmarks of one kind: to leave one out whole shows what the judge is worth on answers of a kind it has not seen.
# Of some only so many are learnt from; the others measure. More of them add nothing (RESULTS.md), and cost time.
LEARNT = {
    "ae_train": 3_500,
    "efficientqa": 2_800,
    "evouna_nq": 7_000,
    "evouna_tq": 5_500,
    "mmlu_pro": 2_800,
    "semeval13_beetle": 2_500,
    "squad_systems": 2_500,
    "zeroeval_gsm8k": 1_200,
    "zeroeval_math5": 1_500,
}
# What the judge takes for right after the first round it learns again, in other rows made in code; of the other kinds a
# fifth, and so many labelled rows, keep what it knows.
AGAIN = {
    # accepted too often
    "undecided": 8_000,
    "terse": 5_000,
    "denied plainly": 4_500,
    "unfinished": 4_000,
    "reasoned": 3_600,
    "orders to the judge": 3_000,
    "markers around options": 1_500,
    "markers around explanations": 2_400,
    "orders beside explanations": 1_400,
    "corrected": 2_000,
    "restated": 2_000,
    "denied": 1_500,
    "instead": 1_400,
    "type only": 1_200,
    "vague": 900,
    "torn": 600,
    # a small difference overlooked
    "expressions": 3_600,
    "explanations": 8_000,
    "beside the point": 4_000,
    "close dates": 2_400,
    "collected": 5_000,
    "lists": 1_300,
    "options of several parts": 800,
    "units": 1_200,
    "close names": 900,
    "numbers": 800,
    "dates": 600,
    "opposites": 400,
    # rejected too often
    "elaborated": 3_500,
    "spans": 1_800,
    "unanswerable": 1_000,
    "long text, answer at its start": 2_000,
    "long text, explanation at its start": 1_000,
    "long text, answer in its middle": 1_800,
}
LABELLED_AGAIN = 24_000
# People said whether these answers are right, not whether they agree with the reference: right ones that share no word
# with it would teach a judge to accept anything.
BEYOND_REFERENCES = ("efficientqa", "sas_nq")
FAMILIES = {
    "options": ("mmlu_pro", "godel_agent"),
    "maths": ("gsm8k_openai", "gsm8k_tora", "zeroeval_gsm8k", "zeroeval_math5", "verify_cot"),
    "open-domain": ("evouna_nq", "evouna_tq", "efficientqa", "sas_nq"),
    "grading": ("semeval13_beetle", "semeval13_scientsbank", "saf_english"),
    "reading": ("squad_systems", "ae_train", "sas_squad", "hotpot_agents"),
}


def all_rows(folder: Path, seed: int = 0) -> list[Sample]:
    """The labelled rows, and those made in code."""
    return [*labelled_rows(folder, seed), *made_rows(folder, seed)]


def to_learn(rows: Iterable[Sample]) -> Iterator[Sample]:
    """The rows that a judge is trained on: those whose label can follow from a reference, at most `LEARNT` a source.

    What calibrates and measures a judge is not sieved so.
    """
    taken: Counter[str] = Counter()
    for row in rows:
        source = row.meta["source"]
        beyond = source in BEYOND_REFERENCES and row.gold and not any(_recall(row))
        if not beyond and taken[source] < LEARNT.get(source, math.inf):
            taken[source] += 1
            yield row


def rows_again(folder: Path, seed: int) -> Iterator[Sample]:
    """The rows of a further round: some of the labelled ones, and new ones made in code, of a seed of their own."""
    labelled = list(to_learn(labelled_rows(folder, seed)))
    yield from random.Random(seed).sample(labelled, min(LABELLED_AGAIN, len(labelled)))
    yield from made_rows(folder, seed, amounts={kind: wanted // 5 for kind, (_, wanted) in KINDS.items()} | AGAIN)


def labelled_rows(folder: Path, seed: int = 0) -> Iterator[Sample]:
    """Rows of the labelled sources, at most as many of each as the table says."""
    for source, wanted in _table(folder).items():
        rows = _read(folder / "labelled" / f"{source}.jsonl.gz")
        random.Random(f"{seed}{source}").shuffle(rows)
        for row in rows[:wanted]:
            if row["label"] is not None:
                yield Sample(
                    row["candidate"],
                    tuple(row["references"]),
                    row.get("question") or None,
                    row.get("id"),
                    int(row["label"]),
                    meta={"source": source, "label_source": row.get("label_by")},
                )


def _recall(row: Sample) -> tuple[float, ...]:
    return find_evidence(row.candidate, row.references).recall


def _table(folder: Path) -> dict[str, int]:
    """How many rows of each source are taken: by the folder's `rows.json`, else those of the starter."""
    own = folder / "rows.json"
    table: dict[str, int] = json.loads(own.read_text(encoding="utf-8")) if own.exists() else ROWS
    return table


def _read(packed: Path) -> list[dict]:
    with (
        gzip.open(packed, "rt", encoding="utf-8")
        if packed.exists()
        else packed.with_suffix("").open(encoding="utf-8") as lines
    ):
        return [json.loads(line) for line in lines]
