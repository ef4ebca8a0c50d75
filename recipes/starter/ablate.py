"""What each part of the recipe is worth: train without it, by one fixed protocol, and measure.

    python recipes/starter/ablate.py --data DIR all "no marks" without:maths,reading without:made:torn

A judge is trained on 20,000 rows for one epoch and measured at 0.5 on the test questions, by source. A variant leaves
something out or sets something otherwise (see `VARIANTS`). `without:FAMILY,FAMILY` leaves out families of sources, in
training and in calibration, and measures the judge on 4,000 more rows of each, too; `without:made:KIND` leaves out rows
made in code. Each variant takes about seven minutes on two processor cores; its table is also kept in `--work`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from build import CONFIG, FORM, TEST_SHARE, find_base
from data import FAMILIES, all_rows, to_learn
from measure import RULES, by_source, labels_of, scores_of

from bert_judge import BERTJudge, Sample
from bert_judge.metrics import choice
from bert_judge.training import split_by_question, train

UNSEEN = 4_000  # rows of a family left out that measure it, beside the test rows, which have few questions
PROTOCOL = {"num_train_epochs": 1.0, "evaluations": 1, "save_strategy": "no", "overwrite": True, "quiet": True}


# What a run changes: settings of the training ("config") and of the input form, and sources that are left out, by what
# their names begin with.
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "no marks": {"form": {"marks": False, "contrast": False}},
    "no contrast": {"form": {"contrast": False}},
    "no made rows": {"without": ("made:",)},
    "evidence combined": {"config": {"combine_evidence": True}},
    "questions kept": {"config": {"question_dropout": 0.0}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help=f"{', '.join(VARIANTS)}, without:FAMILY,FAMILY or without:made:KIND")
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument("--base", type=Path, help="folder of the base encoder (default: the PyPI package's)")
    parser.add_argument("--work", type=Path, default=Path("build/ablations"), help="where the tables are kept")
    parser.add_argument("--rows", type=int, default=20_000, help="rows trained on (default: %(default)s)")
    args = parser.parse_args()
    learnt, test = split_by_question(all_rows(args.data), TEST_SHARE)
    for name in args.names:
        gone = name.removeprefix("without:").split(",") if name.startswith("without:") else []
        without = tuple(source for one in gone for source in FAMILIES.get(one, [one]))
        variant = {"without": without} if gone else VARIANTS[name]
        rows = list(test)
        for family in gone:
            own = [row for row in learnt if row.meta["source"] in FAMILIES.get(family, ())]
            rows += random.Random(1).sample(own, min(UNSEEN, len(own)))
        judge = run(variant, learnt, args)
        table = by_source(rows, scores_of(judge, rows), labels_of({**RULES, "letter rule": choice}, rows))
        print(f"{name}\n\n{table}\n")
        (args.work / f"{name}.md").write_text(table + "\n", encoding="utf-8")


def run(variant: dict[str, Any], learnt: Sequence[Sample], args: argparse.Namespace) -> BERTJudge:
    """A judge trained by the protocol."""
    seen = [row for row in learnt if not row.meta["source"].startswith(variant.get("without", ()))]
    rest, dev = split_by_question(seen, CONFIG.dev_share)
    rest = list(to_learn(rest))
    random.Random(1).shuffle(rest)
    config, form = replace(CONFIG, **(PROTOCOL | variant.get("config", {}))), replace(FORM, **variant.get("form", {}))
    base = str(args.base or find_base())
    return BERTJudge(str(train(base, [*rest[: args.rows], *dev], args.work / "judge", form, config).folder))


if __name__ == "__main__":
    main()
