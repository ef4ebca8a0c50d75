"""Judges in packages of their own: any distribution may offer some under names, by entry points.

An entry point of the group `bert_judge.judges` has the name of the judge, and leads to a path: the folder of a model,
or the file of a cascade (`judges.cascade`). In the `pyproject.toml` of the distribution:

    [project.entry-points."bert_judge.judges"]
    mine = "my_package:WEIGHTS"        # WEIGHTS = Path(__file__).parent / "weights"

Such a name goes before a folder of this name: `./mine` is the folder.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from bert_judge.errors import ModelError, first_line

OURS = dict.fromkeys(("large", "starter-large"), "bert-judge-large")
"""The names of the judges that are ours, and the distributions that offer them."""

_GROUP = "bert_judge.judges"


def packaged(name: str) -> Path | None:
    """The folder of a model, or the file of a cascade, that an installed distribution offers under a name.

    None where the name is no such judge's. Raises ModelError where the judge's distribution is not installed, lacks its
    files or can't be imported, and where several offer the name.
    """
    offers = [offer for offer in importlib.metadata.entry_points(group=_GROUP, name=name) if offer.dist]
    if not offers:
        if name not in OURS:
            return None
        raise ModelError(
            f"the judge {name!r} is in a package of its own, which is not installed: `pip install {OURS[name]}`, or "
            f"`pip install ./large` where the source is (a folder of your own with this name is ./{name})."
        )
    packages = [offer.dist.name for offer in offers if offer.dist]
    if len(offers) > 1:
        raise ModelError(f"the packages {' and '.join(packages)} both offer a judge {name!r}; uninstall one of them.")
    try:
        path = Path(offers[0].load())
    except (ImportError, AttributeError, TypeError) as error:
        raise ModelError(
            f"the package {packages[0]}, which offers the judge {name!r}, can't be used ({first_line(error)}); install "
            "it again."
        ) from error
    if not path.exists():
        raise ModelError(f"the package {packages[0]} lacks the files of the judge {name!r}: there is no {path}.")
    return path


def installed() -> Iterator[tuple[str, str]]:
    """The names of judges that installed distributions offer, and these with their versions."""
    for offer in sorted(importlib.metadata.entry_points(group=_GROUP)):
        if offer.dist:
            yield offer.name, f"{offer.dist.name} {offer.dist.version}"
