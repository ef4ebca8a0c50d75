"""Train a judge: any encoder and labelled rows in, a model folder out."""

from __future__ import annotations

from bert_judge.training.config import TrainConfig
from bert_judge.training.folder import TrainResult
from bert_judge.training.held_out import HeldOutMeasures
from bert_judge.training.rows import read_examples, split_by_question
from bert_judge.training.run import train
from bert_judge.training.selection import Mix

__all__ = [
    "HeldOutMeasures",
    "Mix",
    "TrainConfig",
    "TrainResult",
    "read_examples",
    "split_by_question",
    "train",
]
