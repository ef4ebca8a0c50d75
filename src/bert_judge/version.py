"""The one home of the version number, and of the versions that a run is recorded with."""

from __future__ import annotations

__version__ = "0.1.0"


def versions(*packages: str) -> dict[str, str]:
    """Versions of this package, of Python, and of those of the packages that are installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"bert-judge": __version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
