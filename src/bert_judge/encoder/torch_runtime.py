"""The encoder on PyTorch: any device, any architecture that transformers has."""

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
_LEAST_TOKENS = {"cpu": None, "mps": 4_096, "cuda": 16_384}  # with which a device is busy
_WINDOWS = {"cpu": WINDOW, "mps": 4 * WINDOW, "cuda": 8 * WINDOW}


class TorchRuntime:
    """Runs batches one after the other; one that is too large for the memory is halved until it fits.

    A GPU is given the next batch before it has finished the last one, and nobody waits for a batch but whoever takes
    its output: inputs and outputs go through pinned memory while the GPU computes.
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
                started = self._start(batch)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                started = None
            if started is not None:
                in_flight.append((batch, started))
            elif in_flight:  # their memory is free once they are through
                pending.append(batch)
                yield from ((own, output()) for own, output in in_flight)
                in_flight.clear()
            else:  # out here the failed pass holds no memory any more
                pending.extend(reversed(self._smaller(batch)))

    def _start(self, batch: Batch) -> Callable[[], NDArray[np.float32]]:
        """Have a batch computed; returns what waits for its output."""
        inputs = [torch.from_numpy(array) for array in batch.arrays(self._model.inputs)]
        if self.device != "cuda":
            inputs = [each.to(self._device) for each in inputs]
            with torch.inference_mode():
                output = self._model(*inputs).float().cpu().numpy()
            return lambda: output
        inputs = [each.pin_memory().to(self._device, non_blocking=True) for each in inputs]
        with torch.inference_mode():
            found = self._model(*inputs).float()
            here = torch.empty(found.shape, dtype=torch.float32, pin_memory=True)
            here.copy_(found, non_blocking=True)
        through = torch.cuda.Event()  # type: ignore[no-untyped-call]
        through.record(torch.cuda.current_stream(self._device))

        def waited() -> NDArray[np.float32]:
            through.synchronize()
            return here.numpy()

        return waited

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
