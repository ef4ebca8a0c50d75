"""Measure the starter judge on questions that it has not seen, and write its card.

    python recipes/starter/measure.py --data DIR

prints three tables: accuracy by source, beside exact match, containment, token F1, ROUGE-L and BERTScore on the same
rows; families of hedged answers (`families.jsonl`, which no training row is made from); and the audit. It writes them
into `src/bert_judge/starter/README.md`. What the judge was trained on is said in `card.md`; change that for weights of
your own. `--model FOLDER` measures another judge and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from build import TEST_SHARE, divide
from data import all_rows
from made.choosing import terse_frames
from made.formats import FORMS
from made.frames import wordings

from bert_judge import BERTJudge, Sample
from bert_judge.audit import assess_trials, load_items, make_trials
from bert_judge.judges import BERTScore, Judge
from bert_judge.metrics import containment, exact_match, rouge_l, token_f1
from bert_judge.models import STARTER_FOLDER
from bert_judge.stats import bootstrap_interval, brier, expected_calibration_error
from bert_judge.stats.discrimination import most_accurate
from bert_judge.training import split_by_question

Rules = Mapping[str, Callable[[str, str], float]]
RULES: Rules = {"exact match": exact_match, "containment": containment, "token F1": token_f1, "ROUGE-L": rouge_l}
MADE = "made in code"
HERE = Path(__file__).parent
FEWEST = 200  # rows that a calibration error needs to mean something


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/")
    parser.add_argument("--model", help="another judge to measure; the card stays as it is (default: the starter)")
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
    """The table by source, with BERTScore at the threshold that fits the development rows best, and below it the
    calibration errors of all rows."""
    scores, dev_scores = scores_of(judge, test), scores_of(judge, dev)
    bertscore = BERTScore()
    threshold = most_accurate(scores_of(bertscore, dev), golds_of(dev)).value
    by_rules = labels_of(RULES, test) | {"BERTScore": [score >= threshold for score in scores_of(bertscore, test)]}
    ece = [
        f"of all {len(rows):,} {name} rows {expected_calibration_error(values, golds_of(rows)):.3f}"
        for name, rows, values in (("development", dev, dev_scores), ("test", test, scores))
    ]
    return f"{by_source(test, scores, by_rules)}\n\nECE, labelled rows and rows made in code: {', '.join(ece)}."


def by_source(rows: Sequence[Sample], scores: Sequence[float], by_rules: Mapping[str, Sequence[bool]]) -> str:
    """A Markdown table by source, and of all labelled ones: accuracies in per cent, the judge's with an interval."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        source = row.meta["source"]
        groups[MADE if re.match("made:(?!form )", source) else source].append(i)
    labelled = [i for name, places in groups.items() if not name.startswith("made") for i in places]
    heads = ["source", "rows", "right", *by_rules, "starter", "95 %", "Brier", "ECE"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, places in [*sorted(groups.items()), ("**all labelled sources**", labelled)]:
        part, values = [rows[i] for i in places], [scores[i] for i in places]
        golds = golds_of(part)
        right = (np.array(values) >= 0.5) == golds
        by_rule = (np.array([*by_rules.values()])[:, places] == golds).mean(axis=1)
        questions = [row.question or " ".join(row.references) for row in part]
        low, high = bootstrap_interval(lambda w, right=right: float(w @ right / w.sum()), questions) or (0.0, 1.0)
        cells = [
            name,
            str(len(part)),
            f"{np.mean(golds):.0%}",
            *(f"{100 * accuracy:.1f}" for accuracy in by_rule),
            f"**{100 * right.mean():.1f}**",
            f"{100 * low:.1f}-{100 * high:.1f}",
            f"{brier(values, golds):.3f}",
            f"{expected_calibration_error(values, golds):.3f}" if len(part) >= FEWEST else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def scores_of(judge: Judge, rows: Sequence[Sample]) -> list[float]:
    """What a judge says of rows; 0 where it could not decide."""
    return [verdict.score or 0.0 for verdict in judge.assess(rows)]


def golds_of(rows: Sequence[Sample]) -> list[int]:
    """The labels of rows."""
    return [int(row.gold or 0) for row in rows]


def labels_of(rules: Rules, rows: Sequence[Sample]) -> dict[str, list[bool]]:
    """What rules say of rows: correct from 0.5 on, for the best of the references."""
    return {
        name: [max(rule(row.candidate, reference) for reference in row.references) >= 0.5 for row in rows]
        for name, rule in rules.items()
    }


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
    """Rates by attack of accepted trials, also in wordings that no made row has, and by invariance of kept verdicts."""
    audit = assess_trials(make_trials(load_items()), judge)
    known = {_key(line) for path in (HERE / "made" / "wordings").iterdir() for line in wordings(path.stem)}
    known |= {_key(frame) for frame in (*terse_frames(), *(form.form for family in FORMS.values() for form in family))}
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
            in_new = f"{failed / sum(new.values()):.1%} of {sum(new.values())}" if new else ""
            lines.append(f"| {family.name} | {family.trials} | {rate} | {in_new} | |")
    return "\n".join(lines)


def _key(frame: str) -> str:
    """A frame by its letters and slots alone."""
    slots = re.sub(r"\{\w*\}", "@", frame.replace("\\n", "\n"))
    return re.sub(r"[^a-z@]+", " ", slots.casefold()).strip() or frame


if __name__ == "__main__":
    main()
