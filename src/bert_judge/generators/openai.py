"""Models behind HTTP endpoints, such as a language model behind an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import Any, Final
from urllib.parse import urlsplit

from bert_judge.errors import InputError, ModelError, import_extra
from bert_judge.generators.base import (
    ALTERNATIVES,
    Arrived,
    BackendGenerator,
    Generator,
    GeneratorOptions,
    Reply,
    Sampling,
    TokenChoice,
)
from bert_judge.generators.endpoints import Client, Endpoint, FailedRequestError
from bert_judge.inputs.values import listed, mapping
from bert_judge.reading import opening_token

_OPENAI_KEY: Final = "OPENAI_API_KEY"
_MOST_TOKENS: Final = 1 << 53  # no real count is larger


@dataclass(frozen=True, slots=True)
class Api:
    """A kind of HTTP service: the path of a request, its hosted address, the variable of its key, and its answers."""

    path: str
    hosted: str = "https://api.openai.com/v1"
    key: str = _OPENAI_KEY
    answer: str = "a chat completion"


class EndpointGenerator(Generator):
    """A model behind an endpoint, which gets `concurrency` requests at a time.

    The key is read from the service's variable; with a `base_url` (or OPENAI_BASE_URL) none is needed. That address may
    hold a user and a password (sent instead of the key) and a query (sent with each request); these are never written
    or printed, and are not in the signature.

    A request that fails is retried as in `Endpoint`; if it still fails, the reply has an `error`. A status that would
    meet every prompt (401, 404, 501, a redirect) raises ModelError. The endpoint refuses or cuts prompts that are too
    long.
    """

    def _open(self, client: str, api: Api, options: GeneratorOptions) -> Mapping[str, object]:
        """Prepare requests to a service, on behalf of a `client`; returns what is in the signature."""
        import_extra("httpx2", client, "openai")
        base_url, key = options.base_url, os.environ.get(api.key)
        if api.key == _OPENAI_KEY:
            base_url = base_url or os.environ.get("OPENAI_BASE_URL")
        if not key and not base_url:
            raise InputError(f"{client} has no key; set {api.key}, or base_url for your own server.")
        self._api, self._concurrency = api, options.concurrency
        self._endpoint = Endpoint(
            base_url or api.hosted,
            "base_url",
            key=key,
            timeout=options.timeout,
            retries=options.retries,
            connections=options.concurrency,
            per_minute=options.requests_per_minute,
        )
        return {"model": self.name, "url": self._endpoint.url}

    @abstractmethod
    def _request(self, prompt: str) -> Mapping[str, Any]:
        """The body of the request for a prompt, which has no lone surrogates."""

    @abstractmethod
    def _reply(self, body: Any) -> Reply:
        """The reply in an answer. Raises FailedRequestError where it holds none, or what a malformed one raises."""

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
                for row in islice(rows, self._concurrency - running):
                    session.submit(ask(*row)).add_done_callback(finished.put)
                    running += 1
                if not running:
                    return
                reply = finished.get().result()
                running -= 1
                yield reply

    async def _ask(self, client: Client, prompt: str) -> Reply:
        body = self._request(prompt.encode(errors="replace").decode())  # lone surrogates have no UTF-8
        try:
            return await client.ask("POST", self._api.path, body, self._read)
        except FailedRequestError as error:
            hopeless = {
                401: f"is {self._api.key} right?",
                404: f"are the address (before {self._api.path}) and the model's name right?",
                501: f"can this model answer {self._api.path}?",
                **dict.fromkeys(range(300, 400), "give the address that it has now."),
            }
            if error.status in hopeless:
                raise ModelError(f"{error}; {hopeless[error.status]}") from error
            return Reply("", "error", error=str(error))

    def _read(self, body: Any) -> Reply:
        try:
            return self._reply(body)
        except FailedRequestError as error:
            problem = str(error)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError):
            problem = f"something that is not {self._api.answer} ({str(body)[:80]!r})"
        raise FailedRequestError(f"{self._endpoint.url} sent {self._endpoint.public(problem[:300])}")


class OpenAIGenerator(EndpointGenerator, BackendGenerator):
    """A language model behind an OpenAI-compatible chat endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted ones."""

    backend = "openai"

    def _load(self) -> Mapping[str, object]:
        loaded = self._open("the backend openai", Api("/chat/completions"), self._options)
        hosted = (urlsplit(self._endpoint.url).hostname or "").endswith("openai.com")
        self._body = {"model": self.name, **_body(self._sampling, self._options, self._choices, hosted)}
        return loaded

    def _request(self, prompt: str) -> Mapping[str, Any]:
        system = self._options.system_prompt
        turns = [{"role": "system", "content": system}] if system else []
        return {**self._body, "messages": [*turns, {"role": "user", "content": prompt}]}

    def _reply(self, body: Any) -> Reply:
        return _read(body, self._options.think_token, self._choices)


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
        token_count(usage, "prompt_tokens"),
        token_count(usage, "completion_tokens"),
        choices=_choices(choice, choices),
    )


def token_count(usage: Mapping[str, Any], name: str) -> int:
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
