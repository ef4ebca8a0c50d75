"""`bert_score.score` and `bert_score.plot_example`: a scorer made for one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bert_judge.compat.bert_score.scorer import BERTScorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_example", "score"]


def score(
    cands: Sequence[str],
    refs: Sequence[str] | Sequence[Sequence[str]],
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: bool | Mapping[int, float] = False,
    device: str | None = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
) -> Any:
    """(P, R, F1) as bert-score 0.3.13 gives them. A missing baseline is warned of, and nothing is rescaled."""
    documents = [text for group in refs for text in ([group] if isinstance(group, str) else group)]
    scorer = BERTScorer(
        model_type,
        num_layers,
        batch_size,
        nthreads,
        all_layers,
        idf,
        documents if idf is True else None,
        device,
        lang,
        rescale_with_baseline,
        baseline_path,
        use_fast_tokenizer,
    )
    found = scorer.ours.score(cands, refs, verbose, batch_size)
    return (found, scorer.hash) if return_hash else found


def plot_example(
    candidate: str,
    reference: str,
    model_type: str | None = None,
    num_layers: int | None = None,
    lang: str | None = None,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
    fname: str = "",
) -> Figure:
    """Draw how two texts match, and save it under `fname`; needs the extra [plot]."""
    scorer = BERTScorer(
        model_type,
        num_layers,
        lang=lang,
        rescale_with_baseline=rescale_with_baseline,
        baseline_path=baseline_path,
        use_fast_tokenizer=use_fast_tokenizer,
    )
    return scorer.plot_example(candidate, reference, fname)
