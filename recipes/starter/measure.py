"""Measure the starter judge on the questions held out from its training, and write its card.

`python recipes/starter/measure.py --data DIR` prints a table by source, the judge beside exact match, containment and
token F1 on the same rows, and writes it into `src/bert_judge/starter/README.md`.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from build import CONFIG
from data import labelled_rows, synthetic_rows

from bert_judge import BERTJudge, Sample
from bert_judge.metrics import containment, exact_match, token_f1
from bert_judge.stats import brier, expected_calibration_error, wilson_interval
from bert_judge.training import split_by_question
from bert_judge.utils import STARTER_FOLDER

RULES: dict[str, Callable[[str, str], float]] = {
    "exact match": exact_match,
    "containment": containment,
    "token F1": token_f1,
}
MADE = "made from questions"
CARD = Path(__file__).parent / "card.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/")
    args = parser.parse_args()
    labelled = split_by_question(labelled_rows(args.data), CONFIG.dev_share)
    made = split_by_question(synthetic_rows(args.data), CONFIG.dev_share)
    table = measure([*labelled[1], *made[1]])
    print(table)
    rows = Counter(map(source_of, labelled[0] + made[0]))
    trained = ", ".join(f"{source} {count:,}" for source, count in sorted(rows.items()))
    card = CARD.read_text(encoding="utf-8").format(
        signature=BERTJudge().signature, table=table, rows=f"{sum(rows.values()):,}", sources=trained
    )
    (STARTER_FOLDER / "README.md").write_text(card, encoding="utf-8")


def measure(samples: Sequence[Sample]) -> str:
    """A Markdown table: one line a source, then all of them; accuracies in per cent, the judge's with an interval."""
    scores = [verdict.score or 0.0 for verdict in BERTJudge().assess(samples)]
    groups: dict[str, list[int]] = defaultdict(list)
    for i, sample in enumerate(samples):
        groups[source_of(sample)].append(i)
    lines = [
        f"| source | rows | right | {' | '.join(RULES)} | starter | 95 % | Brier | ECE |",
        "|---|---|---|" + "---|" * (len(RULES) + 4),
    ]
    labelled = [i for name, rows in groups.items() if name != MADE for i in rows]
    for name, rows in [*sorted(groups.items()), ("**all labelled sources**", labelled)]:
        lines.append(_line(name, [samples[i] for i in rows], [scores[i] for i in rows]))
    return "\n".join(lines)


def source_of(sample: Sample) -> str:
    """Where a row comes from; those made from questions count as one source."""
    source: str = sample.meta["source"]
    return MADE if source.startswith("made:") else source


def _line(name: str, samples: Sequence[Sample], scores: Sequence[float]) -> str:
    golds = [int(sample.gold or 0) for sample in samples]
    n = len(golds)
    rules = [
        sum((max(rule(s.candidate, r) for r in s.references) >= 0.5) == g for s, g in zip(samples, golds, strict=True))
        / n
        for rule in RULES.values()
    ]
    right = sum((score >= 0.5) == gold for score, gold in zip(scores, golds, strict=True))
    low, high = wilson_interval(right, n)
    ece = expected_calibration_error(scores, golds) if n >= 200 else math.nan
    cells = [f"{sum(golds) / n:.0%}", *(f"{100 * value:.1f}" for value in rules)]
    cells += [f"**{100 * right / n:.1f}**", f"{100 * low:.1f}-{100 * high:.1f}", f"{brier(scores, golds):.3f}"]
    cells.append("" if math.isnan(ece) else f"{ece:.3f}")
    return f"| {name} | {n} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
