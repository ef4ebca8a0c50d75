"""Train a judge: any encoder and labelled rows in, a model folder out."""

from __future__ import annotations

from bert_judge.training.config import TrainConfig
from bert_judge.training.measures import Measures
from bert_judge.training.mix import Mix
from bert_judge.training.rows import Example, read_examples, split_by_question
from bert_judge.training.run import train
from bert_judge.training.state import TrainResult

__all__ = ["Example", "Measures", "Mix", "TrainConfig", "TrainResult", "read_examples", "split_by_question", "train"]
