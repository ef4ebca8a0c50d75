"""Which column of a file holds the question, the references, the candidate, the id and a person's label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bert_judge.errors import InputError

REQUIRED: Final = ("reference", "candidate")
"""The roles that a row to be judged can't be without."""

COLUMN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": (
        *("question", "prompt", "input", "query", "instruction", "problem"),
        *("question_text", "user_input", "messages"),
    ),
    "reference": (
        *("reference", "references", "answer", "answers", "gold", "golds", "target", "targets", "gold_answer"),
        *("reference_answer", "correct_answer", "ground_truth", "expected", "expected_output", "expected_answer"),
        *("solution", "label_text", "gold_answers", "reference_answers", "correct_answers", "ideal"),
    ),
    "candidate": (
        *("candidate", "prediction", "response", "output", "completion", "model_answer", "model_output"),
        *("generated", "generation", "pred", "generated_text", "candidate_answer", "predicted_answer"),
        *("generated_answer", "model_response", "student_answer"),
    ),
    "id": ("id", "uid", "question_id", "qid", "sample_id", "doc_id"),
    "gold": ("label", "is_correct", "correct", "human_label", "gold_label"),
}
"""The recognised column names of each role, compared without regard to case; the first that a file has is taken.

With the name taken for the reference go those that are it and a number: `reference2`, `reference_3`, `Reference 4`.
"""

ColumnMap = Mapping[str, str | Sequence[str]]
"""What a user maps roles to: a column, or for the reference several."""

MISSING: Final = object()
"""What `lookup` answers where a row has no such column; `None` is a null that stands in the file."""

_SHOWN_COLUMNS = 30
_MOST_SEEN = 100  # sets of columns that are remembered, so that a file of many kinds of rows takes no more time
_WITH_NUMBER = re.compile(r"(.*?)[ _-]?([0-9]{1,4})", re.DOTALL)


def lookup(row: Mapping[str, object], column: str) -> object:
    """Return the value of `column` in `row`, following a dotted path such as `doc.answer` or `resps.0`."""
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
    """Return what users call `role`."""
    return "label" if role == "gold" else role


def asked_columns(columns: ColumnMap | None, required: Sequence[str] = REQUIRED) -> dict[str, tuple[str, ...]]:
    """Return the user's mapping of roles to columns by our own names of the roles, refusing unknown ones."""
    asked: dict[str, tuple[str, ...]] = {}
    for given, named in (columns or {}).items():
        role = "gold" if given == "label" else given
        own = tuple(column for column in ([named] if isinstance(named, str) else named) if column)
        if role not in COLUMN_NAMES:
            known = ", ".join(map(role_title, COLUMN_NAMES))
            raise InputError(f"{given!r} can't be mapped to a column; expected one of {known}.")
        if role in asked:
            raise InputError(
                "both 'label' and 'gold' are mapped to a column, and they mean the same; give one of them."
            )
        if not own and role in required:
            raise InputError(f"the {role} is mapped to no column, but it is needed; name its column.")
        if len(own) > 1 and role != "reference":
            raise InputError(
                f"the {given} is mapped to {len(own)} columns ({', '.join(own)}), and only the reference can have "
                "several; name one."
            )
        asked[role] = own
    return asked


class Columns:
    """The columns of each role, learnt from the rows as they pass: one, but for references, which may have several.

    The required roles are settled by the first row that has them all. The others may be missing there, as in files
    that carry a label only where there is one, and are settled by the first row that has them.
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
        """Take one more row into account; return whether the needed columns are known by now."""
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
                self._seen.clear()  # what these lack is known by now
            self.chosen.update(found)
        if len(self._seen) < _MOST_SEEN:
            self._seen.add(names)
        return self._ready

    def recognise(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the columns among `names` of the roles that have none yet."""
        # A column that the user gave to one role must not be recognised for another one.
        taken = {column for columns in self.chosen.values() for column in columns}
        by_name: dict[str, str] = {}
        for name in names:
            if name not in taken:
                by_name.setdefault(name.strip().lower(), name)
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

    def missing(self, source: str) -> InputError | None:
        """Return the error for columns that no row had, or None where nothing is missing."""
        if self._first is None:
            return None
        first = self._first
        lacking = [] if self._ready else self._lacking(first, self.recognise(first))
        unseen = [pair for pair in self._unseen if not lacking or pair[0] in lacking]
        found = ", ".join(first[:_SHOWN_COLUMNS]) + (", …" if len(first) > _SHOWN_COLUMNS else "")
        found = found or "none at all"
        if unseen:
            role, column = role_title(unseen[0][0]), unseen[0][1]
            return InputError(
                f"{source} has no column {column!r}, which was named for the {role}: found {found}; "
                f"name one of these with --map {role}=COLUMN."
            )
        if lacking:
            remedy = ",".join(f"{role}=COLUMN" for role in lacking)
            roles = " and none for the ".join(lacking)
            return InputError(f"{source} has no column for the {roles}: found {found}; name it with --map {remedy}.")
        return None


def _numbered(own: Sequence[str], by_name: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the reference so far, and those among `by_name` with its name and a number, in their order.

    Without any so far only those called `reference1`, `reference2` … are: `answer1` to `answer4` may be options.
    """
    base = _split(own[0])[0] if own else "reference"
    more = [name for plain, name in by_name.items() if _split(plain)[0] == base]
    return tuple(sorted({*own, *more}, key=lambda name: _split(name)[1]))


def _split(name: str) -> tuple[str, int]:
    """`reference_2` as reference and 2; a name without a number has -1."""
    found = _WITH_NUMBER.fullmatch(name.strip().lower())
    return (found[1], int(found[2])) if found else (name.strip().lower(), -1)


def _has(names: tuple[str, ...], column: str) -> bool:
    # Only the head of a dotted path is a column; what lies inside it may differ from row to row.
    return column in names or column.split(".", 1)[0] in names
