"""A task of lighteval that a judge scores: in this folder, `lighteval accelerate model_name=MODEL questions
--custom-tasks lighteval_task.py --save-details`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from bert_judge.integrations.lighteval import bert_judge


def document(row: dict[str, Any], task_name: str) -> Doc:
    """A row of `answers.jsonl`; all of its references are golds."""
    golds = list(range(len(row["references"])))
    return Doc(
        task_name=task_name,
        query=f"Question: {row['question']}\nAnswer:",
        choices=row["references"],
        gold_index=golds,
        specific={"question": row["question"]},
    )


DATA = Path(tempfile.mkdtemp(), "questions")  # a folder of data files alone, named by their splits
DATA.mkdir()
shutil.copy(Path(__file__).parent / "answers.jsonl", DATA / "test.jsonl")

TASKS_TABLE = [
    LightevalTaskConfig(
        name="questions",
        prompt_function=document,
        hf_repo=str(DATA),
        hf_subset="default",
        evaluation_splits=["test"],
        hf_avail_splits=["test"],
        generation_size=32,
        stop_sequence=["\n"],
        metrics=[Metrics.exact_match, bert_judge(question=lambda doc: doc.specific["question"])],
    )
]
