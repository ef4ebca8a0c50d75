"""The encoder on PyTorch: any device, any architecture of transformers."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from bert_judge.encoder.batching import WINDOW, Batch
from bert_judge.encoder.devices import choose_device, fastest_dtype, is_out_of_memory
from bert_judge.encoder.modules import Encoder
from bert_judge.errors import ModelError

_BATCH_TOKENS = {"cpu": 2_048, "mps": 16_384, "cuda": 65_536}
_LEAST_TOKENS = {"cpu": None, "mps": 4_096, "cuda": 16_384}  # enough to keep a device busy
_WINDOWS = {"cpu": WINDOW, "mps": 4 * WINDOW, "cuda": 8 * WINDOW}


class TorchRuntime:
    """Runs batches one after the other; a batch too large for the memory is halved until it fits.

    A GPU gets its next batch before it has finished the last one, and only the consumer blocks: inputs and outputs go
    through pinned memory while the GPU computes.
    """

    multiple = 8
    at_once = 1

    def __init__(self, make: Callable[[], Encoder], device: str, dtype: str) -> None:
        self._device = choose_device(device)
        self.device = self._device.type
        self.dtype = fastest_dtype(self._device) if dtype == "auto" else dtype
        self.name = f"torch-{torch.__version__}"
        kind = self.device if self.device in _BATCH_TOKENS else "cuda"
        self.batch_tokens, self.least_tokens, self.window = _BATCH_TOKENS[kind], _LEAST_TOKENS[kind], _WINDOWS[kind]
        self._model = make().to(device=self._device, dtype=getattr(torch, self.dtype))
        self._in_flight = 2 if self.device == "cuda" else 1

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """The output of each batch, in float32."""
        pending = list(reversed(batches))
        in_flight = deque[tuple[Batch, Callable[[], NDArray[np.float32]]]]()
        while pending or in_flight:
            if not pending or len(in_flight) == self._in_flight:
                batch, output = in_flight.popleft()
                yield batch, output()
                continue
            batch = pending.pop()
            try:
                output = self._start(batch)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
            else:
                in_flight.append((batch, output))
                continue
            # Outside the `except`, whose traceback keeps the tensors of the failed pass alive.
            if in_flight:  # finish these first: they hold memory
                pending.append(batch)
                yield from ((earlier, output()) for earlier, output in in_flight)
                in_flight.clear()
            else:
                pending.extend(reversed(self._halves(batch)))

    def _start(self, batch: Batch) -> Callable[[], NDArray[np.float32]]:
        """Start computing a batch; returns a function that waits for the output."""
        inputs = [torch.from_numpy(array) for array in batch.arrays(self._model.inputs)]
        if self.device != "cuda":
            inputs = [tensor.to(self._device) for tensor in inputs]
            with torch.inference_mode():
                output = self._model(*inputs).float().cpu().numpy()
            return lambda: output
        inputs = [tensor.pin_memory().to(self._device, non_blocking=True) for tensor in inputs]
        with torch.inference_mode():
            on_device = self._model(*inputs).float()
            on_host = torch.empty(on_device.shape, dtype=torch.float32, pin_memory=True)
            on_host.copy_(on_device, non_blocking=True)
        finished = torch.cuda.Event()  # type: ignore[no-untyped-call]
        finished.record(torch.cuda.current_stream(self._device))

        def wait() -> NDArray[np.float32]:
            finished.synchronize()
            return on_host.numpy()

        return wait

    def _halves(self, batch: Batch) -> tuple[Batch, Batch]:
        rows, tokens = batch.ids.shape
        if rows == 1:
            raise ModelError(
                f"one input of {tokens} tokens does not fit into the memory of the device {self.device!r}; "
                "use a smaller model, the dtype bfloat16, or another device."
            )
        if self.device == "cuda":
            torch.cuda.empty_cache()
        warnings.warn(
            f"a batch of {rows} inputs of {tokens} tokens did not fit into memory and was halved; "
            f"batch_tokens={rows * tokens // 2} avoids that.",
            stacklevel=2,
        )
        return batch.halves()
