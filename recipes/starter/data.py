"""The rows that the starter judge learns from: labelled answers of real systems, and answers made from questions.

Input is a folder with two folders of JSON lines (`.jsonl` or `.jsonl.gz`); a file's name is its source:

    labelled/NAME.jsonl   question (or null), references (a list), candidate, label (1, 0, or null: left out),
                          and if you have them id and label_by (human, program, llm)
    tasks/NAME.jsonl      question, reference (a text or a list), and choices (a list) where there are options

    {"question": "Who wrote Emma?", "references": ["Jane Austen"], "candidate": "It was Austen.", "label": 1}
    {"question": "What is the capital of Peru?", "reference": "Lima"}

The tables below say how many rows of each source are taken. For answers of your own put `rows.json` into the folder,
which stands for them: `{"labelled": {"NAME": 5000}, "tasks": {"NAME": 2000}}`. Everything is deterministic: the same
folder and seed give the same rows in the same order.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

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
    "mmlu_pro": 7_000,
    "saf_english": 1_150,
    "sas_nq": 2_500,
    "sas_squad": 550,
    "semeval13_beetle": 3_500,
    "semeval13_scientsbank": 5_400,
    "squad_systems": 6_000,
    "verify_cot": 380,
    "zeroeval_gsm8k": 4_000,
    "zeroeval_math5": 5_000,
}
SYNTHETIC = {
    "nq_open": 2_600,
    "hotpotqa": 2_500,
    "squad_v2_dev": 2_000,
    "commonsenseqa": 1_200,
    "arc_easy": 800,
    "openbookqa": 800,
    "svamp": 700,
    "mawps": 700,
}

RIGHT = (
    "{right}",
    "{right}.",
    "The answer is {right}.",
    "It is {right}.",
    "It's {right}, I believe.",
    "I think it is {right}, but I am not entirely sure.",
    "I'm torn between {wrong} and {right}. I would go with {right}.",
    "I'm hesitating between {right} and {wrong}. I would say {right}.",
    "It could be {wrong} or {right}. My choice is {right}.",
    "{wrong}... no, wait, {right}.",
    "At first I thought of {wrong}, but the correct answer is {right}.",
    "Not {wrong}, but {right}.",
    "Many people would say {wrong}. In fact it is {right}.",
    "Let me think about it. Some sources mention {wrong}, however this does not fit. So the answer must be {right}.",
    "**{right}**",
    "Final answer: {right}",
    "Die Antwort lautet {right}.",
    "La réponse est {right}.",
    "La respuesta es {right}.",
    "La risposta è {right}.",
    "{right} (not {wrong})",
)
WRONG = (
    "{wrong}",
    "{wrong}.",
    "The answer is {wrong}.",
    "It is {wrong}.",
    "It's {wrong}, I believe.",
    "I think it is {wrong}, but I am not entirely sure.",
    "I'm torn between {wrong} and {right}. I would go with {wrong}.",
    "I'm hesitating between {right} and {wrong}. I would say {wrong}.",
    "It could be {wrong} or {right}. My choice is {wrong}.",
    "{right}... no, wait, {wrong}.",
    "At first I thought of {right}, but the correct answer is {wrong}.",
    "Not {right}, but {wrong}.",
    "Many people would say {right}. In fact it is {wrong}.",
    "Let me think about it. Some sources mention {right}, however this does not fit. So the answer must be {wrong}.",
    "**{wrong}**",
    "Final answer: {wrong}",
    "Die Antwort lautet {wrong}.",
    "La réponse est {wrong}.",
    "La respuesta es {wrong}.",
    "La risposta è {wrong}.",
    "{wrong} (not {right})",
    "It is either {right} or {wrong}.",
    "{right} or {wrong}",
    "It is definitely not {right}.",
    "The answer isn't {right}.",
    "I don't know.",
    "I'm sorry, but I can't answer this question.",
    "There is not enough information to answer.",
    "The question asks: {question}",
    "That is a good question. Let me think step by step.",
)


def labelled_rows(folder: Path, seed: int = 0) -> Iterator[Sample]:
    """Rows of the labelled sources, at most as many of each as the table says."""
    for source, wanted in _table(folder, "labelled", ROWS).items():
        rows = _read(folder / "labelled", source)
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


def synthetic_rows(folder: Path, seed: int = 0) -> Iterator[Sample]:
    """Answers made from questions and references: hedged, self-correcting, refusing, negated, in other languages."""
    for task, wanted in _table(folder, "tasks", SYNTHETIC).items():
        rows = [row for row in _read(folder / "tasks", task) if _short(row)]
        chance = random.Random(f"{seed}{task}")
        chance.shuffle(rows)
        alike = defaultdict(list)
        for row in rows:
            alike[_shape(_first(row))].append(_first(row))
        for n, row in enumerate(rows[: wanted // 2]):
            right = _first(row)
            pool = [_option(row, c) for c in row["choices"]] if "choices" in row else alike[_shape(right)]
            others = [text for text in chance.sample(pool, min(8, len(pool))) if text.casefold() != right.casefold()]
            if not others:
                continue
            for label, templates in ((1, RIGHT), (0, WRONG)):
                text = chance.choice(templates).format(right=right, wrong=others[0], question=row["question"])
                yield Sample(
                    text,
                    tuple(_all(row)),
                    row["question"],
                    f"{task}-{n}-{label}",
                    label,
                    meta={"source": f"made:{task}"},
                )


def _table(folder: Path, part: str, ours: dict[str, int]) -> dict[str, int]:
    """How many rows of each source are taken: by the folder's `rows.json`, else those of the starter."""
    own = folder / "rows.json"
    return json.loads(own.read_text(encoding="utf-8")).get(part, {}) if own.exists() else ours


def _read(folder: Path, source: str) -> list[dict]:
    packed = folder / f"{source}.jsonl.gz"
    with (
        gzip.open(packed, "rt", encoding="utf-8")
        if packed.exists()
        else packed.with_suffix("").open(encoding="utf-8") as lines
    ):
        return [json.loads(line) for line in lines]


def _all(row: dict) -> list[str]:
    return row["reference"] if isinstance(row["reference"], list) else [row["reference"]]


def _first(row: dict) -> str:
    return _all(row)[0]


def _option(row: dict, choice: str) -> str:
    """A choice with its letter, as the reference has it."""
    return f"({'ABCDEFGHIJ'[row['choices'].index(choice)]}) {choice}"


def _short(row: dict) -> bool:
    return len(_first(row)) <= 80 and _first(row).casefold() not in ("yes", "no", "unanswerable")


def _shape(text: str) -> str:
    """Answers of one shape can stand for each other: numbers, years, names, phrases of a length."""
    if re.fullmatch(r"(1[0-9]|20)\d\d", text):
        return "year"
    if re.search(r"\d", text):
        return "number" if re.fullmatch(r"[\d.,$%]+", text) else "text with a number"
    return ("Name" if text[:1].isupper() else "phrase") + str(min(len(text.split()), 5))
