"""Which columns of a file hold the question, the references, the candidate, the id and the label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from bert_judge.errors import InputError, did_you_mean
from bert_judge.inputs.limits import FILES

REQUIRED: Final = ("reference", "candidate")
"""The roles that every row to be judged needs."""

COLUMN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": (
        *("question", "prompt", "input", "query", "instruction", "problem"),
        *("question_text", "user_input", "messages", "input_text", "user_query", "user_question", "user_prompt"),
    ),
    "reference": (
        *("reference", "references", "answer", "answers", "gold", "golds", "target", "targets", "gold_answer"),
        *("reference_answer", "correct_answer", "ground_truth", "expected", "expected_output", "expected_answer"),
        *("solution", "label_text", "gold_answers", "reference_answers", "correct_answers", "ideal"),
        *("ground_truths", "ground_truth_answer", "gt", "gt_answer", "golden_answer", "golden_answers", "ref_answer"),
        *("reference_output", "reference_outputs", "reference_text", "reference_response", "expected_outputs"),
        *("expected_answers", "expected_response", "expected_result", "target_text", "target_output", "true_answer"),
    ),
    "candidate": (
        *("candidate", "prediction", "response", "output", "completion", "model_answer", "model_output"),
        *("generated", "generation", "pred", "generated_text", "candidate_answer", "predicted_answer"),
        *("generated_answer", "model_response", "student_answer", "actual_output", "actual_outputs", "actual_response"),
        *("candidates", "predictions", "responses", "outputs", "completions"),
        *("generated_output", "generated_response", "predicted", "predicted_output", "predicted_text"),
        *("prediction_text", "model_prediction", "model_completion", "llm_answer", "llm_output", "llm_response"),
        *("assistant_response", "agent_answer", "agent_response", "system_output", "hypothesis"),
    ),
    "id": ("id", "uid", "question_id", "qid", "sample_id", "doc_id"),
    "gold": ("label", "is_correct", "correct", "human_label", "gold_label"),
}
"""The recognised column names of each role; the first one that a file has is chosen. Case does not matter, nor whether
words are joined by an underscore, a hyphen, a space or a capital letter: `expectedOutput` and `Expected Output` match.

The reference may have further columns with a number: `reference2`, `Reference 4`.
"""

ColumnMap = Mapping[str, str | Sequence[str]]
"""The column of each role, or for the reference several columns."""


class NoCandidateError(InputError):
    """No column is known to hold the candidates."""


MISSING: Final = object()
"""Returned by `lookup` where a row has no such column; `None` is a null in the file."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN_COLUMNS = 30
_WITH_NUMBER = re.compile(r"(.*?)[ _-]?([0-9]{1,4})", re.DOTALL)


def lookup(row: Mapping[str, object], column: str) -> object:
    """The value of `column` in `row`; follows a dotted path such as `doc.answer` or `resps.0`."""
    if column in row:
        return row[column]
    value: object = row
    for part in column.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def role_title(role: str) -> str:
    """The name of a role for users: the gold is their label."""
    return "label" if role == "gold" else role


def asked_columns(columns: ColumnMap | None, required: Sequence[str] = REQUIRED) -> dict[str, tuple[str, ...]]:
    """The columns that a user maps to roles; "label" becomes "gold". Raises InputError for a mapping that can't be."""
    asked: dict[str, tuple[str, ...]] = {}
    for name, mapped in (columns or {}).items():
        role = "gold" if name == "label" else name
        named = tuple(column for column in ([mapped] if isinstance(mapped, str) else mapped) if column)
        if role not in COLUMN_NAMES:
            roles = ", ".join(map(role_title, COLUMN_NAMES))
            turned = f"; for the column {name!r} write {mapped}={name}" if mapped in COLUMN_NAMES else ""
            raise InputError(f"{name!r} can't be mapped to a column; expected one of {roles}{turned}.")
        if not named and role in required:
            raise InputError(f"the {role} is needed, but mapped to no column; name its column.")
        if len(named) > 1 and role != "reference":
            raise InputError(
                f"the {name} is mapped to {len(named)} columns ({', '.join(named)}), and only the reference can have "
                "several; name one."
            )
        asked[role] = named
    return asked


def recognised_columns(names: Iterable[str], asked: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The columns of each role among `names`: those that were asked for, and the recognised ones of the other roles."""
    # A column that the user gave one role must not be recognised for another.
    used = {column for columns in asked.values() for column in columns}
    by_name: dict[str, str] = {}
    for name in names:
        if name not in used:
            by_name.setdefault(plain_name(name), name)
    chosen = {role: columns for role, columns in asked.items() if columns}
    for role, role_names in COLUMN_NAMES.items():
        match = next((by_name[name] for name in role_names if name in by_name), None)
        if match is not None and role not in asked:
            chosen[role] = (match,)
    if "reference" not in asked and (numbered := _numbered(chosen.get("reference", ()), by_name)):
        chosen["reference"] = numbered
    return chosen


def columns_in(
    rows: Iterable[Mapping[str, object]], asked: Mapping[str, tuple[str, ...]]
) -> tuple[list[str] | None, list[tuple[str, str]]]:
    """The columns that rows have (None without rows), and those asked for that none of them has, with their roles."""
    names: dict[str, None] | None = None
    unseen = [(role, column) for role, columns in asked.items() for column in columns]
    for row in rows:
        names = {} if names is None else names
        names.update(dict.fromkeys(row))
        unseen = [(role, column) for role, column in unseen if lookup(row, column) is MISSING]
        if len(names) > FILES.columns:
            break
    return None if names is None else list(names), unseen


def choose_columns(
    names: Sequence[str],
    unseen: Sequence[tuple[str, str]],
    asked: Mapping[str, tuple[str, ...]],
    required: Sequence[str],
    source: str,
) -> dict[str, tuple[str, ...]]:
    """The columns of each role, from what `columns_in` gives for a source. Raises InputError where one is missing."""
    chosen = recognised_columns(names, asked)
    if unseen:
        role, column = unseen[0]
        hint = did_you_mean(column, names[:_SHOWN_COLUMNS])
        raise InputError(f"{source} has no column {column!r}, which was named for the {role_title(role)}; {hint}")
    if lacking := [role for role in required if role not in chosen]:
        there = ", ".join([*names[:_SHOWN_COLUMNS], *["…"] * (len(names) > _SHOWN_COLUMNS)]) or "none at all"
        remedy = "columns={" + ", ".join(f"{role!r}: 'COLUMN'" for role in lacking) + "}"
        if lacking == ["reference"] and "candidate" in required:
            remedy += " (columns={'reference': ''} for a judge that reads none)"
        roles, them = " and none for the ".join(lacking), "them" if len(lacking) > 1 else "it"
        kind = NoCandidateError if "candidate" in lacking else InputError
        raise kind(f"{source} has no column for the {roles}: found {there}; name {them} with {remedy}.")
    return chosen


def _numbered(references: Sequence[str], by_name: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the reference so far, and those with their name and a number, in order.

    Without any so far only `reference1`, `reference2` … count: `answer1` to `answer4` may be options.
    """
    base = _split(references[0])[0] if references else "reference"
    numbered = [name for plain, name in by_name.items() if _split(plain)[0] == base]
    return tuple(sorted({*references, *numbered}, key=lambda name: _split(name)[1]))


def _split(name: str) -> tuple[str, int]:
    """`reference_2` as reference and 2; a name without a number has -1."""
    match = _WITH_NUMBER.fullmatch(plain_name(name))
    return (match[1], int(match[2])) if match else (plain_name(name), -1)


@lru_cache
def plain_name(name: str) -> str:
    """A name as `COLUMN_NAMES` spells it: `Expected Output` is expected_output."""
    return re.sub(r"[\s-]+", "_", _CAPITAL.sub("_", name.strip())).lower()
