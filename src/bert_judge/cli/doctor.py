"""`bert-judge doctor`: what is installed, what a judge would run on, and what could be installed."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from bert_judge.cli import run, say
from bert_judge.cli.flags import Parser
from bert_judge.encoder.devices import fastest_dtype, has_int8_products, has_native_bf16, hides_amx
from bert_judge.errors import BertJudgeError
from bert_judge.paths import cache_folder
from bert_judge.records import __version__

_EXAMPLES = """examples:
  bert-judge doctor

Put what it prints into a report of a problem. It exits with 1 where the starter judge does not work.
"""
_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "datasets", "numpy", "pyarrow")
_FOLDERS = ("LOCAL_MODELS_DIR", "LOCAL_DATASETS_DIR", "HF_HOME")
_SWITCHES = ("HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")


def main(arguments: Sequence[str]) -> int:
    """Print what there is, and judge a row with the starter."""
    Parser("bert-judge doctor", "", "Say what is installed, and what a judge would run on.", _EXAMPLES).parse(arguments)
    for title, lines in (("versions", _versions()), ("extras", _extras()), ("devices", _devices())):
        say("\n".join([title, *(f"  {line}" for line in lines), ""]))
    say("\n".join(["folders", *(f"  {line}" for line in _folders()), ""]))
    try:
        say("\n".join(["starter judge", *(f"  {line}" for line in _starter())]))
    except BertJudgeError as error:
        say(f"starter judge\n  does not work: {error}")
        return 1
    return 0


def _versions() -> Iterator[str]:
    yield f"bert-judge {__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{name} {_version(name) or 'missing'}" for name in _PACKAGES)


def _extras() -> Iterator[str]:
    """Each extra with the packages that it adds, and what to install where one is missing."""
    adds: dict[str, list[str]] = {}
    for text in importlib.metadata.requires("bert-judge") or []:
        requirement = Requirement(text)
        for extra in importlib.metadata.metadata("bert-judge").get_all("Provides-Extra") or []:
            plain = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if extra != "dev" and not plain and requirement.marker and requirement.marker.evaluate({"extra": extra}):
                adds.setdefault(extra, []).append(requirement.name)
    for extra, names in adds.items():
        missing = [name for name in names if _version(name) is None]
        there = ", ".join(f"{name} {_version(name)}" for name in names if name not in missing)
        yield f"{extra:12} " + (f"not there: pip install {' '.join(missing)}" if missing else there)


def _devices() -> Iterator[str]:
    import torch

    native = "with" if has_native_bf16() else "without"
    slow = " (slower than float32, as this virtual machine hides AMX)" if hides_amx() else ""
    yield f"cpu          {platform.machine()}, {os.cpu_count()} cores, {native} native bfloat16{slow}"
    yield f"int8         {_int8()}"
    for index in range(torch.cuda.device_count()):
        memory = torch.cuda.get_device_properties(index).total_memory / 2**30
        yield f"cuda:{index}       {torch.cuda.get_device_name(index)}, {memory:.0f} GiB"
    if torch.backends.mps.is_available():
        yield "mps          Apple GPU"


def _int8() -> str:
    """Whether `quantize` pays on this processor, with the figures of docs/quantize.md."""
    import torch

    if fastest_dtype(torch.device("cpu")) == "bfloat16":
        return "bert-judge quantize is for processors without fast bfloat16; this one has it"
    if has_int8_products():
        return "bert-judge quantize pays here: an int8 starter judged 289 rows/s where float32 judged 144 (with VNNI)"
    return "bert-judge quantize does not pay here: without VNNI or AMX an int8 starter judged 70 rows/s, float32 105"


def _folders() -> Iterator[str]:
    yield f"cache of converted models and replies: {cache_folder()} ({_state(cache_folder())})"
    for name in _FOLDERS:
        value = os.environ.get(name)
        yield f"{name}: " + (f"{value} ({_state(Path(value).expanduser())})" if value else "not set")
    yield ", ".join(f"{name}={os.environ[name]}" for name in _SWITCHES if name in os.environ) or "no switches are set"


def _state(folder: Path) -> str:
    if not folder.exists():
        return "not there yet"
    return "writable" if os.access(folder, os.W_OK) else "read-only"


def _starter() -> Iterator[str]:
    """Load the judge that ships in the package, and let it judge an answer twice."""
    from bert_judge.judges import BERTJudge

    start = time.monotonic()
    judge = BERTJudge()
    settings = judge.info.signature.settings
    runtime = ", ".join(settings[name] for name in ("runtime", "device", "dtype"))
    yield f"runs on {runtime}; loaded in {time.monotonic() - start:.1f} s"
    question, reference = "What is the capital of France?", "Paris"
    candidates = ["I'd say it is Paris.", "London."]
    scores = judge.predict([question] * 2, candidates, [reference] * 2)
    told = (f"{text!r} {score:.2f}" for text, score in zip(candidates, scores, strict=True) if score is not None)
    yield f"P(correct) of {', '.join(told)} for the reference {reference!r}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    run("doctor")
