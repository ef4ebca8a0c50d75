"""The first version of evidence, which judges read that were trained before the second."""

from __future__ import annotations

from collections.abc import Sequence

from bert_judge.evidence.first.signals import find_signals
from bert_judge.evidence.first.spans import Evidence, find_evidence
from bert_judge.evidence.first.word import Span
from bert_judge.evidence.matching import Mark, Match

__all__ = ["find_signals", "match"]

_SHARED, _CONTRASTING = 1, 2  # relations: what both sides have; what one of them lacks


def match(candidate: str, references: Sequence[str], question: str | None, *, contrast: bool) -> Match:
    """As `evidence.match`; without `contrast` words that one side lacks have no mark."""
    found: Evidence = find_evidence(candidate, references, question if contrast else None)
    if not contrast:
        return Match(_marks(found.candidate), tuple(map(_marks, found.references)), found.recall)
    theirs = zip(found.references, found.missing, strict=True)
    return Match(_marks(found.candidate, found.added), tuple([_marks(*spans) for spans in theirs]), found.recall)


def _marks(shared: Sequence[Span], contrasting: Sequence[Span] = ()) -> tuple[Mark, ...]:
    """Marks for spans; of words that overlap, the shared one comes last, and so counts."""
    return (*[Mark(*span, _CONTRASTING) for span in contrasting], *[Mark(*span, _SHARED) for span in shared])
