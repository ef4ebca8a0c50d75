"""ASDiv: diverse word problems of elementary schools (Miao et al., ACL 2020, 2020.acl-main.92)."""

from __future__ import annotations

from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._math import without_units
from bert_judge.tasks._prompts import RESULT


def _read(row: Row) -> Item:
    """All values of the answer, in order, without their units; the problem says which is which."""
    return Item(f"{row['body'].strip()} {row['question'].strip()}", without_units(row["answer"]))


TASKS = asdiv, asdiv_soft, asdiv_strict = make_tasks(
    [Benchmark("asdiv", "EleutherAI/asdiv", None, "validation", "CC-BY-NC-4.0", "math")],
    _read,
    RESULT,
)
