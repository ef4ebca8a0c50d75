"""The one home of a judge's input format: from a sample to the token ids that the encoder reads.

The paper's form is `<|question|>Q<|candidate|>C<|reference|>R` between whatever the tokenizer puts at both ends
(arXiv 2604.09497; `judges/bert.py` of its package). Ours adds three things to it: the markers are inserted as ids, so
that no text can imitate them; what does not fit is cut fairly and visibly; and, for encoders with two token types,
*match marks*: the words that candidate and reference share carry the second type.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from bert_judge.errors import InputError, ModelError
from bert_judge.evidence import Combiner, Span, find_evidence, fold, touches
from bert_judge.types import PARTS, Sample, Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONFIG_NAME = "judge.json"
_CHARACTERS_AT_ONCE = 1 << 20  # a tokenizer's own records take some hundred bytes a token: bound them
_UNKNOWN = ("[UNK]", "<unk>")
_GENEROUS_TOKEN = 16  # characters; a text longer than this a token is tokenised at its two ends only


@dataclass(frozen=True, slots=True)
class InputForm:
    """How a judge reads a sample; stored beside its model in `judge.json`.

    `forms` lists the parts that the judge was trained with: "qcr" (question, candidate, reference; the paper's),
    "cr", "qc". `max_tokens` bounds the whole input (None: the model's limit). Nothing is cut while the whole fits;
    then candidate, question and reference shrink in this order, each down to its budget at most (None: a half, a
    quarter and a quarter of the room). A shortened question keeps both its ends, a candidate the share `candidate_head`
    at its start and the rest at its end, where answers stand; a reference keeps its start. `truncation="left"` cuts
    the whole input from the left instead, as the paper does. `references` says how several are read: "joined" in
    one pass (the `max_references` that share most with the candidate, the best first) or as the "best" of single
    passes. `marks` turns match marks on; `fold` reads characters that look alike as one (`evidence.fold`).
    """

    forms: tuple[str, ...] = ("qcr",)
    markers: tuple[str, str, str] = ("<|question|>", "<|candidate|>", "<|reference|>")
    marks: bool = False
    fold: bool = False
    references: Literal["joined", "best"] = "best"
    max_references: int = 8
    separator: str = " | "
    max_tokens: int | None = None
    question_tokens: int | None = None
    candidate_tokens: int | None = None
    reference_tokens: int | None = None
    candidate_head: float = 0.2
    truncation: Literal["fair", "left"] = "fair"

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", tuple(self.forms))
        object.__setattr__(self, "markers", tuple(self.markers))
        if not self.forms or not set(self.forms) <= {"qcr", "cr", "qc"}:
            raise InputError(f"the input forms are {list(self.forms)}; 'qcr', 'cr' or 'qc' was expected.")
        if "qc" in self.forms and len(self.forms) > 1:
            raise InputError("the form 'qc' can't be combined with others: a judge reads the reference or it does not.")
        if self.max_references < 1 or not 0 <= self.candidate_head <= 1:
            raise InputError(
                f"max_references is {self.max_references} and candidate_head {self.candidate_head}; "
                "at least 1, and a share between 0 and 1, were expected."
            )
        for name, known in (("references", ("joined", "best")), ("truncation", ("fair", "left"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}; {known[0]!r} or {known[1]!r} was expected.")

    def form_of(self, sample: Sample) -> str:
        """The form in which a sample is read: the trained one that fits it, else the nearest."""
        wanted = "cr" if sample.question is None else "qcr"
        return "qc" if "qc" in self.forms else wanted if wanted in self.forms or wanted == "cr" else self.forms[0]

    def resized(self, max_tokens: int) -> InputForm:
        """The same form for inputs of another length, with budgets in proportion."""
        return replace(self, max_tokens=max_tokens, question_tokens=None, candidate_tokens=None, reference_tokens=None)

    def signature(self) -> str:
        """Everything of the form that changes a score, in short."""
        limit = f"{self.truncation}{self.max_tokens}"
        if self.truncation == "fair":
            limit += f"({self.question_tokens}+{self.candidate_tokens}+{self.reference_tokens},{self.candidate_head})"
        references = f"joined{self.max_references}" if self.references == "joined" else self.references
        form = "/".join(self.forms) + ("+marks" if self.marks else "") + ("+fold" if self.fold else "")
        whole = hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:6]
        return f"form:{form}#{whole}|refs:{references}|trunc:{limit}"


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """What `judge.json` holds: the input form, and what turns logits into probabilities.

    That is a `combiner` of the logit with the evidence, where there is one, and after it a temperature. `threshold` is
    the score from which on a candidate is labelled right.
    """

    form: InputForm = InputForm()
    temperature: float = 1.0
    combiner: Combiner | None = None
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"the temperature is {self.temperature}; a number above 0 was expected.")
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold is {self.threshold}; a probability between 0 and 1 was expected.")

    @classmethod
    def load(cls, folder: Path) -> JudgeConfig:
        """Read `judge.json` of a model's folder; a folder without one is a judge of the paper."""
        path = folder / CONFIG_NAME
        if not path.exists():
            return cls()
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                form=InputForm(**raw["form"]),
                temperature=float(raw["temperature"]),
                combiner=Combiner(**raw["combiner"]) if raw.get("combiner") else None,
                threshold=float(raw.get("threshold", 0.5)),
            )
        except (ValueError, KeyError, TypeError) as error:
            known = ", ".join(field.name for field in fields(InputForm))
            raise ModelError(
                f"{path} can't be read ({error}); expected: temperature, if wanted threshold and combiner, and form "
                f"with {known}."
            ) from error

    def save(self, folder: Path) -> None:
        """Write `judge.json` into a model's folder."""
        text = json.dumps(asdict(self), indent=1)
        (folder / CONFIG_NAME).write_text(text + "\n", encoding="utf-8")


class Prompt(NamedTuple):
    """One input of the encoder: its tokens, the index of the reference it holds, and how many characters were cut."""

    tokens: Tokens
    reference: int
    truncated: dict[str, int]


class _Piece(NamedTuple):
    """A tokenised text: its ids, the characters that each covers, and the length of the whole text in characters."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    characters: int


class _Part(NamedTuple):
    """One part of an input: its text as tokens, and the spans of it that carry a match mark."""

    piece: _Piece
    marked: Sequence[Span] = ()


class PromptEncoder:
    """Encodes samples for one tokenizer and one input form. Texts are data: no text can make a special token.

    `model_limit` is the longest input, in tokens, that the model reads.
    """

    def __init__(self, tokenizer: Tokenizer, form: InputForm, model_limit: int) -> None:
        self._markers = {part: _marker_id(tokenizer, marker) for part, marker in zip(PARTS, form.markers, strict=True)}
        plain = _plain_tokenizer(tokenizer, form.markers)
        self._prefix, self._suffix = _ends(plain)
        self._limit = model_limit if form.max_tokens is None else min(form.max_tokens, model_limit)
        self._room = self._limit - len(self._prefix) - len(self._suffix)
        self.form = _with_budgets(replace(form, max_tokens=self._limit), self._room - len(PARTS))
        self._tokenise = _TextTokenizer(plain, _special_ids(tokenizer, form.markers), self._room)
        self._separator = self._tokenise([form.separator])[form.separator]

    def encode(self, samples: Sequence[Sample]) -> list[list[Prompt]]:
        """The prompts of each sample: one, or one a reference where the judge takes the best of them."""
        if self.form.fold:
            samples = [_folded(sample) for sample in samples]
        groups = [_group_references(sample, self.form) for sample in samples]
        texts = {text for sample in samples for text in (sample.question, sample.candidate) if text is not None}
        texts.update(
            s.references[i] for s, passes in zip(samples, groups, strict=True) for group in passes for i in group
        )
        pieces = self._tokenise(texts)
        return [
            [self._prompt(self._read(sample, group, pieces), group[0]) for group in passes]
            for sample, passes in zip(samples, groups, strict=True)
        ]

    def _read(self, sample: Sample, group: Sequence[int], pieces: Mapping[str, _Piece]) -> dict[str, _Part]:
        """The parts that the judge reads of a sample, in their order, with the spans to mark."""
        form = self.form.form_of(sample)
        references = [sample.references[i] for i in group]
        evidence = find_evidence(sample.candidate, references) if self.form.marks and "r" in form else None
        parts: dict[str, _Part] = {}
        if "q" in form and sample.question is not None:
            parts["question"] = _Part(pieces[sample.question])
        parts["candidate"] = _Part(pieces[sample.candidate], evidence.candidate if evidence else ())
        if "r" in form:
            marked = evidence.references if evidence else repeat(())
            read = [_Part(pieces[text], spans) for text, spans in zip(references, marked, strict=False)]
            parts["reference"] = _join(read, self._separator)
        return parts

    def _prompt(self, parts: Mapping[str, _Part], reference: int) -> Prompt:
        """Put the parts together: what is kept of each after its marker, between the tokenizer's own ends."""
        lengths = {part: 1 + len(read.piece.ids) for part, read in parts.items()}  # 1 for the marker
        keep = _keep_right if self.form.truncation == "left" else _keep_fairly
        ids, types = list(self._prefix), [0] * len(self._prefix)
        truncated = {}
        for part, kept in keep(lengths, self.form, self._room).items():
            piece, marked = parts[part]
            if len(kept) < lengths[part]:
                truncated[part] = _characters_cut(piece, kept)
            row = (self._markers[part], *piece.ids)
            ids += [row[i] for i in kept]
            types += (
                [int(i > 0 and touches(Span(*piece.offsets[i - 1]), marked)) for i in kept]
                if marked
                else [0] * len(kept)
            )
        ids += self._suffix
        types += [0] * len(self._suffix)
        return Prompt(Tokens(tuple(ids), tuple(types) if self.form.marks else None), reference, truncated)


def _folded(sample: Sample) -> Sample:
    question = None if sample.question is None else fold(sample.question)
    return replace(
        sample, candidate=fold(sample.candidate), references=tuple(map(fold, sample.references)), question=question
    )


def _group_references(sample: Sample, form: InputForm) -> list[tuple[int, ...]]:
    """Which references go into which pass: each into its own, or those that share most with the candidate into one."""
    everyone = range(len(sample.references))
    if form.references == "best":
        return [(i,) for i in everyone]
    if len(everyone) == 1:
        return [(0,)]
    recall = find_evidence(sample.candidate, sample.references).recall
    return [tuple(sorted(everyone, key=lambda i: -recall[i])[: form.max_references])]


def _join(parts: Sequence[_Part], separator: _Piece) -> _Part:
    """Several references as one part."""
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    marked: list[Span] = []
    at = 0
    for n, (piece, spans) in enumerate(parts):
        if n:
            ids += separator.ids
            offsets += [(at + start, at + end) for start, end in separator.offsets]
            at += separator.characters
        ids += piece.ids
        offsets += [(at + start, at + end) for start, end in piece.offsets]
        marked += [Span(at + start, at + end) for start, end in spans]
        at += piece.characters
    return _Part(_Piece(ids, offsets, at), marked)


def _keep_fairly(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
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


def _keep_right(lengths: Mapping[str, int], form: InputForm, room: int) -> dict[str, Sequence[int]]:
    """Which tokens of each part are kept if the whole is cut from the left (`truncation_side="left"` in the paper)."""
    over = max(0, sum(lengths.values()) - room)
    kept: dict[str, Sequence[int]] = {}
    for part, length in lengths.items():
        kept[part] = range(min(over, length), length)
        over -= min(over, length)
    return kept


def _characters_cut(piece: _Piece, kept: Sequence[int]) -> int:
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


class _TextTokenizer:
    """Tokenises texts, in which no token is special; `forbidden` ids never come out."""

    def __init__(self, tokenizer: Tokenizer, forbidden: frozenset[int], room: int) -> None:
        self._tokenizer = tokenizer
        self._forbidden = forbidden
        self._unknown = next((i for i in map(tokenizer.token_to_id, _UNKNOWN) if i is not None), None)
        self._room = room

    def __call__(self, texts: Iterable[str]) -> dict[str, _Piece]:
        """Tokenise distinct texts, a bounded number of characters at a time."""
        pieces: dict[str, _Piece] = {}
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

    def _tokenise(self, texts: Sequence[str]) -> Iterator[tuple[str, _Piece]]:
        ends = [_both_ends(text, self._room * _GENEROUS_TOKEN) for text in texts]
        encodings = iter(self._tokenizer.encode_batch([t for pair in ends for t in pair], add_special_tokens=False))
        for text, pair in zip(texts, ends, strict=True):
            found = [next(encodings) for _ in pair]
            if len(pair) == 2 and min(len(encoding) for encoding in found) <= self._room:
                # Tokens longer than we took them for: the ends do not hold all that could be kept.
                pair, found = (text,), [self._tokenizer.encode(text, add_special_tokens=False)]
            ids = [i for encoding in found for i in encoding.ids]
            offsets = list(found[0].offsets)
            if len(pair) == 2:
                shift = len(text) - len(pair[1])
                offsets += [(shift + start, shift + end) for start, end in found[1].offsets]
            if not self._forbidden.isdisjoint(ids):
                ids, offsets = self._without_specials(ids, offsets)
            yield text, _Piece(ids, offsets, len(text))

    def _without_specials(
        self, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Replace special ids by the unknown token, or leave them out where the tokenizer has none."""
        pairs = [(self._unknown if i in self._forbidden else i, span) for i, span in zip(ids, offsets, strict=True)]
        kept = [(i, span) for i, span in pairs if i is not None]
        return [i for i, _ in kept], [span for _, span in kept]


def _both_ends(text: str, characters: int) -> tuple[str, ...]:
    """A text, or of an overlong one its two ends, cut at spaces: a token never spans them."""
    if len(text) <= 2 * characters:
        return (text,)
    head, tail = text.rfind(" ", 0, characters), text.find(" ", len(text) - characters)
    return (text[:head], text[tail:]) if head > 0 and tail > 0 else (text,)


def _plain_tokenizer(tokenizer: Tokenizer, markers: Sequence[str]) -> Tokenizer:
    """A copy for which neither special tokens nor markers are special in a text.

    `encode_special_tokens` does not do that: it leaves added tokens alone that are not special, as the markers are.
    """
    from tokenizers import Tokenizer

    raw = json.loads(tokenizer.to_str())
    known = len(raw["model"]["vocab"])
    added = []
    for token in raw["added_tokens"]:
        if not token["special"] and token["content"] not in markers:
            added.append(token)
        elif token["id"] >= known:  # holds its place: added tokens are numbered anew, and later ones keep their ids
            added.append(token | {"content": f"\uf8ff{token['id']}\uf8ff", "special": False, "normalized": False})
    raw["added_tokens"] = added
    copy = Tokenizer.from_str(json.dumps(raw))
    copy.no_truncation()
    copy.no_padding()
    return copy


def _special_ids(tokenizer: Tokenizer, markers: Sequence[str]) -> frozenset[int]:
    """Ids that no text may get: a Unigram vocabulary holds special tokens as pieces, which it would find in a text."""
    added = tokenizer.get_added_tokens_decoder()
    return frozenset(i for i, t in added.items() if (t.special or t.content in markers) and t.content not in _UNKNOWN)


def _marker_id(tokenizer: Tokenizer, marker: str) -> int:
    found = tokenizer.token_to_id(marker)
    if found is None:
        raise ModelError(
            f"the tokenizer does not know the marker {marker!r}, so this model was not trained as a judge; "
            "give a judge's folder or train one from this model."
        )
    return int(found)


def _ends(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the tokenizer itself puts before and after a text, such as [CLS] and [SEP]."""
    plain = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a", add_special_tokens=True).ids
    start = next(i for i in range(len(whole)) if whole[i : i + len(plain)] == plain)
    return tuple(whole[:start]), tuple(whole[start + len(plain) :])


def _with_budgets(form: InputForm, room: int) -> InputForm:
    """The form with every budget as a number; `room` is what the three parts have together."""
    if room < len(PARTS):
        least = (form.max_tokens or 0) - room + len(PARTS)
        raise InputError(f"an input of {form.max_tokens} tokens has no room for texts; {least} are the least.")
    question = max(1, room // 4) if form.question_tokens is None else form.question_tokens
    reference = max(1, room // 4) if form.reference_tokens is None else form.reference_tokens
    candidate = room - question - reference if form.candidate_tokens is None else form.candidate_tokens
    if min(question, candidate, reference) < 1 or question + candidate + reference > room:
        raise InputError(
            f"budgets of {question} question, {candidate} candidate and {reference} reference tokens do not fit into "
            f"an input of {form.max_tokens} tokens ({room} without markers); each needs at least one."
        )
    return replace(form, question_tokens=question, candidate_tokens=candidate, reference_tokens=reference)
