"""Which columns of a file hold the question, the references, the candidate, the id and the human label."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bert_judge.errors import InputError

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
"""The recognised column names of each role; the first that a file has is taken. Case does not matter, nor whether words
are joined by an underscore, a hyphen, a space or a capital letter: `expectedOutput` and `Expected Output` are known.

Columns named like the one of the reference and a number are references, too: `reference2`, `Reference 4`.
"""

ColumnMap = Mapping[str, str | Sequence[str]]
"""What a user maps roles to: a column, or for the reference several."""

MISSING: Final = object()
"""What `lookup` returns where a row has no such column; `None` is a null in the file."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN_COLUMNS = 30
_MOST_SEEN = 100  # sets of columns that are remembered; a limit, for files of many kinds of rows
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
    """What users call `role`."""
    return "label" if role == "gold" else role


def asked_columns(columns: ColumnMap | None, required: Sequence[str] = REQUIRED) -> dict[str, tuple[str, ...]]:
    """The user's columns by our names of the roles. Raises InputError for unknown roles, missing columns."""
    asked: dict[str, tuple[str, ...]] = {}
    for given, named in (columns or {}).items():
        role = "gold" if given == "label" else given
        own = tuple(column for column in ([named] if isinstance(named, str) else named) if column)
        if role not in COLUMN_NAMES:
            known = ", ".join(map(role_title, COLUMN_NAMES))
            turned = f"; for the column {given!r} write {named}={given}" if named in COLUMN_NAMES else ""
            raise InputError(f"{given!r} can't be mapped to a column; expected one of {known}{turned}.")
        if role in asked:
            raise InputError(
                "both 'label' and 'gold' are mapped to a column, and they mean the same; give one of them."
            )
        if not own and role in required:
            raise InputError(f"the {role} is needed, but mapped to no column; name its column.")
        if len(own) > 1 and role != "reference":
            raise InputError(
                f"the {given} is mapped to {len(own)} columns ({', '.join(own)}), and only the reference can have "
                "several; name one."
            )
        asked[role] = own
    return asked


class MissingColumnError(InputError):
    """A column that was named, or that of a needed role, is not there; `unread` are the columns without a role.

    `role` and `column` are what was named; the column is empty where none was.
    """

    def __init__(self, message: str, role: str, column: str, unread: Sequence[str]) -> None:
        super().__init__(message)
        self.role, self.column, self.unread = role, column, tuple(unread)


class Columns:
    """The columns of each role, learnt from the rows as they are read: one, or for references several.

    The first row that has all required roles decides on these; the first row that has one of the others on that, as
    some files have a label column only in rows with a label.
    """

    def __init__(self, asked: Mapping[str, tuple[str, ...]], required: Sequence[str] = REQUIRED) -> None:
        self.required = required
        self.chosen: dict[str, tuple[str, ...]] = {role: columns for role, columns in asked.items() if columns}
        self._asked = dict(asked)
        self._unseen = [(role, column) for role, columns in asked.items() for column in columns]
        self._ready = False
        self._first: tuple[str, ...] | None = None
        self._seen: set[tuple[str, ...]] = set()

    def learn(self, row: Mapping[str, object]) -> bool:
        """Learn from one more row; returns whether the needed columns are known now."""
        if self._unseen:
            self._unseen = [pair for pair in self._unseen if lookup(row, pair[1]) is MISSING]
        names = tuple(row)
        if names in self._seen:
            return self._ready
        self._first = self._first or names
        found = self.recognise(names)
        if self._ready or not self._lacking(names, found):
            if not self._ready:
                self._ready = True
                self._seen.clear()  # rows with these columns may have other roles
            self.chosen.update(found)
        if len(self._seen) < _MOST_SEEN:
            self._seen.add(names)
        return self._ready

    def recognise(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The columns among `names` of the roles that have none yet."""
        # A column that the user gave one role must not be recognised for another.
        taken = {column for columns in self.chosen.values() for column in columns}
        by_name: dict[str, str] = {}
        for name in names:
            if name not in taken:
                by_name.setdefault(_plain(name), name)
        found: dict[str, tuple[str, ...]] = {}
        for role, known in COLUMN_NAMES.items():
            match = next((by_name[name] for name in known if name in by_name), None)
            if match is not None and role not in self.chosen and role not in self._asked:
                found[role] = (match,)
        if "reference" not in self._asked:
            own = [*self.chosen.get("reference", ()), *found.get("reference", ())]
            if several := _numbered(own, by_name):
                found["reference"] = several
        return found

    def _lacking(self, names: tuple[str, ...], found: Mapping[str, tuple[str, ...]]) -> list[str]:
        present = {role for role, columns in self._asked.items() if any(_has(names, column) for column in columns)}
        return [role for role in self.required if role not in found and role not in present]

    def missing(self, source: str) -> MissingColumnError | None:
        """The error for columns that no row had; None where nothing is missing."""
        if self._first is None:
            return None
        first = self._first
        lacking = [] if self._ready else self._lacking(first, self.recognise(first))
        unseen = [pair for pair in self._unseen if not lacking or pair[0] in lacking]
        found = ", ".join(first[:_SHOWN_COLUMNS]) + (", …" if len(first) > _SHOWN_COLUMNS else "")
        found = found or "none at all"
        read = {column for columns in self.recognise(first).values() for column in columns}
        unread = [name for name in first if name not in read]
        if unseen:
            role, column = role_title(unseen[0][0]), unseen[0][1]
            near = difflib.get_close_matches(column.casefold(), [name.casefold() for name in first], n=1)
            hint = f"name one of these with columns={{{role!r}: 'COLUMN'}}."
            if near:
                hint = f"did you mean {next(name for name in first if name.casefold() == near[0])!r}?"
            message = f"{source} has no column {column!r}, which was named for the {role}: found {found}; {hint}"
            return MissingColumnError(message, role, column, unread)
        if lacking:
            remedy = "columns={" + ", ".join(f"{role!r}: 'COLUMN'" for role in lacking) + "}"
            if lacking == ["reference"] and "candidate" in self.required:
                remedy += " (columns={'reference': ''} for a judge that reads none)"
            roles = " and none for the ".join(lacking)
            message = f"{source} has no column for the {roles}: found {found}; name it with {remedy}."
            return MissingColumnError(message, lacking[-1], "", unread)
        return None


def _numbered(own: Sequence[str], by_name: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the reference so far, and those with their name and a number, in order.

    Without any so far only `reference1`, `reference2` … count: `answer1` to `answer4` may be options.
    """
    base = _split(own[0])[0] if own else "reference"
    more = [name for plain, name in by_name.items() if _split(plain)[0] == base]
    return tuple(sorted({*own, *more}, key=lambda name: _split(name)[1]))


def _split(name: str) -> tuple[str, int]:
    """`reference_2` as reference and 2; a name without a number has -1."""
    found = _WITH_NUMBER.fullmatch(_plain(name))
    return (found[1], int(found[2])) if found else (_plain(name), -1)


def _plain(name: str) -> str:
    """A name as those of `COLUMN_NAMES` are written."""
    return re.sub(r"[\s-]+", "_", _CAPITAL.sub("_", name.strip())).lower()


def _has(names: tuple[str, ...], column: str) -> bool:
    # Only the head of a dotted path is a column; what is inside may differ from row to row.
    return column in names or column.split(".", 1)[0] in names
