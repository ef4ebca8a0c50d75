"""Which token of one text BERTScore matches with which one of the other: everything that a plot of it shows."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bert_judge.bertscore.matching import harmonic_mean
from bert_judge.bertscore.pairs import PairScorer
from bert_judge.bertscore.texts import Text, TextReader
from bert_judge.errors import InputError
from bert_judge.records import Signature

CONTINUED = "##"
"""Stands before a token that goes on with the word of the token before it."""

_NO_CHARACTER = "\ufffd"  # what some of a character's bytes, not all, are decoded to
_MOST_PIECES = 8  # tokens in a row that hold parts of characters
_SPACE = "\u2581"  # of SentencePiece, left over where a tokenizer does not know how to decode
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class AlignedText:
    """The tokens of a text, and those special ones ([CLS] …) that are the best match of some token.

    `tokens` are as a person reads them, "##" before those that go on with a word. `weights`, what each one counts, add
    up to 1. `special` says which ones the tokenizer put around the text. `matches` has the index of the most similar
    token in the other text; None for special ones, which count for nothing.
    """

    tokens: tuple[str, ...]
    weights: tuple[float, ...]
    special: tuple[bool, ...]
    matches: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How BERTScore aligns a candidate with a reference (arXiv 1904.09675, figure 1).

    `similarity` holds cosines, candidate tokens by reference tokens. Precision is the sum over the candidate's tokens
    of weight times best similarity, recall that over the reference's. If the scorer rescales, `baseline` holds the b of
    precision, recall and F1; each of the three, x, is shown as (x - b) / (1 - b), and the similarities with the b of
    F1, as bert-score shows them. `truncated` maps "candidate" and "reference", where they did not fit, to the number of
    characters cut. `signature` is the scorer's.
    """

    candidate: AlignedText
    reference: AlignedText
    similarity: tuple[tuple[float, ...], ...]
    precision: float
    recall: float
    f1: float
    baseline: tuple[float, float, float] | None
    truncated: Mapping[str, int]
    signature: Signature

    @property
    def title(self) -> str:
        """The three scores in a line."""
        return f"P {self.precision:.3f}   R {self.recall:.3f}   F1 {self.f1:.3f}"

    @property
    def remarks(self) -> str:
        """What a reader has to know about the numbers, in a line."""
        model = self.signature.settings.get("model", "").partition("@")[0]
        rescaled = ["rescaled with baseline"] if self.baseline else []
        cut = [f"{name} cut by {count} characters" for name, count in self.truncated.items()]
        return " · ".join(["BERTScore", model, *rescaled, *cut])

    @property
    def measure(self) -> str:
        """What `similarity` holds, in words."""
        return "rescaled similarity" if self.baseline else "cosine similarity"

    def to_json(self) -> str:
        """The record as a JSON object with the names of the attributes."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


def align_texts(scorer: PairScorer, candidate: str, reference: str, signature: Signature) -> Alignment:
    """Align two texts with a scorer of one layer; `signature` is that of the scorer.

    Raises InputError for a text without tokens, for one without weight (which only the defects of bert-score leave so),
    and for a scorer of all layers.
    """
    if scorer.layers != 1:
        raise InputError("the scorer reads all layers, but an alignment shows one; make it without all_layers.")
    texts = [_read(scorer.reader, *named) for named in (("candidate", candidate), ("reference", reference))]
    vectors, weights, (_, second), _ = scorer.vectors(texts)
    if not np.isfinite(weights).all():
        raise InputError("the tokens of a text all have the weight 0; give other idf weights, or leave out compat.")
    similarity = vectors[:second, 0] @ vectors[second:, 0].T
    sides = _Side(texts[0], weights[:second], similarity), _Side(texts[1], weights[second:], similarity.T)
    precision, recall = (np.array((side.weights * side.similarity.max(axis=1)).sum()) for side in sides)
    scores = np.stack([precision, recall, harmonic_mean(precision, recall)])
    baseline = None
    if scorer.baseline is not None:
        base = scorer.baseline[0]
        scores, similarity = (scores - base) / (1 - base), (similarity - base[2]) / (1 - base[2])
        baseline = (float(base[0]), float(base[1]), float(base[2]))
    rows, columns = sides[0].shown(sides[1]), sides[1].shown(sides[0])
    return Alignment(
        candidate=sides[0].aligned(scorer.reader, rows, columns),
        reference=sides[1].aligned(scorer.reader, columns, rows),
        similarity=tuple(map(tuple, np.round(similarity[np.ix_(rows, columns)].astype(float), _DIGITS).tolist())),
        precision=float(scores[0]),
        recall=float(scores[1]),
        f1=float(scores[2]),
        baseline=baseline,
        truncated={name: text.cut for name, text in zip(("candidate", "reference"), texts, strict=True) if text.cut},
        signature=signature,
    )


def _read(reader: TextReader, name: str, given: str) -> Text:
    if not isinstance(given, str):
        raise InputError(f"the {name} is {given!r} ({type(given).__name__}); one text was expected.")
    [text] = reader.read([given])
    if not text.counted.any():
        raise InputError(f"the {name} is {given!r}, which has no tokens; a text with a word in it was expected.")
    return text


class _Side(NamedTuple):
    """A text, the weights of its tokens, and how similar each of them is to those of the other text."""

    text: Text
    weights: NDArray[np.float32]
    similarity: NDArray[np.float32]

    @property
    def choosing(self) -> NDArray[np.bool_]:
        """Which tokens choose a match: the text's own, and those that have a weight."""
        return np.logical_or(self.text.counted, self.weights)

    def shown(self, other: _Side) -> NDArray[np.int64]:
        """The tokens that choose a match or are one."""
        shown = self.choosing
        shown[other.similarity.argmax(axis=1)[other.choosing]] = True
        return np.flatnonzero(shown)

    def aligned(self, reader: TextReader, shown: NDArray[np.int64], others: NDArray[np.int64]) -> AlignedText:
        """The tokens that are shown, their matches counted among those of the other text that are."""
        labels, choosing = _labels(reader, self.text), self.choosing
        places = np.searchsorted(others, self.similarity.argmax(axis=1))
        return AlignedText(
            tokens=tuple(labels[token] for token in shown),
            weights=tuple(self.weights[shown].tolist()),
            special=tuple((~self.text.counted[shown]).tolist()),
            matches=tuple(int(places[token]) if choosing[token] else None for token in shown),
        )


def _labels(reader: TextReader, text: Text) -> list[str]:
    """Each token as a person reads it: on one line, marked where it goes on with a word."""
    ids = text.tokens.ids
    labels: list[str] = []
    while len(labels) < len(ids):
        start = len(labels)
        end, whole = _whole_characters(reader, ids, start)
        rest = whole.removeprefix(CONTINUED) or whole
        goes_on = text.counted[start - 1 : start + 1].sum() == 2 and _is_joined(reader, ids[start - 1 : end], rest)
        label = _printable(rest if goes_on else whole)
        labels.append(CONTINUED + label if goes_on else label)
        labels += [CONTINUED + label] * (end - start - 1)
    return labels


def _whole_characters(reader: TextReader, ids: Sequence[int], start: int) -> tuple[int, str]:
    """The end of the shortest run of tokens from `start` on that holds no part of a character, and its text."""
    for end in range(start + 1, min(start + _MOST_PIECES, len(ids)) + 1):
        run = reader.decode(ids[start:end])
        if _NO_CHARACTER not in run:
            return end, run
    return start + 1, _NO_CHARACTER


def _is_joined(reader: TextReader, ids: Sequence[int], rest: str) -> bool:
    """Whether all tokens but the first, whose text is `rest`, go on with the word of the first one."""
    before = reader.decode(ids[:1])
    return reader.decode(ids) == before + rest and _in_word(before[-1:]) and _in_word(rest[:1])


def _in_word(character: str) -> bool:
    """Whether it is a letter, a mark or a digit of a script that writes words apart (Han and kana don't)."""
    if not character or "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff":
        return False
    return unicodedata.category(character)[0] in "LMN"


def _printable(text: str) -> str:
    """Without spaces around it, control characters (those of the writing direction, too) as escapes."""
    stripped = text.replace(_SPACE, " ").strip(" ")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in stripped)
    return shown or "␣"
