"""GSM8K: word problems of grade schools (Cobbe et al., arXiv 2110.14168)."""

from __future__ import annotations

from bert_judge.errors import InputError
from bert_judge.tasks._benchmark import Benchmark, Item, Row, make_tasks
from bert_judge.tasks._prompts import RESULT

_DATA, _LICENCE, _FAMILY = "openai/gsm8k", "MIT", "math"


def _read(row: Row) -> Item:
    """The result stands behind `####`, at the end of the worked solution."""
    _, mark, result = row["answer"].rpartition("####")
    if not mark:
        raise InputError(f"a solution of GSM8K has no '#### result' at its end: …{row['answer'][-60:]!r}.")
    return Item(row["question"], result)


TASKS = make_tasks(
    [
        Benchmark("gsm8k_train", _DATA, "main", "train", _LICENCE, _FAMILY),
        Benchmark("gsm8k_test", _DATA, "main", "test", _LICENCE, _FAMILY),
    ],
    _read,
    RESULT,
)
