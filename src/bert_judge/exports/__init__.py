"""Verdicts in the formats of other tools. Each format is a function of a result and options, and a line in `FORMATS`.

exported = FORMATS["inspect"](load_run("out"), ExportOptions())
write_exported(exported, Path("scored"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bert_judge.analysis.results import Run
from bert_judge.exports.base import Exported, ExportOptions, write_exported
from bert_judge.exports.inspect_ai import export_inspect

__all__ = ["FORMATS", "ExportOptions", "Exported", "write_exported"]

FORMATS: Final[Mapping[str, Callable[[Run, ExportOptions], Exported]]] = {
    "inspect": export_inspect,
}
"""The formats by the name that `bert-judge export --to` takes."""
