"""The encoder: finds and loads models, and runs them: token ids in, logits or hidden states out, in constant memory."""
