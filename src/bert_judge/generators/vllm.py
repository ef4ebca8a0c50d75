"""Language models on vLLM's offline engine, which does its own batching.

vLLM needs a GPU and pins its own versions, so the tests don't install it: they run this module against a recording of
its documented interface (`LLM`, `SamplingParams`, `RequestOutput`).
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from bert_judge.encoder.models import find_model
from bert_judge.errors import ModelError, first_line, import_extra
from bert_judge.generators.base import ALTERNATIVES, Reply
from bert_judge.generators.local import ChatFormat, EncodedPrompt, LocalGenerator, content_hash


class VLLMGenerator(LocalGenerator):
    """A model on one or several GPUs (`tensor_parallel_size`), whose replies come window by window.

    Raises MissingExtraError without vLLM, and ModelError if vLLM can't load the model.
    """

    backend = "vllm"
    window = 4096  # prompts that the engine schedules together

    def _load(self) -> Mapping[str, object]:
        options, sampling = self._options, self._sampling
        vllm = import_extra("vllm", "the backend vllm", "vllm")
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
            raise ModelError(f"vLLM can't load {folder}: {first_line(error)}") from error
        self._format = ChatFormat(self._engine.get_tokenizer(), options)
        self._limit = int(self._engine.llm_engine.model_config.max_model_len)
        self._params = vllm.SamplingParams(
            **asdict(sampling),  # the names of its fields are vLLM's
            stop_token_ids=sorted(self._format.end_ids),
            logprobs=ALTERNATIVES if self._choices else None,
        )
        version = importlib.metadata.version("vllm")
        return {"model": folder.name, "dtype": options.dtype, "weights": content_hash(folder), "vllm": version}

    def _run(self, batch: Sequence[EncodedPrompt]) -> list[Reply]:
        inputs = [{"prompt_token_ids": list(prompt.ids)} for prompt in batch]
        replies = []
        for prompt, output in zip(batch, self._engine.generate(inputs, self._params, use_tqdm=False), strict=True):
            first = output.outputs[0]  # the only one, as SamplingParams.n is 1
            ids = list(first.token_ids)
            last = (first.logprobs or [])[-self._choices :]
            steps = [{token: float(entry.logprob) for token, entry in step.items()} for step in last]
            replies.append(self._reply(prompt, ids, len(ids), first.finish_reason == "length", steps))
        return replies
