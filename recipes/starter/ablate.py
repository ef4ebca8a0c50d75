"""What each part of the recipe is worth: `python recipes/starter/ablate.py --data DIR NAME …`.

One fixed protocol for all variants: 20,000 rows, one epoch, then the accuracy at 0.5 on the test questions, by source
and as a mean over the sources. A variant leaves something out, or sets something otherwise; see `VARIANTS`.
`without:FAMILY` leaves out whole families of sources, in training and in calibration, to measure the judge where it
has seen nothing alike. Each takes about seven minutes on two processor cores; scores are kept in `build/ablations`,
and the table shows all that are there.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from build import CONFIG, FORM, TEST_SHARE, find_base
from data import FAMILIES, all_rows, to_learn

from bert_judge import BERTJudge, Sample
from bert_judge.judges import Judge
from bert_judge.metrics import choice, containment, token_f1
from bert_judge.stats import expected_calibration_error
from bert_judge.training import split_by_question, train

ROWS = 20_000
UNSEEN = 4_000  # rows of a family left out that measure it, beside the test rows: a few questions tell little
WITHOUT = "without:"


@dataclass(frozen=True)
class Variant:
    """What is otherwise in one run: settings of the training and of the form, and sources or kinds left out."""

    config: dict[str, Any] = field(default_factory=dict)
    form: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # starts of the names of sources


VARIANTS = {
    "all": Variant(),
    "no marks": Variant(form={"marks": False, "contrast": False}),
    "no contrast": Variant(form={"contrast": False}),
    "no made rows": Variant(without=("made:",)),
    "evidence combined": Variant(config={"combine_evidence": True}),
    "questions kept": Variant(config={"question_dropout": 0.0}),
}
RULES: dict[str, Callable[[str, str], float]] = {"containment": containment, "choice": choice, "token F1": token_f1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"{', '.join(VARIANTS)}, without:FAMILY,FAMILY or without:made:KIND")
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument("--base", type=Path, help="folder of the base encoder (default: the PyPI package's)")
    parser.add_argument("--work", type=Path, default=Path("build/ablations"), help="where scores are kept")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows trained on (default: %(default)s)")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    learnt, test = split_by_question(all_rows(args.data), TEST_SHARE)
    for name in args.names:
        scores = run(variant_of(name), learnt, [*test, *left_out(name, learnt)], args)
        (args.work / f"{name}.json").write_text(json.dumps(scores))
    found = {path.stem: json.loads(path.read_text()) for path in sorted(args.work.glob("*.json"))}
    rules = {name: [max(rule(s.candidate, r) for r in s.references) for s in test] for name, rule in RULES.items()}
    print(table(test, rules, found))
    if any(name.startswith(WITHOUT) for name in found) and "all" in found:
        print("\n" + unseen(learnt, test, rules, found))


def variant_of(name: str) -> Variant:
    """A variant of the table, or one without families or kinds."""
    if not name.startswith(WITHOUT):
        return VARIANTS[name]
    gone = name.removeprefix(WITHOUT).split(",")
    return Variant(without=tuple(source for each in gone for source in FAMILIES.get(each, (each,))))


def left_out(name: str, learnt: Sequence[Sample]) -> list[Sample]:
    """Rows to learn from of the families that a variant leaves out: it has not seen them either."""
    rows: list[Sample] = []
    for family in name.removeprefix(WITHOUT).split(",") if name.startswith(WITHOUT) else ():
        own = [row for row in learnt if row.meta["source"] in FAMILIES.get(family, ())]
        rows += random.Random(1).sample(own, min(UNSEEN, len(own)))
    return rows


def run(variant: Variant, learnt: Sequence[Sample], test: Sequence[Sample], args: argparse.Namespace) -> list[float]:
    """Train by the protocol; the probabilities of the rows that measure."""
    seen = [row for row in learnt if not row.meta["source"].startswith(variant.without or ("-",))]
    rest, dev = split_by_question(seen, CONFIG.dev_share)
    rest = list(to_learn(rest))
    random.Random(1).shuffle(rest)
    plain = {"num_train_epochs": 1.0, "evaluations": 1, "save_strategy": "no", "overwrite": True, "quiet": True}
    config = replace(CONFIG, **(plain | variant.config))
    form = replace(FORM, **variant.form)
    result = train(str(args.base or find_base()), [*rest[: args.rows], *dev], args.work / "judge", form, config)
    judge: Judge = BERTJudge(str(result.folder))
    return [verdict.score or 0.0 for verdict in judge.assess(test)]


Scores = dict[str, list[float]]
"""Of each rule or variant, a score for every test row, and then for those of families left out."""


def table(test: Sequence[Sample], rules: Scores, found: Scores) -> str:
    """Accuracy in per cent by source, rules first; then the mean over labelled sources, their ECE, and made rows."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, sample in enumerate(test):
        groups["made" if sample.meta["source"].startswith("made:") else sample.meta["source"]].append(i)
    columns = rules | found
    golds = [int(sample.gold or 0) for sample in test]
    lines = [f"| source | rows | {' | '.join(columns)} |", "|---|---|" + "---|" * len(columns)]
    means: dict[str, list[float]] = defaultdict(list)
    for source, rows in sorted(groups.items()):
        right = {name: _accuracy(scores, golds, rows) for name, scores in columns.items()}
        lines.append(_line(source, len(rows), right))
        for name, share in right.items() if source != "made" else ():
            means[name].append(share)
    labelled = [i for source, rows in groups.items() if source != "made" for i in rows]
    pooled = {name: _accuracy(scores, golds, labelled) for name, scores in columns.items()}
    lines.append(
        _line("mean of the sources", len(means[next(iter(means))]), {n: statistics.mean(m) for n, m in means.items()})
    )
    lines.append(_line("all labelled rows", len(labelled), pooled))
    ece = {
        name: expected_calibration_error([scores[i] for i in labelled], [golds[i] for i in labelled])
        for name, scores in found.items()
    }
    return "\n".join([*lines, _line("ECE of these", len(labelled), dict.fromkeys(rules, "") | ece)])


def unseen(learnt: Sequence[Sample], test: Sequence[Sample], rules: Scores, found: Scores) -> str:
    """By family: rules, the judge that has seen answers of the family, and the one that has not, in per cent.

    The first columns are of the test rows, the last three of all rows that the latter judge was asked for.
    """
    heads = ["family", "rows", *RULES, "seen", "not seen", "all rows", "not seen", "ECE not seen"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, scores in found.items():
        asked = [*test, *left_out(name, learnt)]
        golds = [int(sample.gold or 0) for sample in asked]
        for family in name.removeprefix(WITHOUT).split(",") if name.startswith(WITHOUT) else ():
            every = [i for i, sample in enumerate(asked) if sample.meta["source"] in FAMILIES.get(family, ())]
            rows = [i for i in every if i < len(test)]
            columns = rules | {"seen": found["all"], "not seen": scores}
            values = {column: _accuracy(said, golds, rows) for column, said in columns.items()}
            ece = expected_calibration_error([scores[i] for i in every], [golds[i] for i in every])
            more = {"all rows": str(len(every)), "of these": _accuracy(scores, golds, every), "ECE": ece}
            lines.append(_line(family, len(rows), values | more))
    return "\n".join(lines)


def _accuracy(scores: Sequence[float], golds: Sequence[int], rows: Sequence[int]) -> float:
    return sum((scores[i] >= 0.5) == bool(golds[i]) for i in rows) / len(rows)


def _line(name: str, rows: int, values: dict[str, Any]) -> str:
    cells = [value if isinstance(value, str) else f"{100 * value:.1f}" for value in values.values()]
    return f"| {name} | {rows} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
