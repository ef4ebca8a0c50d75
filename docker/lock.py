"""Write `lock.txt` and `lock-cuda.txt`: exact versions with the hashes of all their files, for `pip --require-hashes`.

    python docker/lock.py DEFAULT CPU

Both are what `uv pip compile --generate-hashes` wrote (`make lock`): with PyTorch as the package index has it, which
for Linux brings CUDA, and with its build for processors. What the second one has goes into `lock.txt`, with the hashes
of both builds of PyTorch, the others into `lock-cuda.txt`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def entries(path: Path) -> dict[str, tuple[str, set[str]]]:
    """The requirement of each package, without a build's own version (+cpu), and the hashes of its files."""
    found: dict[str, tuple[str, set[str]]] = {}
    for block in re.split(r"\n(?=\S)", path.read_text().strip()):
        requirement, *hashes = (line.strip().removesuffix("\\").strip() for line in block.splitlines())
        requirement = re.sub(r"\+\w+", "", requirement)
        found[requirement.partition("==")[0]] = (requirement, set(hashes))
    return found


def text(packages: dict[str, tuple[str, set[str]]]) -> str:
    """Requirements as pip reads them."""
    blocks = (" \\\n    ".join((requirement, *sorted(hashes))) for requirement, hashes in packages.values())
    return "\n".join(blocks) + "\n"


def main(default: Path, cpu: Path) -> None:
    """Write both locks. Ends with a sentence where the two files disagree on a version."""
    with_cuda, without = entries(default), entries(cpu)
    differing = [name for name in without if with_cuda.get(name, ("",))[0] != without[name][0]]
    if differing:
        sys.exit(f"{default} and {cpu} have other versions of {', '.join(differing)}.")
    both = {name: (requirement, hashes | with_cuda[name][1]) for name, (requirement, hashes) in without.items()}
    (HERE / "lock.txt").write_text(text(both))
    cuda = {name: entry for name, entry in with_cuda.items() if name not in without}
    (HERE / "lock-cuda.txt").write_text(text(cuda))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
