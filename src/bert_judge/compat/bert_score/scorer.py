"""`bert_score.BERTScorer`, `score` and `plot_example`: our scorer with the old behaviour, under the old attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bert_judge import bertscore
from bert_judge.compat.bert_score.utils import lang2model, model2layers
from bert_judge.encoder.devices import choose_device
from bert_judge.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class BERTScorer(bertscore.BERTScorer):
    """The parameters are those of bert-score 0.3.13; a model and a layer may be added to `utils.model2layers`.

    Raises InputError without `model_type` and `lang`, for rescaling without `lang`, and, when something is scored,
    without a baseline for it.
    """

    def __init__(
        self,
        model_type: str | None = None,
        num_layers: int | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        idf: bool | Mapping[int, float] = False,
        idf_sents: Sequence[str] | None = None,
        device: str | None = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
    ) -> None:
        if lang is None and (model_type is None or rescale_with_baseline):
            needed = "rescale_with_baseline needs lang" if rescale_with_baseline else "model_type or lang is needed"
            raise InputError(f"{needed}, as in bert-score; give lang='en', for example.")
        model_type = str(model_type or lang2model[str(lang).lower()])
        self.device = str(choose_device(str(device or "auto")))
        self.baseline_path, self.use_custom_baseline = baseline_path, baseline_path is not None
        super().__init__(
            model_type,
            num_layers if num_layers is not None else model2layers.get(model_type),
            batch_size,
            nthreads,
            all_layers,
            idf,
            idf_sents,
            self.device,
            lang,
            rescale_with_baseline,
            baseline_path,
            use_fast_tokenizer,
            compat="bert_score",
        )

    def score(
        self,
        cands: Sequence[str],
        refs: Sequence[str] | Sequence[Sequence[str]],
        verbose: bool = False,
        batch_size: int | None = 64,
        return_hash: bool = False,
    ) -> Any:
        """(P, R, F1) as tensors; with `return_hash`, ((P, R, F1), hash)."""
        if self.rescale_with_baseline:
            _ = self.baseline_vals  # which must be there
        return super().score(cands, refs, verbose, batch_size, return_hash)


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
    return bertscore.BERTScorer.score(scorer, cands, refs, verbose, batch_size, return_hash)


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
