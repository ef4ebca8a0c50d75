"""Why a candidate got its score, and what it has in common with its references, in words: for terminal and page."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bert_judge.reading import match
from bert_judge.records import LEAST_EFFECT, Explanation, Occlusion, Row
from bert_judge.wording import SAID, clipped, number

_QUOTED = 60


def shared(row: Row) -> str | None:
    """What a candidate has in common with the reference that its judge matched: no reason for the verdict, which can be
    the opposite. None where the texts are missing, or the judge reads no references.
    """
    if not row.candidate or not row.references or row.verdict.matched_reference is None:
        return None
    recall = match(row.candidate, row.references).recall[row.verdict.matched_reference]
    some = "all" if recall == 1 else f"{recall:.0%}" if recall else "none"
    return against(recall, row.label) or f"{some} of the reference's words"


def against(recall: float, label: int | None) -> str:
    """The share of a reference's words that the candidate has, where it speaks against the verdict; else nothing."""
    if label is None or recall != 1 - label:
        return ""
    return f"{'all' if recall else 'none'} of the reference's words, although it is judged {SAID[label]}"


def because(why: Explanation) -> str:
    """The part that speaks most for the candidate and the one that speaks most against it, with what they change."""
    if why.score is None:
        return "The judge was undecided, so no part can be said to matter."
    if not why.sentences and not why.words:
        return "Nothing could be left out: the candidate is a single word, or empty."
    parts = why.carrying()
    if not parts:
        near = f"within {LEAST_EFFECT} of {number(why.score)}"
        return f"No single part matters: whichever is left out, the score stays {near}."
    best, worst = max(parts, key=_effect), min(parts, key=_effect)
    sentences = [_speaks(why, best, "for")] if _effect(best) > 0 else []
    return " ".join([*sentences, *([_speaks(why, worst, "against")] if _effect(worst) < 0 else [])])


def pieces(candidate: str, why: Explanation) -> Iterator[tuple[str, float | None]]:
    """The candidate from start to end: the parts that matter with their effects, and the text between them."""
    end = 0
    for part in why.carrying():
        if part.start > end:
            yield candidate[end : part.start], None
        yield candidate[part.start : part.end], part.effect
        end = part.end
    if end < len(candidate):
        yield candidate[end:], None


def _effect(part: Occlusion) -> float:
    return part.effect or 0.0


def _speaks(why: Explanation, part: Occlusion, side: str) -> str:
    score = number((why.score or 0.0) - _effect(part))
    return f"“{_quoted(part.text)}” speaks most {side} the candidate: without it the score is {score}."


def _quoted(text: str) -> str:
    """The beginning of a text, on one line, up to a space where there is one."""
    line = clipped(text, sys.maxsize)
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED].rpartition(' ')[0] or line[:_QUOTED]} …"
