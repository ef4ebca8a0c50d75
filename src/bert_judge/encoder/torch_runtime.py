"""The encoder on PyTorch: any device, any architecture of transformers; token ids in, logits or hidden states out."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bert_judge.encoder.batching import WINDOW, Batch
from bert_judge.encoder.devices import choose_device, fastest_dtype, is_out_of_memory
from bert_judge.encoder.engine import LOGITS, Hidden, Output
from bert_judge.encoder.models import count_layers, load_hf_backbone, load_hf_encoder
from bert_judge.errors import ModelError

_HEAD_READS_FIRST_TOKEN = frozenset(["bert", "roberta", "xlm-roberta"])
_FINAL_NORMS = ("final_layer_norm", "final_norm", "layer_norm", "norm")  # T5; ModernBERT; mBART, Pegasus; EuroBERT
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


class Encoder(nn.Module):
    """Takes the arrays named in `inputs`, each rows by tokens; `read` picks the tensor from the model's output."""

    def __init__(self, model: Any, read: Callable[[Any], torch.Tensor], **flags: bool) -> None:
        super().__init__()
        typed = getattr(model.config, "type_vocab_size", 0) > 1
        self.inputs = ("input_ids", "attention_mask", *(["token_type_ids"] if typed else []))
        self._model, self._read, self._flags = model, read, flags

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Logits as rows by outputs; hidden states as rows by tokens by dimensions, or with layers before the last."""
        return self._read(self._model(**dict(zip(self.inputs, inputs, strict=True)), **self._flags))

    def avoid_empty_attention(self) -> None:
        """Use plain attention in models with sliding windows (ModernBERT).

        There, padding far from any token attends to nothing, of which OpenVINO's fused attention makes NaN.
        """
        if "sliding_attention" in (getattr(self._model.config, "layer_types", None) or ()):
            self._model.set_attn_implementation("eager")


def make_encoder(folder: Path, output: Output, trust_remote_code: bool) -> Encoder:
    """Load the model of a folder in float32, for one kind of output."""
    if output == LOGITS:
        model = first_token_only(load_hf_encoder(str(folder), trust_remote_code, "float32"))
        return Encoder(model, lambda output: output.logits)
    model = load_hf_backbone(str(folder), trust_remote_code, "float32")
    if output.layer is None:
        return Encoder(model, _all_layers(model, output), output_hidden_states=True)
    if output.layer == 0 and model.config.model_type == "deberta-v2":  # transformers fails where it has no layer
        cut_layers(model, 1)
        return Encoder(model, lambda output: output.hidden_states[0], output_hidden_states=True)
    cut_layers(model, output.layer)
    return Encoder(model, lambda output: output.last_hidden_state)


def first_token_only(model: Any) -> Any:
    """If the head reads only the first token, compute only that token in the last layer: the same logits for less.

    The attention still sees every token. In a model of six layers this saves a tenth of the arithmetic, also in
    training, since the rest of the last layer has no gradient.
    """

    def first(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(hidden[:, :1] for hidden in inputs)

    if model.config.model_type in _HEAD_READS_FIRST_TOKEN:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(first)
    elif model.config.model_type == "mpnet":
        attention = model.base_model.encoder.layer[-1].attention
        attention.register_forward_hook(lambda _, inputs, output: (output[0][:, :1], *output[1:]))
    return model


def cut_layers(model: Any, layer: int) -> None:
    """Drop the layers after `layer`; what the model does after its last layer (a norm, say) then follows `layer`."""
    layers = count_layers(model.config.to_dict())
    architecture = model.config.model_type
    if architecture == "albert":  # one layer, run again and again
        model.encoder.config.num_hidden_layers = layer
    elif architecture in ("xlm", "flaubert"):  # each part of a layer is in its own list
        model.n_layers = layer
    else:
        stacks = (
            (parent, name, child)
            for parent in model.modules()
            for name, child in parent.named_children()
            if isinstance(child, nn.ModuleList) and len(child) == layers
        )
        parent, name, stack = next(stacks, (None, "", None))
        if parent is None or stack is None:
            raise ModelError(
                f"the layers of the architecture {architecture!r} were not found in its module; use another model."
            )
        setattr(parent, name, stack[:layer])


def _all_layers(model: Any, output: Hidden) -> Callable[[Any], torch.Tensor]:
    """Stacks the hidden states of all layers, each as if the model were cut there."""
    norm = next((getattr(model, name) for name in _FINAL_NORMS if hasattr(model, name)), None)

    def read(model_output: Any) -> torch.Tensor:
        *inner, last = model_output.hidden_states  # the model has applied its norm to the last one
        if norm is not None and output.final_norm:
            inner = [norm(hidden) for hidden in inner]
        return torch.stack([*inner, last], dim=2)

    return read
