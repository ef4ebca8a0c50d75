"""Int8 weights: a model's matrices stored as eight-bit integers, a quarter of float32, and computed in floats.

Not to be confused with the int8 graph of `openvino_runtime.write_int8`, which computes with integers, on processors
alone. A floating matrix NAME of at least 4,096 numbers is stored as `NAME` (int8, rows by columns) and `NAME.scale`
(float32, rows by groups, or one a row), both in the same file. We write groups of 128 numbers, or a whole row where 128
does not divide it; the scale of a group is its greatest absolute value / 127. Other tensors are stored in float16 where
that holds them, else in float32. The files are `model-00001-of-0000N.safetensors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from bert_judge.errors import InputError, ModelError, first_line

_SCALE = ".scale"
_LEAST_NUMBERS = 4_096  # smaller matrices save nothing worth their error
_GROUP = 128  # numbers of a row that share a scale
_HEADER = 200  # bytes that a tensor's entry in a file's header takes at most, besides its name

Tensors = dict[str, torch.Tensor]


def write_int8_tensors(folder: Path, target: Path, most: int) -> None:
    """Store the weights of the model in `folder` as int8 weights in `target`, in files of at most `most` bytes.

    Raises InputError where a tensor is larger than `most`, ModelError where the weights can't be read, are int8 weights
    already, or hold a number that is not finite.
    """
    if has_int8_weights(folder):
        raise ModelError(f"{folder} has int8 weights already; name the judge that it was made of.")
    shards: list[Tensors] = [{}]
    room = most
    for name, tensor in _stored(folder):
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ModelError(f"{name} of {folder} holds a number that is not finite; train the judge again.")
        tensors = _as_int8(name, tensor)
        size = sum(part.nbytes + len(name) + _HEADER for part in tensors.values())
        if size > most:
            raise InputError(
                f"{name} of {folder} takes {size:,} bytes in int8, but a file may have {most:,}; allow more."
            )
        if size > room:
            shards.append({})
            room = most
        shards[-1] |= tensors
        room -= size
    if not any(name.endswith(_SCALE) for shard in shards for name in shard):
        raise ModelError(
            f"{folder} has no matrix of {_LEAST_NUMBERS:,} numbers or more: there is nothing to store in int8."
        )
    for number, shard in enumerate(shards, 1):
        save_file(shard, target / f"model-{number:05}-of-{len(shards):05}.safetensors", {"format": "pt"})


def has_int8_weights(folder: Path) -> bool:
    """Whether a model's weights are stored in eight bits. Raises ModelError where a file can't be read."""
    for path in sorted(folder.glob("*.safetensors")):
        with _opened(path) as weights:
            names = {*weights.keys()}
            if any(f"{name}{_SCALE}" in names and weights.get_slice(name).get_dtype() == "I8" for name in names):
                return True
    return False


def read_int8_tensors(folder: Path) -> Tensors:
    """All tensors of a model with int8 weights: the matrices in float32, the others as stored.

    Raises ModelError where a file can't be read, or a scale does not fit its matrix.
    """
    tensors = dict(_stored(folder))
    for name in [name for name, tensor in tensors.items() if tensor.dtype == torch.int8]:
        scale = tensors.pop(name + _SCALE, torch.empty(0))
        rows, columns = tensors[name].shape
        groups = scale.numel() // rows if scale.shape[:1] == (rows,) else 0
        if not groups or columns % groups:
            raise ModelError(
                f"{folder} is damaged: the matrix {name} lacks a scale for each row; fetch the model again."
            )
        tensors[name] = tensors[name].float().view(rows, groups, -1).mul_(scale.view(rows, groups, 1)).flatten(1)
    return tensors


def _as_int8(name: str, tensor: torch.Tensor) -> Tensors:
    if not tensor.is_floating_point():
        return {name: tensor}
    exact = tensor.float()
    if tensor.ndim == 2 and tensor.numel() >= _LEAST_NUMBERS:
        groups = exact.reshape(len(exact), -1, exact.shape[1] if exact.shape[1] % _GROUP else _GROUP)
        scale = groups.abs().amax(dim=2) / 127
        steps = groups / scale.clamp(min=torch.finfo(torch.float32).tiny)[..., None]  # zeros have the scale 0
        return {name: steps.round().clamp(-127, 127).to(torch.int8).flatten(1), name + _SCALE: scale}
    half = exact.half()
    return {name: half if torch.allclose(half.float(), exact, rtol=2**-10, atol=2**-20) else exact}


def _stored(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    for path in sorted(folder.glob("*.safetensors")):
        with _opened(path) as weights:
            yield from ((name, weights.get_tensor(name)) for name in [*weights.keys()])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as weights:
            yield weights
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path} can't be loaded: {first_line(error)}; fetch the model again.") from error
