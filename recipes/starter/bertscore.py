"""Which layer of the starter BERTScore reads, and its rescaling baseline: `bertscore.json` in the starter's folder.

    python recipes/starter/bertscore.py --data DIR --dry_run

`DIR/graded` has candidates that people graded: rows with `references` and either `candidate` and `human_score`, or
`better` and `worse`. Half of the references choose the layer: the one that agrees best with people on translations,
WMT19, as bert-score chose its layers on WMT16. The table that is printed is of the other half, beside chrF, BLEU and
ROUGE-L. The baseline is of random pairs of English news sentences (the references of WMT19). Run it again whenever the
weights change; with `--dry_run` nothing is written, and `--model_path` measures another encoder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from scipy.stats import spearmanr

from bert_judge.bertscore import BERTScorer
from bert_judge.bertscore.defaults import OWN_FIGURES
from bert_judge.encoder.models import STARTER, STARTER_FOLDER

CHOOSING = "wmt19_darr"
SOURCES = (CHOOSING, "summeval", "stsb_en", "d2t_sfres")
BASELINE_PAIRS = 20_000

Pairs = Sequence[tuple[str, Sequence[str]]]
Scorer = Callable[[Pairs], np.ndarray]
"""Of candidates with their references: their scores, an array of candidates by measures."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with graded/")
    parser.add_argument("--model_path", default=STARTER, help="an encoder (default: starter)")
    parser.add_argument("--dry_run", action="store_true", help="print the tables, write nothing")
    args = parser.parse_args()
    packed = {source: (args.data / "graded" / f"{source}.jsonl.gz").read_bytes() for source in SOURCES}
    rows = {source: [*map(json.loads, gzip.decompress(data).splitlines())] for source, data in packed.items()}
    scorer = BERTScorer(args.model_path, all_layers=True)
    chosen, reported = agreement(rows, lambda pairs: np.array([score.f1 for score in scorer.score_each(pairs)]))
    best = int(chosen[SOURCES.index(CHOOSING)].argmax())
    chosen_words, reported_words = agreement(rows, score_words)
    names = [*(f"layer {layer}" for layer in range(chosen.shape[1])), "chrF", "BLEU", "ROUGE-L"]
    print(f"{'':10}" + "".join(f"{source:>12}" for source in SOURCES) + f"{'mean':>8}{'choosing half':>16}")
    figures = zip(names, np.hstack([reported, reported_words]).T, np.hstack([chosen, chosen_words])[0], strict=True)
    for name, values, choosing in figures:
        cells = "".join(f"{value:12.3f}" for value in values)
        mark = "  <- chosen" if name == f"layer {best}" else ""
        print(f"{name:10}{cells}{values.mean():8.3f}{choosing:16.3f}{mark}")
    texts = [reference for row in rows[CHOOSING] for reference in row["references"]]
    baseline = mean_scores(scorer, texts).round(6).tolist()
    print("\nbaseline of that layer (P, R, F1):", baseline[best])
    record = {
        "num_layers": best,
        "language": "en",
        "source": "recipes/starter/bertscore.py: the layer that agrees best with people on one half of "
        f"WMT19's to-English pairs; means over {BASELINE_PAIRS:,} random pairs of WMT19 references (English)",
        "baseline": baseline,
    }
    if not args.dry_run and args.model_path == STARTER:
        (STARTER_FOLDER / OWN_FIGURES).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def mean_scores(scorer: BERTScorer, texts: Sequence[str]) -> np.ndarray:
    """Mean P, R and F1 of random pairs of different texts, as layers by 3."""
    different = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    scores = scorer.score_each(islice(random_pairs(different), BASELINE_PAIRS))
    total = np.zeros((1, 3))  # grows to layers by 3
    for score in scores:
        total = total + np.stack([score.precision, score.recall, score.f1], axis=1).astype(np.float64)
    return total / BASELINE_PAIRS


def random_pairs(texts: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Endless pairs of different texts; each text is used once on either side before one is used again."""
    chance = random.Random(0)
    order = list(range(len(texts)))
    while True:
        chance.shuffle(order)
        shift = chance.randrange(1, len(order))
        for place, number in enumerate(order):
            yield texts[number], (texts[order[(place + shift) % len(order)]],)


def score_words(pairs: Pairs) -> np.ndarray:
    """chrF, BLEU and ROUGE-L, each at its maximum over the references."""
    chrf, bleu, rouge = CHRF(), BLEU(effective_order=True), RougeScorer(["rougeL"])

    def score(candidate: str, reference: str) -> tuple[float, float, float]:
        words = chrf.sentence_score(candidate, [reference]), bleu.sentence_score(candidate, [reference])
        return words[0].score, words[1].score, rouge.score(reference, candidate)["rougeL"].fmeasure

    return np.array([np.max([score(candidate, one) for one in references], axis=0) for candidate, references in pairs])


def agreement(rows: dict[str, list[dict[str, Any]]], score: Scorer) -> tuple[np.ndarray, np.ndarray]:
    """The agreement with people on the half that chooses the layer and on the other, arrays of sources by measures.

    It is Spearman's correlation with grades; of pairs the rate at which the better candidate scores higher.
    """
    pairs: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for graded in rows.values():
        chooses = np.array([zlib.crc32(row["references"][0].encode()) % 2 == 0 for row in graded])
        scores = score([(row.get("candidate", row.get("better")), row["references"]) for row in graded])
        if "worse" in graded[0]:
            hits = scores > score([(row["worse"], row["references"]) for row in graded])
        grades = np.array([row.get("human_score") for row in graded])
        for half, values in zip((chooses, ~chooses), pairs, strict=True):
            if "worse" in graded[0]:
                values.append(hits[half].mean(axis=0))
            else:
                values.append(np.array([spearmanr(grades[half], column).statistic for column in scores[half].T]))
    return np.array(pairs[0]), np.array(pairs[1])


if __name__ == "__main__":
    main()
