"""The engine: token ids in, logits or hidden states out, as fast as the machine goes and in constant memory."""

from bert_judge.encoder.batching import windows
from bert_judge.encoder.engine import Engine, Model, RuntimeName, load_model
from bert_judge.encoder.output import Hidden

__all__ = ["Engine", "Hidden", "Model", "RuntimeName", "load_model", "windows"]
