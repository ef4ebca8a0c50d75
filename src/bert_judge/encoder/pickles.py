"""Weights that are pickles (`pytorch_model.bin`), converted to safetensors once, where a user allows it.

A pickle can run code when it is read. These are read by PyTorch's `weights_only` loading, which takes tensors and
nothing else, in a process of its own that ends afterwards; what it writes is read like any other model.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bert_judge.errors import ModelError
from bert_judge.paths import cache_folder

_WEIGHTS = "pytorch_model*.bin"
_BESIDE = ("*.json", "*.txt", "*.model", "*.jinja")  # what a model's folder has beside its weights


def pickled_weights(folder: Path) -> list[Path]:
    """The pickles of a model that has no safetensors."""
    return [] if any(folder.glob("*.safetensors")) else sorted(folder.glob(_WEIGHTS))


def converted(folder: Path) -> Path | None:
    """The converted copy of such a model, if there is one of these files."""
    place = _place(folder)
    return place if (place / "model.safetensors").exists() else None


def convert(folder: Path) -> Path:
    """Convert such a model; returns its copy in the user's cache folder. Raises ModelError where a file is not one."""
    place = _place(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as made:
        new = Path(made, "model")
        new.mkdir()
        for pattern in _BESIDE:
            for file in folder.glob(pattern):
                if not file.name.startswith("pytorch_model"):
                    shutil.copy(file, new)
        words = [
            sys.executable,
            "-P",
            "-m",
            __name__,
            str(new / "model.safetensors"),
            *map(str, pickled_weights(folder)),
        ]
        paths = os.pathsep.join(path or "." for path in sys.path)
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise ModelError(
                f"{folder} can't be converted to safetensors: {said}. Fetch the model again, or one with safetensors."
            )
        if not place.exists():  # another process may have been faster
            new.rename(place)
    return place


def _place(folder: Path) -> Path:
    stamps = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in pickled_weights(folder)]
    key = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]
    return cache_folder() / "converted" / key


def main(target: str, *files: str) -> None:
    """In the process of its own: read the tensors, and write them."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, Any] = {}
    for file in files:
        try:
            found = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever it is, the file is not to be trusted
            said = str(error).strip().splitlines() or [type(error).__name__]
            sys.exit(f"{Path(file).name} holds more than weights, or is damaged ({said[0][:200]})")
        tensors |= found.get("state_dict", found)
    odd = [str(name) for name, value in tensors.items() if not isinstance(value, torch.Tensor)]
    if odd:
        sys.exit(f"{odd[0]!r} among its weights is not a tensor")
    save_file({name: value.clone().contiguous() for name, value in tensors.items()}, target, {"format": "pt"})


if __name__ == "__main__":
    main(*sys.argv[1:])
