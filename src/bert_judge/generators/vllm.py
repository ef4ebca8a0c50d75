"""A language model on vLLM's offline engine, which batches by itself.

vLLM needs a GPU and versions of its own, so it is not among what our tests install. They run this module against
vLLM's documented interface (`LLM`, `SamplingParams`, `RequestOutput`) in a recorded shape, not against vLLM itself.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bert_judge.errors import MissingExtraError, ModelError
from bert_judge.generators.base import ALTERNATIVES
from bert_judge.generators.chat import ChatFormat, Encoded
from bert_judge.generators.local import LocalGenerator, content_hash
from bert_judge.models import find_model
from bert_judge.types import Reply


class VLLMGenerator(LocalGenerator):
    """A model on one or several GPUs (`tensor_parallel_size`), whose replies come window by window.

    Raises MissingExtraError without vLLM, and ModelError where vLLM can't load the model.
    """

    backend = "vllm"
    window = 4096  # prompts that the engine holds; it schedules them as it likes

    def _load(self) -> Mapping[str, object]:
        options, sampling = self._options, self._sampling
        try:
            vllm: Any = importlib.import_module("vllm")
        except ImportError as error:
            raise MissingExtraError("the backend vllm", "vllm", "vllm") from error
        folder = find_model(self.name, options.trust_remote_code)
        try:
            self._engine = vllm.LLM(
                model=str(folder),
                trust_remote_code=options.trust_remote_code,
                dtype=options.dtype,
                tensor_parallel_size=options.tensor_parallel_size,
                seed=sampling.seed or 0,
            )
        except (ValueError, OSError, RuntimeError) as error:
            reason = str(error).strip().split("\n")[0]
            raise ModelError(f"vLLM can't load {folder}: {reason}") from error
        self._format = ChatFormat(self._engine.get_tokenizer(), options)
        self._limit = int(self._engine.llm_engine.model_config.max_model_len)
        self._params = vllm.SamplingParams(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            presence_penalty=sampling.presence_penalty,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            stop_token_ids=sorted(self._format.end_ids),
            logprobs=ALTERNATIVES if self._choices else None,
        )
        version = importlib.metadata.version("vllm")
        return {"model": folder.name, "dtype": options.dtype, "weights": content_hash(folder), "vllm": version}

    def _batches(self, prompts: Mapping[int, Encoded]) -> Iterable[Sequence[int]]:
        return [list(prompts)] if prompts else []

    def _run(self, batch: Sequence[Encoded]) -> list[Reply]:
        inputs = [{"prompt_token_ids": list(prompt.ids)} for prompt in batch]
        replies = []
        for prompt, output in zip(batch, self._engine.generate(inputs, self._params, use_tqdm=False), strict=True):
            first = output.outputs[0]  # the only one, as SamplingParams.n is 1
            ids = list(first.token_ids)
            last = (first.logprobs or [])[-self._choices :]
            steps = [{token: float(known.logprob) for token, known in step.items()} for step in last]
            replies.append(self._reply(prompt, ids, len(ids), first.finish_reason == "length", steps))
        return replies
