"""`bert_score.BERTScorer`: our scorer with the old behaviour, under the old attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bert_judge import bertscore
from bert_judge.compat.bert_score.utils import get_hash, get_model, get_tokenizer, lang2model, model2layers
from bert_judge.encoder.devices import choose_device
from bert_judge.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor


class BERTScorer:
    """The parameters are those of bert-score 0.3.13; a model and a layer may be added to `utils.model2layers`.

    `ours` is the scorer that does the work. Raises InputError without `model_type` and `lang`, for rescaling without
    `lang`, and, when something is scored, without a baseline for it.
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
        self.model_type = choose_model(model_type, lang, rescale_with_baseline)
        self.lang, self.idf, self.all_layers = lang, idf, all_layers
        self.batch_size, self.nthreads, self.use_fast_tokenizer = batch_size, nthreads, use_fast_tokenizer
        self.rescale_with_baseline, self.baseline_path = rescale_with_baseline, baseline_path
        self.use_custom_baseline = baseline_path is not None
        self.device = str(choose_device(str(device or "auto")))
        self.ours = bertscore.BERTScorer(
            self.model_type,
            num_layers if num_layers is not None else model2layers.get(self.model_type),
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
        self.num_layers = self.ours.num_layers

    @property
    def hash(self) -> str:
        """bert-score's string for these settings."""
        return get_hash(
            self.model_type,
            self.num_layers,
            self.idf,
            self.rescale_with_baseline,
            self.use_custom_baseline,
            self.use_fast_tokenizer,
        )

    @property
    def baseline_vals(self) -> Tensor:
        """The baseline of the layer (P, R, F1), or of all layers."""
        return self.ours.baseline_vals

    @cached_property
    def _model(self) -> Any:
        """The encoder, for scripts that call it; `ours` has its own."""
        return get_model(self.model_type, self.num_layers, self.all_layers).to(self.device)

    @cached_property
    def _tokenizer(self) -> Any:
        return get_tokenizer(self.model_type, self.use_fast_tokenizer)

    def compute_idf(self, sents: Sequence[str]) -> None:
        """Count the weights of tokens in sentences."""
        self.ours.compute_idf(sents)

    def score(
        self,
        cands: Sequence[str],
        refs: Sequence[str] | Sequence[Sequence[str]],
        verbose: bool = False,
        batch_size: int = 64,
        return_hash: bool = False,
    ) -> Any:
        """(P, R, F1) as tensors; with `return_hash`, ((P, R, F1), hash)."""
        if self.rescale_with_baseline:
            _ = self.baseline_vals  # which must be there
        found = self.ours.score(cands, refs, verbose, batch_size)
        return (found, self.hash) if return_hash else found

    def plot_example(self, candidate: str, reference: str, fname: str = "") -> Figure:
        """Draw how two texts match; with `fname` the plot is saved, too."""
        return self.ours.plot_example(candidate, reference, fname)


def choose_model(model_type: str | None, lang: str | None, rescale_with_baseline: bool) -> str:
    """The named model, or that of the language in `lang2model`. Raises InputError where a name is missing."""
    if lang is None and (model_type is None or rescale_with_baseline):
        needed = "rescale_with_baseline needs lang" if rescale_with_baseline else "model_type or lang is needed"
        raise InputError(f"{needed}, as in bert-score; give lang='en', for example.")
    return str(model_type or lang2model[str(lang).lower()])
