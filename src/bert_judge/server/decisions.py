"""The routes of decision models: typed questions about a state → probabilities.

Free text of questions is not understood: only questions by known names are answered, with P(correct). All others are
refused, and so are states without what the judge needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from bert_judge.errors import InputError
from bert_judge.inputs.columns import plain_name
from bert_judge.server import ServerOptions
from bert_judge.server.responses import RefusedError, SafeJSONResponse, shortened, shown
from bert_judge.server.schema import OneRow, responses
from bert_judge.server.service import Service
from bert_judge.server.states import StateReader, read_json

FIELDS_HEADER: Final = "X-Bert-Judge-Fields"
"""Names the fields that were read, as `candidate=output, reference=item.expected`; never their texts."""

REFUSED_HEADER: Final = "X-Bert-Judge-Refused"
"""Why the first of the refused questions was refused."""

_NAMES: Final = frozenset(["correct", "correctness", "is_correct"])
_PAIRS: Final = (("correct", "incorrect"), ("yes", "no"), ("true", "false"), ("pass", "fail"))
_MOST_QUESTIONS, _LONGEST_NAME = 400, 100
_NO_PAIR: Final = f"has other outcomes than {', '.join(map('/'.join, _PAIRS))}"
_Content = Annotated[object, WithJsonSchema({"anyOf": [{"type": kind} for kind in ("string", "object", "array")]})]


class _Body(BaseModel):
    """Further fields are ignored: what clients send besides changes no answer."""

    model_config = ConfigDict(strict=True)


class PredicateQuestion(_Body):
    """How likely is it to be correct?"""

    type: Literal["predicate"]
    name: str | None = None


class ChoiceOption(_Body):
    """An outcome of a choice; "true" and true are two."""

    value: str | bool


class ChoiceQuestion(_Body):
    """Which outcome of two?"""

    type: Literal["choice"]
    name: str | None = None
    choices: Annotated[list[ChoiceOption], Field(fail_fast=True)]

    @property
    def outcomes(self) -> Sequence[str | bool]:
        """The values."""
        return [option.value for option in self.choices]


class ScoreLevel(_Body):
    """A level of a score."""

    label: str


class ScoreQuestion(_Body):
    """Which level, from the lowest to the highest?"""

    type: Literal["score"]
    name: str | None = None
    levels: Annotated[list[ScoreLevel], Field(fail_fast=True)]

    @property
    def outcomes(self) -> Sequence[str]:
        """The labels."""
        return [level.label for level in self.levels]


class NoulQuestion(_Body):
    """How likely is yes?"""

    type: Literal["noul"]


class SystemOneChoice(_Body):
    """Which of two outcomes, the names in `criteria`?"""

    type: Literal["choice"]
    criteria: dict[str, object]

    @property
    def outcomes(self) -> Sequence[str]:
        """The names."""
        return list(self.criteria)


class SystemOneScore(_Body):
    """Which level, of those that `criteria` describes from the lowest to the highest?"""

    type: Literal["score"]
    criteria: Annotated[list[_Content], Field(fail_fast=True)]

    @property
    def outcomes(self) -> Sequence[str]:
        """The descriptions."""
        return [level if isinstance(level, str) else shown(level) for level in self.criteria]


DecisionQuestion = PredicateQuestion | ChoiceQuestion | ScoreQuestion
SystemOneQuestion = NoulQuestion | SystemOneChoice | SystemOneScore


class DecisionBody(_Body):
    """Questions about an input, as the package openai sends them."""

    model: str = Field(description="One of the served judges.")
    input: _Content = Field(description="JSON with question, reference and candidate, as text or in a message.")
    questions: Annotated[
        list[Annotated[DecisionQuestion, Field(discriminator="type")]],
        Field(min_length=1, max_length=_MOST_QUESTIONS, fail_fast=True),
    ]


class SystemOneBody(_Body):
    """Questions about a state, as TypeSafe's clients send them."""

    model: str = Field(description="One of the served judges.")
    state: _Content = Field(description="Question, reference and candidate by their usual names.")
    questions: Annotated[
        dict[str, Annotated[SystemOneQuestion, Field(discriminator="type")]],
        Field(min_length=1, max_length=_MOST_QUESTIONS),
    ]
    assets: dict[str, object] | None = Field(None, description="Images, which can't be read.")


class DecisionAnswers(BaseModel):
    """Answers in the order of the questions: predicate, choice, score or refusal, with the fields of openai's types."""

    model: str
    answers: list[dict[str, object]]
    usage: dict[str, object] = Field(description="Zeros: nothing is billed by tokens.")


class SystemOneAnswers(BaseModel):
    """Answers by the names of the questions."""

    model: str
    answers: dict[str, dict[str, object]]
    usage: dict[str, int] = Field(description="Zeros: nothing is billed by tokens.")


_SYSTEM_ONE_USAGE: Final = {"input_tokens": 0, "output_tokens": 0}
_DECISION_USAGE: Final = {
    **_SYSTEM_ONE_USAGE,
    "total_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def shares(question: DecisionQuestion | SystemOneQuestion, correct: float) -> list[float]:
    """The probabilities of a question's outcomes, in order; none where P(correct) does not answer it.

    Of a score's levels the top one is correct and the lowest incorrect. The outcomes of a choice must be a known pair.
    """
    if question.type == "score":
        count = len(question.outcomes)
        return [1 - correct, *[0.0] * (count - 2), correct] if count > 1 else []
    if question.type == "choice":
        names = [str(outcome).strip().lower() for outcome in question.outcomes]
        pairs = [pair for pair in _PAIRS if sorted(pair) == sorted(names)]
        return [correct if name == pairs[0][0] else 1 - correct for name in names] if pairs else []
    return [correct, 1 - correct]


def decision_answer(question: DecisionQuestion, correct: float) -> dict[str, object]:
    """The answer in OpenAI's dialect; `shares` is not empty."""
    named = {"type": question.type, "name": question.name}
    if question.type == "predicate":
        return {**named, "probability": correct}
    probabilities = shares(question, correct)
    outcomes = enumerate(zip(question.outcomes, probabilities, strict=True))
    if question.type == "choice":
        entries = [{"value": value, "probability": share} for _, (value, share) in outcomes]
    else:
        entries = [{"value": place, "label": label, "probability": share} for place, (label, share) in outcomes]
    return {**named, **_decided(question, probabilities), "probabilities": entries}


def system_one_answer(question: SystemOneQuestion, correct: float) -> dict[str, object]:
    """The answer in System One's dialect; `shares` is not empty."""
    if question.type == "noul":
        return {"type": "noul", "noul": correct}
    probabilities, keys, legend = shares(question, correct), question.outcomes, {}
    if question.type == "score":
        keys = [str(place) for place in range(len(probabilities))]
        legend = {"legend": dict(zip(keys, question.outcomes, strict=True))}
    by_key = dict(zip(keys, probabilities, strict=True))
    return {"type": question.type, **_decided(question, probabilities), **legend, "probabilities": by_key}


def _decided(
    question: ChoiceQuestion | ScoreQuestion | SystemOneChoice | SystemOneScore, probabilities: Sequence[float]
) -> dict[str, object]:
    """The likeliest outcome or the mean level, and the confidence: 0 if all are equally likely, 1 if one is certain."""
    count, most = len(probabilities), max(probabilities)
    confidence = max(0.0, (count * most - 1) / (count - 1))
    if question.type == "choice":
        return {"choice": question.outcomes[probabilities.index(most)], "confidence": confidence}
    return {"score": probabilities[-1] * (count - 1), "confidence": confidence}


class DecisionRules:
    """How a server reads states, and which questions it answers. Raises InputError for options that can't be."""

    def __init__(self, options: ServerOptions) -> None:
        self.reader = StateReader(options.state_map, options.state_template)
        for name, meaning in (options.questions or {}).items():
            if meaning != "correct":
                raise InputError(f"questions maps {name!r} to {meaning!r}; only 'correct' can be asked for.")
        self._names = _NAMES.union(options.questions or ())

    def problem(self, name: str | None, question: DecisionQuestion | SystemOneQuestion) -> str:
        """Why a question can't be answered; empty if it can."""
        if name is None:
            return "a question has no name; call it correct."
        if name not in self._names and plain_name(name[:_LONGEST_NAME]) not in _NAMES:
            mapped = "the operator of this server can map its name to correct"
            return f"the question {shown(name)} is not known here; call it correct, or {mapped} (questions)."
        if not shares(question, 0.5):
            problem = "has a single level" if question.type == "score" else _NO_PAIR
            return f"the question {shown(name)} {problem}."
        return ""


class _Decision(NamedTuple):
    """P(correct), or why there is none; the headers name the fields that were read."""

    judge: str
    correct: float | None
    reason: str
    headers: dict[str, str]


async def _decide(service: Service, reader: StateReader, request: Request, model: str, state: object) -> _Decision:
    """P(correct) for a state. Raises RefusedError for an unknown model and for a state that can't be read."""
    queue = service.queue(model)
    if queue.judge.info.scale == "score":
        raise RefusedError(400, f"{queue.name} gives no probabilities; name another model.")
    try:
        read_json(await request.body())  # of a field that is there twice, the parsed body has the last one only
        row = reader.read(state)
    except InputError as error:
        raise RefusedError(400, str(error), "state") from error
    paths = {role: shortened(quote(path, safe="._-", errors="replace")) for role, path in row.fields.items()}
    headers = {FIELDS_HEADER: ", ".join(f"{role}={path}" for role, path in sorted(paths.items()))}
    if not row.references and queue.judge.info.reads_references:
        return _Decision(queue.name, None, f"the state has no reference, which {queue.name} needs.", headers)
    texts = {"candidate": row.candidate, "references": list(row.references) or None, "question": row.question}
    body = OneRow.model_validate({**texts, "judge": model})
    (verdict,) = (await service.judge(request, body)).verdicts
    if verdict.failed:
        raise RefusedError(500, f"{queue.name} failed: {verdict.explanation or 'it gave no verdict'}.", "failed")
    reason = "" if verdict.score is not None else f"{queue.name} is undecided: {verdict.explanation or 'no reason'}."
    return _Decision(queue.name, verdict.score, reason, headers)


def decisions_router(service: Service) -> APIRouter:
    """The routes /v1/decisions and /v1/systemone."""
    router, rules = APIRouter(tags=["decisions"]), DecisionRules(service.options)

    @router.post("/v1/decisions", responses=responses(DecisionAnswers), response_model=None)
    async def decisions(body: DecisionBody, request: Request) -> Response:
        """P(correct) for an input, as answers to typed questions; those that are not about it are refused."""
        problems = [rules.problem(question.name, question) for question in body.questions]
        decision = _Decision(service.queue(body.model).name, None, "", {})
        if not all(problems):
            decision = await _decide(service, rules.reader, request, body.model, body.input)
        answers = [
            {"type": "refusal", "name": question.name}
            if problem or decision.correct is None
            else decision_answer(question, decision.correct)
            for question, problem in zip(body.questions, problems, strict=True)
        ]
        reason = next(filter(None, [*problems, decision.reason]), "")
        refused = {REFUSED_HEADER: reason.encode("ascii", "backslashreplace").decode()} if reason else {}
        record = {"model": decision.judge, "answers": answers, "usage": _DECISION_USAGE}
        return SafeJSONResponse(record, headers=decision.headers | refused)

    @router.post("/v1/systemone", responses=responses(SystemOneAnswers), response_model=None)
    async def system_one(body: SystemOneBody, request: Request) -> Response:
        """P(correct) for a state, as answers to named questions, all of which must be about it."""
        if body.assets:
            raise RefusedError(400, "assets can't be read; send texts in the state.")
        if problem := next(filter(None, (rules.problem(*item) for item in body.questions.items())), ""):
            raise RefusedError(400, problem, "question")
        decision = await _decide(service, rules.reader, request, body.model, body.state)
        if decision.correct is None:
            raise RefusedError(400, decision.reason, "state")
        answers = {name: system_one_answer(question, decision.correct) for name, question in body.questions.items()}
        record = {"model": decision.judge, "answers": answers, "usage": _SYSTEM_ONE_USAGE}
        return SafeJSONResponse(record, headers=decision.headers)

    return router
