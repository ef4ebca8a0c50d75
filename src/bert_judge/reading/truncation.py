"""Which tokens of an input are kept where it is longer than the judge reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bert_judge.reading.evidence import Mark
from bert_judge.reading.form import InputForm

_FILLS = [bytes([relation]) for relation in range(16)]


class Piece(NamedTuple):
    """A text as tokens: their ids, the characters that each covers, their types, and how many characters it has."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    types: Sequence[int]
    characters: int

    def typed(self, marks: Sequence[Mark]) -> Piece:
        """The same text whose tokens have the relations of the marks that they touch as types."""
        kinds = bytearray(self.characters + 1)
        for start, end, relation in marks:
            kinds[start:end] = _FILLS[relation] * (end - start)
        # A token may begin with a space, before its word.
        types = [kinds[start] or kinds[end - 1] for start, end in self.offsets]
        return Piece(self.ids, self.offsets, types, self.characters)


def joined(pieces: Sequence[Piece], separator: Piece) -> Piece:
    """Several texts as one, with a separator between them."""
    if len(pieces) == 1:
        return pieces[0]
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    types: list[int] = []
    at = 0
    for part in [part for piece in pieces for part in (separator, piece)][1:]:
        ids += part.ids
        offsets += [(at + start, at + end) for start, end in part.offsets]
        types += part.types
        at += part.characters
    return Piece(ids, offsets, types, at)


def keep_fairly(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """Which tokens of each part are kept: all, if they fit; else each part keeps its budget and gives what is over."""
    budgets = {"question": form.question_tokens, "candidate": form.candidate_tokens, "reference": form.reference_tokens}
    heads = {"question": 0.5, "candidate": form.candidate_head, "reference": 1.0}
    over = sum(lengths.values()) - room
    kept: dict[str, Sequence[int]] = {part: range(length) for part, length in lengths.items()}
    for part in ("candidate", "question", "reference"):
        cut = min(over, lengths.get(part, 0) - 1 - (budgets[part] or 0))
        if cut > 0:
            left = lengths[part] - 1 - cut
            head = round(left * heads[part])
            kept[part] = [*range(1 + head), *range(lengths[part] - (left - head), lengths[part])]
            over -= cut
    return kept


def keep_right(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """Which tokens of each part are kept if the whole is cut from the left (`truncation_side="left"` in the paper)."""
    over = max(0, sum(lengths.values()) - room)
    kept: dict[str, Sequence[int]] = {}
    for part, length in lengths.items():
        kept[part] = range(min(over, length), length)
        over -= min(over, length)
    return kept


def with_focus(piece: Piece, kept: Sequence[int], width: int, agreeing: frozenset[int]) -> Sequence[int]:
    """The kept tokens of a candidate, with a window of its middle instead of the first ones of its end.

    The window is the one that holds most tokens of the types `agreeing` that neither end has, the last of equals; a
    third of it comes after them, as what follows a mention can take it back. Positions count the marker as 0.
    """
    gap = next((i for i in range(1, len(kept)) if kept[i] != kept[i - 1] + 1), len(kept))
    head, tail = kept[:gap], kept[gap:]
    width = min(width, len(tail) // 2)
    if not width:
        return kept
    ids, types = piece.ids, piece.types
    there = {ids[i - 1] for i in kept if i and types[i - 1] in agreeing}
    new = [i for i in range(head[-1] + 1, tail[0]) if types[i - 1] in agreeing and ids[i - 1] not in there]
    if not new:
        return kept
    span = max(1, 2 * width // 3)  # within which the tokens have to be

    def near(first: int) -> list[int]:
        return new[bisect_left(new, first) : bisect_left(new, first + span)]

    first = max(new, key=lambda i: (len({ids[j - 1] for j in near(i)}), i))
    last = near(first)[-1]
    start = min(max(head[-1] + 1, (first + last + 1) // 2 - span // 2 - 1), tail[0] - 1)
    window = range(start, min(start + width, tail[0]))
    return [*head, *window, *tail[len(window) :]]


def characters_cut(piece: Piece, kept: Sequence[int]) -> int:
    """Characters of a text between and outside its kept tokens; positions count the marker as 0."""
    tokens = [i - 1 for i in kept if i > 0]
    if not tokens:
        return piece.characters
    edges = [i for i in range(len(tokens) - 1) if tokens[i + 1] != tokens[i] + 1]
    # A character of several tokens may lose some in its middle: it is not cut.
    gap = sum(max(0, piece.offsets[tokens[i + 1]][0] - piece.offsets[tokens[i]][1]) for i in edges)
    before = piece.offsets[tokens[0]][0] if tokens[0] > 0 else 0
    after = piece.characters - piece.offsets[tokens[-1]][1] if tokens[-1] < len(piece.ids) - 1 else 0
    return gap + before + after
