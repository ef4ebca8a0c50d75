"""An encoder in int8: weights and activations of its matrix products as eight-bit integers, by NNCF on OpenVINO.

How activations are rounded is chosen by their ranges over some inputs (post-training quantization), so these must be
like those that are judged: ranges found on plain texts, without a judge's markers, cost three times as many labels.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path

import openvino as ov

from bert_judge.encoder.batching import pack
from bert_judge.encoder.engine import Model, converted_name
from bert_judge.encoder.models import INT8
from bert_judge.encoder.modules import make_encoder
from bert_judge.encoder.openvino_runtime import OpenVinoRuntime, read_converted
from bert_judge.errors import import_extra
from bert_judge.records import Tokens


def write_int8(model: Model, inputs: Sequence[Tokens], target: Path, trust_remote_code: bool) -> None:
    """Write a model's graph in int8 (`models.INT8`) into a folder, with ranges found on `inputs`."""
    nncf = import_extra("nncf", "quantizing a judge", "int8")
    make = partial(make_encoder, model.folder, model.output, trust_remote_code)
    graph = read_converted(ov.Core(), make, converted_name(model.hashes, model.output))
    names = [each.get_any_name() for each in graph.inputs]
    runtime = OpenVinoRuntime
    batches = pack(inputs, runtime.batch_tokens, None, model.pad_id, runtime.multiple, model.max_tokens)
    logging.getLogger("nncf").setLevel(logging.ERROR)
    with redirect_stdout(StringIO()):  # its progress bars
        quantized = nncf.quantize(
            graph,
            nncf.Dataset([dict(zip(names, batch.arrays(names), strict=True)) for batch in batches]),
            model_type=nncf.ModelType.TRANSFORMER,
            preset=nncf.QuantizationPreset.MIXED,
            subset_size=len(batches),
        )
    ov.save_model(quantized, target / INT8[0])
