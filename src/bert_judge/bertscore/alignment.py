"""The tokens that BERTScore matches with each other: the data behind a plot."""

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
"""The prefix of a token that continues the word of the token before it."""

_NO_CHARACTER = "\ufffd"  # decoded from an incomplete part of a character's bytes
_MOST_PIECES = 8  # consecutive tokens that hold parts of characters
_SPACE = "\u2581"  # of SentencePiece; it remains if a tokenizer has no decoder
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class AlignedText:
    """The tokens of a text, and the special ones ([CLS] …) that some token matches best.

    `tokens` are readable, with "##" before those that continue a word. `weights` add up to 1. `special` marks tokens
    that the tokenizer added. `matches` has the index of the most similar token in the other text; None for special
    tokens, which have no weight.
    """

    tokens: tuple[str, ...]
    weights: tuple[float, ...]
    special: tuple[bool, ...]
    matches: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How BERTScore aligns a candidate with a reference (arXiv 1904.09675, figure 1).

    `similarity` holds cosines, candidate tokens by reference tokens. Precision is the sum over the candidate's tokens
    of weight times best similarity; recall is the same over the reference's. If the scorer rescales, `baseline` holds
    the b of precision, recall and F1: each of these is (x - b) / (1 - b), and so are the similarities with the b of F1,
    as in bert-score. `truncated` maps "candidate" and "reference", if they did not fit, to the number of characters
    cut. `signature` is the scorer's.
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
        """The three scores on one line."""
        return f"P {self.precision:.3f}   R {self.recall:.3f}   F1 {self.f1:.3f}"

    @property
    def remarks(self) -> str:
        """Model, rescaling and truncation on one line."""
        model = self.signature.settings.get("model", "").partition("@")[0]
        rescaled = ["rescaled with baseline"] if self.baseline else []
        cut = [f"{name} cut by {count} characters" for name, count in self.truncated.items()]
        return " · ".join(["BERTScore", model, *rescaled, *cut])

    @property
    def measure(self) -> str:
        """The name of what `similarity` holds."""
        return "rescaled similarity" if self.baseline else "cosine similarity"

    def to_json(self) -> str:
        """The record as a JSON object with the names of the attributes."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


def align_texts(scorer: PairScorer, candidate: str, reference: str, signature: Signature) -> Alignment:
    """Align two texts with a scorer of one layer; `signature` is that of the scorer.

    Raises InputError for a text without tokens or without weight (possible with the defects of bert-score), and for a
    scorer of all layers.
    """
    if scorer.layers != 1:
        raise InputError("the scorer reads all layers, but an alignment shows one; make it without all_layers.")
    texts = [_read(scorer.reader, "candidate", candidate), _read(scorer.reader, "reference", reference)]
    vectors, weights, (_, second), _ = scorer.embed(texts)
    if not np.isfinite(weights).all():
        raise InputError("the tokens of a text all have the weight 0; give other idf weights, or leave out compat.")
    similarity = vectors[:second, 0] @ vectors[second:, 0].T
    sides = _WeighedText(texts[0], weights[:second], similarity), _WeighedText(texts[1], weights[second:], similarity.T)
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


def _read(reader: TextReader, name: str, text: str) -> Text:
    if not isinstance(text, str):
        raise InputError(f"the {name} is {text!r} ({type(text).__name__}); one text was expected.")
    [tokenised] = reader.read([text])
    if not tokenised.counted.any():
        raise InputError(f"the {name} is {text!r}, which has no tokens; a text with a word in it was expected.")
    return tokenised


class _WeighedText(NamedTuple):
    """A text, the weights of its tokens, and their similarities (tokens by tokens of the other text)."""

    text: Text
    weights: NDArray[np.float32]
    similarity: NDArray[np.float32]

    @property
    def choosing(self) -> NDArray[np.bool_]:
        """Whether each token has a match: those of the text do, and those with a weight."""
        return np.logical_or(self.text.counted, self.weights)

    def shown(self, other: _WeighedText) -> NDArray[np.int64]:
        """The indices of tokens that have a match or are one."""
        shown = self.choosing
        shown[other.similarity.argmax(axis=1)[other.choosing]] = True
        return np.flatnonzero(shown)

    def aligned(self, reader: TextReader, shown: NDArray[np.int64], others: NDArray[np.int64]) -> AlignedText:
        """The tokens at `shown`; matches are indices into `others`, the shown tokens of the other text."""
        labels, choosing = _labels(reader, self.text), self.choosing
        places = np.searchsorted(others, self.similarity.argmax(axis=1))
        return AlignedText(
            tokens=tuple(labels[token] for token in shown),
            weights=tuple(self.weights[shown].tolist()),
            special=tuple((~self.text.counted[shown]).tolist()),
            matches=tuple(int(places[token]) if choosing[token] else None for token in shown),
        )


def _labels(reader: TextReader, text: Text) -> list[str]:
    """Each token in readable form: on one line, and marked if it continues a word."""
    ids = text.tokens.ids
    labels: list[str] = []
    while len(labels) < len(ids):
        start = len(labels)
        end, whole = _whole_characters(reader, ids, start)
        rest = whole.removeprefix(CONTINUED) or whole
        continues = text.counted[start - 1 : start + 1].sum() == 2 and _is_joined(reader, ids[start - 1 : end], rest)
        label = _printable(rest if continues else whole)
        labels.append(CONTINUED + label if continues else label)
        labels += [CONTINUED + label] * (end - start - 1)
    return labels


def _whole_characters(reader: TextReader, ids: Sequence[int], start: int) -> tuple[int, str]:
    """The end of the shortest run of tokens from `start` on that has only whole characters, and its text."""
    for end in range(start + 1, min(start + _MOST_PIECES, len(ids)) + 1):
        run = reader.decode(ids[start:end])
        if _NO_CHARACTER not in run:
            return end, run
    return start + 1, _NO_CHARACTER


def _is_joined(reader: TextReader, ids: Sequence[int], rest: str) -> bool:
    """Whether the tokens after the first, whose text is `rest`, continue the word of the first."""
    before = reader.decode(ids[:1])
    return reader.decode(ids) == before + rest and _in_word(before[-1:]) and _in_word(rest[:1])


def _in_word(character: str) -> bool:
    """Whether it is a letter, a mark or a digit of a script with spaces between words (not Han or kana)."""
    if not character or "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff":
        return False
    return unicodedata.category(character)[0] in "LMN"


def _printable(text: str) -> str:
    """The text without spaces around it, control characters (also of writing direction) as escapes."""
    stripped = text.replace(_SPACE, " ").strip(" ")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in stripped) or "␣"
