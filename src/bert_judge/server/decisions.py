"""The routes of decision models: typed questions about a state → probabilities.

Free text of questions is not understood: only questions by known names are answered, with P(correct). All others are
refused, and so are states without what the judge needs.
"""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, BeforeValidator, Field

from bert_judge.errors import InputError
from bert_judge.inputs.columns import plain_name
from bert_judge.server import ServerOptions
from bert_judge.server.questions import Content, DecisionQuestion, StrictBody, SystemOneQuestion
from bert_judge.server.responses import RefusedError, SafeJSONResponse, shortened, shown
from bert_judge.server.schema import OneRow, responses
from bert_judge.server.service import Service
from bert_judge.server.states import StateReader, read_json

FIELDS_HEADER: Final = "X-Bert-Judge-Fields"
"""Names the fields that were read, as `candidate=output, reference=item.expected`; never their texts."""

REFUSED_HEADER: Final = "X-Bert-Judge-Refused"
"""Why the first of the refused questions was refused."""
_NAMES: Final = frozenset(["correct", "correctness", "is_correct"])
_MOST_QUESTIONS, _LONGEST_NAME = 400, 100
_USAGE: Final = {"input_tokens": 0, "output_tokens": 0}
_DETAILS: Final = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "total_tokens": 0}
_DETAILED_USAGE: Final = {**_USAGE, **_DETAILS, "output_tokens_details": {"reasoning_tokens": 0}}


def _counted(questions: object) -> object:
    """Questions, none of which is read if there are too many."""
    if isinstance(questions, list | dict) and len(questions) > _MOST_QUESTIONS:
        raise RefusedError(413, f"{len(questions):,} questions were sent; up to {_MOST_QUESTIONS} are allowed.")
    return questions


class DecisionBody(StrictBody):
    """Questions about an input, as the package openai sends them."""

    model: str = Field(description="One of the served judges.")
    input: Content = Field(description="JSON with question, reference and candidate, as text or in a message.")
    questions: Annotated[list[DecisionQuestion], Field(min_length=1, fail_fast=True), BeforeValidator(_counted)]


class SystemOneBody(StrictBody):
    """Questions about a state, as TypeSafe's clients send them."""

    model: str = Field(description="One of the served judges.")
    state: Content = Field(description="Question, reference and candidate by their usual names.")
    questions: Annotated[dict[str, SystemOneQuestion], Field(min_length=1), BeforeValidator(_counted)]
    assets: dict[str, object] | None = Field(None, description="Images, which can't be read.")


class DecisionAnswers(BaseModel):
    """Answers in the order of the questions, or by their names; `usage` is zeros: nothing is billed by tokens."""

    model: str
    answers: list[dict[str, object]] | dict[str, dict[str, object]]
    usage: dict[str, object]


class DecisionRules:
    """How a server reads states, and which questions it answers. Raises InputError for options that can't be."""

    def __init__(self, options: ServerOptions) -> None:
        self.reader = StateReader(options.state_map, options.state_template)
        self._names = _NAMES.union(options.questions or ())
        for name, meaning in (options.questions or {}).items():
            if meaning != "correct":
                raise InputError(f"questions maps {name!r} to {meaning!r}; only 'correct' can be asked for.")

    def problem(self, name: str | None, question: DecisionQuestion | SystemOneQuestion) -> str:
        """Why a question can't be answered; empty if it can."""
        if name not in self._names and (len(name or "") > _LONGEST_NAME or plain_name(name or "") not in _NAMES):
            mapped = "let the operator of this server map its name to that (questions)"
            return f"the question {shown(name)} is not known here; call it correct, or {mapped}."
        if question.answer(0.5) is None:
            expected = "correct/incorrect, yes/no, true/false or pass/fail, or several levels of a score,"
            return f"the question {shown(name)} has other outcomes than those of correctness; {expected} were expected."
        return ""


async def _decide(
    service: Service, reader: StateReader, request: Request, model: str, state: object
) -> tuple[float | RefusedError, dict[str, str]]:
    """P(correct) for a state, or a refusal that says why there is none, and the header with the fields that were read.

    Raises RefusedError for an unknown model and for a state that can't be read.
    """
    queue = service.queue(model)
    if queue.judge.info.scale == "score":
        raise RefusedError(400, f"{queue.name} gives no probabilities; name another model.")
    try:
        row = reader.read(state)
        read_json(await request.body())  # of a field that is there twice, the parsed body has the last one only
    except InputError as error:
        raise RefusedError(400, str(error), "state") from error
    paths = {role: quote(shortened(path), safe="._-", errors="replace") for role, path in row.paths.items()}
    headers = {FIELDS_HEADER: ", ".join(f"{role}={path}" for role, path in sorted(paths.items()))}
    if not row.references and queue.judge.info.reads_references:
        message = f"the state has no reference, which {queue.name} needs; give it as expected_output, say."
        return RefusedError(400, message, "state"), headers
    texts = {"candidate": row.candidate, "references": list(row.references) or None, "question": row.question}
    (verdict,) = (await service.judge(request, OneRow.model_validate({**texts, "judge": model}))).verdicts
    if verdict.failed:
        raise RefusedError(500, f"{queue.name} failed: {verdict.explanation or 'it gave no verdict'}.", "failed")
    if verdict.score is None:
        return RefusedError(422, f"{queue.name} could not decide.", "undecided"), headers
    return verdict.score, headers


def add_decisions(app: FastAPI, service: Service) -> None:
    """Add the routes /v1/decisions and /v1/systemone. Raises InputError for options that can't be."""
    rules = DecisionRules(service.options)

    @app.post("/v1/decisions", responses=responses(DecisionAnswers), response_model=None, tags=["decisions"])
    async def decisions(body: DecisionBody, request: Request) -> Response:
        """P(correct) for an input, as answers to typed questions; those that are not about it are refused."""
        problems = [rules.problem(question.name, question) for question in body.questions]
        service.queue(body.model)  # which must be there, even if nothing can be answered
        correct: float | RefusedError = RefusedError(400, problems[0])
        headers = dict[str, str]()
        if not all(problems):
            correct, headers = await _decide(service, rules.reader, request, body.model, body.input)
        undecided = correct.detail if isinstance(correct, RefusedError) else ""
        answers = [
            {"type": "refusal", "name": question.name}
            if problem or isinstance(correct, RefusedError)
            else question.answer(correct)
            for question, problem in zip(body.questions, problems, strict=True)
        ]
        if refusal := next(filter(None, problems), undecided):
            headers[REFUSED_HEADER] = refusal.encode("ascii", "backslashreplace").decode()
        return SafeJSONResponse({"model": body.model, "answers": answers, "usage": _DETAILED_USAGE}, headers=headers)

    @app.post("/v1/systemone", responses=responses(DecisionAnswers), response_model=None, tags=["decisions"])
    async def system_one(body: SystemOneBody, request: Request) -> Response:
        """P(correct) for a state, as answers to named questions, all of which must be about it."""
        if body.assets:
            raise RefusedError(400, "assets can't be read; send texts in the state.")
        if problem := next(filter(None, (rules.problem(*item) for item in body.questions.items())), ""):
            raise RefusedError(400, problem, "question")
        correct, headers = await _decide(service, rules.reader, request, body.model, body.state)
        if isinstance(correct, RefusedError):
            raise correct
        answers = {name: question.answer(correct) for name, question in body.questions.items()}
        return SafeJSONResponse({"model": body.model, "answers": answers, "usage": _USAGE}, headers=headers)
