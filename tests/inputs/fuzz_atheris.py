"""Every reader under atheris, which looks for bytes that reach code not reached before: `make fuzz [SECONDS=60]`.

An input that raises anything but our own errors ends it, and is kept as `crash-…` in build/fuzz.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,unused-ignore]

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "src")]
with atheris.instrument_imports(include=["bert_judge"]):
    from test_fuzz import NAMES, SEEDS, read

WORK = HERE.parents[1] / "build" / "fuzz"


def one(data: bytes) -> None:
    """The first byte chooses the name of the file, the others are its content."""
    with tempfile.TemporaryDirectory() as folder:
        read(Path(folder), NAMES[(data[0] if data else 0) % len(NAMES)], data[1:])


if __name__ == "__main__":
    corpus = WORK / "corpus"
    shutil.rmtree(WORK, ignore_errors=True)
    corpus.mkdir(parents=True)
    for number, seed in enumerate(SEEDS):
        (corpus / f"{number}").write_bytes(bytes([NAMES.index(seed.name)]) + seed.read_bytes())
    limits = [f"-max_total_time={sys.argv[1]}", "-max_len=4096", f"-artifact_prefix={WORK}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one)
    atheris.Fuzz()
