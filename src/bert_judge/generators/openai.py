"""A language model behind an OpenAI-compatible chat endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted ones."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from typing import Any, Final
from urllib.parse import urlsplit

from bert_judge.errors import InputError, ModelError, import_extra
from bert_judge.generators.base import (
    ALTERNATIVES,
    Arrived,
    BackendGenerator,
    GeneratorOptions,
    Reply,
    Sampling,
    TokenChoice,
)
from bert_judge.generators.endpoints import Client, Endpoint, FailedRequestError
from bert_judge.inputs.values import listed, mapping
from bert_judge.reading import opening_token

_HOSTED: Final = "https://api.openai.com/v1"
_HOPELESS = {401: "is OPENAI_API_KEY right?", 404: "are the address and the model's name right?"}
_MOST_TOKENS = 1 << 53  # no real count is larger


class OpenAIGenerator(BackendGenerator):
    """A model behind an endpoint, which gets `concurrency` requests at a time.

    The key is read from OPENAI_API_KEY; with a `base_url` (or OPENAI_BASE_URL) none is needed. That address may hold a
    user and a password (sent instead of the key) and a query (sent with each request); these are never written or
    printed, and are not in the signature.

    A request that fails is retried as in `Endpoint`; if it still fails, the reply has an `error`. A status that would
    meet every prompt (401, 404, a redirect) raises ModelError. The endpoint refuses or cuts prompts that are too long.
    """

    backend = "openai"

    def _load(self) -> Mapping[str, object]:
        options = self._options
        import_extra("httpx2", "the backend openai", "openai")
        base_url, key = options.base_url or os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
        if not key and not base_url:
            raise InputError("the backend openai has no key; set OPENAI_API_KEY, or base_url for your own server.")
        self._endpoint = Endpoint(
            base_url or _HOSTED,
            "base_url",
            key=key,
            timeout=options.timeout,
            retries=options.retries,
            connections=options.concurrency,
            per_minute=options.requests_per_minute,
        )
        hosted = (urlsplit(self._endpoint.url).hostname or "").endswith("openai.com")
        self._body = {"model": self.name, **_body(self._sampling, options, self._choices, hosted)}
        return {"model": self.name, "url": self._endpoint.url}

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies as they come; a prompt is read when its request can be sent.

        Stopping early waits for the requests that were sent, which are paid for, but not for retries.
        """
        rows, finished, running = enumerate(prompts), SimpleQueue[Future[tuple[int, Reply]]](), 0
        with self._endpoint.session() as session:

            async def ask(index: int, prompt: str) -> tuple[int, Reply]:
                reply = await self._ask(session.client, prompt)
                if arrived:
                    arrived(index, reply)
                return index, reply

            while True:
                for row in islice(rows, self._options.concurrency - running):
                    session.submit(ask(*row)).add_done_callback(finished.put)
                    running += 1
                if not running:
                    return
                reply = finished.get().result()
                running -= 1
                yield reply

    async def _ask(self, client: Client, prompt: str) -> Reply:
        system = self._options.system_prompt
        turns = [{"role": "system", "content": system}] if system else []
        text = prompt.encode(errors="replace").decode()  # lone surrogates have no UTF-8
        body = {**self._body, "messages": [*turns, {"role": "user", "content": text}]}
        try:
            return await client.ask("POST", "/chat/completions", body, self._read)
        except FailedRequestError as error:
            if error.status in _HOPELESS or 300 <= (error.status or 0) < 400:
                hint = _HOPELESS.get(error.status or 0, "give the address that it has now.")
                raise ModelError(f"{error}; {hint}") from error
            return Reply("", "error", error=str(error))

    def _read(self, body: Any) -> Reply:
        try:
            return _read(body, self._options.think_token, self._choices)
        except FailedRequestError as error:
            problem = str(error)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError):
            problem = f"something that is not a chat completion ({str(body)[:80]!r})"
        raise FailedRequestError(f"{self._endpoint.url} sent {self._endpoint.public(problem[:300])}")


def _body(sampling: Sampling, options: GeneratorOptions, choices: int, hosted: bool) -> dict[str, Any]:
    """The fields of a request besides the messages. Fields that OpenAI itself does not accept are sent only if set."""
    length = "max_completion_tokens" if hosted else "max_tokens"
    body: dict[str, Any] = {"temperature": sampling.temperature, length: sampling.max_tokens}
    if sampling.temperature > 0:
        unset = {"top_p": 1, "seed": None, "top_k": 0, "min_p": 0}
        body |= {name: value for name in unset if (value := getattr(sampling, name)) != unset[name]}
    if sampling.presence_penalty:
        body["presence_penalty"] = sampling.presence_penalty
    if choices:
        body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if options.enable_thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": options.enable_thinking}
    return body


def _read(body: Any, think_token: str, choices: int) -> Reply:
    """The reply in an answer. Raises FailedRequestError where it holds none, or what a malformed one raises."""
    if not body["choices"]:
        raise FailedRequestError("a reply without choices")
    choice, usage = body["choices"][0], body.get("usage") or {}
    message = choice["message"]
    content = message.get("content")
    if isinstance(content, list | dict):  # some servers send parts
        parts = [part for part in map(mapping, listed(content)) if part.get("type") not in ("thinking", "reasoning")]
        content = "".join(str(part["text"]) for part in parts if "text" in part) or None
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if content is None and not reasoning and choice.get("finish_reason") != "length":
        refusal = f" ({message['refusal']})" if message.get("refusal") else ""
        raise FailedRequestError(f"a reply without text{refusal}")
    if reasoning and think_token:  # the endpoint split it off; if no answer follows, it was never closed
        trace = f"{opening_token(think_token)}{reasoning}"
        content = trace if content is None else f"{trace}{think_token}{content}"
    return Reply(
        content or "",
        "length" if choice.get("finish_reason") == "length" else "stop",
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        choices=_choices(choice, choices),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    """A number of tokens, 0 if it is missing. Raises ValueError or OverflowError for an impossible one."""
    count = int(usage.get(name) or 0)
    if not 0 <= count <= _MOST_TOKENS:
        raise ValueError(f"{count} {name}")
    return count


def _choices(choice: Mapping[str, Any], count: int) -> tuple[TokenChoice, ...]:
    tokens = ((choice.get("logprobs") or {}).get("content") or [])[-count:] if count else []
    return tuple(
        TokenChoice(
            str(token["token"]),
            {str(other["token"]): _logprob(other) for other in (token, *(token.get("top_logprobs") or []))},
        )
        for token in tokens
    )


def _logprob(token: Mapping[str, Any]) -> float:
    """A log probability, which rounding may lift a little above 0. Raises ValueError for an impossible one."""
    logprob = float(token["logprob"])
    if math.isnan(logprob) or logprob > 1:
        raise ValueError(f"a log probability of {logprob}")
    return logprob
