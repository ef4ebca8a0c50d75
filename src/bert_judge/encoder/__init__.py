"""The engine: token ids in, logits out, as fast as the machine goes and in constant memory."""

from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine, Model, load_model

__all__ = ["Engine", "Model", "load_model", "windows"]
