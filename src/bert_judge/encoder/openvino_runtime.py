"""The encoder on OpenVINO, the fastest runtime on processors (`benchmarks/judge.py`), and quantizing it to int8.

A model is converted once from its PyTorch form and cached in the user's cache folder; later runs import neither torch
nor transformers.
"""

from __future__ import annotations

import importlib.metadata
import logging
import shutil
import sys
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

# OpenVINO reports its use to a server if it can import this package; without it, it uses an empty stand-in.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from bert_judge.encoder.batching import WINDOW, Batch, pack
from bert_judge.encoder.devices import hides_amx
from bert_judge.encoder.engine import Model, converted_name
from bert_judge.encoder.models import INT8, quiet_transformers
from bert_judge.errors import InputError, import_extra
from bert_judge.paths import cache_folder
from bert_judge.records import Tokens, __version__

if TYPE_CHECKING:
    from bert_judge.encoder.torch_runtime import Encoder

ARCHITECTURES = frozenset(["bert", "eurobert", "modernbert", "mpnet", "roberta", "xlm-roberta"])
"""Architectures that tests compare with PyTorch; others run on PyTorch unless OpenVINO is asked for."""

_log = logging.getLogger(__name__)
_CONVERSION = "2"  # to be raised when `_convert` changes, so that cached models are converted again
_PRECISIONS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "int8": "f32"}


class OpenVinoRuntime:
    """Runs batches on all cores, several at a time."""

    device = "cpu"
    batch_tokens = 1_024
    multiple = 4
    least_tokens: int | None = None
    window = WINDOW

    def __init__(self, read: Callable[[ov.Core], ov.Model], dtype: str) -> None:
        """`read` reads the model; of an int8 model (`dtype`), the rest is computed in float32."""
        core = ov.Core()
        native = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if dtype == "auto":
            dtype = "bfloat16" if "BF16" in native and not hides_amx() else "float32"
        if dtype == "float16" and "FP16" not in native:
            raise InputError("this processor does not compute float16 natively; use the dtype bfloat16 or float32.")
        self.name = f"openvino-{ov.__version__.split('-')[0]}"
        model = read(core)
        self._inputs = _input_names(model)
        hints = {"INFERENCE_PRECISION_HINT": _PRECISIONS[dtype], "PERFORMANCE_HINT": "THROUGHPUT"}
        compiled = core.compile_model(model, "CPU", hints)
        precision = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()  # OpenVINO may ignore a hint
        self.dtype = dtype
        if precision != _PRECISIONS[dtype]:
            self.dtype = next(name for name, hint in _PRECISIONS.items() if hint == precision)
            _log.info("this processor does not compute %s natively; OpenVINO computes %s instead.", dtype, self.dtype)
        self.at_once = int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self._requests = [compiled.create_infer_request() for _ in range(self.at_once)]

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """The output of each batch, in float32."""
        # AsyncInferQueue could deadlock: its callbacks need the GIL on OpenVINO's threads, and destroying a model waits
        # for those threads while holding the GIL.
        running: deque[tuple[Batch, Any]] = deque()
        try:
            for batch in batches:
                request = self._requests[len(running)] if len(running) < len(self._requests) else running[0][1]
                if len(running) == len(self._requests):
                    yield _finished(*running.popleft())
                request.start_async(dict(zip(self._inputs, batch.arrays(self._inputs), strict=True)))
                running.append((batch, request))
            while running:
                yield _finished(*running.popleft())
        finally:  # if the consumer stops early, no request stays busy
            for _, request in running:
                request.wait()


def _input_names(model: ov.Model) -> list[str]:
    return [port.get_any_name() for port in model.inputs]


def _finished(batch: Batch, request: Any) -> tuple[Batch, NDArray[np.float32]]:
    request.wait()
    return batch, request.get_output_tensor().data.astype(np.float32)


def read_converted(core: ov.Core, make: Callable[[], Encoder], name: str) -> ov.Model:
    """The converted model, from the cache or converted now; other processes may be converting it, too.

    `name` is its name in the cache, which depends on weights and output.
    """
    versions = [_CONVERSION, __version__, ov.__version__.split("-")[0], importlib.metadata.version("transformers")]
    cached = cache_folder() / "openvino" / "-".join([name, *versions])
    with suppress(RuntimeError):  # not there, or damaged
        return core.read_model(cached / "model.xml")
    _log.info("preparing the model for this processor (once, some seconds) …")
    model = _convert(make())
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent, ignore_cleanup_errors=True) as temporary:
            ov.save_model(model, Path(temporary) / "new" / "model.xml", compress_to_fp16=False)
            shutil.rmtree(cached, ignore_errors=True)
            (Path(temporary) / "new").rename(cached)
        return core.read_model(cached / "model.xml")  # not the traced graph: every later run reads this one
    except (OSError, RuntimeError) as error:  # OpenVINO raises RuntimeError for a full disk
        reason = error.strerror if isinstance(error, OSError) else "is the disk full?"
        warnings.warn(
            f"the converted model can't be cached in {cached.parent} ({reason}); every run converts it again.",
            stacklevel=2,
        )
    return model


def _convert(encoder: Encoder) -> ov.Model:
    """Trace the PyTorch model for any number of rows and tokens."""
    import torch

    encoder.avoid_empty_attention()
    # The example is padded: a mask of ones would be traced as no mask at all.
    mask = torch.ones(2, 16, dtype=torch.int64)
    mask[1, 8:] = 0
    example = {"input_ids": torch.ones_like(mask), "attention_mask": mask, "token_type_ids": torch.zeros_like(mask)}
    with warnings.catch_warnings(), quiet_transformers():
        warnings.simplefilter("ignore")  # tracing warns of shapes that become constants; tests compare the results
        converted = ov.convert_model(
            encoder,
            example_input=tuple(example[name] for name in encoder.inputs),
            input=[ov.PartialShape([-1, -1])] * len(encoder.inputs),
        )
    for port, name in zip(converted.inputs, encoder.inputs, strict=True):
        port.get_tensor().set_names({name})
    return converted


def write_int8(model: Model, inputs: Sequence[Tokens], target: Path, trust_remote_code: bool) -> None:
    """Quantize a model with NNCF and write its int8 graph (`models.INT8`) into the folder `target`.

    Post-training quantization rounds activations by their ranges on `inputs`, which must look like what the judge will
    read: ranges from plain texts, without a judge's markers, changed three times as many labels.
    """
    nncf = import_extra("nncf", "quantizing a judge", "int8")
    from bert_judge.encoder.torch_runtime import make_encoder

    make = partial(make_encoder, model.folder, model.output, trust_remote_code)
    graph = read_converted(ov.Core(), make, converted_name(model.hashes, model.output))
    names, runtime = _input_names(graph), OpenVinoRuntime
    batches = pack(inputs, runtime.batch_tokens, None, model.pad_id, runtime.multiple, model.max_tokens)
    logging.getLogger("nncf").setLevel(logging.ERROR)
    with redirect_stdout(StringIO()):  # NNCF's progress bars
        quantized = nncf.quantize(
            graph,
            nncf.Dataset([dict(zip(names, batch.arrays(names), strict=True)) for batch in batches]),
            model_type=nncf.ModelType.TRANSFORMER,
            preset=nncf.QuantizationPreset.MIXED,
            subset_size=len(batches),
        )
    ov.save_model(quantized, target / INT8[0])
