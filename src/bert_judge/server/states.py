"""The state of a decision request → question, references and candidate.

Tools name the same three texts differently, nest them, or write them into a prompt. Whatever could be read in two ways
is refused, so that no candidate can bring its own reference.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter
from typing import Final, NamedTuple

from bert_judge.errors import InputError
from bert_judge.inputs.columns import COLUMN_NAMES, MISSING, lookup, plain_name
from bert_judge.inputs.values import content_text, last_message, mapping
from bert_judge.server.responses import shortened, shown

ROLES: Final = ("question", "reference", "candidate")

_ANSWER: Final = ("answer", "answers")  # of the model or of the dataset: what is beside it decides
_ROLE_OF: Final = {name: role for role in ROLES for name in COLUMN_NAMES[role]} | dict.fromkeys(_ANSWER, "answer")
_TEXT_NAMES: Final = {
    role: frozenset((*COLUMN_NAMES[role], "text", "content", "value", *(_ANSWER if role != "question" else ())))
    for role in ROLES
}
"""Names of the text inside a field that is an object."""
_SPEAKERS: Final = {"question": ("user", "human"), "reference": ("assistant", "ai"), "candidate": ("assistant", "ai")}
_EVALUATORS: Final = ("user", "human", "system", "developer")  # others' messages may be the candidate's
_LONGEST_NAME, _MOST_FIELDS, _DEEPEST, _MOST_REFERENCES = 100, 10_000, 32, 1_000


class StateRow(NamedTuple):
    """What a state holds; without a reference `references` is empty. `fields` has the path of each text."""

    question: str | None
    references: tuple[str, ...]
    candidate: str
    fields: Mapping[str, str]


class StateReader:
    """Reads states, with an operator's own names and template if there are any.

    `state_map` has the dotted path of question, reference or candidate. `state_template` is a text with {reference},
    {candidate} and perhaps {question}, each once with text between them; `\\n` is a new line. Raises InputError for
    others.
    """

    def __init__(self, state_map: Mapping[str, str] | None = None, state_template: str | None = None) -> None:
        self._paths = dict(state_map or {})
        for role, path in self._paths.items():
            if role not in ROLES or not isinstance(path, str) or not path:
                expected = "the path of one field for question, reference or candidate was expected"
                raise InputError(f"state_map names {path!r} as {role}; {expected}.")
        self._roles, self._literals = ([], [""]) if state_template is None else _template_parts(state_template)

    def read(self, state: object) -> StateRow:
        """The row of a state: an object, a text that is JSON or fits the template, or messages of which one is such.

        Raises InputError for any other state, for one without a candidate, and for one that can be read in two ways.
        """
        contents = list(_contents(state)) if isinstance(state, list) else [state]
        rows = [row for content in contents if (row := self._row_in(content)) is not None]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise InputError(f"{len(rows)} messages hold a row; one was expected.")
        template = ", or text that fits the template of this server," if self._roles else ""
        raise InputError(
            f"the state is {_kind(state)}; an object with question, reference and candidate as JSON{template} was "
            "expected."
        )

    def _row_in(self, content: object) -> StateRow | None:
        if isinstance(content, str):
            if self._roles and (texts := _template_texts(content, self._roles, self._literals)) is not None:
                reference = texts["reference"]
                fields = dict.fromkeys(self._roles, "state_template")
                return StateRow(
                    texts.get("question") or None, (reference,) if reference else (), texts["candidate"], fields
                )
            content = read_json(content)
        return self._row(content) if isinstance(content, Mapping) else None

    def _row(self, state: Mapping[str, object]) -> StateRow:
        fields = self._chosen(state)
        if "candidate" not in fields:
            raise InputError("the state has no candidate; give it as candidate, output, response or prediction.")
        texts = {role: _texts(role, *field) for role, field in fields.items()}
        if len(texts["candidate"][1]) != 1 or len(texts.get("question", ("", [""]))[1]) > 1:
            raise InputError("the state has several candidates or questions; send one at a time.")
        references = tuple(filter(str.strip, texts.get("reference", ("", []))[1]))
        if len(references) > _MOST_REFERENCES:
            raise InputError(f"the state has {len(references):,} references; up to {_MOST_REFERENCES:,} are allowed.")
        question = "".join(texts.get("question", ("", []))[1])
        paths = {role: path for role, (path, _) in texts.items()}
        return StateRow(question if question.strip() else None, references, texts["candidate"][1][0], paths)

    def _chosen(self, state: Mapping[str, object]) -> dict[str, tuple[str, object]]:
        """The path and value of the field for each role; of fields at several depths the outermost counts."""
        fields: dict[str, list[tuple[int, str, object]]] = defaultdict(list)
        for depth, path, role, value in self._named_fields(state):
            if role not in self._paths:
                fields[role].append((depth, path, value))
        chosen = {}
        for role, alternatives in fields.items():
            outermost = [(path, value) for depth, path, value in alternatives if depth == alternatives[0][0]]
            if len(outermost) > 1:
                names = " and ".join(shortened(path) for path, _ in outermost[:2])
                raise InputError(f"{names} could both be the {role} of the state; send one of them.")
            chosen[role] = outermost[0]
        for role, path in self._paths.items():
            if (value := lookup(state, path)) is not MISSING and value is not None:
                chosen[role] = path, value
        if (answer := chosen.pop("answer", None)) is not None:
            lacking = [role for role in ("reference", "candidate") if role not in (*chosen, *self._paths)]
            if len(lacking) != 1:
                beside = "neither" if lacking else "both"
                raise InputError(
                    f"{shortened(answer[0])} could be the reference or the candidate, as the state has {beside} beside "
                    "it; name them reference and candidate."
                )
            chosen[lacking[0]] = answer
        return chosen

    def _named_fields(self, state: Mapping[str, object]) -> Iterator[tuple[int, str, str, object]]:
        """Depth, path, role and value of the fields whose names are known, outermost first.

        What is inside a candidate or a reference is theirs alone; a question's field may hold the whole row.
        """
        level, count = [("", state)], 0
        for depth in range(_DEEPEST):
            inner: list[tuple[str, Mapping[str, object]]] = []
            for prefix, values in level:
                count += len(values)
                if count > _MOST_FIELDS:
                    raise InputError(f"the state has over {_MOST_FIELDS:,} fields; send those of one row.")
                for name, value in values.items():
                    path = f"{prefix}{name}"
                    if value is None or path in self._paths.values():
                        continue
                    role = _role_of(name)
                    if isinstance(value, Mapping) and role in (None, "question"):
                        inner.append((f"{path}.", value))
                        role = None if any(map(_role_of, value)) else role  # a row inside `input`
                    if role:
                        yield depth, path, role, value
            level = inner


def _role_of(name: str) -> str | None:
    return _ROLE_OF.get(plain_name(name)) if len(name) <= _LONGEST_NAME else None


def read_json(text: str | bytes) -> object:
    """The value of a text; None if it is no JSON. Raises InputError where an object has two fields of one name."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except InputError:
        raise
    except (ValueError, RecursionError):
        return None


def _unique(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    values = dict(members)
    if len(values) < len(members):
        ((name, _),) = Counter(name for name, _ in members).most_common(1)
        raise InputError(f"an object has several fields {shown(name)}; send one of them.")
    return values


def _contents(messages: Sequence[object]) -> Iterator[object]:
    """What an evaluator's messages hold: a text and objects in each."""
    for message in map(mapping, messages):
        if str(message.get("role", message.get("type"))).lower() not in _EVALUATORS:
            continue
        content = message.get("content")
        parts = [mapping(part) for part in content] if isinstance(content, list) else []
        if any("image" in str(part.get("type")) for part in parts):
            raise InputError("the input has an image; texts were expected.")
        yield from (part.get("data") for part in parts if part.get("type") == "input_json")
        yield content_text(content)


def _texts(role: str, path: str, value: object) -> tuple[str, list[str]]:
    """The path of a field's text inside it, and the text; of references perhaps several."""
    while isinstance(value, Mapping):
        names = [name for name in value if value[name] is not None]
        known = [name for name in names if len(name) <= _LONGEST_NAME and plain_name(name) in _TEXT_NAMES[role]]
        name, *others = known or names or [""]
        if others or not name:
            raise InputError(f"{shortened(path)} is {shown(value)}; one text in it was expected for the {role}.")
        path, value = f"{path}.{name}", value[name]
    values: Sequence[object] = value if isinstance(value, list) else [value]
    if values and all("type" in mapping(part) or "role" in mapping(part) for part in values):
        values = [last_message(values, *_SPEAKERS[role]) or content_text(values)]
    if wrong := next((entry for entry in values if not isinstance(entry, str | int | float)), None):
        raise InputError(f"{shortened(path)} holds {shown(wrong)}; a text was expected for the {role}.")
    return path, [entry if isinstance(entry, str) else json.dumps(entry) for entry in values if entry is not None]


def _template_parts(template: str) -> tuple[list[str], list[str]]:
    """The roles in a template, and the literal texts before, between and after them."""
    roles, literals = list[str](), [""]
    try:
        parts = list(Formatter().parse(template.replace("\\n", "\n").strip()))
    except ValueError as error:
        raise InputError(f"state_template is {shown(template)}, where {error}.") from error
    for literal, role, _, _ in parts:
        literals[-1] += literal
        if role is not None:
            roles.append(role)
            literals.append("")
    literals = [literal.rstrip() for literal in literals]
    if sorted(roles) not in (["candidate", "question", "reference"], ["candidate", "reference"]):
        raise InputError(
            f"state_template is {shown(template)}; {{reference}}, {{candidate}} and perhaps {{question}} were expected "
            "in it, once each."
        )
    if not all(literals[1:-1]):
        raise InputError(f"state_template is {shown(template)}; text was expected between the names in braces.")
    return roles, literals


def _template_texts(text: str, roles: Sequence[str], literals: Sequence[str]) -> dict[str, str] | None:
    """The text of each role; None if the template does not fit. Raises InputError if it fits in several ways."""
    text = text.replace("\r\n", "\n").strip()
    first, *between, last = literals
    start, end = len(first), len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or start > end:
        return None
    earliest, at = list[int](), start
    for literal in between:
        if (place := text.find(literal, at, end)) < 0:
            return None
        earliest.append(place)
        at = place + len(literal)
    latest, at = list[int](), end
    for literal in reversed(between):
        at = text.rfind(literal, start, at)
        latest.insert(0, at)
    if earliest != latest:
        raise InputError("the template fits the state in several ways: a text in it has a part of the template, too.")
    starts = [start, *(place + len(literal) for place, literal in zip(earliest, between, strict=True))]
    return {role: text[a:b].strip() for role, a, b in zip(roles, starts, [*earliest, end], strict=True)}


def _kind(state: object) -> str:
    if isinstance(state, str):
        return "text that is not such JSON" if state.strip() else "empty"
    return "messages without such JSON" if isinstance(state, list) else shown(state)
