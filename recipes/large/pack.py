"""Put a trained judge into the package bert-judge-large: int8 weights, tokenizer, card, and starter-large's thresholds.

    python recipes/large/pack.py JUDGE --high 0.97 --low 0.02 --chosen_on "4,000 held-out answers of 17 sources"

Compare the judge in the package with JUDGE on labelled rows afterwards: `bert-judge evaluate FILE --judge large,JUDGE`.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from bert_judge.encoder.models import STARTER_FOLDER, model_hashes
from bert_judge.judges.quantize import write_int8_weights
from bert_judge.results.files import write_record

WEIGHTS = Path(__file__).parents[2] / "large" / "src" / "bert_judge_large" / "weights"


def pack(judge: Path, target: Path, high: float | None, low: float | None, chosen_on: str) -> None:
    """Write the folder `target` of the package anew; without thresholds, or what they were chosen on, no cascade."""
    shutil.rmtree(target, ignore_errors=True)
    write_int8_weights(judge, target)
    if high is not None and low is not None and chosen_on:
        stages = {"starter": model_hashes(STARTER_FOLDER)["weights"], "large": model_hashes(target)["weights"]}
        record = {"stages": stages, "high": high, "low": low, "chosen_on": chosen_on}
        write_record(target / "cascade.json", record)


def main() -> None:
    """Read the arguments, pack, and print the sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judge", type=Path, metavar="JUDGE", help="folder of a trained judge")
    parser.add_argument("--high", type=float, help="the starter's scores from here on are correct")
    parser.add_argument("--low", type=float, help="the starter's scores up to here are incorrect")
    parser.add_argument("--chosen_on", default="", help="the answers on which the thresholds were chosen, in words")
    options = parser.parse_args()
    pack(options.judge, WEIGHTS, options.high, options.low, options.chosen_on)
    for path in sorted(WEIGHTS.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")


if __name__ == "__main__":
    main()
