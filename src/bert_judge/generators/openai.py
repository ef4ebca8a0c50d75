"""A language model behind any OpenAI-compatible chat endpoint: vLLM, SGLang, llama.cpp, Ollama, hosted ones."""

from __future__ import annotations

import base64
import json
import math
import os
import random
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from email.utils import parsedate_to_datetime
from itertools import islice
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from bert_judge.addresses import public_text
from bert_judge.errors import InputError, MissingExtraError, ModelError
from bert_judge.generators.base import Arrived, Generator, Options, opening_token, signature_of
from bert_judge.types import Reply, Sampling, TokenChoice

if TYPE_CHECKING:
    from openai import OpenAI

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds before the first new try, doubled each time
_LONGEST_RETRY_AFTER = 600.0  # seconds; who asks for more is not waited for
_TRY_AGAIN = frozenset([408, 409, 425, 429])  # and all from 500 on
_HOPELESS = {401: "is OPENAI_API_KEY right?", 404: "are the address and the model's name right?"}
_ALTERNATIVES = 5


class OpenAIGenerator(Generator):
    """Asks an endpoint, `concurrency` requests at a time.

    The key is read from OPENAI_API_KEY; with a `base_url` (or OPENAI_BASE_URL) none is needed. That address may hold a
    user and a password (sent instead of the key) and a query (sent with each request); neither is ever written or
    printed, nor does it change the signature.

    A refused or cut connection, a timeout, the status 408, 409, 425, 429 or 5xx, and a reply without sense are tried
    again `retries` times, after waits that double, or that the server asks for (Retry-After); then the reply has an
    `error`. A status that no other prompt could change (401, 404) raises ModelError. A prompt that is too long for the
    model is the endpoint's to refuse or cut.
    """

    def __init__(
        self,
        model_path: str,
        sampling: Sampling | None = None,
        options: Options | None = None,
        choices: int = 0,
    ) -> None:
        sampling, options = sampling or Sampling(), options or Options()
        self._options, self._choices = options, choices
        self._client, self._secrets = _make_client(options)
        weakref.finalize(self, self._client.close)
        self._url = str(self._client.base_url).rstrip("/")
        hosted = (urlsplit(self._url).hostname or "").endswith("openai.com")
        self._body = {"model": model_path, **_body(sampling, options, choices, hosted)}
        self._pace = _Pace(options.requests_per_minute)
        self.name = model_path
        self.signature = signature_of("openai", model_path, sampling, options, choices, url=self._url)

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies as they come; a prompt is read when there is room for its request.

        Whoever stops early waits for the requests under way, which are paid for, but for no new tries.
        """
        rows = enumerate(prompts)
        stop = Event()
        with ThreadPoolExecutor(self._options.concurrency, "bert-judge-request") as pool:

            def ask(index: int, prompt: str) -> tuple[int, Reply]:
                reply = self._ask(prompt, stop)
                if arrived:
                    arrived(index, reply)
                return index, reply

            under_way: set[Future[tuple[int, Reply]]] = set()
            try:
                while True:
                    room = self._options.concurrency - len(under_way)
                    under_way |= {pool.submit(ask, *row) for row in islice(rows, room)}
                    if not under_way:
                        return
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                stop.set()
                for future in under_way:
                    future.cancel()

    def _ask(self, prompt: str, stop: Event) -> Reply:
        """The reply to a prompt, after as many tries as it takes or is allowed."""
        for tried in range(self._options.retries + 1):
            self._pace.wait(stop)
            reply, pause = self._try(prompt)
            if pause is None or stop.is_set():
                break
            if tried < self._options.retries:
                backoff = min(_LONGEST_WAIT, _FIRST_WAIT * 2**tried) * random.uniform(0.5, 1)
                stop.wait(max(pause, backoff))
        return reply

    def _try(self, prompt: str) -> tuple[Reply, float | None]:
        """A reply, and the seconds that the server wants us to wait before another try; None if none would help."""
        import openai

        system = self._options.system_prompt
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": prompt.encode(errors="replace").decode()})  # no half characters
        body: dict[str, Any] = {**self._body, "messages": turns}
        try:
            answer = self._client.chat.completions.with_raw_response.create(**body)
            return _read(answer.text, self._options.think_token, self._choices), None
        except openai.APITimeoutError:
            return _failed(f"{self._url} gave no reply within {self._options.timeout:g} seconds"), 0.0
        except openai.APIStatusError as error:
            return self._refused(error.status_code, error.message, error.response.headers)
        except openai.APIConnectionError as error:
            return _failed(f"the connection to {self._url} failed ({self._public(_cause(error))})"), 0.0
        except _SenselessReplyError as error:
            return _failed(f"{self._url} sent {self._public(str(error))}"), 0.0

    def _refused(self, status: int, message: str, headers: Mapping[str, str]) -> tuple[Reply, float | None]:
        said = f"{self._url} answered {status} ({self._public(' '.join(message.split()))[:300]})"
        if status in _HOPELESS:
            raise ModelError(f"{said}; {_HOPELESS[status]}")
        if status not in _TRY_AGAIN and status < 500:
            return _failed(said), None
        pause = _retry_after(headers)
        return _failed(said), None if pause > _LONGEST_RETRY_AFTER else pause

    def _public(self, message: str) -> str:
        """What a server says, which may quote its address, without what is secret in it."""
        for secret in self._secrets:
            message = message.replace(secret, "…")
        return message


class _SenselessReplyError(Exception):
    """The body of a reply is not what a chat endpoint sends; the text says what it is."""


class _Pace:
    """Lets so many requests through in a minute, evenly."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stop: Event) -> None:
        """Return when a request may go, or when `stop` is set."""
        if not self._gap:
            return
        with self._lock:
            turn = max(self._next, time.monotonic())
            self._next = turn + self._gap
        stop.wait(turn - time.monotonic())


def _make_client(options: Options) -> tuple[OpenAI, tuple[str, ...]]:
    """A client, and what is secret in the address that it was given. Its own address is the public one."""
    try:
        from openai import OpenAI
    except ImportError as error:
        raise MissingExtraError("the backend openai", "openai", "openai") from error
    base_url = options.base_url or os.environ.get("OPENAI_BASE_URL")
    key = os.environ.get("OPENAI_API_KEY")
    if not key and not base_url:
        raise InputError("the backend openai has no key; set OPENAI_API_KEY, or name your own server by --base_url.")
    address = _address(base_url) if base_url else urlsplit("")
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    user = address.netloc.rpartition("@")[0]
    basic = base64.b64encode(unquote(user).encode()).decode()
    client = OpenAI(
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


def _address(base_url: str) -> SplitResult:
    """The parts of an address. A wrong one that may hold a password is not told in the error."""
    try:
        parts = urlsplit(base_url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # a port that is no number, as after a password with a slash
        pass
    given = repr(base_url) if "@" not in base_url and "?" not in base_url else "no address"
    raise InputError(
        f"base_url is {given}; an address such as http://localhost:8000/v1 was expected (in a user or password before "
        "the host, write / ? # @ as %2F %3F %23 %40)."
    )


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
        body |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
    if options.enable_thinking is not None:
        extra["chat_template_kwargs"] = {"enable_thinking": options.enable_thinking}
    return body | ({"extra_body": extra} if extra else {})


def _read(text: str, think_token: str, choices: int) -> Reply:
    """The reply in a response's body."""
    try:
        body = json.loads(text)
    except ValueError as error:
        raise _SenselessReplyError(f"what is not valid JSON ({text[:80]!r})") from error
    try:
        if not body["choices"]:
            raise _SenselessReplyError("a reply without choices")
        choice, usage = body["choices"][0], body.get("usage") or {}
        message = choice["message"]
        content: str | None = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        if not isinstance(content or "", str):
            raise _SenselessReplyError("a reply that is no text")
        if content is None and not reasoning and choice.get("finish_reason") != "length":
            raise _SenselessReplyError("a reply without text" + _refusal(message))
        return Reply(
            _with_trace(reasoning, content, think_token),
            "length" if choice.get("finish_reason") == "length" else "stop",
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            choices=_choices(choice, choices),
        )
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise _SenselessReplyError(f"what is no chat completion ({text[:80]!r})") from error


def _refusal(message: Mapping[str, Any]) -> str:
    return f" ({message['refusal']})" if message.get("refusal") else ""


def _with_trace(reasoning: str | None, content: str | None, think_token: str) -> str:
    """Reasoning that the endpoint has set apart, back in its tags; without an answer after it, it was never closed."""
    if not reasoning or not think_token:
        return content or ""
    return f"{opening_token(think_token)}{reasoning}" + ("" if content is None else f"{think_token}{content}")


def _choices(choice: Mapping[str, Any], wanted: int) -> tuple[TokenChoice, ...]:
    content = (choice.get("logprobs") or {}).get("content") or []
    return tuple(
        TokenChoice(
            str(each["token"]),
            {str(other["token"]): float(other["logprob"]) for other in [each, *(each.get("top_logprobs") or [])]},
        )
        for each in content[len(content) - min(wanted, len(content)) :]
    )


def _failed(reason: str) -> Reply:
    return Reply("", "error", error=reason)


def _cause(error: BaseException) -> str:
    """The innermost reason, in a line: the client's own words are only that there was an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks us to wait: a number, or a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
