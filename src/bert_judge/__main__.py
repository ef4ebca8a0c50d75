"""`python -m bert_judge` is `bert-judge`."""

from bert_judge.cli import run

if __name__ == "__main__":
    run()
