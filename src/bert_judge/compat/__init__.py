"""What scripts import from bert_score, thin over ours; the paper's names are in `bert_judge.utils`."""
