"""From a sample to the token ids that the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bert_judge.evidence import Span, find_evidence, fold, name_option
from bert_judge.prompt.form import InputForm, with_budgets
from bert_judge.prompt.tokenise import TextTokenizer, ends, marker_id, plain_tokenizer, special_ids
from bert_judge.prompt.truncation import Piece, characters_cut, joined, keep_fairly, keep_right, with_focus
from bert_judge.types import PARTS, Sample, Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_GENEROUS_TOKEN = 16  # characters; a text longer than this a token is tokenised at its two ends only
_MIDDLE = 4  # times as long where the middle of a candidate can matter
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
        samples = [_as_read(sample, self.form) for sample in samples]
        groups = [_group_references(sample, self.form) for sample in samples]
        texts = {text for sample in samples for text in (sample.question, sample.candidate) if text is not None}
        texts.update(
            s.references[i] for s, passes in zip(samples, groups, strict=True) for group in passes for i in group
        )
        pieces = self._tokenise(texts)
        return [
            [self._prompt(self._parts(sample, group, pieces), group[0]) for group in passes]
            for sample, passes in zip(samples, groups, strict=True)
        ]

    def _parts(self, sample: Sample, group: Sequence[int], pieces: Mapping[str, Piece]) -> dict[str, Piece]:
        """The parts that the judge reads of a sample, in their order, with their marks."""
        form = self.form.form_of(sample)
        references = [sample.references[i] for i in group]
        candidate, read = pieces[sample.candidate], [pieces[text] for text in references]
        if (self.form.marks or self.form.candidate_focus) and "r" in form:
            contrast = self.form.contrast
            evidence = find_evidence(sample.candidate, references, sample.question if contrast else None)
            missing: Sequence[tuple[Span, ...]] = evidence.missing if contrast else [()] * len(read)
            candidate = candidate.typed(evidence.candidate, evidence.added if contrast else ())
            read = [piece.typed(*spans) for piece, *spans in zip(read, evidence.references, missing, strict=True)]
        parts: dict[str, Piece] = {}
        if "q" in form and sample.question is not None:
            parts["question"] = pieces[sample.question]
        parts["candidate"] = candidate
        if "r" in form:
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
                    kept = with_focus(piece, kept, self.form.candidate_focus)
                truncated[part] = characters_cut(piece, kept)
            row, row_types = (self._markers[part], *piece.ids), (0, *piece.types)
            ids += [row[i] for i in kept]
            types += [row_types[i] for i in kept]
        ids += self._suffix
        types += [0] * len(self._suffix)
        return Prompt(Tokens(tuple(ids), tuple(types) if self.form.marks else None), reference, truncated)


def _as_read(sample: Sample, form: InputForm) -> Sample:
    """A sample with its texts as the form says that they are read."""
    if form.options:
        sample = replace(sample, references=tuple(name_option(text, sample.question) for text in sample.references))
    if form.fold:
        question = None if sample.question is None else fold(sample.question)
        references = tuple(map(fold, sample.references))
        sample = replace(sample, candidate=fold(sample.candidate), references=references, question=question)
    if form.sanitise:
        sample = replace(sample, candidate=_CONTROL.sub(lambda found: _blank(found[0], sample), sample.candidate))
    return sample


def _blank(control: str, sample: Sample) -> str:
    """Spaces for a control token that no reference has; as many as it has characters, so that spans stay valid."""
    return control if any(control in reference for reference in sample.references) else " " * len(control)


def _group_references(sample: Sample, form: InputForm) -> list[tuple[int, ...]]:
    """Which references go into which pass: each into its own, or those that share most with the candidate into one."""
    everyone = range(len(sample.references))
    if form.references == "best":
        return [(i,) for i in everyone]
    if len(everyone) == 1:
        return [(0,)]
    recall = find_evidence(sample.candidate, sample.references).recall
    return [tuple(sorted(everyone, key=lambda i: -recall[i])[: form.max_references])]
