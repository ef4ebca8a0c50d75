"""`python -m bert_judge.cli` is `bert-judge`."""

from bert_judge.cli import run

run()
