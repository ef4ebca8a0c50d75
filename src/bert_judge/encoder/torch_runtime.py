"""The encoder on PyTorch: any device, any architecture that transformers has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from bert_judge.encoder.batching import Batch
from bert_judge.encoder.modules import Encoder
from bert_judge.errors import ModelError
from bert_judge.models import choose_device, fastest_dtype, is_out_of_memory

_BATCH_TOKENS = {"cpu": 2_048, "mps": 16_384, "cuda": 131_072}


class TorchRuntime:
    """Runs batches one after the other; one that is too large for the memory is halved until it fits."""

    multiple = 8
    at_once = 1

    def __init__(self, make: Callable[[], Encoder], device: str, dtype: str) -> None:
        self._device = choose_device(device)
        self.device = self._device.type
        self.dtype = fastest_dtype(self._device) if dtype == "auto" else dtype
        self.name = f"torch-{torch.__version__}"
        self.batch_tokens = _BATCH_TOKENS.get(self.device, _BATCH_TOKENS["cuda"])
        self._model = make().to(device=self._device, dtype=getattr(torch, self.dtype))

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """The output of each batch, in float32."""
        pending = list(reversed(batches))
        while pending:
            batch = pending.pop()
            try:
                output = self._output(batch)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                output = None
            if output is None:  # out here the failed pass holds no memory any more
                pending.extend(reversed(self._smaller(batch)))
            else:
                yield batch, output

    def _output(self, batch: Batch) -> NDArray[np.float32]:
        inputs = [torch.from_numpy(array).to(self._device) for array in batch.arrays(self._model.inputs)]
        with torch.inference_mode():
            return self._model(*inputs).float().cpu().numpy()  # type: ignore[no-any-return]

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
