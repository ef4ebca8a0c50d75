"""Train a judge: any encoder and labelled rows in, a model folder out."""

from __future__ import annotations

from bert_judge.training.config import TrainConfig
from bert_judge.training.result import HeldOutMeasures, TrainResult
from bert_judge.training.rows import Mix, read_examples, split_by_question
from bert_judge.training.run import train

__all__ = ["HeldOutMeasures", "Mix", "TrainConfig", "TrainResult", "read_examples", "split_by_question", "train"]
