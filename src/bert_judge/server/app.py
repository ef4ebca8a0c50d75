"""Judges over HTTP: the application, which any ASGI server runs.

    app = make_app({"starter": BERTJudge()}, ServerOptions())

Every route is in its OpenAPI document, at /openapi.json.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bert_judge.errors import BertJudgeError, InputError
from bert_judge.judges import BERTScore, Judge
from bert_judge.judges.occlusion import SENTENCES, WORDS, explain
from bert_judge.records import Sample, Verdict, __version__
from bert_judge.server.graders import grader_answer, grader_sample
from bert_judge.server.labelling import Labelling, check_origin, labelling_router
from bert_judge.server.middleware import Figures, Keys, RequestMiddleware
from bert_judge.server.options import ServerOptions
from bert_judge.server.page import (
    FILE_BODY,
    FILES,
    MADE_HEADERS,
    Pages,
    QueuedJudge,
    check_kind,
)
from bert_judge.server.queueing import JudgeQueue, QueueFullError
from bert_judge.server.refusing import RefusedError, SafeJSONResponse, failure
from bert_judge.server.reporting import Reporting
from bert_judge.server.schema import (
    BertScoreRequest,
    BertScores,
    ExplanationBody,
    Failure,
    GraderRequest,
    JudgeRequest,
    ManyRows,
    ManyVerdicts,
    OneRow,
    OneVerdict,
    PageMade,
    Row,
    sentence,
)
from bert_judge.server.service import Service
from bert_judge.server.static import HEADERS, static

_ABOUT = "Says how likely model answers are correct, given the right answers. A judge is named by `judge` or `model`."
_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": text}
    for status, text in {
        400: "The body is not JSON in UTF-8.",
        401: "The key is missing or wrong.",
        404: "There is no such judge here.",
        408: "The body took too long.",
        413: "The body, its rows or a text are too large.",
        422: "A field is missing, unknown or wrong.",
        429: "Too many rows are waiting, or too large bodies; Retry-After says when to come back.",
        500: "The judge failed.",
    }.items()
}


def make_app(
    judges: Mapping[str, Judge],
    options: ServerOptions | None = None,
    keys: Keys | None = None,
    labelling: Labelling | None = None,
) -> FastAPI:
    """The application for these judges by name, and for a page to label answers; without judges it has that page alone.

    `app.state.service` is the judges' `Service`.
    """
    options, figures = options or ServerOptions(), Figures()
    service = Service(judges, options, figures)

    app = FastAPI(
        title="bert-judge",
        version=__version__,
        description=_ABOUT,
        lifespan=service.working,
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    if judges:
        _add_judging(app, service)
        _add_shapes_of_others(app, service)
        _add_state(app, service)
        _add_page(app, service, labelling)
    if labelling is not None:
        app.include_router(labelling_router(labelling))
    _add_failures(app)
    paths = frozenset(path for route in app.routes if isinstance(path := getattr(route, "path", None), str))
    app.add_middleware(RequestMiddleware, options=options, keys=keys or Keys([]), figures=figures, paths=paths)
    return app


def _add_judging(app: FastAPI, service: Service) -> None:
    @app.post("/v1/judge", responses=_answers(OneVerdict | ManyVerdicts), response_model=None, tags=["judge"])
    async def judge(body: JudgeRequest, request: Request) -> Response:
        """The verdict on a candidate, or with `samples` on each of several."""
        queue = service.queue(body.judge, body.model)
        if isinstance(body, ManyRows):
            samples = [_row(service, queue, f"samples[{place}] ", row) for place, row in enumerate(body.samples)]
            verdicts = await service.judged(request, queue, samples)
            bodies = [_body(row, verdict) for row, verdict in zip(body.samples, verdicts, strict=True)]
            return SafeJSONResponse({"judge": queue.name, "verdicts": bodies})
        (verdict,) = await service.judged(request, queue, [_row(service, queue, "the body ", body)])
        return SafeJSONResponse({**_body(body, verdict), "judge": queue.name})

    @app.post("/v1/bertscore", responses=_answers(BertScores), response_model=None, tags=["judge"])
    async def bertscore(body: BertScoreRequest, request: Request) -> Response:
        """BERTScore of each candidate with the reference that fits it best.

        Without a BERTScore among the judges, the first request loads the starter's encoder.
        """
        await service.load_bertscore()
        queue = service.queue(body.judge, body.model, kind=BERTScore)
        if len(body.candidates) != len(body.references):
            counts = f"there are {len(body.candidates)} candidates but {len(body.references)} references"
            raise RefusedError(422, f"{counts}; one each was expected.")
        pairs = zip(body.candidates, body.references, strict=True)
        samples = [service.sample(queue, f"candidates[{n}] ", *pair) for n, pair in enumerate(pairs)]
        verdicts = await service.judged(request, queue, samples)
        scores = {name: [each.details.get(name) for each in verdicts] for name in ("precision", "recall")}
        f1 = {"f1": [each.score for each in verdicts]}
        return SafeJSONResponse({"judge": queue.name, "signature": str(queue.judge.info.signature), **scores, **f1})


def _add_shapes_of_others(app: FastAPI, service: Service) -> None:
    @app.post("/v1/fine_tuning/alpha/graders/run", responses=_answers(None), tags=["shapes of other servers"])
    async def run_grader(body: GraderRequest, request: Request) -> Response:
        """A text_similarity grader whose `evaluation_metric` is a served judge, as OpenAI's client asks."""
        start = time.perf_counter()
        queue = service.queue(body.grader.evaluation_metric)
        filled = grader_sample(body, service.options.max_text)
        sample = service.sample(queue, "the sample ", filled.candidate, filled.references, filled.question)
        (verdict,) = await service.judged(request, queue, [sample])
        return SafeJSONResponse(grader_answer(body.grader, verdict, time.perf_counter() - start))


def _add_state(app: FastAPI, service: Service) -> None:
    @app.get("/health", tags=["state"])
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/ready", tags=["state"], responses={503: {"model": Failure, "description": "It is about to end."}})
    async def ready() -> Response:
        """Whether to send requests here: its judges are loaded, and it is not about to end."""
        if service.draining:
            return failure(503, "the server is about to end; send requests elsewhere.", {"Retry-After": "5"})
        return SafeJSONResponse({"status": "ready", "judges": list(service.queues)})

    @app.get("/metrics", tags=["state"], response_class=Response)
    async def metrics() -> Response:
        """Figures, in the text that Prometheus reads."""
        return Response(service.figures.text(), media_type="text/plain; version=0.0.4")

    @app.get("/v1/models", tags=["state"])
    async def models() -> dict[str, Any]:
        """The served judges, the first one first, and what requests have to keep to."""
        data = [_model(service, queue) for queue in service.queues.values()]
        return {"object": "list", "data": data, "limits": service.options.limits}


def _add_page(app: FastAPI, service: Service, labelling: Labelling | None) -> None:
    pages, reporting = Pages(), Reporting(service.options)

    async def file(request: Request) -> Response:
        content, kind = static(FILES[request.url.path])
        return Response(content, media_type=kind, headers=HEADERS)

    for path in FILES:
        app.add_api_route(path, file, include_in_schema=False)

    @app.get("/pages/{token}", include_in_schema=False)
    async def page(token: str) -> Response:
        if (html := pages.get(token)) is None:
            raise RefusedError(404, "this page is not kept any more; make it again.")
        return Response(html, media_type="text/html; charset=utf-8", headers=MADE_HEADERS)

    @app.post("/v1/labelling", include_in_schema=False)
    async def where_to_label(request: Request) -> dict[str, str | None]:
        """Where answers are labelled, for the page at / alone: the address is a secret."""
        check_origin(request)
        return {"page": labelling.page if labelling else None}

    @app.post("/v1/explain", responses=_answers(ExplanationBody), response_model=None, tags=["page"])
    async def explained(body: OneRow, request: Request) -> Response:
        """The verdict on a candidate, and the parts of it that carried the score: up to 36 more verdicts."""
        queue = service.queue(body.judge, body.model)
        sample = _row(service, queue, "the body ", body)
        (verdict,) = await service.judged(request, queue, [sample], times=1 + SENTENCES + WORDS)
        judge = QueuedJudge(queue, partial(service.waited_for, request, queue))
        (found,) = await asyncio.to_thread(list, explain(judge, [(sample, verdict.score)]))
        parts = {
            name: [dataclasses.asdict(part) for part in own]
            for name, own in (
                ("carrying", found.carrying()),
                ("sentences", found.sentences),
                ("words", found.words),
            )
        }
        return SafeJSONResponse({**_body(body, verdict), "judge": queue.name, **parts})

    @app.post(
        "/v1/report",
        responses=_answers(PageMade),
        response_model=None,
        openapi_extra={"requestBody": FILE_BODY},
        tags=["page"],
    )
    async def report(request: Request, name: str = "file", judge: str | None = None) -> Response:
        """The report of a file, the body, in any form that `bert-judge score` reads; as a page."""
        queue = service.queue(judge)
        check_kind(request)
        body = await request.body()
        notes = request.scope["state"]["log"]
        made = await reporting.make(body, name, queue, partial(service.waited_for, request, queue))
        notes |= {"judge": queue.name, "rows": made.rows}
        return SafeJSONResponse({"page": pages.add(made.html), "rows": made.rows, "set_aside": made.set_aside})


def _add_failures(app: FastAPI) -> None:
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        request.scope["state"]["refused"] = error.reason
        return failure(error.status_code, error.detail, error.headers)

    async def full(request: Request, error: Exception) -> Response:
        assert isinstance(error, QueueFullError)
        request.scope["state"]["refused"] = "queue"
        return failure(429, str(error), {"Retry-After": str(error.seconds)})

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return failure(422, sentence(error.errors()))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = {
            400: "the body is not JSON in UTF-8, or is nested too deeply.",
            404: f"there is nothing at {request.url.path}; /openapi.json says what there is.",
            405: f"{request.url.path} does not take {request.method}; /openapi.json says what it takes.",
        }.get(error.status_code, str(error.detail))
        return failure(error.status_code, said, dict(error.headers or {}))

    async def bad_row(_: Request, error: Exception) -> Response:
        return failure(422, str(error))

    async def judge_failed(_: Request, error: Exception) -> Response:
        return failure(500, str(error))

    async def crashed(_: Request, error: Exception) -> Response:
        return failure(500, f"the judge failed with {type(error).__name__}; the server's log has more.")

    handlers: dict[type[Exception], Callable[[Request, Exception], Any]] = {
        RefusedError: refused,
        QueueFullError: full,
        RequestValidationError: invalid,
        HTTPException: http,
        InputError: bad_row,
        BertJudgeError: judge_failed,
        Exception: crashed,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _answers(model: Any) -> dict[int | str, dict[str, Any]]:
    """The statuses of a route that judges, for the OpenAPI document."""
    return {**({200: {"model": model}} if model else {}), **_FAILURES}


def _row(service: Service, queue: JudgeQueue, place: str, row: Row) -> Sample:
    name = None if row.id is None else str(row.id)
    return service.sample(queue, place, row.candidate, _references(row, place), row.question, name)


def _references(body: Row, place: str) -> Sequence[str] | None:
    if body.reference is not None and body.references is not None:
        raise RefusedError(422, f"{place}has reference and references, which mean the same; give one of them.")
    return body.reference if body.references is None else body.references


def _body(row: Row, verdict: Verdict) -> dict[str, Any]:
    """A verdict with the id that came."""
    record = verdict.record()
    return record if row.id is None else {"id": row.id, **record}


def _model(service: Service, queue: JudgeQueue) -> dict[str, Any]:
    return {
        "id": queue.name,
        "object": "model",
        "created": service.started,
        "owned_by": "bert-judge",
        **dataclasses.asdict(queue.judge.info),
    }
