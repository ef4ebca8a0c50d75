"""From a sample to the token ids that the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bert_judge.reading.evidence import AGREEING, Match, Relation, fold, match, name_option
from bert_judge.reading.form import InputForm, with_budgets
from bert_judge.reading.tokenise import TextTokenizer, ends, marker_id, plain_tokenizer, special_ids
from bert_judge.reading.truncation import Piece, characters_cut, joined, keep_fairly, keep_right, with_focus
from bert_judge.records import PARTS, Sample, Tokens, uncollected

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_GENEROUS_TOKEN = 16  # characters; a text longer than this a token is tokenised at its two ends only
_MIDDLE = 4  # times as long where the middle of a candidate can matter
_AGREEING = AGREEING | {Relation.LESS}  # what candidate and reference agree on, at least in part
# What tokenizers and chat templates put around a text, and what attacks on judges imitate.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?(?:CLS|SEP|MASK|PAD|UNK|BOS|EOS|INST)\]|</?s>|<(?:pad|unk|mask|bos|eos)>", re.IGNORECASE
)


class Prompt(NamedTuple):
    """One input of the encoder: its tokens, the index of the reference it holds, and how many characters were cut."""

    tokens: Tokens
    reference: int
    truncated: dict[str, int]


class PromptEncoder:
    """Encodes samples for one tokenizer and one input form. Texts are data: no text can make a special token.

    `model_limit` is the longest input, in tokens, that the model reads.
    """

    def __init__(self, tokenizer: Tokenizer, form: InputForm, model_limit: int) -> None:
        self._markers = {part: marker_id(tokenizer, marker) for part, marker in zip(PARTS, form.markers, strict=True)}
        plain = plain_tokenizer(tokenizer, form.markers)
        self._prefix, self._suffix = ends(plain)
        limit = model_limit if form.max_tokens is None else min(form.max_tokens, model_limit)
        self._room = limit - len(self._prefix) - len(self._suffix)
        self.form = with_budgets(replace(form, max_tokens=limit), self._room - len(PARTS))
        generous = _GENEROUS_TOKEN * (_MIDDLE if form.candidate_focus else 1)
        self._tokenise = TextTokenizer(plain, special_ids(tokenizer, form.markers), self._room, generous)
        self._separator = self._tokenise([form.separator])[form.separator]

    def encode(self, samples: Sequence[Sample]) -> list[list[Prompt]]:
        """The prompts of each sample: one, or one a reference where the judge takes the best of them."""
        with uncollected():
            rows = [_as_read(sample, self.form) for sample in samples]
            passes = [self._passes(row) for row in rows]
            texts = {text for row in rows for text in (row.question, row.candidate) if text is not None}
            texts.update(
                [row.references[i] for row, each in zip(rows, passes, strict=True) for group, _ in each for i in group]
            )
            pieces = self._tokenise(texts)
            return [
                [self._prompt(self._parts(row, group, found, pieces), group[0]) for group, found in each]
                for row, each in zip(rows, passes, strict=True)
            ]

    def _passes(self, row: _Texts) -> list[tuple[tuple[int, ...], Match | None]]:
        """Which references go into which pass, and what the candidate shares with these."""
        form = self.form
        everyone = tuple(range(len(row.references)))
        marked = (form.marks or form.candidate_focus > 0) and "r" in row.form
        if form.references == "best":
            return [((i,), self._match(row, (i,)) if marked else None) for i in everyone]
        if len(everyone) == 1:
            return [(everyone, self._match(row, everyone) if marked else None)]
        found = self._match(row, everyone)
        group = tuple(sorted(everyone, key=lambda i: -found.recall[i])[: form.max_references])
        if len(group) < len(everyone):  # the candidate's marks may be of a reference that is left out
            found = self._match(row, group)
        else:
            references = tuple([found.references[i] for i in group])
            found = Match(found.candidate, references, tuple([found.recall[i] for i in group]))
        return [(group, found if marked else None)]

    def _match(self, row: _Texts, group: Sequence[int]) -> Match:
        references = [row.references[i] for i in group]
        return match(row.candidate, references, row.question)

    def _parts(
        self, row: _Texts, group: Sequence[int], found: Match | None, pieces: Mapping[str, Piece]
    ) -> dict[str, Piece]:
        """The parts that the judge reads of a sample, in their order, with their marks."""
        candidate, read = pieces[row.candidate], [pieces[row.references[i]] for i in group]
        if found:
            candidate = candidate.typed(found.candidate)
            read = [piece.typed(marks) for piece, marks in zip(read, found.references, strict=True)]
        parts: dict[str, Piece] = {}
        if "q" in row.form and row.question is not None:
            parts["question"] = pieces[row.question]
        parts["candidate"] = candidate
        if "r" in row.form:
            parts["reference"] = joined(read, self._separator)
        return parts

    def _prompt(self, parts: Mapping[str, Piece], reference: int) -> Prompt:
        """Put the parts together: what is kept of each after its marker, between the tokenizer's own ends."""
        lengths = {part: 1 + len(piece.ids) for part, piece in parts.items()}  # 1 for the marker
        keep = keep_right if self.form.truncation == "left" else keep_fairly
        ids, types = list(self._prefix), [0] * len(self._prefix)
        truncated = {}
        for part, kept in keep(lengths, self.form, self._room).items():
            piece = parts[part]
            if len(kept) < lengths[part]:
                if part == "candidate" and self.form.candidate_focus:
                    kept = with_focus(piece, kept, self.form.candidate_focus, _AGREEING)
                truncated[part] = characters_cut(piece, kept)
                row, row_types = (self._markers[part], *piece.ids), (0, *piece.types)
                ids += [row[i] for i in kept]
                types += [row_types[i] for i in kept]
            else:
                ids += (self._markers[part], *piece.ids)
                types += (0, *piece.types)
        ids += self._suffix
        types += [0] * len(self._suffix)
        return Prompt(Tokens(tuple(ids), tuple(types) if self.form.marks else None), reference, truncated)


class _Texts(NamedTuple):
    """The texts of a sample as a judge reads them, and in which form."""

    question: str | None
    candidate: str
    references: Sequence[str]
    form: str


def _as_read(sample: Sample, form: InputForm) -> _Texts:
    question, candidate, references = sample.question, sample.candidate, sample.references
    if form.options and question:
        references = tuple([name_option(text, question) for text in references])
    if form.fold:
        question = None if question is None else fold(question)
        candidate, references = fold(candidate), tuple([fold(text) for text in references])
    if form.sanitise and ("<" in candidate or "[" in candidate):
        candidate = _CONTROL.sub(lambda found: _blank(found[0], references), candidate)
    return _Texts(question, candidate, references, form.form_of(sample))


def _blank(control: str, references: Sequence[str]) -> str:
    """Spaces for a control token that no reference has; as many as it has characters, so that spans stay valid."""
    return control if any(control in reference for reference in references) else " " * len(control)
