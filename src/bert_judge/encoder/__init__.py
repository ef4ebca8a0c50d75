"""The engine: token ids in, logits or hidden states out, as fast as the machine goes and in constant memory."""

from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine, Hidden, Model, RuntimeName, load_model

__all__ = ["Engine", "Hidden", "Model", "RuntimeName", "load_model", "windows"]
