"""From a sample to the token ids that the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bert_judge.reading.comparing import Relation
from bert_judge.reading.config import InputForm, with_budgets
from bert_judge.reading.matching import AGREEING, Match, match
from bert_judge.reading.text_values import name_option
from bert_judge.reading.tokenise import TextTokenizer, ends, marker_id, plain_tokenizer, special_ids
from bert_judge.reading.truncation import Piece, characters_cut, joined, keep_fairly, keep_right, with_focus
from bert_judge.reading.words import fold
from bert_judge.records import PARTS, Sample, Tokens, uncollected

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_GENEROUS_TOKEN = 16  # characters; a text longer than this for each token is tokenised at its two ends only
_MIDDLE = 4  # times as long where the middle of a candidate can matter
_AGREEING = AGREEING | {Relation.LESS}  # what agrees at least in part
# Special tokens of tokenizers and chat templates, which attacks on judges imitate.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?(?:CLS|SEP|MASK|PAD|UNK|BOS|EOS|INST)\]|</?s>|<(?:pad|unk|mask|bos|eos)>", re.IGNORECASE
)


class Prompt(NamedTuple):
    """One input of the encoder: its tokens, the index of its (first) reference, and the characters cut of each part."""

    tokens: Tokens
    reference: int
    truncated: dict[str, int]


class _PreparedSample(NamedTuple):
    """The texts of a sample as a judge reads them, and the form that says which of them it reads."""

    question: str | None
    candidate: str
    references: Sequence[str]
    form: str


class _Pass(NamedTuple):
    """The indices of the references of one pass of the encoder, and their match where the judge reads marks."""

    references: tuple[int, ...]
    match: Match | None


class PromptEncoder:
    """Encodes samples for one tokenizer and one input form. Texts are data: no text can make a special token.

    `model_limit` is the longest input, in tokens, that the model reads. Raises InputError for budgets that do not fit,
    and ModelError for a tokenizer without the form's markers.
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
            rows = [_prepare(sample, self.form) for sample in samples]
            passes = [self._passes(row) for row in rows]
            texts: set[str] = set()
            for row, row_passes in zip(rows, passes, strict=True):
                texts.update([row.candidate] if row.question is None else [row.question, row.candidate])
                for one in row_passes:
                    texts.update([row.references[i] for i in one.references])
            pieces = self._tokenise(texts)
            return [
                [self._prompt(self._parts(row, one, pieces), one.references[0]) for one in row_passes]
                for row, row_passes in zip(rows, passes, strict=True)
            ]

    def _passes(self, row: _PreparedSample) -> list[_Pass]:
        """The passes that a sample needs: one for each reference, or one for the best of them."""
        form = self.form
        indices = tuple(range(len(row.references)))
        marked = (form.marks or form.candidate_focus > 0) and "r" in row.form
        if form.references == "best" or len(indices) == 1:
            return [_Pass((i,), self._match(row, (i,)) if marked else None) for i in indices]
        # Which references are read depends on how they match, whether or not the judge reads marks.
        matched = self._match(row, indices)
        group = tuple(sorted(indices, key=lambda i: -matched.recall[i])[: form.max_references])
        if not marked:
            return [_Pass(group, None)]
        if len(group) < len(indices):  # the candidate's marks may come from a reference that is left out
            return [_Pass(group, self._match(row, group))]
        references = tuple([matched.references[i] for i in group])
        return [_Pass(group, Match(matched.candidate, references, tuple([matched.recall[i] for i in group])))]

    def _match(self, row: _PreparedSample, group: Sequence[int]) -> Match:
        return match(row.candidate, [row.references[i] for i in group], row.question)

    def _parts(self, row: _PreparedSample, one: _Pass, pieces: Mapping[str, Piece]) -> dict[str, Piece]:
        """The parts that the judge reads of a sample, in their order, with their marks."""
        candidate, references = pieces[row.candidate], [pieces[row.references[i]] for i in one.references]
        if one.match:
            candidate = candidate.typed(one.match.candidate)
            marked = zip(references, one.match.references, strict=True)
            references = [piece.typed(marks) for piece, marks in marked]
        parts: dict[str, Piece] = {}
        if "q" in row.form and row.question is not None:
            parts["question"] = pieces[row.question]
        parts["candidate"] = candidate
        if "r" in row.form:
            parts["reference"] = joined(references, self._separator)
        return parts

    def _prompt(self, parts: Mapping[str, Piece], reference: int) -> Prompt:
        """The parts in one input, each cut where needed and after its marker, between the tokenizer's own ends."""
        lengths = {part: 1 + len(piece.ids) for part, piece in parts.items()}  # 1 for the marker
        keep = keep_right if self.form.truncation == "left" else keep_fairly
        ids, types = list(self._prefix), [0] * len(self._prefix)
        truncated = {}
        for part, places in keep(lengths, self.form, self._room).items():
            piece = parts[part]
            part_ids, part_types = (self._markers[part], *piece.ids), (0, *piece.types)
            if len(places) < lengths[part]:
                if part == "candidate" and self.form.candidate_focus:
                    places = with_focus(piece, places, self.form.candidate_focus, _AGREEING)
                truncated[part] = characters_cut(piece, places)
                ids += [part_ids[i] for i in places]
                types += [part_types[i] for i in places]
            else:
                ids += part_ids
                types += part_types
        ids += self._suffix
        types += [0] * len(self._suffix)
        return Prompt(Tokens(tuple(ids), tuple(types) if self.form.marks else None), reference, truncated)


def _prepare(sample: Sample, form: InputForm) -> _PreparedSample:
    question, candidate, references = sample.question, sample.candidate, sample.references
    if form.options and question:
        references = tuple([name_option(text, question) for text in references])
    if form.fold:
        question = None if question is None else fold(question)
        candidate, references = fold(candidate), tuple([fold(text) for text in references])
    if form.sanitise and ("<" in candidate or "[" in candidate):
        candidate = _CONTROL.sub(lambda control: _blank(control[0], references), candidate)
    return _PreparedSample(question, candidate, references, form.form_of(sample))


def _blank(control: str, references: Sequence[str]) -> str:
    """Spaces for a control token that no reference has; as many as its characters, so that places stay valid."""
    return control if any(control in reference for reference in references) else " " * len(control)
