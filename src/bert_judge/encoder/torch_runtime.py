"""The encoder on PyTorch: any device, any architecture that transformers has."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bert_judge.encoder.batching import Batch
from bert_judge.errors import InputError, ModelError
from bert_judge.utils import first_token_only, has_native_bf16, load_hf_encoder

_BATCH_TOKENS = {"cpu": 2_048, "mps": 16_384, "cuda": 131_072}


class TorchRuntime:
    """Runs batches one after the other; one that is too large for the memory is halved until it fits."""

    multiple = 8

    def __init__(self, folder: Path, device: str, dtype: str, trust_remote_code: bool) -> None:
        self._device = _choose_device(device)
        self.device = self._device.type
        self.dtype = _fastest_dtype(self._device) if dtype == "auto" else dtype
        self.name = f"torch-{torch.__version__}"
        self.batch_tokens = _BATCH_TOKENS.get(self.device, _BATCH_TOKENS["cuda"])
        model = first_token_only(load_hf_encoder(str(folder), trust_remote_code, "float32"))
        self._model = model.to(device=self._device, dtype=getattr(torch, self.dtype))

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """The logits of each batch, float32, rows by outputs."""
        pending = list(reversed(batches))
        while pending:
            batch = pending.pop()
            try:
                logits = self._logits(batch)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not _is_out_of_memory(error):
                    raise
                logits = None
            if logits is None:  # out here the failed pass holds no memory any more
                pending.extend(reversed(self._smaller(batch)))
            else:
                yield batch, logits

    def _logits(self, batch: Batch) -> NDArray[np.float32]:
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask}
        if batch.types is not None:
            inputs["token_type_ids"] = batch.types
        with torch.inference_mode():
            output = self._model(**{name: torch.from_numpy(a).to(self._device) for name, a in inputs.items()})
            return output.logits.float().cpu().numpy()  # type: ignore[no-any-return]

    def _smaller(self, batch: Batch) -> tuple[Batch, Batch]:
        rows, tokens = batch.ids.shape
        if rows == 1:
            raise ModelError(
                f"one input of {tokens} tokens does not fit into the memory of the device {self.device!r}; "
                "use a smaller model, --dtype bfloat16, or another --device."
            )
        if self.device == "cuda":
            torch.cuda.empty_cache()
        warnings.warn(
            f"a batch of {rows} inputs of {tokens} tokens did not fit into memory and was halved; "
            f"--batch_tokens {rows * tokens // 2} avoids that.",
            stacklevel=2,
        )
        return batch.halves()


def _choose_device(device: str) -> torch.device:
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"the device {device!r} can't be used ({reason}); 'auto' or 'cpu' always can.") from error


def _fastest_dtype(device: torch.device) -> str:
    native = torch.cuda.is_bf16_supported() if device.type == "cuda" else device.type == "cpu" and has_native_bf16()
    return "bfloat16" if native else "float32"


def _is_out_of_memory(error: Exception) -> bool:
    """CUDA has an exception of its own for it; others say it in words."""
    said = ("can't allocate memory", "out of memory")
    return isinstance(error, torch.OutOfMemoryError) or any(words in str(error) for words in said)
