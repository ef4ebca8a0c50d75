"""What each part of the recipe is worth, and what a judge is worth on kinds of answers that it has not seen.

    python recipes/starter/ablate.py --data DIR                               # families left out, in groups
    python recipes/starter/ablate.py --data DIR "no marks" without:made:torn  # parts of the recipe
    python recipes/starter/ablate.py                                          # the tables of what is in --work

Each training is one epoch on a third of the recipe's rows. The questions that test and calibrate the recipe measure it,
at most 4,000 rows of each family; others calibrate it. A family of `rows.json` is sources, labelled or made in code, by
what their names begin with, and attacks that these imitate, which the half *choose* of the audit measures. A training
`without:FAMILY,FAMILY` leaves families (or sources such as made:torn) out of its rows; others are in `VARIANTS`. The
judge that saw everything, `all`, is always trained.

All is kept in `--work`, the figures as JSON. After an interruption the same command goes on from the last state; the
result of other rows or settings is refused. With `--against`, the folder of an earlier recipe, the table also says how
much of its drops is closed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from build import CONFIG, DEV_SHARE, FORM, find_base
from data import TABLES, all_rows, to_learn
from halves import trials_of
from made.bank import TEST_SHARE
from measure import FIGURES, MADE, accepted_of, cells, figures, is_made, labels_of, markdown, scores_of

from bert_judge import BERTJudge, Sample
from bert_judge.results import write_files
from bert_judge.studies.audit import assess_trials
from bert_judge.training import split_by_question, train

FAMILIES: Mapping[str, Mapping[str, list[str]]] = TABLES["families"]
GROUPS = [f"without:{','.join(group)}" for group in TABLES["left out together"]]
MOST = 4_000  # rows of a family that measure
HELD_OUT = DEV_SHARE + TEST_SHARE  # of the questions: those that measure, and half as many that calibrate
PROTOCOL = {"num_train_epochs": 1.0, "evaluations": 3, "dev_share": HELD_OUT, "quiet": True}
Record = dict[str, Any]
Records = Mapping[str, Record]

# What a training changes: settings of the training ("config") and of the input form, and sources that are left out.
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "no marks": {"form": {"marks": False}},
    "no made rows": {"without": ["made:"]},
    "questions kept": {"config": {"question_dropout": 0.0}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"{', '.join(VARIANTS)}, without:… (default: {' '.join(GROUPS)})")
    parser.add_argument("--data", type=Path, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument("--base", type=Path, help="folder of the base encoder (default: the PyPI package's)")
    parser.add_argument("--work", type=Path, default=Path("build/ablations"), help="where all is kept (%(default)s)")
    parser.add_argument("--rows", type=int, help="rows trained on (default: a third of the recipe's)")
    parser.add_argument("--against", type=Path, help="folder of an earlier recipe's trainings")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in VARIANTS and not name.startswith("without:")]:
        parser.error(f"{unknown[0]!r} is not a training; {', '.join(VARIANTS)} or without:FAMILY was expected.")
    if args.data:
        rows = all_rows(args.data)
        number = args.rows or len(list(to_learn(rows))) // 3
        learnt, held_out = split_by_question(rows, DEV_SHARE)
        groups = by_family(held_out, MOST)
        for name in dict.fromkeys(["all", *(args.names or GROUPS)]):
            record = run(name, learnt, number, args.work, str(args.base or find_base()))
            if "families" not in record:
                judge = BERTJudge(str(args.work / name))
                _write(args.work / f"{name}.json", record | measure(judge, groups))
    kept = read_kept(args.work)
    earlier = read_kept(args.against) if args.against else {}
    print(table_of_parts(kept), table_left_out(kept, earlier), sep="\n\n")


def by_family(rows: Iterable[Sample], most: int) -> dict[str, list[Sample]]:
    """At most so many rows of each family; a source that is in none is one of its own, or is made in code."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for row in rows:
        source = row.meta["source"]
        names = (name for name, family in FAMILIES.items() if source.startswith(tuple(family["sources"])))
        groups[next(names, MADE if is_made(row) else source)].append(row)
    return {name: random.Random(1).sample(members, min(most, len(members))) for name, members in groups.items()}


def run(name: str, learnt: Sequence[Sample], number: int, work: Path, base: str) -> Record:
    """Train by the protocol; what is known of the training, with the minutes that it took, interrupted or not."""
    gone = name.removeprefix("without:").split(",") if name.startswith("without:") else []
    variant = VARIANTS.get(name, {"without": [source for one in gone for source in sources_of(one)]})
    seen = [row for row in learnt if not row.meta["source"].startswith(tuple(variant.get("without", ())))]
    rest, dev = split_by_question(seen, HELD_OUT)
    rest, dev = (random.Random(1).sample(part, len(part)) for part in (list(to_learn(rest)), dev))
    rest, dev = rest[:number], dev[: number // 5]
    config, form = replace(CONFIG, **(PROTOCOL | variant.get("config", {}))), replace(FORM, **variant.get("form", {}))
    path, start = work / f"{name}.json", time.monotonic()
    record = {"without": gone, "rows": len(rest), "minutes": 0.0} | _read(path)
    try:
        folder = train(base, [*rest, *dev], work / name, form, config).folder
    finally:
        record["minutes"] += (time.monotonic() - start) / 60
        _write(path, record)
    shutil.rmtree(folder / "states", ignore_errors=True)
    return record


def sources_of(family: str) -> list[str]:
    """What the names of a family's sources begin with; of a source, its own name."""
    return FAMILIES[family]["sources"] if family in FAMILIES else [family]


def measure(judge: BERTJudge, groups: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    """The figures of families, of all labelled rows, and of the half of the audit to choose by."""
    audit = assess_trials(trials_of("choose"), judge)
    scores = {name: scores_of(judge, rows) for name, rows in groups.items()}
    labelled = [name for name, rows in groups.items() if not is_made(rows[0])]
    everything = [row for name in labelled for row in groups[name]], [s for name in labelled for s in scores[name]]
    return {
        "labelled": figures(*everything, {}),
        "families": {name: figures(rows, scores[name], labels_of(rows)) for name, rows in groups.items()},
        "accepted": accepted_of(audit),
        "kept": min(family.rate.value for family in audit.families if family.kind == "invariance"),
        "plain": audit.plain.accuracy.value,
        "attacks": {family.name: family.rate.value for family in audit.families if family.kind == "attack"},
    }


def table_of_parts(kept: Records) -> str:
    """What each training cost and is worth; *attacks* accepted and the lowest rate *kept* of an invariance."""
    lines = [
        [
            *(name, f"{record['rows']:,}", f"{record['minutes']:.0f}", *cells(record["labelled"])),
            *(f"{record['plain']:.1%}", "{} of {}".format(*record["accepted"]), f"{record['kept']:.1%}"),
        ]
        for name, record in kept.items()
    ]
    return markdown(["training", "rows", "minutes", "labelled", *FIGURES[1:], "plain", "attacks", "kept"], lines)


def table_left_out(kept: Records, earlier: Records) -> str:
    """Each family that was left out, by the judge that saw it and by the one that did not."""
    before = {name: drop for name, _, _, drop in _left_out(earlier)}
    lines = []
    for name, seen, unseen, drop in _left_out(kept):
        left_out = unseen["families"][name]
        rules = left_out["rules"]
        best = max(rules, key=lambda rule: rules[rule])
        attacks = FAMILIES.get(name, {}).get("attacks", [])
        closed = f"{1 - drop / before[name]:.0%} of {100 * before[name]:.1f}" if before.get(name, 0.0) > 0 else ""
        changed = [f"{attack} {seen['attacks'][attack]:.1%} → {unseen['attacks'][attack]:.1%}" for attack in attacks]
        by_rule = [f"{100 * rules[rule]:.1f}" for rule in ("containment", "letter rule", best)]
        ends = [f"{100 * drop:.1f}", f"{100 * (left_out['accuracy'] - rules[best]):+.1f}", "; ".join(changed), closed]
        lines.append(
            [name, f"{left_out['rows']:,}", *by_rule, best, *cells(seen["families"][name]), *cells(left_out), *ends]
        )
    heads = ["family", "rows", "containment", "letter rule", "best rule", "which", *(f"seen: {f}" for f in FIGURES)]
    heads += [
        *(f"not seen: {f}" for f in FIGURES),
        "drop",
        "over the best rule",
        "its attacks, accepted",
        "drop closed",
    ]
    return markdown(heads, lines)


def _left_out(kept: Records) -> Iterator[tuple[str, Record, Record, float]]:
    """Families with the training that saw them, the one that did not, and the drop in accuracy."""
    for record in kept.values():
        for name in record["without"]:
            if "all" in kept and name in record["families"]:
                seen, unseen = kept["all"]["families"][name], record["families"][name]
                yield name, kept["all"], record, seen["accuracy"] - unseen["accuracy"]


def read_kept(work: Path) -> dict[str, Record]:
    """The trainings of a folder that are measured, by name."""
    records = {path.stem: _read(path) for path in sorted(work.glob("*.json"))}
    return {name: record for name, record in records.items() if "families" in record}


def _read(path: Path) -> Record:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}  # type: ignore[no-any-return]


def _write(path: Path, record: Record) -> None:
    write_files(path.parent, {path.name: json.dumps(record, indent=1) + "\n"})


if __name__ == "__main__":
    main()
