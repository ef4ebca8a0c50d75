"""A language model behind any OpenAI-compatible chat endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted ones."""

from __future__ import annotations

import base64
import json
import os
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from bert_judge.addresses import public_text
from bert_judge.endpoints import LONGEST_RETRY_AFTER, backoff, innermost, read_address, retry_after
from bert_judge.errors import InputError, ModelError, import_extra
from bert_judge.generators.base import ALTERNATIVES, Arrived, BackendGenerator, Options
from bert_judge.reading import opening_token
from bert_judge.types import Reply, Sampling, TokenChoice

if TYPE_CHECKING:
    from openai import OpenAI

_TRY_AGAIN = frozenset([408, 409, 425, 429])  # and all from 500 on
_HOPELESS = {401: "is OPENAI_API_KEY right?", 404: "are the address and the model's name right?"}


class OpenAIGenerator(BackendGenerator):
    """Asks an endpoint, `concurrency` requests at a time.

    The key is read from OPENAI_API_KEY; with a `base_url` (or OPENAI_BASE_URL) none is needed. That address may hold a
    user and a password (sent instead of the key) and a query (sent with each request); these are never written or
    printed, and are not in the signature.

    A refused or cut connection, a timeout, the status 408, 409, 425, 429 or 5xx, and a body that is not a chat
    completion are tried again `retries` times, after waits that double, or that the server asks for (Retry-After);
    then the reply has an `error`. A status that concerns every prompt (401, 404) raises ModelError. Prompts that are
    too long for the model are refused or cut by the endpoint.
    """

    backend = "openai"

    def _load(self) -> Mapping[str, object]:
        self._client, self._secrets = _make_client(self._options)
        weakref.finalize(self, self._client.close)
        self._url = str(self._client.base_url).rstrip("/")
        hosted = (urlsplit(self._url).hostname or "").endswith("openai.com")
        self._body = {"model": self.name, **_body(self._sampling, self._options, self._choices, hosted)}
        self._pace = _Pace(self._options.requests_per_minute)
        return {"model": self.name, "url": self._url}

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies as they come; a prompt is read when there is room for its request.

        Stopping early waits for the requests under way, which are paid for, but not for retries.
        """
        rows, room, stop = enumerate(prompts), self._options.concurrency, Event()

        def ask(index: int, prompt: str) -> tuple[int, Reply]:
            reply = self._ask(prompt, stop)
            if arrived:
                arrived(index, reply)
            return index, reply

        pool = ThreadPoolExecutor(room, "bert-judge-request")
        under_way: set[Future[tuple[int, Reply]]] = set()
        try:
            while under_way := under_way | {pool.submit(ask, *row) for row in islice(rows, room - len(under_way))}:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _ask(self, prompt: str, stop: Event) -> Reply:
        """The reply to a prompt, after as many tries as it takes or is allowed."""
        for tried in range(self._options.retries + 1):
            self._pace.wait(stop)
            reply, pause = self._try(prompt)
            if pause is None or tried == self._options.retries:
                break
            if stop.wait(max(pause, backoff(tried))):  # the client's own retries can't be stopped
                break
        return reply

    def _try(self, prompt: str) -> tuple[Reply, float | None]:
        """A reply, and the seconds to wait before another try, as the server asks; None if none would help."""
        import openai

        system = self._options.system_prompt
        turns = [{"role": "system", "content": system}] if system else []
        text = prompt.encode(errors="replace").decode()  # lone surrogates have no UTF-8
        body: dict[str, Any] = {**self._body, "messages": [*turns, {"role": "user", "content": text}]}
        pause: float | None = 0.0
        try:
            answer = self._client.chat.completions.with_raw_response.create(**body)
            return _read(answer.text, self._options.think_token, self._choices), None
        except openai.APITimeoutError:
            failure = f"{self._url} gave no reply within {self._options.timeout:g} seconds"
        except openai.APIStatusError as error:
            status, message = error.status_code, " ".join(error.message.split())
            failure = f"{self._url} answered {status} ({self._public(message)[:300]})"
            if status in _HOPELESS:
                raise ModelError(f"{failure}; {_HOPELESS[status]}") from error
            pause = retry_after(error.response.headers)
            if pause > LONGEST_RETRY_AFTER or not (status in _TRY_AGAIN or status >= 500):
                pause = None
        except openai.APIConnectionError as error:
            failure = f"the connection to {self._url} failed ({self._public(innermost(error))})"
        except _SenselessReplyError as error:
            failure = f"{self._url} sent {self._public(str(error))}"
        return Reply("", "error", error=failure), pause

    def _public(self, message: str) -> str:
        """What a server says, without the secrets of its address, which it may quote."""
        for secret in self._secrets:
            message = message.replace(secret, "…")
        return message


class _SenselessReplyError(Exception):
    """The body of a reply is not a chat completion; the message says what it is."""


class _Pace:
    """Spreads requests evenly over each minute."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stop: Event) -> None:
        """Return when a request may go, or when `stop` is set."""
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._gap
        stop.wait(turn - time.monotonic())


def _make_client(options: Options) -> tuple[OpenAI, tuple[str, ...]]:
    """A client, and the secrets of the address that it was given, which are not in its own `base_url`."""
    openai = import_extra("openai", "the backend openai", "openai")
    base_url = options.base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY")
    if not key and not base_url:
        raise InputError("the backend openai has no key; set OPENAI_API_KEY, or name your own server with --base_url.")
    address = read_address(base_url, "base_url") if base_url else urlsplit("")
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    user = address.netloc.rpartition("@")[0]
    basic = base64.b64encode(unquote(user).encode()).decode()
    client = openai.OpenAI(
        api_key=key or "none",
        base_url=base_url and public_text(base_url),
        default_query=query,
        default_headers={"Authorization": f"Basic {basic}"} if user else None,
        timeout=options.timeout,
        max_retries=0,
    )
    password = user.partition(":")[2]
    secrets = {address.query, *query.values(), user, unquote(user), password, unquote(password), basic if user else ""}
    return client, tuple(sorted(secrets - {""}, key=len, reverse=True))


def _body(sampling: Sampling, options: Options, choices: int, hosted: bool) -> dict[str, Any]:
    """The fields of a request besides the messages. What OpenAI itself does not know is sent only if it is set."""
    length = "max_completion_tokens" if hosted else "max_tokens"
    body: dict[str, Any] = {"temperature": sampling.temperature, length: sampling.max_tokens}
    extra: dict[str, Any] = {}
    if sampling.temperature > 0:
        ours = {"top_p": (sampling.top_p, 1), "seed": (sampling.seed, None)}
        body |= {name: value for name, (value, unset) in ours.items() if value != unset}
        extra |= {name: value for name in ("top_k", "min_p") if (value := getattr(sampling, name))}
    if sampling.presence_penalty:
        body["presence_penalty"] = sampling.presence_penalty
    if choices:
        body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if options.enable_thinking is not None:
        extra["chat_template_kwargs"] = {"enable_thinking": options.enable_thinking}
    return body | ({"extra_body": extra} if extra else {})


def _read(text: str, think_token: str, choices: int) -> Reply:
    """The reply in a response's body."""
    try:
        body = json.loads(text)
        if not body["choices"]:
            raise _SenselessReplyError("a reply without choices")
        choice, usage = body["choices"][0], body.get("usage") or {}
        message = choice["message"]
        content, trace = _texts(message.get("content"))
        reasoning = message.get("reasoning_content") or message.get("reasoning") or trace
        if content is None and not reasoning and choice.get("finish_reason") != "length":
            refusal = f" ({message['refusal']})" if message.get("refusal") else ""
            raise _SenselessReplyError(f"a reply without text{refusal}")
        if reasoning and think_token:  # set apart by the endpoint; without an answer after it, it was never closed
            trace = f"{opening_token(think_token)}{reasoning}"
            content = trace if content is None else f"{trace}{think_token}{content}"
        return Reply(
            content or "",
            "length" if choice.get("finish_reason") == "length" else "stop",
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            choices=_choices(choice, choices),
        )
    except json.JSONDecodeError as error:
        raise _SenselessReplyError(f"what is not valid JSON ({text[:80]!r})") from error
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise _SenselessReplyError(f"what is not a chat completion ({text[:80]!r})") from error


def _texts(content: Any) -> tuple[str | None, str]:
    """The text of a message, and the reasoning inside it: some servers send a text, others a list of parts."""
    if content is None or isinstance(content, str):
        return content, ""
    texts, reasoning = list[str](), list[str]()
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif part["type"] in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("reasoning") or part.get("text")
            reasoning.append(_texts(inner)[0] or "")
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
    if content and not (texts or reasoning):
        raise _SenselessReplyError("a reply that is not text")
    return "".join(texts) if texts or not content else None, "".join(reasoning)


def _choices(choice: Mapping[str, Any], wanted: int) -> tuple[TokenChoice, ...]:
    found = []
    for each in ((choice.get("logprobs") or {}).get("content") or [])[-wanted:] if wanted else []:
        likeliest = [each, *(each.get("top_logprobs") or [])]
        known = {str(other["token"]): float(other["logprob"]) for other in likeliest}
        found.append(TokenChoice(str(each["token"]), known))
    return tuple(found)
