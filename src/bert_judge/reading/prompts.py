"""From a sample to the token ids that the encoder reads."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bert_judge.reading.config import InputForm, with_budgets
from bert_judge.reading.matching import AGREEING, Match, Relation, match
from bert_judge.reading.text_values import name_option
from bert_judge.reading.tokenise import Piece, TextTokenizer, ends, joined, marker_id, plain_tokenizer, special_ids
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


# The indices of the references of one pass of the encoder, and their match if the judge reads marks.
_Pass = tuple[Sequence[int], Match | None]


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
                for indices, _ in row_passes:
                    texts.update([row.references[i] for i in indices])
            pieces = self._tokenise(texts)
            return [
                [self._prompt(self._parts(row, one, pieces), one[0][0]) for one in row_passes]
                for row, row_passes in zip(rows, passes, strict=True)
            ]

    def _passes(self, row: Sample) -> list[_Pass]:
        """The passes that a sample needs: one for each reference, or one for the best of them."""
        form = self.form
        indices = range(len(row.references))
        marked = (form.marks or form.candidate_focus > 0) and "r" in form.form_of(row)

        def match_with(group: Sequence[int]) -> Match:
            return match(row.candidate, [row.references[i] for i in group], row.question)

        if form.references == "best" or len(indices) == 1:
            return [((i,), match_with((i,)) if marked else None) for i in indices]
        # Which references are read depends on how they match, whether or not the judge reads marks.
        matched = match_with(indices)
        group = sorted(indices, key=lambda i: -matched.recall[i])[: form.max_references]
        if marked and len(group) == len(indices):
            references = tuple([matched.references[i] for i in group])
            return [(group, Match(matched.candidate, references, tuple([matched.recall[i] for i in group])))]
        # The candidate's marks may come from a reference that is left out.
        return [(group, match_with(group) if marked else None)]

    def _parts(self, row: Sample, one: _Pass, pieces: Mapping[str, Piece]) -> dict[str, Piece]:
        """The parts that the judge reads of a sample, in their order, with their marks."""
        indices, matched = one
        candidate, references = pieces[row.candidate], [pieces[row.references[i]] for i in indices]
        if matched:
            candidate = candidate.typed(matched.candidate)
            marked = zip(references, matched.references, strict=True)
            references = [piece.typed(marks) for piece, marks in marked]
        form = self.form.form_of(row)
        parts: dict[str, Piece] = {}
        if "q" in form and row.question is not None:
            parts["question"] = pieces[row.question]
        parts["candidate"] = candidate
        if "r" in form:
            parts["reference"] = joined(references, self._separator)
        return parts

    def _prompt(self, parts: Mapping[str, Piece], reference: int) -> Prompt:
        """The parts in one input, each cut where needed and after its marker, between the tokenizer's own ends."""
        lengths = {part: 1 + len(piece.ids) for part, piece in parts.items()}  # 1 for the marker
        keep = _keep_right if self.form.truncation == "left" else _keep_fairly
        ids, types = list(self._prefix), [0] * len(self._prefix)
        truncated = {}
        for part, places in keep(lengths, self.form, self._room).items():
            piece = parts[part]
            if len(places) < lengths[part]:
                if part == "candidate" and self.form.candidate_focus:
                    places = _with_focus(piece, places, self.form.candidate_focus)
                truncated[part] = _characters_cut(piece, places)
            part_ids, part_types = (self._markers[part], *piece.ids), (0, *piece.types)
            ids += [part_ids[i] for i in places]
            types += [part_types[i] for i in places]
        ids += self._suffix
        types += [0] * len(self._suffix)
        return Prompt(Tokens(tuple(ids), tuple(types) if self.form.marks else None), reference, truncated)


def _blank(control: str, references: Sequence[str]) -> str:
    """Spaces for a control token that no reference has; as many as its characters, so that places stay valid."""
    return control if any(control in reference for reference in references) else " " * len(control)


def _prepare(sample: Sample, form: InputForm) -> Sample:
    """The texts of a sample as a judge of this form reads them."""
    question, candidate, references = sample.question, sample.candidate, sample.references
    if form.options and question:
        references = tuple([name_option(text, question) for text in references])
    if form.fold:
        question = None if question is None else fold(question)
        candidate, references = fold(candidate), tuple([fold(text) for text in references])
    if form.sanitise and ("<" in candidate or "[" in candidate):
        candidate = _CONTROL.sub(lambda control: _blank(control[0], references), candidate)
    return Sample(candidate, references, question)


# What is kept of a part is given by places of its tokens, where place 0 is the part's marker: token i has place i + 1.


def _keep_fairly(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
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


def _keep_right(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """The places kept of each part if the whole is cut from the left (`truncation_side="left"` in the paper)."""
    excess = max(0, sum(lengths.values()) - room)
    places: dict[str, Sequence[int]] = {}
    for part, length in lengths.items():
        places[part] = range(min(excess, length), length)
        excess -= min(excess, length)
    return places


def _with_focus(piece: Piece, places: Sequence[int], width: int) -> Sequence[int]:
    """The kept places of a candidate with a window of `width` tokens of its middle instead of the first of its end.

    A long candidate may state the answer in its middle only. The window is the one with most distinct tokens of the
    agreeing types that neither end has; of equals the last one, as later statements correct earlier ones. A third of
    it follows these tokens: what comes after a mention can take it back.
    """
    gap = next((i for i in range(1, len(places)) if places[i] != places[i - 1] + 1), len(places))
    head, tail = places[:gap], places[gap:]
    width = min(width, len(tail) // 2)
    if not width:
        return places
    ids, types = piece.ids, piece.types
    in_ends = {ids[i - 1] for i in places if i and types[i - 1] in _AGREEING}
    new = [i for i in range(head[-1] + 1, tail[0]) if types[i - 1] in _AGREEING and ids[i - 1] not in in_ends]
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


def _characters_cut(piece: Piece, places: Sequence[int]) -> int:
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
