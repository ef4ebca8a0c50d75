"""The lock of docker/ and `make locked`: the exact versions of the constraints, each with hashes, and none missing."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1]
LOCKS = [PROJECT / "docker" / name for name in ("lock.txt", "lock-cuda.txt")]


def pinned(path: Path) -> dict[str, str]:
    """The version of each package in a file of requirements."""
    pins = re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pins}


def needed(name: str, extras: frozenset[str], known: set[str]) -> set[str]:
    """The packages that an installed one needs, directly and by others, on this machine."""
    for text in importlib.metadata.requires(name) or []:
        requirement = Requirement(text)
        other = canonicalize_name(requirement.name)
        marker, environments = requirement.marker, [{"extra": extra} for extra in ("", *extras)]
        here = marker is None or any(map(marker.evaluate, environments))
        if here and other not in known:
            known.add(other)
            needed(other, frozenset(requirement.extras), known)
    return known


def test_every_package_is_locked_at_the_version_of_the_constraints() -> None:
    constraints, locked = pinned(PROJECT / "constraints.txt"), pinned(LOCKS[0]) | pinned(LOCKS[1])
    assert not needed("bert-judge", frozenset(["cpu", "server"]), set()) - {"bert-judge"} - locked.keys()
    differing = {name for name in locked.keys() & constraints.keys() if locked[name] != constraints[name]}
    assert not differing, "run `make lock`"


def test_every_package_has_hashes_and_no_file_names_an_index() -> None:
    for path in LOCKS:
        for block in re.split(r"\n(?=\S)", path.read_text().strip()):
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block
        assert "://" not in path.read_text()
