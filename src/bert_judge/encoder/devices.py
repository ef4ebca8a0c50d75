"""The devices of this machine, and the fastest number type on each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bert_judge.errors import InputError, first_line

if TYPE_CHECKING:
    import torch


def choose_device(device: str) -> torch.device:
    """A device of PyTorch; "auto" is an accelerator if there is one. Raises InputError if it can't be used."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"the device {device!r} can't be used ({first_line(error)}); 'auto' or 'cpu' always can."
        ) from error


def fastest_dtype(device: torch.device) -> str:
    """The fastest type that a device computes natively: bfloat16, else float32."""
    import torch

    if device.type == "cuda":
        fast = torch.cuda.is_bf16_supported()
    else:
        fast = device.type == "cpu" and has_native_bf16() and not hides_amx()
    return "bfloat16" if fast else "float32"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out: only CUDA has its own exception; others have only a message."""
    return any(words in str(error) for words in ("out of memory", "can't allocate memory"))


def has_native_bf16() -> bool:
    """Whether this machine's processor multiplies bfloat16 matrices itself (AMX or AVX-512 BF16, or Arm's BF16)."""
    import torch

    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def hides_amx() -> bool:
    """Whether this is a virtual machine that hides AMX of an Intel processor.

    bfloat16 is then left to AVX-512 BF16, which takes 1.6 times as long as float32.
    """
    try:
        flags = re.search("^flags.*$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:  # not Linux
        return False
    return flags is not None and "avx512_fp16" in flags[0] and "amx_bf16" not in flags[0]
