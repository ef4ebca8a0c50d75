"""Measure the starter judge on questions that nothing of it was made from, and write its card.

`python recipes/starter/measure.py --data DIR` prints a table by source, the judge beside exact match, containment,
token F1, ROUGE-L and BERTScore on the same rows, one by family of hedged answers (`families.jsonl`, which no
training row is made from) and one of the audit, and writes them into `src/bert_judge/starter/README.md`. What the judge
was trained on stands in `card.md`, of the weights in the package; change it for weights of your own.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from build import TEST_SHARE, divide
from data import all_rows
from made.choosing import terse_frames
from made.frames import wordings

from bert_judge import BERTJudge, Sample
from bert_judge.audit import assess_trials, load_items, make_trials
from bert_judge.judges import BERTScore, Judge
from bert_judge.metrics import containment, exact_match, rouge_l, token_f1
from bert_judge.stats import bootstrap_interval, brier, expected_calibration_error
from bert_judge.training import split_by_question
from bert_judge.utils import STARTER_FOLDER

RULES: dict[str, Callable[[str, str], float]] = {
    "exact match": exact_match,
    "containment": containment,
    "token F1": token_f1,
    "ROUGE-L": rouge_l,
}
MADE = "made in code"
HERE = Path(__file__).parent
FEWEST = 200  # rows from which on a calibration error says something


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/")
    parser.add_argument("--model", help="another judge to measure, and no card (default: the starter)")
    args = parser.parse_args()
    rows = all_rows(args.data)
    _, dev = divide(rows)
    _, test = split_by_question(rows, TEST_SHARE)
    judge = BERTJudge(args.model)
    table, families, audit = measure(judge, dev, test), measure_families(judge), measure_audit(judge)
    print(table, families, audit, sep="\n\n")
    if args.model is None:
        card = (HERE / "card.md").read_text(encoding="utf-8")
        text = card.format(signature=judge.signature, table=table, families=families, audit=audit)
        (STARTER_FOLDER / "README.md").write_text(text, encoding="utf-8")


def measure(judge: Judge, dev: Sequence[Sample], test: Sequence[Sample]) -> str:
    """A Markdown table: one line a source, then all of them; accuracies in per cent, the judge's with an interval.

    Below it the calibration errors of all rows.
    """
    scores = [verdict.score or 0.0 for verdict in judge.assess(test)]
    columns = {name: [_best(rule, sample) >= 0.5 for sample in test] for name, rule in RULES.items()}
    columns["BERTScore"] = bertscore_labels(dev, test)
    columns["starter"] = [score >= 0.5 for score in scores]
    groups: dict[str, list[int]] = defaultdict(list)
    for i, sample in enumerate(test):
        groups[source_of(sample)].append(i)
    labelled = [i for name, rows in groups.items() if name != MADE for i in rows]
    lines = [
        f"| source | rows | right | {' | '.join(columns)} | 95 % | Brier | ECE |",
        "|---|---|---|" + "---|" * (len(columns) + 3),
    ]
    for name, rows in [*sorted(groups.items()), ("**all labelled sources**", labelled)]:
        lines.append(_line(name, test, scores, columns, rows))
    dev_scores = [verdict.score or 0.0 for verdict in judge.assess(dev)]
    pooled = []
    for name, rows, values in (("development", dev, dev_scores), ("test", test, scores)):
        ece = expected_calibration_error(values, [int(row.gold or 0) for row in rows])
        pooled.append(f"of all {len(rows):,} {name} rows {ece:.3f}")
    return "\n".join([*lines, "", f"ECE, labelled rows and rows made in code: {', '.join(pooled)}."])


def bertscore_labels(dev: Sequence[Sample], test: Sequence[Sample]) -> list[bool]:
    """BERTScore's F1 by the starter's encoder, right from the threshold on that fits the development rows best."""
    judge = BERTScore()
    scores = [verdict.score or 0.0 for verdict in judge.assess(dev)]
    pairs = sorted(zip(scores, (int(sample.gold or 0) for sample in dev), strict=True))
    right = best = sum(gold for _, gold in pairs)  # all labelled right
    threshold = 0.0
    for score, gold in pairs:
        right += 1 - 2 * gold
        if right > best:
            best, threshold = right, score
    return [(verdict.score or 0.0) > threshold for verdict in judge.assess(test)]


def measure_families(judge: Judge) -> str:
    """How many of each family's candidates are on the right side of 0.5."""
    rows = [json.loads(line) for line in (HERE / "families.jsonl").read_text(encoding="utf-8").splitlines()]
    samples = [Sample(row["candidate"], tuple(row["references"]), row["question"], gold=row["label"]) for row in rows]
    right: dict[str, list[bool]] = defaultdict(list)
    for row, verdict in zip(rows, judge.assess(samples), strict=True):
        right[row["family"]].append(verdict.label == row["label"])
    lines = [f"| {name} | {sum(hits)} of {len(hits)} |" for name, hits in right.items()]
    hits = [hit for family in right.values() for hit in family]
    return "\n".join(["| family | right |", "|---|---|", *lines, f"| **all** | {sum(hits)} of {len(hits)} |"])


def measure_audit(judge: Judge) -> str:
    """The share of each attack's trials that is accepted, also of those in wordings that no made row has, and of each
    invariance's verdicts that are kept."""
    audit = assess_trials(make_trials(load_items()), judge)
    known = {_key(line) for path in (HERE / "made" / "wordings").iterdir() for line in wordings(path.stem)}
    known |= {_key(frame) for frame in terse_frames()}
    plain = audit.plain
    lines = [
        "| attack or change | trials | accepted | in new wordings | kept |",
        "|---|---|---|---|---|",
        f"| none: plain answers judged well | {plain.trials} | | | {plain.accuracy or 0.0:.1%} |",
    ]
    for family in audit.families:
        rate = "" if family.rate is None else f"{family.rate:.1%}"
        if family.kind == "invariance":
            lines.append(f"| {family.name} | {family.trials} | | | {rate} |")
        else:
            new = {pattern: n for pattern, n in family.patterns.items() if _key(pattern) not in known}
            failed = sum(family.failed_patterns.get(pattern, 0) for pattern in new)
            share = f"{failed / sum(new.values()):.1%} of {sum(new.values())}" if new else ""
            lines.append(f"| {family.name} | {family.trials} | {rate} | {share} | |")
    return "\n".join(lines)


def _key(frame: str) -> str:
    """A frame by its letters and slots alone."""
    slots = re.sub(r"\{\w*\}", "@", frame.replace("\\n", "\n"))
    return re.sub(r"[^a-z@]+", " ", slots.casefold()).strip() or frame


def source_of(sample: Sample) -> str:
    """Where a row comes from; those made in code count as one source."""
    source: str = sample.meta["source"]
    return MADE if source.startswith("made:") else source


def _best(rule: Callable[[str, str], float], sample: Sample) -> float:
    return max(rule(sample.candidate, reference) for reference in sample.references)


def _line(
    name: str, test: Sequence[Sample], scores: Sequence[float], columns: dict[str, list[bool]], rows: Sequence[int]
) -> str:
    import numpy as np

    golds = [int(test[i].gold or 0) for i in rows]
    right = {column: np.array([said[i] == bool(test[i].gold) for i in rows], float) for column, said in columns.items()}
    questions = [test[i].question or " ".join(test[i].references) for i in rows]
    low, high = bootstrap_interval(lambda w: float(w @ right["starter"] / w.sum()), questions) or (0.0, 1.0)
    values = [scores[i] for i in rows]
    ece = expected_calibration_error(values, golds) if len(rows) >= FEWEST else math.nan
    cells = [f"{sum(golds) / len(rows):.0%}", *(f"{100 * hits.mean():.1f}" for hits in right.values())]
    cells[-1] = f"**{cells[-1]}**"
    cells += [
        f"{100 * low:.1f}-{100 * high:.1f}",
        f"{brier(values, golds):.3f}",
        "" if math.isnan(ece) else f"{ece:.3f}",
    ]
    return f"| {name} | {len(rows)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
