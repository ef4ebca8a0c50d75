"""Does a cascade keep its promise, and what does it save? `python benchmarks/cascade.py --data FOLDER`.

Stages: containment, the starter judge, and people's labels as the last stage. Over `--splits` random splits of the
questions, thresholds are found on `--calibration` questions (a row each) and tried on all rows of the others. Prints,
for each file and for all together:

- held: the share of splits in which at least `--target_agreement` of the rows decided early agree with people
- agree: the agreement of these rows, its mean and its 5 % quantile over splits
- early: the share of rows that never reach the last stage, and by which stage they were decided
- beside it, over all rows: each judge alone, and the fallback of the paper (arXiv 2604.09497, Table 4), which takes the
  word of a pattern wherever it matches, and asks the encoder where it does not

The starter learnt from questions of these sources. `--held_out 0.06` takes those alone that `recipes/starter` keeps
from it (the files are small then: look at the line of all).

`--data` takes labelled files that `bert-judge score` reads, or folders of them.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bert_judge import BERTJudge, Sample
from bert_judge.analysis.calibrate import CascadeSettings, find_thresholds
from bert_judge.analysis.results import Row
from bert_judge.judges import Judge, RegexJudge
from bert_judge.judges.cascade import Stage
from bert_judge.sources import open_source
from bert_judge.training.rows import is_held_out

FILES = ("evouna_nq", "evouna_tq", "efficientqa", "mmlu_pro")
STAGES = ("containment", "starter")
PARSED = r"answer(?:\s+is|:)\s*(.+)"


@dataclass(frozen=True)
class Rows:
    """Labelled rows with the scores of the stages, and the rows of each question."""

    name: str
    golds: Sequence[int]
    scores: Sequence[Sequence[float | None]]
    fallback: Sequence[int]
    questions: Sequence[Sequence[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="labelled files, or folders of them")
    parser.add_argument("--files", nargs="+", default=FILES, help=f"files of a folder (default: {' '.join(FILES)})")
    parser.add_argument("--rows", type=int, default=2500, help="rows of each file (default: 2500)")
    parser.add_argument(
        "--held_out", type=float, default=1.0, help="only this share of the questions, as training sets them aside"
    )
    parser.add_argument("--splits", type=int, default=1000, help="random splits (default: 1000)")
    parser.add_argument("--calibration", type=float, nargs="+", default=[0.3], help="shares of the questions")
    parser.add_argument("--target_agreement", type=float, default=0.95)
    parser.add_argument("--delta", type=float, default=0.1)
    args = parser.parse_args()
    files = [read(path, args.rows, args.held_out) for path in paths(args.data, args.files)]
    files.append(together(files))
    print(f"target {args.target_agreement:g}, delta {args.delta:g}, {args.splits} splits\n")
    print(f"{'':14}{'rows':>6}{'right':>7}{'containment':>13}{'starter':>9}{'fallback':>10}   agreement with people")
    for rows in files:
        print(alone(rows))
    print(
        f"\n{'':14}{'calibrated on':>16}{'held':>9}{'agree':>8}{'5 %':>7}{'early':>8}{'containment':>13}{'starter':>9}"
    )
    for rows in files:
        for share in args.calibration:
            for split_stages in (False, True):
                settings = CascadeSettings(
                    target_agreement=args.target_agreement, delta=args.delta, split_stages=split_stages
                )
                print(simulated(rows, int(share * len(rows.questions)), args.splits, settings), flush=True)


def paths(given: Sequence[str], names: Sequence[str]) -> list[Path]:
    """The files, and of folders those of the names."""
    found = []
    for path in map(Path, given):
        inside = (each for name in names for each in sorted([*path.glob(f"{name}.*"), *path.glob(f"*/{name}.*")]))
        found += list(inside) if path.is_dir() else [path]
    return found


def read(path: Path, count: int, held_out: float) -> Rows:
    """Rows with a label, spread over the file, judged by every stage."""
    labelled = [row for row in open_source(path) if row.gold is not None and is_held_out(row, held_out)]
    samples = random.Random(0).sample(labelled, min(count, len(labelled)))
    several = any("\n(A)" in (sample.question or "") for sample in samples)
    regex = RegexJudge(PARSED, "choice" if several else "exact_match")
    starter = scores(BERTJudge(), samples)
    parsed = [verdict.label if verdict.details.get("answer") else None for verdict in regex.assess(samples)]
    fallback = [int((s or 0) >= 0.5) if label is None else label for label, s in zip(parsed, starter, strict=True)]
    questions: dict[str, list[int]] = {}
    for number, sample in enumerate(samples):
        row = Row(sample.id, None, None, question=sample.question, references=sample.references)
        questions.setdefault(row.cluster, []).append(number)
    name = path.name.split(".")[0]
    golds = [sample.gold or 0 for sample in samples]
    return Rows(
        name, golds, (scores(RegexJudge("none", "containment"), samples), starter), fallback, [*questions.values()]
    )


def scores(judge: Judge, samples: Sequence[Sample]) -> list[float | None]:
    return [verdict.score for verdict in judge.assess(samples)]


def together(files: Sequence[Rows]) -> Rows:
    """All files as one."""
    starts = [sum(len(each.golds) for each in islice(files, n)) for n in range(len(files))]
    return Rows(
        "all",
        [gold for each in files for gold in each.golds],
        [[score for each in files for score in each.scores[stage]] for stage in range(len(STAGES))],
        [label for each in files for label in each.fallback],
        [[start + row for row in rows] for each, start in zip(files, starts, strict=True) for rows in each.questions],
    )


def alone(rows: Rows) -> str:
    """The agreement of each judge on all rows, and of the fallback."""
    labels = [[int((score or 0) >= 0.5) for score in stage] for stage in rows.scores]
    shares = [
        statistics.mean(a == b for a, b in zip(each, rows.golds, strict=True)) for each in (*labels, rows.fallback)
    ]
    return (
        f"{rows.name:14}{len(rows.golds):6}{statistics.mean(rows.golds):7.1%}{shares[0]:13.1%}{shares[1]:9.1%}"
        f"{shares[2]:10.1%}"
    )


def simulated(rows: Rows, count: int, splits: int, settings: CascadeSettings) -> str:
    """A line over many splits: thresholds from `count` questions, tried on the others."""
    held, agreements, early = 0, list[float](), list[tuple[float, ...]]()
    for seed in range(splits):
        chance = random.Random(seed)
        questions = chance.sample(rows.questions, len(rows.questions))
        truth = {row: rows.golds[row] for row in map(chance.choice, questions[:count])}
        tried = [row for question in questions[count:] for row in question]
        agreement, shares = outcome(rows, truth, tried, settings)
        early.append(shares)
        held += agreement is None or agreement >= settings.target_agreement
        agreements += [] if agreement is None else [agreement]
    by_stage = [statistics.mean(each) for each in zip(*early, strict=True)]
    lowest = f"{statistics.quantiles(agreements, n=20)[0]:.1%}" if len(agreements) > 1 else "-"
    mean = f"{statistics.mean(agreements):.1%}" if agreements else "-"
    own = " (own)" if settings.split_stages else ""
    return (
        f"{rows.name:14}{f'{count}{own}':>16}{held / splits:9.1%}{mean:>8}{lowest:>7}{sum(by_stage):8.1%}"
        f"{by_stage[0]:13.1%}{by_stage[1]:9.1%}"
    )


def outcome(
    rows: Rows, truth: Mapping[int, int], tried: Sequence[int], settings: CascadeSettings
) -> tuple[float | None, tuple[float, ...]]:
    """The agreement of the rows that are decided early (None: there are none), and the share of each stage in all."""
    found = find_thresholds(STAGES, lambda stage, asked: [rows.scores[stage][row] for row in asked], truth, settings)
    left, agreed, counts = list(tried), 0, []
    for number, stage in enumerate(found.stages):
        made = Stage(stage.name, {}, "", stage.high.certificate, stage.low.certificate)
        decided = {row: label for row in left if (label := made.decide(rows.scores[number][row])) is not None}
        agreed += sum(rows.golds[row] == label for row, label in decided.items())
        counts.append(len(decided))
        left = [row for row in left if row not in decided]
    total = sum(counts)
    return agreed / total if total else None, tuple(count / len(tried) for count in counts)


if __name__ == "__main__":
    main()
