"""One way from token ids to logits or hidden states, whatever the runtime: deduplicate, sort, pack, run, reorder."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from bert_judge.encoder.batching import Batch, pack
from bert_judge.encoder.devices import choose_device
from bert_judge.encoder.models import (
    INT8,
    checked_hashes,
    find_model,
    is_int8,
    load_tokenizer,
    max_input_tokens,
    read_config,
)
from bert_judge.encoder.output import LOGITS, Output
from bert_judge.errors import InputError, MissingExtraError, ModelError
from bert_judge.records import Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from bert_judge.encoder.modules import Encoder

Values = NDArray[np.float32]
RuntimeName = Literal["auto", "torch", "openvino"]
_DTYPES = ("auto", "float32", "bfloat16", "float16")
_ENTRY = 256  # bytes that a remembered output takes besides its numbers


class Runtime(Protocol):
    """Something that runs an encoder on batches, `at_once` of them at a time.

    `name` (with its version), `device` and `dtype` say what ran. A batch of `least_tokens` may end where shorter inputs
    begin (None: none does); `window` is how many rows are sorted by length together.
    """

    name: str
    device: str
    dtype: str
    batch_tokens: int
    multiple: int
    at_once: int
    least_tokens: int | None
    window: int

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, Values]]:
        """The output of each batch, rows first, in any order of batches; a batch may come back in parts."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """An encoder that is ready to run; `max_tokens` is its limit, `hashes` are those of `models.model_hashes`."""

    folder: Path
    output: Output
    tokenizer: Tokenizer
    max_tokens: int
    pad_id: int
    hashes: Mapping[str, str]
    runtime: Runtime


class Engine:
    """Runs inputs through a runtime. Identical inputs are computed once, also across calls.

    `batch_tokens` bounds a batch in tokens (None: what suits the runtime), `batch_size` in rows, `memory` the bytes of
    the newest outputs that are kept, for files in which texts are repeated.
    """

    def __init__(
        self,
        model: Model,
        batch_tokens: int | None = None,
        batch_size: int | None = None,
        memory: int = 1 << 24,
    ) -> None:
        for name, value in (("batch_tokens", batch_tokens), ("batch_size", batch_size)):
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}; a number of at least 1 was expected.")
        if memory < 0:
            raise InputError(f"memory is {memory}; a number of at least 0 was expected.")
        self._model = model
        self._batch_tokens = batch_tokens or model.runtime.batch_tokens
        self._batch_size = batch_size
        self._memory = memory
        self._known: dict[bytes, Values] = {}
        self._bytes = 0
        self._lock = Lock()  # a runtime runs one call at a time
        self._process = os.getpid()

    def run(self, inputs: Sequence[Tokens], batch_size: int | None = None) -> list[Values]:
        """The output of each input, in the order of the inputs; `batch_size` caps the rows of a batch for this call.

        Logits have one axis. Hidden states are tokens by dimensions, or tokens by layers by dimensions. Raises
        ModelError in a forked copy of the process, which has none of the threads that the model computes with.
        """
        if os.getpid() != self._process:
            raise ModelError(
                f"{self._model.folder.name} was loaded before this process was forked from another one, and can't be "
                "used here; load it after the fork, or start processes with multiprocessing.get_context('spawn')."
            )
        keys = [_key(tokens) for tokens in inputs]
        with self._lock:
            new = {key: tokens for key, tokens in zip(keys, inputs, strict=True) if key not in self._known}
            outputs = {key: self._known[key] for key in keys if key not in new}
            fresh = dict(zip(new, self._compute(list(new.values()), batch_size or self._batch_size), strict=True))
            self._remember(fresh)
        outputs |= fresh
        return [outputs[key] for key in keys]

    def forget(self) -> None:
        """Drop the outputs that are kept."""
        with self._lock:
            self._known.clear()
            self._bytes = 0

    def _compute(self, inputs: Sequence[Tokens], batch_size: int | None) -> list[Values]:
        """The outputs of inputs that are all different."""
        model, runtime = self._model, self._model.runtime
        batches = pack(
            inputs,
            self._batch_tokens,
            batch_size,
            model.pad_id,
            runtime.multiple,
            model.max_tokens,
            runtime.at_once,
            runtime.least_tokens,
        )
        done: dict[int, Values] = {}
        for batch, output in runtime.run(batches):
            for row, values in zip(batch.rows, output, strict=True):
                own = values if model.output == LOGITS else values[: len(inputs[row].ids)]
                done[row] = own.copy()  # a view would keep the whole batch
        return [done[row] for row in range(len(inputs))]

    def _remember(self, fresh: dict[bytes, Values]) -> None:
        """Keep the newest outputs; the oldest go."""
        self._known.update(fresh)
        self._bytes += sum(_size(values) for values in fresh.values())
        oldest = iter(list(self._known)) if self._bytes > self._memory else iter(())
        while self._bytes > self._memory:
            self._bytes -= _size(self._known.pop(next(oldest)))


def _size(values: Values) -> int:
    return values.nbytes + _ENTRY


def _key(tokens: Tokens) -> bytes:
    """Sixteen bytes that stand for an input: what is remembered of it must be small."""
    text = array("i", tokens.ids + (tokens.types or ()))
    return hashlib.blake2b(text.tobytes(), digest_size=16).digest()


def load_model(
    path: str,
    output: Output = LOGITS,
    *,
    runtime: RuntimeName = "auto",
    device: str = "auto",
    dtype: str = "auto",
    trust_remote_code: bool = False,
) -> Model:
    """Load an encoder for scoring: with its classification head, or for the hidden states that `output` names.

    `runtime="auto"` takes OpenVINO on a processor where it is installed and knows the architecture, else PyTorch;
    `device="auto"` an accelerator if there is one; `dtype="auto"` the fastest that the device computes natively
    (bfloat16, else float32). An int8 judge, which `encoder.quantization` made, runs on OpenVINO alone. Raises
    ModelError, InputError or MissingExtraError with what to do.
    """
    dtypes = (*_DTYPES, "int8") if output == LOGITS else _DTYPES
    for option, value, known in (("dtype", dtype, dtypes), ("runtime", runtime, get_args(RuntimeName))):
        if value not in known:
            raise InputError(f"{option} is {value!r}; one of {', '.join(known)} was expected.")
    folder = find_model(path, trust_remote_code)
    config = read_config(folder)
    hashes = checked_hashes(folder)

    def make() -> Encoder:
        from bert_judge.encoder.modules import make_encoder  # which imports torch

        return make_encoder(folder, output, trust_remote_code)

    if is_int8(folder):
        found = _load_int8(folder, output, runtime, device, dtype)
    else:
        found = _load_runtime(make, converted_name(hashes, output), config.get("model_type"), runtime, device, dtype)
    return Model(
        folder=folder,
        output=output,
        tokenizer=load_tokenizer(folder),
        max_tokens=max_input_tokens(config),
        pad_id=int(config.get("pad_token_id") or 0),
        hashes=hashes,
        runtime=found,
    )


def converted_name(hashes: Mapping[str, str], output: Output) -> str:
    """The name of a model's converted form in the cache."""
    return f"{hashes['weights']}-{output}"


def _load_int8(folder: Path, output: Output, runtime: RuntimeName, device: str, dtype: str) -> Runtime:
    if output != LOGITS:
        raise ModelError(f"{folder} is an int8 judge, without hidden states to compare; name the judge it was made of.")
    if runtime == "torch" or device not in ("auto", "cpu") or dtype not in ("auto", "int8"):
        asked = f"runtime {runtime}, device {device}, dtype {dtype}"
        raise InputError(
            f"{folder} is an int8 judge, which OpenVINO runs on the processor, but {asked} were asked for; leave them "
            "out, or name the judge it was made of."
        )
    if not _has_openvino():
        raise MissingExtraError(f"{folder}, an int8 judge,", "openvino", "cpu")
    from bert_judge.encoder.openvino_runtime import OpenVinoRuntime

    return OpenVinoRuntime(lambda core: core.read_model(folder / INT8[0]), "int8")


def _load_runtime(
    make: Callable[[], Encoder], name: str, architecture: str | None, runtime: RuntimeName, device: str, dtype: str
) -> Runtime:
    if dtype == "int8":
        raise InputError(
            "the dtype int8 is of judges made for it: make one of this judge with bert_judge.judges.quantize."
        )
    if runtime == "openvino" and not _has_openvino():
        raise MissingExtraError("the runtime openvino", "openvino", "cpu")
    if _has_openvino() and runtime != "torch" and device in ("auto", "cpu"):
        from bert_judge.encoder.openvino_runtime import ARCHITECTURES, OpenVinoRuntime, read_converted

        wanted = runtime == "openvino" or architecture in ARCHITECTURES
        if wanted and (device == "cpu" or runtime == "openvino" or not _accelerator_in_sight()):
            return OpenVinoRuntime(lambda core: read_converted(core, make, name), dtype)
    from bert_judge.encoder.torch_runtime import TorchRuntime

    return TorchRuntime(make, device, dtype)


def _has_openvino() -> bool:
    return importlib.util.find_spec("openvino") is not None


def _accelerator_in_sight() -> bool:
    """Whether PyTorch has an accelerator. It takes seconds to import, so it is asked only where there may be one."""
    signs = (Path("/dev/nvidiactl").exists(), Path("/dev/kfd").exists(), shutil.which("nvidia-smi") is not None)
    return (sys.platform == "darwin" or any(signs)) and choose_device("auto").type != "cpu"
