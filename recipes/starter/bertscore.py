"""Which layer of the starter BERTScore reads, and its rescaling baseline: `bertscore.json` in the starter's folder.

`python recipes/starter/bertscore.py --data DIR` needs `DIR/graded`, candidates that people graded (the row forms are
those of `read_graded`). Half of the references choose the layer: the one that agrees best with people on translations,
WMT19, as bert-score chose its layers on WMT16. The table that is printed is of the other half, beside chrF, BLEU and
ROUGE-L. The baseline is of random pairs of English news sentences (the references of WMT19). With `--dry_run` nothing
is written; `--model_path` measures another encoder. Run it again whenever the weights change.
"""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from bert_judge.bertscore import BERTScorer
from bert_judge.bertscore.baseline import measure_baseline
from bert_judge.bertscore.tables import OWN_FIGURES
from bert_judge.utils import STARTER, STARTER_FOLDER

CHOOSING = "wmt19_darr"
SOURCES = (CHOOSING, "summeval", "stsb_en", "d2t_sfres")
BASELINE_PAIRS = 20_000


class Graded(NamedTuple):
    """A candidate with its references and what people gave it; `rival` is a candidate that they thought worse."""

    candidate: str
    references: tuple[str, ...]
    grade: float | None
    rival: str | None

    @property
    def chooses(self) -> bool:
        """Whether it belongs to the half that chooses the layer: all candidates of a reference do, or none."""
        return zlib.crc32(self.references[0].encode()) % 2 == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with graded/")
    parser.add_argument("--model_path", default=STARTER, help="an encoder (default: starter)")
    parser.add_argument("--dry_run", action="store_true", help="print the tables, write nothing")
    args = parser.parse_args()
    rows = {source: list(read_graded(args.data / "graded" / f"{source}.jsonl.gz")) for source in SOURCES}
    scorer = BERTScorer(args.model_path, all_layers=True)
    agreement = {name: measure(rows, score) for name, score in layers_of(scorer, rows).items()}
    best = max(agreement, key=lambda name: agreement[name][CHOOSING][0])
    agreement |= {name: measure(rows, scored(rows, score)) for name, score in lexical().items()}
    print(table(agreement, best))
    texts = [reference for row in rows["wmt19_darr"] for reference in row.references]
    baseline = measure_baseline(scorer, texts, BASELINE_PAIRS)
    figures = {
        "num_layers": int(best.split()[-1]),
        "language": "en",
        "source": "recipes/starter/bertscore.py: the layer that agrees best with people on one half of "
        f"WMT19's to-English pairs; means over {BASELINE_PAIRS:,} random pairs of WMT19 references (English)",
        "baseline": [[round(value, 6) for value in row] for row in baseline.tolist()],
    }
    print("\nbaseline of that layer (P, R, F1):", figures["baseline"][figures["num_layers"]])
    if not args.dry_run and args.model_path == STARTER:
        (STARTER_FOLDER / OWN_FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def read_graded(path: Path) -> Iterator[Graded]:
    """Rows with `references` and either `candidate` and `human_score`, or `better` and `worse`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            candidate = row.get("candidate", row.get("better"))
            yield Graded(candidate, tuple(row["references"]), row.get("human_score"), row.get("worse"))


Scores = dict[str, list[tuple[float, float]]]
"""By source, what each row's candidate scored, and its rival (or 0)."""


def layers_of(scorer: BERTScorer, rows: dict[str, list[Graded]]) -> dict[str, Scores]:
    """The F1 of every layer."""
    found: dict[str, Scores] = {}
    for source, graded in rows.items():
        ours, theirs = (
            f1_of(scorer, [(text, row.references) for row, text in texts])
            for texts in ([(row, row.candidate) for row in graded], [(row, row.rival) for row in graded if row.rival])
        )
        theirs = theirs if len(theirs) else np.zeros_like(ours)
        for layer in range(ours.shape[1]):
            pairs = zip(ours[:, layer].tolist(), theirs[:, layer].tolist(), strict=True)
            found.setdefault(f"layer {layer}", {})[source] = list(pairs)
    return found


def f1_of(scorer: BERTScorer, pairs: Sequence[tuple[str, Sequence[str]]]) -> np.ndarray:
    """Rows by layers."""
    return np.array([score.f1 for score in scorer.score_each(pairs)])


def scored(rows: dict[str, list[Graded]], score: Callable[[str, str], float]) -> Scores:
    """A measure of two texts, at its maximum over the references."""

    def best(text: str, references: Sequence[str]) -> float:
        return max(score(text, reference) for reference in references)

    return {
        source: [(best(r.candidate, r.references), best(r.rival, r.references) if r.rival else 0.0) for r in graded]
        for source, graded in rows.items()
    }


def lexical() -> dict[str, Callable[[str, str], float]]:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF

    chrf, bleu, rouge = CHRF(), BLEU(effective_order=True), RougeScorer(["rougeL"])
    return {
        "chrF": lambda candidate, reference: chrf.sentence_score(candidate, [reference]).score,
        "BLEU": lambda candidate, reference: bleu.sentence_score(candidate, [reference]).score,
        "ROUGE-L": lambda candidate, reference: rouge.score(reference, candidate)["rougeL"].fmeasure,
    }


def measure(rows: dict[str, list[Graded]], scores: Scores) -> dict[str, tuple[float, float]]:
    """By source, the agreement with people on the half that chooses, and on the other."""
    return {
        source: (agreement(graded, scores[source], True), agreement(graded, scores[source], False))
        for source, graded in rows.items()
    }


def agreement(rows: Sequence[Graded], scores: Sequence[tuple[float, float]], chooses: bool) -> float:
    """Of pairs the share whose better candidate scores higher (Kendall-like); of grades Spearman's correlation."""
    half = [(row, score) for row, score in zip(rows, scores, strict=True) if row.chooses == chooses]
    if half[0][0].rival is not None:
        return float(np.mean([better > worse for _, (better, worse) in half]))
    return float(spearmanr([row.grade for row, _ in half], [score for _, (score, _) in half]).statistic)


def table(found: dict[str, dict[str, tuple[float, float]]], best: str) -> str:
    lines = [f"{'':10}" + "".join(f"{source:>12}" for source in SOURCES) + f"{'mean':>8}{'choosing half':>16}"]
    for name, by_source in found.items():
        values = [by_source[source][1] for source in SOURCES]
        choosing = by_source[CHOOSING][0]
        cells = "".join(f"{value:12.3f}" for value in values)
        lines.append(f"{name:10}{cells}{np.mean(values):8.3f}{choosing:16.3f}{'  <- chosen' if name == best else ''}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
