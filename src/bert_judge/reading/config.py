"""The contents of `judge.json`: how a judge reads a sample, how its logits become probabilities, and what it knows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from bert_judge.encoder.models import JUDGE_CONFIG, model_hashes
from bert_judge.errors import InputError, ModelError
from bert_judge.reading.answers import ANSWER_VERSION, Answer, find_answer
from bert_judge.reading.arrangement import CAN_COMPARE_EXPRESSIONS
from bert_judge.reading.matching import EVIDENCE_VERSION, Relation
from bert_judge.reading.scope import Scope
from bert_judge.records import PARTS, Sample


@dataclass(frozen=True, slots=True)
class InputForm:
    """How a judge reads a sample; stored beside its model in `judge.json`.

    - `forms`: the parts that the judge was trained with: "qcr" (question, candidate, reference; the paper's), "cr",
      "qc". `markers` are the tokens before question, candidate and reference.
    - `marks`: each word or value of candidate and references carries its relation to the other side as a token type
      (`Relation`). `evidence` is the version of texts' reading and comparing that finds them; a judge reads marks of
      the version that it was trained with, and no others.
    - `fold`: characters that look alike are read as one (`reading.fold`). `sanitise`: special tokens and chat markers
      in a candidate ("[SEP]", "<|im_end|>", "</s>"), which no reference has, are read as spaces. `options`: a reference
      that is the letter or the text of an option of the question is read as both (`name_option`). `whole_candidate`: a
      candidate is read with its reasoning, run-on text and remarks, which are left out otherwise.
    - `references`: several are read "joined" in one pass (the `max_references` that share most with the candidate, the
      best first, with `separator` between them), or in one pass each, of which the "best" counts.
    - `max_tokens`: the longest input (None: the model's limit). While all fits, nothing is cut; then candidate,
      question and reference are cut in this order, each down to its budget in tokens at most (None: a half, a quarter
      and a quarter of the room). A question keeps both its ends, a candidate the fraction `candidate_head` at its start
      and the rest at its end, where answers stand, a reference its start. Where words of the reference stand in the
      middle of a candidate only, `candidate_focus` tokens there are kept instead of some of its end.
      `truncation="left"` cuts the whole input from the left instead, as the paper does.

    Raises InputError for settings that make no sense.
    """

    forms: tuple[str, ...] = ("qcr",)
    markers: tuple[str, str, str] = ("<|question|>", "<|candidate|>", "<|reference|>")
    marks: bool = False
    fold: bool = False
    sanitise: bool = False
    options: bool = False
    evidence: int = EVIDENCE_VERSION
    references: Literal["joined", "best"] = "best"
    max_references: int = 8
    separator: str = " | "
    max_tokens: int | None = None
    question_tokens: int | None = None
    candidate_tokens: int | None = None
    reference_tokens: int | None = None
    candidate_head: float = 0.2
    candidate_focus: int = 0
    truncation: Literal["fair", "left"] = "fair"
    whole_candidate: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", tuple(self.forms))
        object.__setattr__(self, "markers", tuple(self.markers))
        if not self.forms or not set(self.forms) <= {"qcr", "cr", "qc"}:
            raise InputError(f"the input forms are {list(self.forms)}; 'qcr', 'cr' or 'qc' was expected.")
        if "qc" in self.forms and len(self.forms) > 1:
            raise InputError("the form 'qc' can't be combined with others: a judge reads references or it does not.")
        if self.max_references < 1 or not 0 <= self.candidate_head <= 1 or self.candidate_focus < 0:
            raise InputError(
                f"max_references is {self.max_references}, candidate_head {self.candidate_head} and candidate_focus "
                f"{self.candidate_focus}; at least 1, a fraction from 0 to 1, and 0 or more tokens were expected."
            )
        if self.evidence != EVIDENCE_VERSION:
            raise InputError(
                f"evidence is {self.evidence!r}; this version of bert-judge reads {EVIDENCE_VERSION} only: update "
                "bert-judge for a later one, and train a judge of an earlier one again."
            )
        for name, choices in (("references", ("joined", "best")), ("truncation", ("fair", "left"))):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} is {getattr(self, name)!r}; {choices[0]!r} or {choices[1]!r} was expected.")

    def without(self, *, question: bool, reference: bool) -> InputForm:
        """The form of a judge that reads no question, or no references (then without marks, which compare with them).

        Raises InputError for a judge without both.
        """
        if question and reference:
            raise InputError("a judge without question and reference was asked for; leave out one of the two.")
        if reference:
            return replace(self, forms=("qc",), marks=False, options=False, candidate_focus=0)
        return replace(self, forms=("cr",)) if question else self

    def form_of(self, sample: Sample) -> str:
        """The form in which a sample is read: the trained one that fits it, else the nearest."""
        if "qc" in self.forms:
            return "qc"
        fitting = "cr" if sample.question is None else "qcr"
        return fitting if fitting in self.forms or fitting == "cr" else self.forms[0]

    def answer_of(self, sample: Sample) -> Answer:
        """The answer in a sample, without looking at references that the judge does not read."""
        return find_answer(sample, reads_references="qc" not in self.forms, whole=self.whole_candidate)

    @property
    def token_types(self) -> int:
        """The number of token types that the form needs."""
        return 1 + len(Relation) * self.marks

    def resized(self, max_tokens: int) -> InputForm:
        """The same form for inputs of another length, with budgets in proportion."""
        return replace(self, max_tokens=max_tokens, question_tokens=None, candidate_tokens=None, reference_tokens=None)

    def settings(self) -> dict[str, str]:
        """Every setting that changes a score, in short, for a signature."""
        limit = f"{self.truncation}{self.max_tokens}"
        if self.truncation == "fair":
            focus = f",{self.candidate_focus}" if self.candidate_focus else ""
            budgets = f"{self.question_tokens}+{self.candidate_tokens}+{self.reference_tokens}"
            limit += f"({budgets},{self.candidate_head}{focus})"
        references = f"joined{self.max_references}" if self.references == "joined" else self.references
        flags = [name for name in ("marks", "fold", "sanitise", "options") if getattr(self, name)]
        whole = hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:6]
        compared = "+math-verify" if CAN_COMPARE_EXPRESSIONS else ""
        evidence = {"evidence": f"{self.evidence}{compared}"} if self.marks or self.candidate_focus else {}
        return {
            "form": f"{'+'.join(['/'.join(self.forms), *flags])}#{whole}",
            "refs": references,
            "trunc": limit,
            **evidence,
            "reading": "whole" if self.whole_candidate else str(ANSWER_VERSION),
        }


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """The contents of `judge.json`.

    Logits are divided by `temperature` (above 0). A candidate whose score is at least `threshold`, in [0, 1], is
    labelled correct. Verdicts on rows out of `scope` say so; their scores are the same. Raises InputError.
    """

    form: InputForm = InputForm()
    temperature: float = 1.0
    threshold: float = 0.5
    scope: Scope = field(default_factory=Scope)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise InputError(f"the temperature is {self.temperature}; a number above 0 was expected.")
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold is {self.threshold}; a probability between 0 and 1 was expected.")

    @classmethod
    def load(cls, folder: Path) -> JudgeConfig:
        """Read `judge.json` of a model's folder; a folder without one is a judge of the paper. Raises ModelError."""
        path = folder / JUDGE_CONFIG
        if not path.exists():
            return cls()
        try:
            raw = dict(json.loads(path.read_text(encoding="utf-8")))
            raw.pop("hashes", None)
            return cls(
                InputForm(**raw.pop("form")),
                temperature=float(raw.pop("temperature")),
                threshold=float(raw.pop("threshold", 0.5)),
                scope=Scope(**raw.pop("scope", {})),
                **raw,  # refuses what another version may have added, instead of ignoring it
            )
        except (ValueError, KeyError, TypeError) as error:
            settings = ", ".join(field.name for field in fields(InputForm))
            raise ModelError(
                f"{path} can't be read ({error}); expected: temperature, if wanted threshold and scope, "
                f"and form with {settings}."
            ) from error

    def save(self, folder: Path) -> None:
        """Write `judge.json` into a model's folder, with the hashes of its files, which must be there already."""
        record = asdict(self) | {"hashes": model_hashes(folder)}
        (folder / JUDGE_CONFIG).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def with_budgets(form: InputForm, room: int) -> InputForm:
    """The form with all budgets as numbers of tokens; the three parts have `room` tokens together."""
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
