"""Names of the two predecessors that scripts import, each thin over ours: `bert_score`, and the paper's `utils`."""
