"""Explanations of some rows of a result, in `explanations.jsonl` beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from bert_judge.errors import InputError, first_line
from bert_judge.records import Explanation, Occlusion
from bert_judge.results.files import EXPLANATIONS, write_files


def write_explanations(folder: Path, explained: Mapping[int, Explanation]) -> None:
    """Write explanations in the order given, each by the number of its row in `verdicts.jsonl`, which begins with 0."""
    records = ({"row": row, **asdict(explanation)} for row, explanation in explained.items())
    write_files(folder, {EXPLANATIONS: (json.dumps(record, ensure_ascii=False) + "\n" for record in records)})


def read_explanations(folder: Path) -> dict[int, Explanation]:
    """The explanations in a result's folder, by number of the row; none where there is no file. Raises InputError."""
    path = folder / EXPLANATIONS
    if not path.exists():
        return {}
    try:
        found = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            sentences, words = (tuple(Occlusion(**part) for part in record[name]) for name in ("sentences", "words"))
            found[int(record["row"])] = Explanation(record["score"], sentences, words)
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({first_line(error)}); remove it and explain again.") from error
