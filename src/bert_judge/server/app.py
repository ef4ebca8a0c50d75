"""Judges over HTTP: the application, which any ASGI server runs.

    app = make_app({"starter": BERTJudge()}, ServerOptions())

Its OpenAPI document at /openapi.json has all routes.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from bert_judge.errors import BertJudgeError, InputError
from bert_judge.judges import Judge
from bert_judge.judges.occlusion import SENTENCES, WORDS, explain
from bert_judge.records import Sample, Verdict, __version__
from bert_judge.server import ServerOptions
from bert_judge.server.access import Keys, check_origin
from bert_judge.server.decisions import add_decisions
from bert_judge.server.labelling import Labelling, labelling_router
from bert_judge.server.middleware import RequestMiddleware, ServerMetrics
from bert_judge.server.queueing import JudgeQueue
from bert_judge.server.responses import RefusedError, SafeJSONResponse, failure, page_file
from bert_judge.server.rewards import add_rewards
from bert_judge.server.schema import (
    ExplanationBody,
    Failure,
    JudgeRequest,
    ManyRows,
    ManyVerdicts,
    OneRow,
    OneVerdict,
    responses,
    validation_message,
    verdict_body,
)
from bert_judge.server.service import Service

_ABOUT = "How likely model answers are to be correct, given the right answers."
_PAGE_FILES: Final = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}


def make_app(
    judges: Mapping[str, Judge],
    options: ServerOptions | None = None,
    keys: Keys | None = None,
    labelling: Labelling | None = None,
) -> FastAPI:
    """The application for these judges by name and a page to label answers; without judges, for that page alone.

    `app.state.service` is the `Service` of the judges.
    """
    options, metrics = options or ServerOptions(), ServerMetrics()
    service = Service(judges, options, metrics)
    app = FastAPI(
        title="bert-judge",
        version=__version__,
        description=f"{_ABOUT} Name a judge by `judge`, or `model`.",
        lifespan=service.lifespan,
        docs_url=None,  # these two would load scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    if judges:
        _add_judging(app, service)
        add_decisions(app, service)
        add_rewards(app, service)
        _add_state(app, service)
        _add_page(app, labelling)
    if labelling is not None:
        app.include_router(labelling_router(labelling))
    _add_failures(app)
    paths = frozenset(path for route in app.routes if isinstance(path := getattr(route, "path", None), str))
    app.add_middleware(RequestMiddleware, options=options, keys=keys or Keys([]), metrics=metrics, paths=paths)
    return app


def _add_judging(app: FastAPI, service: Service) -> None:
    @app.post("/v1/judge", responses=responses(OneVerdict | ManyVerdicts), response_model=None, tags=["judge"])
    async def judge(body: JudgeRequest, request: Request) -> Response:
        """The verdict on a candidate, or on each of several in `samples`."""
        queue, _, verdicts = await service.judge(request, body)
        bodies = [verdict_body(row, verdict) for row, verdict in zip(body.rows.values(), verdicts, strict=True)]
        if isinstance(body, ManyRows):
            return SafeJSONResponse({"judge": queue.name, "verdicts": bodies})
        return SafeJSONResponse({**bodies[0], "judge": queue.name})

    @app.post("/v1/explain", responses=responses(ExplanationBody), response_model=None, tags=["judge"])
    async def explained(body: OneRow, request: Request) -> Response:
        """The verdict on a candidate, and the parts of it that made the difference: up to 36 more verdicts."""
        queue, (sample,), (verdict,) = await service.judge(request, body, times=1 + SENTENCES + WORDS)
        judge = _QueuedJudge(queue, partial(service.verdicts, request, queue))
        (explanation,) = await asyncio.to_thread(list, explain(judge, [(sample, verdict.score)]))
        parts = {
            "carrying": explanation.carrying(),
            "sentences": explanation.sentences,
            "words": explanation.words,
        }
        records = {name: list(map(dataclasses.asdict, entries)) for name, entries in parts.items()}
        return SafeJSONResponse({**verdict_body(body, verdict), "judge": queue.name, **records})


class _QueuedJudge(Judge):
    """A served judge for use in a thread: `verdicts` runs in the event loop, so that rows wait in the queue."""

    def __init__(
        self, queue: JudgeQueue, verdicts: Callable[[Sequence[Sample]], Coroutine[Any, Any, list[Verdict]]]
    ) -> None:
        self.info = queue.judge.info
        self._verdicts, self._loop = verdicts, asyncio.get_running_loop()

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order. Raises what `verdicts` raises."""
        yield from asyncio.run_coroutine_threadsafe(self._verdicts(list(samples)), self._loop).result()


def _add_state(app: FastAPI, service: Service) -> None:
    @app.get("/health", tags=["state"])
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/ready", tags=["state"], responses={503: {"model": Failure, "description": "It is shutting down."}})
    async def ready() -> Response:
        """Whether to send requests here: the judges are loaded, and the server is not shutting down."""
        if service.draining:
            return failure(503, "the server is shutting down; send requests elsewhere.", {"Retry-After": "5"})
        return SafeJSONResponse({"status": "ready", "judges": list(service.queues)})

    @app.get("/metrics", tags=["state"], response_class=Response)
    async def metrics() -> Response:
        """Metrics in the text format of Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/v1/models", tags=["state"])
    async def models() -> dict[str, Any]:
        """The served judges, the default one first, and the limits on requests."""
        data = [
            {
                "id": queue.name,
                "object": "model",
                "created": service.started,
                "owned_by": "bert-judge",
                **dataclasses.asdict(queue.judge.info),
            }
            for queue in service.queues.values()
        ]
        started = date.fromtimestamp(service.started).isoformat()
        cards = [{"name": name, "description": _ABOUT, "release_date": started} for name in service.queues]
        return {"object": "list", "data": data, "models": cards, "limits": service.options.limits}  # cards: TypeSafe's


def _add_page(app: FastAPI, labelling: Labelling | None) -> None:
    """The page to try the judges."""

    async def file(request: Request) -> Response:
        return page_file(_PAGE_FILES[request.url.path])

    for path in _PAGE_FILES:
        app.add_api_route(path, file, include_in_schema=False)

    @app.post("/v1/labelling", include_in_schema=False)
    async def labelling_page(request: Request) -> dict[str, str | None]:
        """Where answers are labelled, for the page at / alone: the address is a secret."""
        check_origin(request)
        return {"page": labelling.page if labelling else None}


def _add_failures(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if isinstance(error, RefusedError):
            request.scope["state"]["refused"] = error.reason
            return failure(error.status_code, error.detail, error.headers)
        messages = {
            400: "the body is not JSON in UTF-8, or is nested too deeply.",
            404: f"there is nothing at {request.url.path}; /openapi.json lists the routes.",
            405: f"{request.url.path} does not take {request.method}; /openapi.json lists the routes.",
        }
        return failure(error.status_code, messages.get(error.status_code, str(error.detail)), error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return failure(422, validation_message(error.errors()))

    @app.exception_handler(BertJudgeError)
    async def failed(_: Request, error: BertJudgeError) -> Response:
        return failure(422 if isinstance(error, InputError) else 500, str(error))

    @app.exception_handler(Exception)
    async def crashed(_: Request, error: Exception) -> Response:
        return failure(500, f"the judge failed with {type(error).__name__}; the server's log has the traceback.")
