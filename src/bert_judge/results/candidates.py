"""Candidates of a model: a folder with `candidates.json`, a list of texts, one a row of the task, and `run.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bert_judge.errors import OutputError
from bert_judge.results.files import CANDIDATES, RUN, json_list, write, write_json
from bert_judge.results.identity import Identity


def candidates_written(folder: Path, identity: Identity) -> bool:
    """Whether the candidates of this run are there. Raises OutputError where those of another run are."""
    if not (folder / CANDIDATES).exists():
        return False
    try:
        other = identity.difference(json.loads((folder / RUN).read_text(encoding="utf-8"))["identity"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        other = "an unknown run (it has no run.json that can be read)"
    if other:
        raise OutputError(f"{folder} holds candidates of {other}; choose another --output_dir, or pass --overwrite.")
    return True


def write_candidates(folder: Path, candidates: Iterable[str], identity: Identity, run: Mapping[str, Any]) -> None:
    """Write candidates and the record of their run, each in one step."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUN).unlink(missing_ok=True)
        write(folder / CANDIDATES, json_list(json.dumps(text) for text in candidates))
        write_json(folder / RUN, {"identity": asdict(identity), **run})
    except OSError as error:
        raise OutputError(f"{folder} can't be written ({error.strerror}); choose another --output_dir.") from error
