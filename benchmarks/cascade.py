"""Does a cascade keep its promise, and what does it save? `python benchmarks/cascade.py --data FOLDER`, or `--mixture`.

Stages: containment, the starter judge, and people's labels as the last stage. Over `--splits` random splits of the
questions, thresholds are found on the rows of `--calibration` questions and tried on all rows of the others. Prints,
for each file and for all together:

- held: the share of splits in which at least `--target_agreement` of what was decided early agrees with people; the
  promise is kept where it is at least 1 - `--delta`
- agree: the agreement of the rows that were decided early, its mean and its 5 % quantile over splits
- early: the share of rows that never reach the last stage, and by which stage they were decided
- beside it, over all rows: each judge alone, and the fallback of the paper (arXiv 2604.09497, Table 4), which takes the
  word of a pattern wherever it matches, and asks the encoder where it does not

The starter learnt from questions of these sources. `--held_out 0.06` takes those alone that `recipes/starter` keeps
from it (the files are small then: look at the line of all).

`--data` takes labelled files that `bert-judge score` reads, or folders of them. `--answers 5 2` keeps at most so many
rows of a question, file by file. `--mixture` needs no files: it draws sources whose questions have 8 answers on which
two made-up judges are often wrong, or 2 on which they seldom are.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from bert_judge import BERTJudge, Sample
from bert_judge.inputs import open_source
from bert_judge.judges import Judge, RegexJudge
from bert_judge.judges.cascade import Stage
from bert_judge.records import Row, Signature
from bert_judge.studies.cascade import CascadeSettings, Labelled, find_thresholds
from bert_judge.training.rows import is_held_out

FILES = ("evouna_nq", "evouna_tq", "efficientqa", "mmlu_pro")
STAGES = ("containment", "starter")
PARSED = r"answer(?:\s+is|:)\s*(.+)"


MIXTURE = {"eight a question": (8, 0.82, 1), "two a question": (2, 0.97, 2), "two, too": (2, 0.97, 1)}
"""Made-up sources: answers a question, how often the second judge is right, share of the questions."""


@dataclass(frozen=True)
class Rows:
    """Labelled rows with the scores of the stages, and the rows of each question."""

    name: str
    rows: Sequence[Row]
    scores: Sequence[Sequence[float | None]]
    fallback: Sequence[int]
    questions: Sequence[Sequence[int]]

    @classmethod
    def of(
        cls, name: str, rows: Sequence[Row], scores: Sequence[Sequence[float | None]], fallback: Sequence[int]
    ) -> Rows:
        questions: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            questions.setdefault(row.cluster, []).append(number)
        return cls(name, rows, scores, fallback, [*questions.values()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sources = parser.add_mutually_exclusive_group(required=True)
    sources.add_argument("--data", nargs="+", help="labelled files, or folders of them")
    sources.add_argument("--mixture", action="store_true", help="made-up sources with 8 and 2 answers a question")
    parser.add_argument("--files", nargs="+", default=FILES, help=f"files of a folder (default: {' '.join(FILES)})")
    parser.add_argument("--rows", type=int, default=2500, help="rows of each file (default: 2500)")
    parser.add_argument("--answers", type=int, nargs="+", default=[], help="most rows a question, file by file")
    parser.add_argument(
        "--held_out", type=float, default=1.0, help="only this share of the questions, as training sets them aside"
    )
    parser.add_argument("--splits", type=int, default=200, help="random splits (default: 200)")
    parser.add_argument("--calibration", type=float, nargs="+", default=[0.3], help="shares of the questions")
    parser.add_argument("--target_agreement", type=float, default=0.95)
    parser.add_argument("--delta", type=float, default=0.1)
    args = parser.parse_args()
    if args.mixture:
        files = [mixture(args.rows)]
    else:
        answered_files = zip_longest(paths(args.data, args.files), args.answers)
        files = [read(path, args.rows, most, args.held_out) for path, most in answered_files]
        files.append(together(files))
    print(f"target {args.target_agreement:g}, delta {args.delta:g}, {args.splits} splits\n")
    print(f"{'':14}{'rows':>6}{'right':>7}{'containment':>13}{'starter':>9}{'fallback':>10}   agreement with people")
    for rows in files:
        print(alone(rows))
    print(f"\n{'':14}{'calibrated on':>14}{'held':>8}{'agree':>8}{'5 %':>7}{'early':>8}", end="")
    print(f"{'containment':>13}{'starter':>9}")
    settings = CascadeSettings(target_agreement=args.target_agreement, delta=args.delta)
    for rows in files:
        for share in args.calibration:
            print(simulated(rows, int(share * len(rows.questions)), args.splits, settings), flush=True)


def mixture(count: int) -> Rows:
    """Made-up rows. A judge errs less where it is sure, and more on some questions than others."""
    chance, rows, scores, number = random.Random(0), list[Row](), (list[float](), list[float]()), 0
    names = [name for name, (_, _, share) in MIXTURE.items() for _ in range(share)]
    while len(rows) < count:
        answers, right, _ = MIXTURE[source := names[number % len(names)]]
        wrong = chance.betavariate(10 * (1 - right), 10 * right)  # on average over rows of this question
        number += 1
        for _ in range(answers):
            gold = int(chance.random() < 0.5)
            rows.append(Row(None, gold=gold, question=f"Question {number}?", meta={"source": source}))
            for stage, worse in zip(scores, (1.5, 1.0), strict=True):
                sure = chance.random()
                agrees = chance.random() >= worse * 2 * wrong * (1 - sure)
                stage.append(0.5 + sure / 2 if agrees == gold else 0.5 - sure / 2)
    fallback = [int(score >= 0.5) for score in scores[1]]
    return Rows.of("mixture", rows, scores, fallback)


def paths(roots: Sequence[str], names: Sequence[str]) -> list[Path]:
    """The files, and of folders those of the names."""
    files = []
    for path in map(Path, roots):
        inside = (file for name in names for file in sorted([*path.glob(f"{name}.*"), *path.glob(f"*/{name}.*")]))
        files += list(inside) if path.is_dir() else [path]
    return files


def read(path: Path, count: int, most: int | None, held_out: float) -> Rows:
    """Labelled rows of random questions, judged by every stage; `most` is the most rows of a question."""
    questions: dict[str, list[Sample]] = {}
    for sample in open_source(path):
        if sample.gold is not None and is_held_out(sample, held_out):
            questions.setdefault(Row.of(sample).cluster, []).append(sample)
    chance, chosen = random.Random(0), list[Sample]()
    for question in chance.sample(list(questions), len(questions)):
        rows = questions[question]
        chosen += chance.sample(rows, min(most or len(rows), len(rows))) if len(chosen) < count else []
    several = any("\n(A)" in (sample.question or "") for sample in chosen)
    regex = RegexJudge(PARSED, "choice" if several else "exact_match")
    starter = scores(BERTJudge(), chosen)
    parsed = [verdict.label if verdict.details.get("answer") else None for verdict in regex.assess(chosen)]
    fallback = [int((s or 0) >= 0.5) if label is None else label for label, s in zip(parsed, starter, strict=True)]
    name = path.name.split(".")[0]
    judged = [replace(Row.of(sample), meta={"source": name}) for sample in chosen]
    return Rows.of(name, judged, (scores(RegexJudge("none", "containment"), chosen), starter), fallback)


def scores(judge: Judge, samples: Sequence[Sample]) -> list[float | None]:
    return [verdict.score for verdict in judge.assess(samples)]


def together(files: Sequence[Rows]) -> Rows:
    """All files as one."""
    return Rows.of(
        "all",
        [row for file in files for row in file.rows],
        [[score for file in files for score in file.scores[stage]] for stage in range(len(STAGES))],
        [label for file in files for label in file.fallback],
    )


def alone(rows: Rows) -> str:
    """The agreement of each judge on all rows, and of the fallback."""
    labels = [[int((score or 0) >= 0.5) for score in stage] for stage in rows.scores]
    golds = [row.gold or 0 for row in rows.rows]
    shares = [
        statistics.mean(a == b for a, b in zip(stage_labels, golds, strict=True))
        for stage_labels in (*labels, rows.fallback)
    ]
    return (
        f"{rows.name:14}{len(golds):6}{statistics.mean(golds):7.1%}{shares[0]:13.1%}{shares[1]:9.1%}{shares[2]:10.1%}"
    )


def simulated(rows: Rows, count: int, splits: int, settings: CascadeSettings) -> str:
    """A line over many splits: thresholds from `count` questions, tried on the others."""
    held, agreements, early = 0, list[float](), list[tuple[float, ...]]()
    for seed in range(splits):
        questions = random.Random(seed).sample(rows.questions, len(rows.questions))
        calibrated, tried = (
            [row for question_rows in part for row in question_rows] for part in (questions[:count], questions[count:])
        )
        agreement, shares = outcome(rows, calibrated, tried, settings)
        early.append(shares)
        held += agreement is None or agreement >= settings.target_agreement
        agreements += [] if agreement is None else [agreement]
    by_stage = [statistics.mean(shares) for shares in zip(*early, strict=True)]
    lowest = f"{statistics.quantiles(agreements, n=20)[0]:.1%}" if len(agreements) > 1 else "-"
    mean = f"{statistics.mean(agreements):.1%}" if agreements else "-"
    return (
        f"{rows.name:14}{count:14}{held / splits:8.1%}{mean:>8}{lowest:>7}{sum(by_stage):8.1%}{by_stage[0]:13.1%}"
        f"{by_stage[1]:9.1%}"
    )


def outcome(
    rows: Rows, calibrated: Sequence[int], tried: Sequence[int], settings: CascadeSettings
) -> tuple[float | None, tuple[float, ...]]:
    """The agreement of what is decided early, None where no row is, and the share of each stage in all rows."""
    golds = [row.gold or 0 for row in rows.rows]
    truth = {place: Labelled(golds[row], rows.rows[row].cluster) for place, row in enumerate(calibrated)}
    thresholds = find_thresholds(
        STAGES, lambda stage, asked: [rows.scores[stage][calibrated[row]] for row in asked], truth, settings
    )
    left, decided, counts = list(tried), dict[int, int](), list[int]()
    for number, stage in enumerate(thresholds.stages):
        made = Stage(stage.name, {}, Signature(""), stage.high, stage.low)
        here = {row: label for row in left if (label := made.decide(rows.scores[number][row])) is not None}
        counts.append(len(here))
        decided |= here
        left = [row for row in left if row not in here]
    agreement = statistics.mean(label == golds[row] for row, label in decided.items()) if decided else None
    return agreement, tuple(count / len(tried) for count in counts)


if __name__ == "__main__":
    main()
