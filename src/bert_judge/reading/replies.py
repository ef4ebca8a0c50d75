"""What a policy replied in training, and the right answers of its row: from the values of trainers to texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, TypeGuard

from bert_judge.errors import InputError
from bert_judge.reading.answers import THINK_TOKEN, opening_token
from bert_judge.records import is_missing

_INSIDE = ("target", "targets", "ground_truth", "answer", "answers", "reference", "references")
"""Keys of the references in a mapping, such as the `{"target": […]}` of verl's data sets."""

_WORD = re.compile(r"\w+")
_LOOP = re.compile(r"(.{1,24}?)\1{2,}", re.DOTALL)  # in a text with one character for each word
_SPECIAL = re.compile(r"<[|｜][^<>|｜]*[|｜]>|</?s>|</?(?:bos|eos|pad|start_of_turn|end_of_turn)>")


def last_text(value: object, role: str, place: str) -> str:
    """A text as it is; of a prompt's messages the last one of the role, of a completion's the last one if it has it.

    A completion that ends with the result of a tool has no answer: an empty text. Raises InputError for other values.
    """
    if isinstance(value, str):
        return value
    messages = [value] if isinstance(value, Mapping) else value
    if not _is_list_of(messages, Mapping):
        expected = "a text, or a list of messages with role and content, was expected"
        raise InputError(f"{place} is {value!r:.60} ({type(value).__name__}); {expected}.")
    of_role = [message for message in messages if message.get("role", role) == role]
    if not of_role or (role == "assistant" and of_role[-1] is not messages[-1]):
        return ""
    content = of_role[-1].get("content") or ()
    parts = [content] if isinstance(content, str) else content
    if not _is_list_of(parts, str | Mapping):
        raise InputError(f"{place} has the content {content!r:.60}; a text, or a list of parts, was expected.")
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in parts)


def _is_list_of(value: object, kind: type | UnionType) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and all(isinstance(entry, kind) for entry in value)


def references_of(value: object, place: str) -> tuple[str, ...]:
    """The references of a row, none for None, NaN or a blank text. Raises InputError for what is no text or list."""
    if is_missing(value):
        return ()
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (str(value),)
    if hasattr(value, "tolist"):  # numpy
        return references_of(value.tolist(), place)
    if isinstance(value, Sequence):
        return tuple(text for item in value for text in references_of(item, place))
    if isinstance(value, Mapping) and (names := [name for name in _INSIDE if name in value]):
        return references_of(value[names[0]], place)
    raise InputError(
        f"{place} is {value!r:.60} ({type(value).__name__}); a text, or a list of texts, was expected (or a mapping "
        "with one of these as 'target')."
    )


def opens_trace(prompt: object, think_token: str = THINK_TOKEN) -> bool:
    """Whether a prompt is a text, with its chat template, that ends by opening a reasoning trace."""
    return isinstance(prompt, str) and bool(think_token) and prompt.rstrip().endswith(opening_token(think_token))


def without_tokens(text: str) -> str:
    """A text without the tokens of a chat template."""
    return " ".join(part.strip() for part in _SPECIAL.split(text)).strip()


def without_loops(text: str) -> str:
    """The text with each loop (up to 24 words, three times or more in a row) only once, in linear time."""
    words, numbers, parts, end = list(_WORD.finditer(text)), dict[str, int](), list[str](), 0
    spelled = "".join(chr(numbers.setdefault(word[0], len(numbers) % 0x110000)) for word in words)
    for loop in _LOOP.finditer(spelled):
        once, again = words[loop.end(1) - 1].end(), words[loop.end() - 1].end()
        if again - words[loop.start()].start() >= 24:  # characters: "yes, yes, yes" is no loop
            parts.append(text[end:once])
            end = again
    return "".join([*parts, text[end:]])
