"""What a generator is: prompts in, replies out, as they finish."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Annotated

from bert_judge.errors import InputError, ModelError
from bert_judge.store import STORE_FILE, RecentReplies, Replies, ReplyStore, reply_key
from bert_judge.types import Reply, Sampling, Signature
from bert_judge.utils import cache_folder

Arrived = Callable[[int, Reply], None]
"""Called with the index of a prompt and its reply the moment the reply is there, from any thread."""

_WINDOW = 1024  # prompts that are looked up at a time, so that a stream is never held as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What generators take besides the model and the sampling; each backend reads those that concern it."""

    system_prompt: Annotated[str | None, "what stands before each prompt, in the system's turn"] = None
    enable_thinking: Annotated[bool | None, "switch the model's reasoning on (default: as the model has it)"] = None
    think_token: Annotated[str, "what closes a reasoning trace"] = "</think>"
    trust_remote_code: Annotated[bool, "hf, vllm: run the model's own code if its architecture is unknown"] = False
    dtype: Annotated[str, "hf, vllm: auto, float32, bfloat16 or float16"] = "auto"
    device: Annotated[str, "hf: auto, cpu, cuda, cuda:1, mps …"] = "auto"
    batch_tokens: Annotated[int | None, "hf: tokens in a batch, replies included (default: suits the device)"] = None
    batch_size: Annotated[int | None, "hf: the most prompts in a batch (default: no limit)"] = None
    tensor_parallel_size: Annotated[int, "vllm: number of GPUs that share the model"] = 1
    base_url: Annotated[str | None, "openai: address of the endpoint, such as http://localhost:8000/v1"] = None
    concurrency: Annotated[int, "openai: requests under way at a time"] = 16
    requests_per_minute: Annotated[float | None, "openai: the most requests in a minute (default: no limit)"] = None
    timeout: Annotated[float, "openai: seconds to wait for a reply"] = 300.0
    retries: Annotated[int, "openai: how often a failed request is tried again"] = 5

    def __post_init__(self) -> None:
        limits: tuple[tuple[str, float | None, float], ...] = (
            ("batch_tokens", self.batch_tokens, 1),
            ("batch_size", self.batch_size, 1),
            ("tensor_parallel_size", self.tensor_parallel_size, 1),
            ("concurrency", self.concurrency, 1),
            ("requests_per_minute", self.requests_per_minute, 0.001),
            ("timeout", self.timeout, 0.001),
            ("retries", self.retries, 0),
        )
        for name, value, least in limits:
            if value is not None and not value >= least:
                raise InputError(f"{name} is {value}; a number of at least {least:g} was expected.")

    def unused_by(self, backend: str) -> dict[str, tuple[str, ...]]:
        """The options that are set and that a backend does not read, each with the backends that do."""
        plain = Options()
        changed = {name for name in _READ_BY if getattr(self, name) != getattr(plain, name)}
        return {name: known for name, known in _READ_BY.items() if name in changed and backend not in known}


_LOCAL, _HF, _VLLM, _OPENAI = ("hf", "vllm"), ("hf",), ("vllm",), ("openai",)
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "trust_remote_code": _LOCAL,
    "dtype": _LOCAL,
    "device": _HF,
    "batch_tokens": _HF,
    "batch_size": _HF,
    "tensor_parallel_size": _VLLM,
    "base_url": _OPENAI,
    "concurrency": _OPENAI,
    "requests_per_minute": _OPENAI,
    "timeout": _OPENAI,
    "retries": _OPENAI,
}  # the others concern every backend


class Generator(ABC):
    """A language model that answers prompts. `name` is the model's, `signature` everything that changes a reply.

    Each backend takes the model, a `Sampling`, `Options`, and `choices`: of how many of a reply's last tokens it keeps
    the log probabilities.
    """

    name: str
    signature: Signature

    @abstractmethod
    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The index and reply of each prompt, as they finish, in any order; prompts are read as they are needed.

        One prompt that fails has a reply with an `error`, and never stops the others. `arrived` hears of each reply
        the moment it is there, which may be long before it is yielded.
        """

    def generate(self, prompts: Iterable[str]) -> list[str]:
        """The texts of the replies, in the order of the prompts. Raises ModelError where a prompt has none."""
        found = dict(self.replies(prompts))
        failed = [reply.error for reply in found.values() if reply.error is not None]
        if failed:
            raise ModelError(
                f"{len(failed)} of {len(found)} prompts have no reply, the first because {failed[0]}; mend that and "
                "run again."
            )
        return [found[index].text for index in range(len(found))]


def settled(
    sampling: Sampling | None, options: Options | None, settings: Mapping[str, object]
) -> tuple[Sampling, Options]:
    """The two records, with `settings` for some of their fields. Raises InputError for a name that is no field."""
    found: list[Sampling | Options] = []
    names = dict(settings)
    for record in (sampling or Sampling(), options or Options()):
        own = {field.name: names.pop(field.name) for field in fields(record) if field.name in names}
        found.append(replace(record, **own))  # type: ignore[arg-type]
    if names:
        raise InputError(f"{next(iter(names))!r} is no setting of a generator; fields of Sampling and Options are.")
    return found[0], found[1]  # type: ignore[return-value]


def open_store(name: str | None) -> Replies:
    """A file of kept replies; "auto": in the user's cache folder; "off" or None: the newest ones in memory."""
    if name is None or name == "off":
        return RecentReplies()
    return ReplyStore(cache_folder() / STORE_FILE if name == "auto" else name)


class KeptGenerator(Generator):
    """A generator whose replies are kept: what is in the store, or stands twice in a window, is not asked for again."""

    def __init__(self, generator: Generator, store: Replies) -> None:
        self._generator = generator
        self._store = store
        self.name = generator.name
        self.signature = generator.signature

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The kept replies of each window first, then the new ones as they finish, which are kept at once."""
        stream, start = iter(prompts), 0
        while window := list(islice(stream, _WINDOW)):
            yield from self._window(window, start, arrived)
            start += len(window)

    def _window(self, prompts: Sequence[str], start: int, arrived: Arrived | None) -> Iterator[tuple[int, Reply]]:
        rows: dict[str, list[int]] = {}
        for index, prompt in enumerate(prompts, start):
            rows.setdefault(prompt, []).append(index)
        keys = {prompt: reply_key(f"generator:{self.signature}", prompt) for prompt in rows}
        missing = []
        for prompt, key in keys.items():
            if found := self._store.get(key):
                yield from ((index, found) for index in rows[prompt])
            else:
                missing.append(prompt)

        def keep(index: int, reply: Reply) -> None:
            self._store.put(keys[missing[index]], reply)
            if arrived:
                arrived(rows[missing[index]][0], reply)

        for index, reply in self._generator.replies(missing, keep):
            first, *others = rows[missing[index]]
            yield first, reply
            again = replace(reply, cached=True)
            yield from ((other, again) for other in others)


def split_trace(text: str, think_token: str = "</think>") -> tuple[str, str | None]:
    """A reply in two: its reasoning trace, and its answer; the answer is None where the trace was never closed.

    A trace may begin with its opening tag (`<think>` for `</think>`), or the tag stood in the prompt. The last closing
    tag counts, since a trace may quote one. Without a `think_token` the whole reply is the answer.
    """
    if not think_token:
        return "", text
    opening = opening_token(think_token)
    trace, closed, answer = text.rpartition(think_token)
    if answer.lstrip().startswith(opening):
        return text, None
    return trace.strip().removeprefix(opening).strip() if closed else "", answer.strip()


def opening_token(think_token: str) -> str:
    """`<think>` for `</think>`."""
    return think_token.replace("/", "", 1)


def signature_of(
    backend: str, name: str, sampling: Sampling, options: Options, choices: int, **more: object
) -> Signature:
    """What changes a reply of any backend."""
    system = _digest(options.system_prompt) if options.system_prompt else None
    settings = {"model": name, "system": system, "thinking": options.enable_thinking, "choices": choices or None}
    return Signature.make(backend, {**settings, **more, **sampling.settings})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:12]
