"""Make `starter-small`: half of the starter's layers, which learn to say what the whole starter says.

    python recipes/starter/halve.py --data DIR --work build/halve --output models/starter-small

The rows are those of `build.py`: of its first training, and of one further training of each of its rounds. Each is
learnt with the mean of its label and of the starter's probability. Half an hour on two cores. After an interruption the
same command goes on from the last state.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from build import CONFIG, FIRST_SEED, FORM, ROUNDS, average, calibrate, divide
from data import all_rows, rows_again, to_learn

from bert_judge import BERTJudge, Sample
from bert_judge.models import STARTER_FOLDER
from bert_judge.prompt import JudgeConfig
from bert_judge.training import train

KEPT = (0, 2, 4)  # the layers that it begins with: 0.319 is their loss after 150 steps, 0.350 that of 1, 3 and 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument(
        "--work", type=Path, default=Path("build/halve"), help="folder for the states of the training (%(default)s)"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for the judge")
    args = parser.parse_args()
    _, dev = divide(all_rows(args.data))
    learnt, _ = divide(all_rows(args.data, FIRST_SEED))
    rows = list(to_learn(learnt))
    for seeds in ROUNDS:
        rows += divide(rows_again(args.data, seeds[0]))[0]
    half = args.work / "half"
    keep_layers(STARTER_FOLDER, half, KEPT)
    taught = [*distilled(rows), *dev]
    judge = train(str(half), taught, args.work / "trained", FORM, replace(CONFIG, seed=FIRST_SEED)).folder
    average([judge], args.output)
    calibrate(args.output, dev)


def keep_layers(source: Path, target: Path, kept: Sequence[int]) -> None:
    """Write a judge with some of the layers of another, a BERT, in their order."""
    from safetensors.torch import load_file, save_file

    target.mkdir(parents=True, exist_ok=True)
    place = {str(old): str(new) for new, old in enumerate(kept)}
    weights = {}
    for name, weight in load_file(source / "model.safetensors").items():
        before, layer, after = name.partition("encoder.layer.")
        number, _, rest = after.partition(".")
        if not layer:
            weights[name] = weight
        elif number in place:
            weights[f"{before}{layer}{place[number]}.{rest}"] = weight
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    config = json.loads((source / "config.json").read_text(encoding="utf-8")) | {"num_hidden_layers": len(kept)}
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    shutil.copy(source / "tokenizer.json", target)
    JudgeConfig.load(source).save(target)


def distilled(rows: Sequence[Sample]) -> Iterable[Sample]:
    """The rows, each labelled with the mean of its label and of what the starter says."""
    for row, verdict in zip(rows, BERTJudge().assess(rows), strict=True):
        yield replace(row, gold=((row.gold or 0) + (verdict.score or 0)) / 2)


if __name__ == "__main__":
    main()
