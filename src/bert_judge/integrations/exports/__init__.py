"""Verdicts in the formats of other tools. A format is a function of a result and options, and a line in `FORMATS`.

exported = FORMATS["inspect"](load_run("out"), ExportOptions())
write_exported(exported, Path("scored"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bert_judge.integrations.exports.base import Exported, ExportOptions, write_exported
from bert_judge.integrations.exports.every_eval_ever import export_every_eval_ever
from bert_judge.integrations.exports.inspect_ai import export_inspect
from bert_judge.integrations.exports.rows import export_rows
from bert_judge.results.runs import Run

__all__ = ["FORMATS", "ExportOptions", "Exported", "write_exported"]

FORMATS: Final[Mapping[str, Callable[[Run, ExportOptions], Exported]]] = {
    "inspect": export_inspect,
    "every_eval_ever": export_every_eval_ever,
    "rows": export_rows,
}
"""The formats by the name that `bert-judge report --to` takes."""
