"""A judge that runs elsewhere, on a `bert-judge serve`: the same verdicts, over HTTP."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Annotated, Any, Final

from bert_judge.errors import InputError, ModelError, did_you_mean, import_extra
from bert_judge.generators.endpoints import Client, Endpoint, FailedRequestError
from bert_judge.judges.base import Judge, characters_read
from bert_judge.records import JudgeInfo, Sample, Verdict

KEY_VARIABLE: Final = "BERT_JUDGE_API_KEY"

_CHARACTERS = 500_000  # of a request, unless one row has more


class RemoteJudge(Judge):
    """A judge that a `bert-judge serve` runs. Its scores, scale, threshold and signature are those of that judge.

    Rows are sent in requests of up to `request_rows`, `connections` at a time. `api_key` is the key of the
    server, without it that in BERT_JUDGE_API_KEY; it is written into no result.
    A whole request may take `timeout` seconds. What fails is tried again as `Endpoint` says; then the rows are
    undecided, and failed.

    Raises InputError for what is no address, for a judge that is not served there, and for rows that the server does
    not take; ModelError where the server can't be asked; MissingExtraError where httpx2 is missing.
    """

    def __init__(
        self,
        server: Annotated[str, "judge on the bert-judge serve at this address"],
        served: Annotated[str | None, "which of its judges (default: its first one)"] = None,
        *,
        connections: Annotated[int, "concurrent requests"] = 4,
        request_rows: Annotated[int, "most rows in a request"] = 64,
        timeout: Annotated[float, "seconds to wait for an answer"] = 120.0,
        retries: Annotated[int, "how often a failed request is retried"] = 6,
        api_key: str | None = None,
    ) -> None:
        import_extra("httpx2", "RemoteJudge", "server")
        for name, value, good, expected in (
            ("connections", connections, connections >= 1, "a number of at least 1"),
            ("request_rows", request_rows, request_rows >= 1, "a number of at least 1"),
            ("timeout", timeout, timeout > 0, "a number of seconds over 0"),
            ("retries", retries, retries >= 0, "a number of at least 0"),
        ):
            if not good:
                raise InputError(f"{name} is {value:g}; {expected} was expected.")
        self._connections = connections
        key = api_key or os.environ.get(KEY_VARIABLE)
        self._endpoint = Endpoint(server, "server", key=key, timeout=timeout, retries=retries, connections=connections)
        self.server = self._endpoint.url
        self._served, self.info, limits = self._find(served)
        self._request_rows = min(request_rows, int(limits["max_rows"]))
        together = int(limits["max_characters"]) - int(limits["max_row"])
        self._most_characters = max(1, min(_CHARACTERS, together))  # the last row of a request may go beyond that

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; a few requests are under way at a time."""
        under_way = deque[Future[list[Verdict]]]()
        with self._endpoint.session() as session:
            for window in self._windows(samples):
                under_way.append(session.submit(self._judged(session.client, window)))
                if len(under_way) > self._connections:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()

    def _windows(self, samples: Iterable[Sample]) -> Iterator[list[Sample]]:
        """The rows of each request."""
        from bert_judge.encoder.batching import windows

        rows = self._request_rows
        return windows(samples, characters_read, self._most_characters, rows, rows)

    def _find(self, served: str | None) -> tuple[str, JudgeInfo, Mapping[str, Any]]:
        """The name of a judge on the server, what that says of it, and its limits."""
        try:
            with self._endpoint.session() as session:
                listing = session.client.ask("GET", "/v1/models", None, lambda models: models, retries=0)
                answer = session.submit(listing).result()
        except FailedRequestError as error:
            raise _refusal(error) or ModelError(f"{error}; is bert-judge serve running there?") from error
        try:
            models = {str(model["id"]): model for model in answer["data"]}
            if served is not None and served not in models:
                raise InputError(f"{self.server} has no judge {served!r}; {did_you_mean(served, models)}")
            model = models[served] if served is not None else next(iter(models.values()))
            return str(model["id"]), JudgeInfo.read(model), answer["limits"]
        except (KeyError, TypeError, StopIteration) as error:
            raise ModelError(f"{self.server} is not a bert-judge serve: it lists other models than judges.") from error

    async def _judged(self, client: Client, window: Sequence[Sample]) -> list[Verdict]:
        """The verdicts on a few rows; failed ones where all tries did."""
        rows = [{"question": s.question, "references": list(s.references), "candidate": s.candidate} for s in window]
        body = {"judge": self._served, "samples": rows}
        try:
            answer = await client.ask("POST", "/v1/judge", body, lambda verdicts: verdicts)
        except FailedRequestError as error:
            if refusal := _refusal(error):
                raise refusal from error
            return [Verdict(None, explanation=str(error), failed=True)] * len(window)
        return self._verdicts(window, answer)

    def _verdicts(self, window: Sequence[Sample], answer: Mapping[str, Any]) -> list[Verdict]:
        try:
            verdicts = [Verdict.read(record) for record in answer["verdicts"]]
        except (KeyError, TypeError, ValueError) as error:
            message = "sent what is not verdicts; is it another version of bert-judge?"
            raise ModelError(f"{self.server} {message}") from error
        if len(verdicts) != len(window):
            raise ModelError(f"{self.server} gave {len(verdicts)} verdicts for {len(window)} rows.")
        return verdicts


def _refusal(failed: FailedRequestError) -> InputError | ModelError | None:
    """The error for a status that no other try would change, and that is not of these rows alone."""
    if failed.pause is not None or failed.status is None or failed.status >= 500:
        return None
    if failed.status in (401, 403):
        return ModelError(f"{failed}; is the key right (api_key, or {KEY_VARIABLE})?")
    if failed.status in (404, 405) or failed.status < 400:
        return ModelError(f"{failed}; is it the address of a bert-judge serve?")
    return InputError(f"{failed}.")
