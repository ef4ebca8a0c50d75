"""A language model on vLLM's offline engine, which batches by itself.

vLLM needs a GPU and versions of its own, so that it is not among what our tests install. They run this module against
vLLM's documented interface (`LLM`, `SamplingParams`, `RequestOutput`) in a recorded shape, not against vLLM itself.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bert_judge.errors import MissingExtraError, ModelError
from bert_judge.generators.base import Arrived, Generator, Options, settled, signature_of
from bert_judge.generators.chat import ChatFormat, Encoded
from bert_judge.generators.hf import content_hash
from bert_judge.types import Reply, Sampling, TokenChoice
from bert_judge.utils import find_model

_WINDOW = 4096  # prompts that the engine holds; it schedules them as it likes
_ALTERNATIVES = 5


class VLLMGenerator(Generator):
    """A model on one or several GPUs (`tensor_parallel_size`).

    The chat template is applied here, as for the other local backend, so that both ask the same and cut long prompts
    the same. `settings` are fields of Sampling and Options by name. Raises MissingExtraError without vLLM, and
    ModelError where vLLM can't load the model.
    """

    def __init__(
        self,
        model_path: str,
        sampling: Sampling | None = None,
        options: Options | None = None,
        choices: int = 0,
        **settings: object,
    ) -> None:
        self._sampling, options = settled(sampling, options, settings)
        try:
            self._vllm: Any = importlib.import_module("vllm")
        except ImportError as error:
            raise MissingExtraError("the backend vllm", "vllm", "vllm") from error
        folder = find_model(model_path, options.trust_remote_code)
        try:
            self._engine = self._vllm.LLM(
                model=str(folder),
                trust_remote_code=options.trust_remote_code,
                dtype=options.dtype,
                tensor_parallel_size=options.tensor_parallel_size,
                seed=self._sampling.seed or 0,
            )
        except (ValueError, OSError, RuntimeError) as error:
            reason = str(error).strip().split("\n")[0]
            raise ModelError(f"vLLM can't load {folder}: {reason}") from error
        self._format = ChatFormat(self._engine.get_tokenizer(), options)
        self._limit = int(self._engine.llm_engine.model_config.max_model_len)
        self._choices = choices
        self.name = model_path
        version = importlib.metadata.version("vllm")
        more = {"dtype": options.dtype, "weights": content_hash(folder), "vllm": version}
        self.signature = signature_of("vllm", Path(folder).name, self._sampling, options, choices, **more)

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies of a window of prompts when all of it is done."""
        stream, start = iter(prompts), 0
        room = max(1, self._limit - self._sampling.max_tokens, self._limit // 2)
        params = self._sampling_params()
        while window := list(islice(stream, _WINDOW)):
            rows: dict[int, Encoded] = {}
            for index, prompt in enumerate(window, start):
                encoded = self._format.encode(prompt, room)
                if encoded is None:
                    yield index, Reply("", "error", error=f"the system prompt alone is longer than {room} tokens")
                else:
                    rows[index] = encoded
            inputs = [{"prompt_token_ids": list(row.ids)} for row in rows.values()]
            outputs = self._engine.generate(inputs, params, use_tqdm=False) if inputs else []
            found = [self._reply(*each) for each in zip(rows.values(), outputs, strict=True)]
            for index, reply in zip(rows, found, strict=True):
                if arrived:
                    arrived(index, reply)
            yield from zip(rows, found, strict=True)
            start += len(window)

    def _sampling_params(self) -> Any:
        given = self._sampling
        return self._vllm.SamplingParams(
            temperature=given.temperature,
            top_p=given.top_p,
            top_k=given.top_k,
            min_p=given.min_p,
            presence_penalty=given.presence_penalty,
            max_tokens=given.max_tokens,
            seed=given.seed,
            stop_token_ids=sorted(self._format.end_ids),
            logprobs=_ALTERNATIVES if self._choices else None,
        )

    def _reply(self, prompt: Encoded, output: Any) -> Reply:
        """What vLLM calls a RequestOutput, whose first output is the only one."""
        first = output.outputs[0]
        ids = list(first.token_ids)
        last = list(zip(ids, first.logprobs or [], strict=False))[-self._choices :] if self._choices else []
        text_of = self._format.token
        choices = tuple(
            TokenChoice(text_of(token), {text_of(other): float(known.logprob) for other, known in likeliest.items()})
            for token, likeliest in last
        )
        reason = "length" if first.finish_reason == "length" else "stop"
        return Reply(
            self._format.decode(ids), reason, len(prompt.ids), len(ids), choices=choices, truncated=prompt.truncated
        )
