"""Which tokens of an input are kept where it is longer than the judge reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bert_judge.evidence import Span, touches
from bert_judge.prompt.form import InputForm


class Piece(NamedTuple):
    """A tokenised text: its ids, the characters that each covers, and the length of the whole text in characters."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    characters: int


class Part(NamedTuple):
    """One part of an input: its text as tokens, the spans of it that carry a match mark, and those that contrast."""

    piece: Piece
    marked: Sequence[Span] = ()
    contrasting: Sequence[Span] = ()

    def type_of(self, token: int) -> int:
        """The type of a token: 1 where it is marked, 2 where it contrasts, else 0."""
        span = Span(*self.piece.offsets[token])
        return 1 if touches(span, self.marked) else 2 if touches(span, self.contrasting) else 0


def keep_fairly(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """Which tokens of each part are kept: all, if they fit; else each part keeps its budget and gives what is over."""
    budgets = {"question": form.question_tokens, "candidate": form.candidate_tokens, "reference": form.reference_tokens}
    heads = {"question": 0.5, "candidate": form.candidate_head, "reference": 1.0}
    over = sum(lengths.values()) - room
    kept: dict[str, Sequence[int]] = {part: range(length) for part, length in lengths.items()}
    for part in ("candidate", "question", "reference"):
        spare = lengths.get(part, 0) - 1 - (budgets[part] or 0)
        if over > 0 and spare > 0:
            left = lengths[part] - 1 - min(over, spare)
            head = round(left * heads[part])
            kept[part] = [*range(1 + head), *range(lengths[part] - (left - head), lengths[part])]
            over -= min(over, spare)
    return kept


def keep_right(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """Which tokens of each part are kept if the whole is cut from the left (`truncation_side="left"` in the paper)."""
    over = max(0, sum(lengths.values()) - room)
    kept: dict[str, Sequence[int]] = {}
    for part, length in lengths.items():
        kept[part] = range(min(over, length), length)
        over -= min(over, length)
    return kept


def with_focus(part: Part, kept: Sequence[int], width: int) -> Sequence[int]:
    """The kept tokens of a candidate, with a window of its middle instead of the first ones of its end.

    The window is the one that holds most marked tokens that neither end has, the last of equals; a third of it comes
    after them, as what follows a mention can take it back. Positions count the marker as 0.
    """
    gap = next(i for i in range(1, len(kept) + 1) if i == len(kept) or kept[i] != kept[i - 1] + 1)
    head, tail = kept[:gap], kept[gap:]
    width = min(width, len(tail) // 2)
    if not width:
        return kept
    ids, marked = part.piece.ids, [touches(Span(*span), part.marked) for span in part.piece.offsets]
    there = {ids[i - 1] for i in kept if i and marked[i - 1]}
    new = [i for i in range(head[-1] + 1, tail[0]) if marked[i - 1] and ids[i - 1] not in there]
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
