"""Language models on PyTorch, through transformers: any device, any architecture."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from threading import Lock
from typing import TYPE_CHECKING, Any

from bert_judge.encoder.devices import choose_device, fastest_dtype, is_out_of_memory
from bert_judge.encoder.models import find_model, load_config, load_language_model, max_input_tokens
from bert_judge.errors import ModelError, first_line
from bert_judge.generators.base import ALTERNATIVES, Reply
from bert_judge.generators.local import ChatFormat, EncodedPrompt, LocalGenerator, content_hash

if TYPE_CHECKING:
    import torch

_BATCH_TOKENS = {"cpu": 8_192, "mps": 32_768, "cuda": 131_072}


class HFGenerator(LocalGenerator):
    """A causal language model from a folder or the Hub; weights are safetensors only.

    Prompts are sorted by length and packed into batches of at most `batch_tokens` tokens, replies included, and
    `batch_size` prompts; a batch that does not fit into memory is halved. Greedy replies depend on the batch only by
    rounding; sampled ones do depend on it, even with a seed. Raises ModelError if the model can't be loaded.
    """

    backend = "hf"
    window = 256  # prompts that are sorted by length together

    def _load(self) -> Mapping[str, object]:
        from transformers import AutoTokenizer

        options = self._options
        folder = find_model(self.name, options.trust_remote_code)
        self._device = choose_device(options.device)
        dtype = fastest_dtype(self._device) if options.dtype == "auto" else options.dtype
        config = load_config(folder, options.trust_remote_code)
        self._model = load_language_model(folder, config, dtype).to(self._device)
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=hasattr(config, "auto_map"))
        except (ValueError, OSError, KeyError, ImportError, AttributeError) as error:
            raise ModelError(f"{folder} has no tokenizer that can be read: {first_line(error)}") from error
        self._format = ChatFormat(tokenizer, options)
        self._end_ids = self._format.end_ids | _end_ids(self._model)
        self._pad_id = int(tokenizer.pad_token_id or next(iter(self._end_ids), 0))
        self._limit = max_input_tokens(self._model.config.get_text_config().to_dict())
        self._batch_tokens = options.batch_tokens or _BATCH_TOKENS.get(self._device.type, _BATCH_TOKENS["cuda"])
        self._batch_size = options.batch_size or self.window
        self._lock = Lock()  # a model runs one batch at a time
        return {"device": self._device.type, "dtype": dtype, "weights": content_hash(folder)}

    def generate(self, prompts: Iterable[str], batch_size: int | None = None) -> list[str]:
        """The texts of the replies, in the order of the prompts, in batches of at most `batch_size`."""
        bounded = copy(self)  # shares the model and its lock
        bounded._batch_size = batch_size or self._batch_size
        return super(HFGenerator, bounded).generate(prompts)

    def _batches(self, prompts: Mapping[int, EncodedPrompt]) -> Iterator[Sequence[int]]:
        """Prompts of similar length together; the longest first, so that lack of memory shows at once."""
        order = sorted(prompts, key=lambda index: -len(prompts[index].ids))
        while order:
            width = len(prompts[order[0]].ids) + self._sampling.max_tokens
            count = min(self._batch_size, max(1, self._batch_tokens // width))
            yield order[:count]
            order = order[count:]

    def _run(self, batch: Sequence[EncodedPrompt]) -> list[Reply]:
        try:
            with self._lock:
                return self._generate(batch)
        except RuntimeError as error:  # torch.OutOfMemoryError is one
            if not is_out_of_memory(error):
                raise
        # Outside the `except`, whose traceback keeps the tensors of the failed pass alive.
        if len(batch) == 1:
            return [Reply("", "error", error=f"a prompt of {len(batch[0].ids)} tokens does not fit into memory")]
        warnings.warn(
            f"a batch of {len(batch)} inputs did not fit into memory and was halved; batch_tokens below "
            f"{self._batch_tokens} avoids that.",
            stacklevel=2,
        )
        middle = len(batch) // 2
        return [*self._run(batch[:middle]), *self._run(batch[middle:])]

    def _generate(self, batch: Sequence[EncodedPrompt]) -> list[Reply]:
        import torch
        from transformers import LogitsProcessorList

        width = max(len(prompt.ids) for prompt in batch)
        ids = torch.full((len(batch), width), self._pad_id)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(batch):
            ids[row, width - len(prompt.ids) :] = torch.tensor(prompt.ids)
            mask[row, width - len(prompt.ids) :] = 1
        recorder = _Recorder()
        processors = LogitsProcessorList([recorder] if self._choices else [])
        if self._sampling.presence_penalty:
            processors.append(_PresencePenalty(self._sampling.presence_penalty, width))
        with torch.inference_mode(), torch.random.fork_rng(enabled=self._sampling.seed is not None):
            if self._sampling.seed is not None:
                torch.manual_seed(self._sampling.seed ^ zlib.crc32(repr(batch[0].ids).encode()))
            output = self._model.generate(
                ids.to(self._device),
                attention_mask=mask.to(self._device),
                generation_config=self._generation_config(width),
                logits_processor=processors,
            )
        replies = []
        for prompt, ids, steps in zip(batch, output[:, width:].tolist(), recorder.rows(len(batch)), strict=True):
            end = next((place for place, token in enumerate(ids) if token in self._end_ids), None)
            ids = ids[:end]
            last = steps[: len(ids)][-self._choices :]
            replies.append(self._reply(prompt, ids, len(ids) + (end is not None), end is None, last))
        return replies

    def _generation_config(self, width: int) -> Any:
        from transformers import GenerationConfig

        sampling = self._sampling
        names = ("temperature", "top_p", "top_k", "min_p") if sampling.temperature > 0 else ()
        return GenerationConfig(
            max_new_tokens=min(sampling.max_tokens, max(1, self._limit - width)),
            do_sample=sampling.temperature > 0,
            eos_token_id=sorted(self._end_ids) or None,
            pad_token_id=self._pad_id,
            **{name: getattr(sampling, name) for name in names},
        )


class _PresencePenalty:
    """Lowers the logits of the tokens that already occur in a reply, once each; prompts don't count."""

    def __init__(self, penalty: float, width: int) -> None:
        self._penalty, self._width = penalty, width

    def __call__(self, ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        import torch

        present = torch.zeros_like(logits).scatter_(1, ids[:, self._width :], 1)
        return logits - self._penalty * present


class _Recorder:
    """Records the likeliest tokens of each step, before another processor changes the logits."""

    def __init__(self) -> None:
        self._steps: list[tuple[list[list[int]], list[list[float]]]] = []

    def __call__(self, _: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        best = logits.float().log_softmax(-1).topk(min(ALTERNATIVES, logits.shape[-1]))
        self._steps.append((best.indices.tolist(), best.values.tolist()))
        return logits

    def rows(self, count: int) -> list[list[dict[int, float]]]:
        """For each row, the log probabilities of the likeliest tokens at each step."""
        return [
            [dict(zip(tokens[row], values[row], strict=True)) for tokens, values in self._steps] for row in range(count)
        ]


def _end_ids(model: Any) -> frozenset[int]:
    """The model's end tokens. Its other generation defaults are dropped: `Sampling` alone decides."""
    from transformers import GenerationConfig

    ends = model.generation_config.eos_token_id
    model.generation_config = GenerationConfig()
    return frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])
