"""A judge that runs elsewhere, on a `bert-judge serve`: the same verdicts, over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final

from bert_judge.addresses import public_text
from bert_judge.endpoints import LONGEST_RETRY_AFTER, backoff, innermost, read_address, retry_after
from bert_judge.errors import InputError, ModelError, did_you_mean, import_extra
from bert_judge.judges.base import characters_read, make_samples
from bert_judge.judges.stand_in import Description, StandIn
from bert_judge.types import Sample, Verdict

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLE: Final = "BERT_JUDGE_API_KEY"

_CHARACTERS = 500_000  # of a request, unless one row has more
_FIELDS = tuple(each.name for each in fields(Verdict))
_TRY_AGAIN = frozenset([408, 425, 429])  # and all from 500 on


class RemoteJudge(StandIn):
    """A judge that a `bert-judge serve` runs. Its scores, scale, threshold and signature are those of that judge.

    Rows are sent in requests of up to `request_rows`, `connections` at a time. `api_key` is the key of the
    server, without it that in BERT_JUDGE_API_KEY; it is written into no result.
    A connection that fails, a timeout, and the status 408, 425, 429 or 5xx are tried again `retries` times, after waits
    that double, or that the server asks for (Retry-After); then the rows are undecided, and failed.

    `aassess` and `apredict` do the same within an event loop. Each call has connections of its own, so any number of
    them may run at a time; one that is cancelled closes them, and the server drops its rows.

    Raises InputError for what is no address, for a judge that is not served there, and for rows that the server does
    not take; ModelError where the server can't be asked; MissingExtraError where httpx2 is missing.
    """

    def __init__(
        self,
        server: Annotated[str, "judge on the bert-judge serve at this address"],
        served: Annotated[str | None, "which of its judges (default: its first one)"] = None,
        *,
        connections: Annotated[int, "requests at a time"] = 4,
        request_rows: Annotated[int, "the most rows of a request"] = 64,
        timeout: Annotated[float, "seconds to wait for an answer"] = 120.0,
        retries: Annotated[int, "tries after the first one"] = 6,
        api_key: str | None = None,
    ) -> None:
        module = import_extra("httpx2", "RemoteJudge", "server")
        read_address(server, "server")
        for name, value, good, expected in (
            ("connections", connections, connections >= 1, "a number of at least 1"),
            ("request_rows", request_rows, request_rows >= 1, "a number of at least 1"),
            ("timeout", timeout, timeout > 0, "a number of seconds over 0"),
            ("retries", retries, retries >= 0, "a number of at least 0"),
        ):
            if not good:
                raise InputError(f"{name} is {value:g}; {expected} was expected.")
        self.server = public_text(server).rstrip("/")
        self._connections, self._retries = connections, retries
        key = api_key or os.environ.get(KEY_VARIABLE)
        self._of_client: dict[str, Any] = {
            "base_url": server.rstrip("/"),
            "headers": {"Authorization": f"Bearer {key}"} if key else {},
            "timeout": timeout,
            "limits": module.Limits(max_connections=None, max_keepalive_connections=connections),
            "verify": module.create_ssl_context(),  # takes longer to make than a request
        }
        self._client: httpx2.Client = module.Client(**self._of_client)
        weakref.finalize(self, self._client.close)
        self._served, described, limits = self._find(served)
        super().__init__(described)
        self._most_text = int(limits["max_text"])
        self._request_rows = min(request_rows, int(limits["max_rows"]))
        self._most_row = int(limits.get("max_row", sys.maxsize))  # servers of earlier versions have no such limits
        together = int(limits.get("max_characters", sys.maxsize)) - self._most_row
        self._most_characters = max(1, min(_CHARACTERS, together))  # the last row of a request may go beyond that

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; a few requests are under way at a time."""
        stop, under_way = Event(), deque[Future[list[Verdict]]]()
        pool = ThreadPoolExecutor(self._connections, "bert-judge-request")
        try:
            for window in self._windows(samples):
                under_way.append(pool.submit(self._ask, window, stop))
                if len(under_way) > self._connections:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    async def aassess(self, samples: Iterable[Sample]) -> list[Verdict]:
        """One verdict for each sample, in order, without holding up the event loop. Raises as `assess`."""
        import httpx2

        turns = asyncio.Semaphore(self._connections)

        async def ask(client: httpx2.AsyncClient, window: Sequence[Sample]) -> list[Verdict]:
            async with turns:
                return self._verdicts(window, *await self._arequest(client, self._body(window)))

        async with httpx2.AsyncClient(**self._of_client) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    asked = [group.create_task(ask(client, window)) for window in self._windows(samples)]
            except ExceptionGroup as failed:  # the first failure ends the others
                raise failed.exceptions[0] from None
        return [verdict for each in asked for verdict in each.result()]

    async def apredict(
        self,
        questions: Sequence[str] | None,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]],
    ) -> list[float | None]:
        """What `predict` gives, without holding up the event loop. Raises as `predict`."""
        return [verdict.score for verdict in await self.aassess(make_samples(questions, candidates, references))]

    def _windows(self, samples: Iterable[Sample]) -> Iterator[list[Sample]]:
        """The rows of each request."""
        from bert_judge.encoder import windows

        rows = self._request_rows
        return windows(map(self._checked, samples), characters_read, self._most_characters, rows, rows)

    def _find(self, served: str | None) -> tuple[str, Description, Mapping[str, Any]]:
        """The name of a judge on the server, what that says of it, and its limits."""
        answer, failed = self._request("GET", "/v1/models", None, Event(), retries=0)
        if answer is None:
            raise ModelError(f"{failed}; is bert-judge serve running there?")
        try:
            models = {str(each["id"]): each for each in answer["data"]}
            if served is not None and served not in models:
                raise InputError(f"{self.server} has no judge {served!r}; {did_you_mean(served, models)}")
            model = models[served] if served is not None else next(iter(models.values()))
            return str(model["id"]), Description.read(model), answer["limits"]
        except (KeyError, TypeError, StopIteration) as error:
            raise ModelError(f"{self.server} is not a bert-judge serve: it lists other models than judges.") from error

    def _checked(self, sample: Sample) -> Sample:
        longest = max(map(len, (sample.candidate, sample.question or "", *sample.references)))
        if longest > self._most_text:
            raise InputError(
                f"a row has a text of {longest:,} characters, and {self.server} takes up to {self._most_text:,}; "
                "shorten it, or raise --max_text of the server."
            )
        if (count := characters_read(sample)) > self._most_row:
            raise InputError(
                f"a row has {count:,} characters to read, with the candidate again for each reference, and "
                f"{self.server} takes up to {self._most_row:,}; shorten it, or raise --max_row of the server."
            )
        return sample

    def _ask(self, window: Sequence[Sample], stop: Event) -> list[Verdict]:
        return self._verdicts(window, *self._request("POST", "/v1/judge", self._body(window), stop, self._retries))

    def _body(self, window: Sequence[Sample]) -> dict[str, Any]:
        rows = [{"question": s.question, "references": list(s.references), "candidate": s.candidate} for s in window]
        return {"judge": self._served, "samples": rows}

    def _verdicts(self, window: Sequence[Sample], answer: Mapping[str, Any] | None, failed: str) -> list[Verdict]:
        """The verdicts on a few rows; failed ones where all tries did."""
        if answer is None:
            return [Verdict(None, explanation=failed, failed=True)] * len(window)
        try:
            records = answer["verdicts"]
            verdicts = [Verdict(**{name: each[name] for name in _FIELDS if name in each}) for each in records]
        except (KeyError, TypeError) as error:
            said = "sent what is not verdicts; is it another version of bert-judge?"
            raise ModelError(f"{self.server} {said}") from error
        if len(verdicts) != len(window):
            raise ModelError(f"{self.server} gave {len(verdicts)} verdicts for {len(window)} rows.")
        return verdicts

    def _request(
        self, method: str, path: str, body: Any, stop: Event, retries: int
    ) -> tuple[dict[str, Any] | None, str]:
        """The answer to a request after as many tries as it takes or is allowed, or why there is none."""
        import httpx2

        failed = ""
        for tried in range(retries + 1):
            try:
                answer, failed, pause = self._outcome(self._client.request(method, path, json=body))
            except httpx2.HTTPError as error:
                answer, failed, pause = None, self._failure(error), 0.0
            if answer is not None:
                return answer, ""
            if tried < retries and stop.wait(max(pause, backoff(tried))):
                break
        return None, failed

    async def _arequest(self, client: httpx2.AsyncClient, body: Any) -> tuple[dict[str, Any] | None, str]:
        """`_request` for verdicts, within an event loop."""
        import httpx2

        failed = ""
        for tried in range(self._retries + 1):
            try:
                answer, failed, pause = self._outcome(await client.post("/v1/judge", json=body))
            except httpx2.HTTPError as error:
                answer, failed, pause = None, self._failure(error), 0.0
            if answer is not None:
                return answer, ""
            if tried < self._retries:
                await asyncio.sleep(max(pause, backoff(tried)))
        return None, failed

    def _outcome(self, response: httpx2.Response) -> tuple[dict[str, Any] | None, str, float]:
        """What one try gave: the answer, or why there is none and how many seconds the server asks us to wait."""
        if response.status_code < 400:
            return self._read(response), "", 0.0
        failed = f"{self.server} answered {response.status_code} ({_said(response)})"
        if response.status_code not in _TRY_AGAIN and response.status_code < 500:
            raise _refusal(response.status_code, failed)
        return None, failed, min(retry_after(response.headers), LONGEST_RETRY_AFTER)

    def _failure(self, error: httpx2.HTTPError) -> str:
        """Why a try gave no response."""
        import httpx2

        if isinstance(error, httpx2.TimeoutException):
            return f"{self.server} gave no answer within {self._client.timeout.read:g} seconds"
        return f"the connection to {self.server} failed ({public_text(innermost(error))})"

    def _read(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            answer = response.json()
        except ValueError as error:
            raise ModelError(f"{self.server} is not a bert-judge serve: what it sent is not JSON.") from error
        return answer if isinstance(answer, dict) else {}


def _refusal(status: int, failed: str) -> InputError | ModelError:
    """The error for a status that no other try would change."""
    if status in (401, 403):
        return ModelError(f"{failed}; is the key right (api_key, or {KEY_VARIABLE})?")
    if status in (404, 405):
        return ModelError(f"{failed}; is it the address of a bert-judge serve?")
    return InputError(f"{failed}.")


def _said(response: httpx2.Response) -> str:
    """The sentence in a server's error, in one line."""
    try:
        said = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        said = response.text
    return " ".join(str(said).split()).rstrip(".")[:300]
