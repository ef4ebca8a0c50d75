"""Which tokens of an input are kept where it is longer than the judge reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bert_judge.reading.config import InputForm
from bert_judge.reading.matching import MatchMark

_FILLS = [bytes([relation]) for relation in range(16)]


class Piece(NamedTuple):
    """A text as tokens: their ids, the characters that each covers, their types, and the characters of the text."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    types: Sequence[int]
    characters: int

    def typed(self, marks: Sequence[MatchMark]) -> Piece:
        """The same text with the relations of marks as the types of the tokens that they touch."""
        relations = bytearray(self.characters + 1)
        for start, end, relation in marks:
            relations[start:end] = _FILLS[relation] * (end - start)
        # A token may begin with a space, before its word.
        types = [relations[start] or relations[end - 1] for start, end in self.offsets]
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


# What is kept of a part is given by places of its tokens, where place 0 is the part's marker: token i has place i + 1.


def keep_fairly(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """The places kept of each part: all, if they fit into `room` tokens; else parts are cut down to their budgets.

    The candidate gives first, as most of a long one is not its answer; the reference last, as without it nothing can be
    judged. A part shorter than its budget leaves the rest to the others, since only the excess of all is cut.
    """
    budgets = {"question": form.question_tokens, "candidate": form.candidate_tokens, "reference": form.reference_tokens}
    heads = {"question": 0.5, "candidate": form.candidate_head, "reference": 1.0}
    excess = sum(lengths.values()) - room
    places: dict[str, Sequence[int]] = {part: range(length) for part, length in lengths.items()}
    for part in ("candidate", "question", "reference"):
        cut = min(excess, lengths.get(part, 0) - 1 - (budgets[part] or 0))
        if cut > 0:
            left = lengths[part] - 1 - cut
            head = round(left * heads[part])
            places[part] = [*range(1 + head), *range(lengths[part] - (left - head), lengths[part])]
            excess -= cut
    return places


def keep_right(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """The places kept of each part if the whole is cut from the left (`truncation_side="left"` in the paper)."""
    excess = max(0, sum(lengths.values()) - room)
    places: dict[str, Sequence[int]] = {}
    for part, length in lengths.items():
        places[part] = range(min(excess, length), length)
        excess -= min(excess, length)
    return places


def with_focus(piece: Piece, places: Sequence[int], width: int, agreeing: frozenset[int]) -> Sequence[int]:
    """The kept places of a candidate with a window of `width` tokens of its middle instead of the first of its end.

    A long candidate may state the answer in its middle only. The window is the one with most distinct tokens of the
    types `agreeing` that neither end has; of equals the last one, as later statements correct earlier ones. A third of
    it follows these tokens: what comes after a mention can take it back.
    """
    gap = next((i for i in range(1, len(places)) if places[i] != places[i - 1] + 1), len(places))
    head, tail = places[:gap], places[gap:]
    width = min(width, len(tail) // 2)
    if not width:
        return places
    ids, types = piece.ids, piece.types
    in_ends = {ids[i - 1] for i in places if i and types[i - 1] in agreeing}
    new = [i for i in range(head[-1] + 1, tail[0]) if types[i - 1] in agreeing and ids[i - 1] not in in_ends]
    if not new:
        return places
    span = max(1, 2 * width // 3)  # that the agreeing tokens have to be within

    def within_span(first: int) -> list[int]:
        return new[bisect_left(new, first) : bisect_left(new, first + span)]

    first = max(new, key=lambda i: (len({ids[j - 1] for j in within_span(i)}), i))
    last = within_span(first)[-1]
    start = min(max(head[-1] + 1, (first + last + 1) // 2 - span // 2 - 1), tail[0] - 1)
    window = range(start, min(start + width, tail[0]))
    return [*head, *window, *tail[len(window) :]]


def characters_cut(piece: Piece, places: Sequence[int]) -> int:
    """The number of characters of a text between and outside its kept tokens."""
    tokens = [i - 1 for i in places if i > 0]
    if not tokens:
        return piece.characters
    edges = [i for i in range(len(tokens) - 1) if tokens[i + 1] != tokens[i] + 1]
    # A character of several tokens may lose some in its middle: it is not cut, so no gap is below 0.
    gaps = sum(max(0, piece.offsets[tokens[i + 1]][0] - piece.offsets[tokens[i]][1]) for i in edges)
    before = piece.offsets[tokens[0]][0] if tokens[0] > 0 else 0
    after = piece.characters - piece.offsets[tokens[-1]][1] if tokens[-1] < len(piece.ids) - 1 else 0
    return gaps + before + after
