"""The encoder on OpenVINO, the fastest runtime that we measured on processors (`benchmarks/judge.py`).

A model is converted once, from its PyTorch form, and kept in the user's cache folder; after that neither torch nor
transformers is imported.
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
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

# OpenVINO reports its use to a server if it finds this package; without it, it has an empty stand-in of its own.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from bert_judge.encoder.batching import WINDOW, Batch
from bert_judge.encoder.devices import hides_amx
from bert_judge.encoder.models import quiet_transformers
from bert_judge.errors import InputError
from bert_judge.paths import cache_folder
from bert_judge.records import __version__

if TYPE_CHECKING:
    from bert_judge.encoder.modules import Encoder

ARCHITECTURES = frozenset(["bert", "eurobert", "modernbert", "roberta", "xlm-roberta"])
"""Architectures whose converted form is tested to give the same numbers; others run on PyTorch unless asked for."""

_log = logging.getLogger(__name__)
_CONVERSION = "2"  # counts the ways of converting a model, so that no cache holds one of an older way
_PRECISIONS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "int8": "f32"}


class OpenVinoRuntime:
    """Runs batches on all cores, several at a time."""

    device = "cpu"
    batch_tokens = 1_024
    multiple = 4
    least_tokens: int | None = None
    window = WINDOW

    def __init__(self, read: Callable[[ov.Core], ov.Model], dtype: str) -> None:
        """`read` finds the model; of an int8 one (`dtype`), what is not in int8 is computed in float32."""
        core = ov.Core()
        native = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        wanted = ("bfloat16" if "BF16" in native and not hides_amx() else "float32") if dtype == "auto" else dtype
        if wanted == "float16" and "FP16" not in native:
            raise InputError("this processor does not compute float16 natively; use --dtype bfloat16 or float32.")
        self.name = f"openvino-{ov.__version__.split('-')[0]}"
        model = read(core)
        self._inputs = [each.get_any_name() for each in model.inputs]
        hints = {"INFERENCE_PRECISION_HINT": _PRECISIONS[wanted], "PERFORMANCE_HINT": "THROUGHPUT"}
        compiled = core.compile_model(model, "CPU", hints)
        runs = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()  # it is a hint: this is what was taken
        self.dtype = wanted
        if runs != _PRECISIONS[wanted]:
            self.dtype = next(name for name, precision in _PRECISIONS.items() if precision == runs)
            _log.info("this processor does not compute %s natively; OpenVINO computes %s instead.", wanted, self.dtype)
        self.at_once = int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        self._requests = [compiled.create_infer_request() for _ in range(self.at_once)]

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[Batch, NDArray[np.float32]]]:
        """The output of each batch, in float32."""
        # No AsyncInferQueue: its callbacks need Python's lock on OpenVINO's threads, which a model that is dropped
        # waits for while it holds that lock.
        under_way: deque[tuple[Batch, Any]] = deque()
        try:
            for batch in batches:
                free = under_way.popleft() if len(under_way) == len(self._requests) else None
                request = free[1] if free else self._requests[len(under_way)]
                if free:
                    yield _finished(*free)
                request.start_async(dict(zip(self._inputs, batch.arrays(self._inputs), strict=True)))
                under_way.append((batch, request))
            while under_way:
                yield _finished(*under_way.popleft())
        finally:  # stopped half-way: leave no request busy
            for _, request in under_way:
                request.wait()


def _finished(batch: Batch, request: Any) -> tuple[Batch, NDArray[np.float32]]:
    request.wait()
    return batch, request.get_output_tensor().data.astype(np.float32)


def read_converted(core: ov.Core, make: Callable[[], Encoder], name: str) -> ov.Model:
    """The converted model, from the cache or made now; another process may be making it at the same time.

    `name` is its name in the cache, which depends on weights and output.
    """
    versions = [_CONVERSION, __version__, ov.__version__.split("-")[0], importlib.metadata.version("transformers")]
    kept = cache_folder() / "openvino" / "-".join([name, *versions])
    with suppress(RuntimeError):  # not there, or damaged
        return core.read_model(kept / "model.xml")
    _log.info("preparing the model for this processor (once, some seconds) …")
    model = _convert(make())
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, ignore_cleanup_errors=True) as beside:
            ov.save_model(model, Path(beside) / "made" / "model.xml", compress_to_fp16=False)
            shutil.rmtree(kept, ignore_errors=True)
            (Path(beside) / "made").rename(kept)
        return core.read_model(kept / "model.xml")  # as every later run does: the graph differs from the traced one
    except (OSError, RuntimeError) as error:  # a full disk is a RuntimeError here
        reason = error.strerror if isinstance(error, OSError) else "is the disk full?"
        warnings.warn(
            f"the converted model can't be kept in {kept.parent} ({reason}); it is made again each time.", stacklevel=2
        )
    return model


def _convert(encoder: Encoder) -> ov.Model:
    """Trace the PyTorch model with rows and tokens of any number."""
    import torch

    encoder.avoid_empty_attention()
    # A padded example: a mask of ones only would be traced as no mask at all.
    mask = torch.ones(2, 16, dtype=torch.int64)
    mask[1, 8:] = 0
    example = {"input_ids": torch.ones_like(mask), "attention_mask": mask, "token_type_ids": torch.zeros_like(mask)}
    with warnings.catch_warnings(), quiet_transformers():
        warnings.simplefilter("ignore")  # tracing warns of each shape that becomes a constant; a test compares results
        converted = ov.convert_model(
            encoder,
            example_input=tuple(example[name] for name in encoder.inputs),
            input=[ov.PartialShape([-1, -1])] * len(encoder.inputs),
        )
    for port, name in zip(converted.inputs, encoder.inputs, strict=True):
        port.get_tensor().set_names({name})
    return converted
