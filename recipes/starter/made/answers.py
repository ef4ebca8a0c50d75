"""Items made of labelled answers: questions with reasoning of real systems, or with answers that people graded."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from made.bank import LETTERS, Item, differs, read_folder
from made.values import parse_number

_CHAIN = re.compile(  # reasoning, and the answer that it ends with
    r"(?P<chain>.{80,3000}?)[\s*#]*(?:(?:so |thus,? |therefore,? )?the (?:final |correct )?answer is:?|^A:|####"
    r"|^\**(?:final )?answer:?\**:?|\$*\\boxed\{)\s*(?P<said>[^\n]{1,40}?)[\s.*})$]*",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_TRUE_ONLY = ("truthfulqa_human",)  # its labels say whether an answer is true


def labelled_pools(folder: Path) -> dict[str, dict[str, list[Item]]]:
    """The pools "chains" and "graded", by source; empty where the folder has no labelled answers."""
    pools: dict[str, dict[str, list[Item]]] = {"chains": {}, "graded": {}}
    for source, rows in read_folder(folder / "labelled"):
        if source not in _TRUE_ONLY:
            pools["chains"][source] = [chain for row in rows if (chain := _chain(source, row))]
            pools["graded"][source] = _graded(source, rows)
    return pools


def _chain(source: str, row: dict[str, Any]) -> Item | None:
    """A question with the reasoning of a candidate, and with the answer that it ends with where that is incorrect."""
    match, question, right = _CHAIN.fullmatch(row["candidate"]), row.get("question") or "", row["references"][0]
    if not match or re.search(r'"reasoning"|```', match["chain"]):
        return None
    answer, choices = match["said"].strip("( "), tuple(re.findall(r"^\([A-J]\) (.*)", question, re.MULTILINE))
    if len(choices) == 1:
        return None  # no answer is incorrect
    if choices:
        place = LETTERS.find(answer[:1])
        if not (0 <= place < len(choices) and re.match(r"\([A-J]\) .", right) and right[4:] in choices):
            return None
        answer, right_text = choices[place], right[4:]
    elif parse_number(answer) and parse_number(right):
        right_text = right
    else:
        return None
    wrong = answer if differs(answer, [right_text]) else ""
    if row["label"] != (not wrong):
        return None
    return Item(source, question, (right,), choices, solution=match["chain"].strip(), wrong=wrong)


def _graded(source: str, rows: list[dict[str, Any]]) -> list[Item]:
    """Questions with long references: an item for each answer graded as wrong, with all correct ones."""
    by_question: dict[tuple[str, tuple[str, ...]], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for row in rows:
        long = row.get("label_by") == "human" and row.get("question") and len(row["references"][0].split()) > 5
        clear = row["label"] or (row.get("label3") in (None, "contradictory") and not row.get("human_score"))
        if long and clear and row["label"] in (0, 1) and row["candidate"].strip():
            by_question[row["question"], tuple(row["references"])][row["label"]].append(row["candidate"])
    return [
        Item(source, question, references, wrong=wrong, same=tuple(rights))
        for (question, references), (wrongs, rights) in by_question.items()
        for wrong in wrongs
        if len(rights) > 1
    ]
