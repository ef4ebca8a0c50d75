"""Pickled weights (`pytorch_model.bin`), converted to safetensors once, if the user allows it.

Unpickling can run code. PyTorch's `weights_only` loading accepts tensors and nothing else; as a second guard it runs in
a separate process, whose safetensors are then read like any other model's.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bert_judge.encoder.processes import child_command, child_environment
from bert_judge.errors import ModelError
from bert_judge.paths import cache_folder

_WEIGHTS = "pytorch_model*.bin"
_OTHER_FILES = ("*.json", "*.txt", "*.model", "*.jinja")


def pickled_weights(folder: Path) -> list[Path]:
    """The pickles of a model without safetensors."""
    return [] if any(folder.glob("*.safetensors")) else sorted(folder.glob(_WEIGHTS))


def converted(folder: Path) -> Path | None:
    """The converted copy of a model, if its pickles have not changed since."""
    copy = _copy_of(folder)
    return copy if (copy / "model.safetensors").exists() else None


def convert(folder: Path) -> Path:
    """Convert a model into a copy in the user's cache folder. Raises ModelError if a file holds more than tensors."""
    copy = _copy_of(folder)
    copy.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=copy.parent) as temporary:
        new = Path(temporary, "model")
        new.mkdir()
        for file in (file for pattern in _OTHER_FILES for file in folder.glob(pattern)):
            if not file.name.startswith("pytorch_model"):
                shutil.copy(file, new)
        files = [str(new / "model.safetensors"), *map(str, pickled_weights(folder))]
        process = subprocess.run(
            child_command(__name__, *files),
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if process.returncode:
            reason = (process.stderr.strip().splitlines() or [f"status {process.returncode}"])[-1]
            raise ModelError(
                f"{folder} can't be converted to safetensors: {reason}. Fetch the model again, or one with safetensors."
            )
        if not copy.exists():  # another process may have been faster
            new.rename(copy)
    return copy


def _copy_of(folder: Path) -> Path:
    stamps = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in pickled_weights(folder)]
    key = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]
    return cache_folder() / "converted" / key


def main(target: str, *files: str) -> None:
    """In the separate process: read the tensors and write them."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, Any] = {}
    for file in files:
        try:
            weights = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # a malicious or damaged file can raise anything
            reason = str(error).strip().splitlines() or [type(error).__name__]
            sys.exit(f"{Path(file).name} holds more than weights, or is damaged ({reason[0][:200]})")
        tensors |= weights.get("state_dict", weights)
    others = [str(name) for name, value in tensors.items() if not isinstance(value, torch.Tensor)]
    if others:
        sys.exit(f"{others[0]!r} among its weights is not a tensor")
    save_file({name: value.clone().contiguous() for name, value in tensors.items()}, target, {"format": "pt"})


if __name__ == "__main__":
    main(*sys.argv[1:])
