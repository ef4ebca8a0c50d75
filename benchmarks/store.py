"""When keeping verdicts pays: rows a second of a judge alone, with an empty store, and with one that has all of them.

    python benchmarks/store.py FILE [--judge starter,containment] [--rows 2000]

Prints also how large a share of the rows has to be known for the store to pay: looking up and keeping cost time, too.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import islice
from pathlib import Path

from bert_judge.inputs import open_source
from bert_judge.judges import Judge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.judges.wrappers import StoredJudge
from bert_judge.records import Sample
from bert_judge.results.store import Store


def seconds(judge: Judge, samples: list[Sample]) -> float:
    """How long a judge takes."""
    start = time.perf_counter()
    for _ in judge.assess(samples):
        pass
    return time.perf_counter() - start


def main() -> None:
    """Print a table: a judge a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--judge", default="starter,containment")
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    samples = list(islice(open_source(options.file), options.rows))
    print(f"{len(samples):,} rows; rows a second")
    print(f"{'judge':14} {'alone':>9} {'empty store':>12} {'all known':>10} {'bytes a row':>12}  pays from")
    for name in options.judge.split(","):
        list(JudgeSpec.of(name).make().assess(samples[:200]))
        alone = seconds(JudgeSpec.of(name).make(), samples)  # a new one, as judges remember
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "store.sqlite")
            empty = seconds(StoredJudge(JudgeSpec.of(name).make(), Store(path)), samples)
            known = seconds(StoredJudge(JudgeSpec.of(name).make(), Store(path)), samples)
            size = sum(file.stat().st_size for file in Path(folder).iterdir()) / len(samples)
        share = (empty - alone) / (empty - known)
        pays = f"{max(share, 0):.0%} known" if known < alone else "never"
        rates = [len(samples) / duration for duration in (alone, empty, known)]
        print(f"{name:14} {rates[0]:9.0f} {rates[1]:12.0f} {rates[2]:10.0f} {size:12.0f}  {pays}")


if __name__ == "__main__":
    main()
