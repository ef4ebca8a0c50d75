"""Texts as token ids, none of which is special: no text can imitate a marker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bert_judge.errors import ModelError
from bert_judge.reading.matching import MatchMark

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHARACTERS_AT_ONCE = 1 << 20  # bounds memory: a tokenizer's own records take some hundred bytes a token
_UNKNOWN = ("[UNK]", "<unk>")
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


class TextTokenizer:
    """Tokenises texts as plain text.

    `forbidden` ids never come out. Of a text only the first and last `room` tokens can be kept; `generous` is the
    number of characters that a token is taken to have at most.
    """

    def __init__(self, tokenizer: Tokenizer, forbidden: frozenset[int], room: int, generous: int) -> None:
        self._tokenizer = tokenizer
        self._forbidden = forbidden
        self._unknown = next((i for i in map(tokenizer.token_to_id, _UNKNOWN) if i is not None), None)
        self._room = room
        self._end = room * generous

    def __call__(self, texts: Iterable[str]) -> dict[str, Piece]:
        """Tokenise distinct texts, a bounded number of characters at a time."""
        pieces: dict[str, Piece] = {}
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text)
            if size > _CHARACTERS_AT_ONCE:
                pieces.update(self._tokenise(batch))
                batch, size = [], 0
        pieces.update(self._tokenise(batch))
        return pieces

    def _tokenise(self, texts: Sequence[str]) -> Iterator[tuple[str, Piece]]:
        ends = [_both_ends(text, self._end) for text in texts]
        encodings = iter(self._tokenizer.encode_batch([t for pair in ends for t in pair], add_special_tokens=False))
        for text, pair in zip(texts, ends, strict=True):
            encoded = [next(encodings) for _ in pair]
            if len(pair) == 2 and min(len(encoding) for encoding in encoded) <= self._room:
                # Tokens are longer than they were taken to be: the ends lack some that could be kept.
                pair, encoded = (text,), [self._tokenizer.encode(text, add_special_tokens=False)]
            ids, offsets = encoded[0].ids, encoded[0].offsets
            if len(pair) == 2:
                at = len(text) - len(pair[1])
                ids = ids + encoded[1].ids
                offsets = offsets + [(at + start, at + end) for start, end in encoded[1].offsets]
            if not self._forbidden.isdisjoint(ids):
                # Special ids become the unknown token, or are dropped where the tokenizer has none.
                plain = [
                    (self._unknown if i in self._forbidden else i, span) for i, span in zip(ids, offsets, strict=True)
                ]
                ids = [i for i, _ in plain if i is not None]
                offsets = [span for i, span in plain if i is not None]
            yield text, Piece(ids, offsets, [0] * len(ids), len(text))


def _both_ends(text: str, characters: int) -> tuple[str, ...]:
    """A text, or the two ends of a very long one: cut at spaces, which no token spans."""
    if len(text) <= 2 * characters:
        return (text,)
    head, tail = text.rfind(" ", 0, characters), text.find(" ", len(text) - characters)
    return (text[:head], text[tail:]) if head > 0 and tail > 0 else (text,)


def plain_tokenizer(tokenizer: Tokenizer, markers: Sequence[str]) -> Tokenizer:
    """A copy that reads special tokens and markers in a text as plain text.

    Its own option `encode_special_tokens` is not enough: it has no effect on added tokens that are not special, and the
    markers are such tokens.
    """
    from tokenizers import Tokenizer

    raw = json.loads(tokenizer.to_str())
    size = len(raw["model"]["vocab"])
    added = []
    for token in raw["added_tokens"]:
        if not token["special"] and token["content"] not in markers:
            added.append(token)
        elif token["id"] >= size:  # a placeholder: added tokens are numbered anew, and later ones must keep their ids
            added.append(token | {"content": f"\uf8ff{token['id']}\uf8ff", "special": False, "normalized": False})
    raw["added_tokens"] = added
    copy = Tokenizer.from_str(json.dumps(raw))
    copy.no_truncation()
    copy.no_padding()
    return copy


def special_ids(tokenizer: Tokenizer, markers: Sequence[str]) -> frozenset[int]:
    """The ids that no text may get: a Unigram vocabulary has special tokens as pieces, and finds them in texts."""
    added = tokenizer.get_added_tokens_decoder()
    return frozenset(i for i, t in added.items() if (t.special or t.content in markers) and t.content not in _UNKNOWN)


def marker_id(tokenizer: Tokenizer, marker: str) -> int:
    """The id of a marker. Raises ModelError where the tokenizer does not have it."""
    index = tokenizer.token_to_id(marker)
    if index is None:
        raise ModelError(
            f"the tokenizer does not know the marker {marker!r}, so this model was not trained as a judge; "
            "give a judge's folder or train one from this model."
        )
    return int(index)


def ends(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens that the tokenizer puts before and after a text, such as [CLS] and [SEP]."""
    plain = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a", add_special_tokens=True).ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(plain)] == plain)
    return tuple(whole[:start]), tuple(whole[start + len(plain) :])
