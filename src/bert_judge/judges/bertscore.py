"""BERTScore as a judge: how similar candidate and reference are, not whether the candidate is correct."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from bert_judge.errors import InputError
from bert_judge.judges.base import Judge
from bert_judge.records import JudgeInfo, Sample, Signature, Verdict

if TYPE_CHECKING:
    from bert_judge.bertscore import PairScore


class BERTScore(Judge):
    """A judge of similarity (arXiv 1904.09675): the score is F1, at most 1, of the reference that fits best.

    Precision and recall are in the details. Questions are not read. There is no label unless `threshold` is given: two
    texts can be similar and differ in the one word that matters. See docs/bertscore.md.

    Raises ModelError where the model can't be found or used, InputError where an argument is wrong.
    """

    def __init__(
        self,
        model_path: Annotated[
            str | None, "'starter', a folder, or a name on the Hub (default: the one for lang, else 'starter')"
        ] = None,
        trust_remote_code: Annotated[bool, "run the model's own code if transformers lacks its architecture"] = False,
        dtype: Annotated[str, "auto (the fastest native one), float32 (exact), bfloat16 or float16"] = "auto",
        *,
        lang: Annotated[str | None, "language, which chooses model and baseline: en, zh, de …"] = None,
        num_layers: Annotated[int | None, "layer to compare (default: the best known for the model)"] = None,
        idf: Annotated[bool, "weigh tokens by how rare they are among the references of the input"] = False,
        idf_path: Annotated[str | None, "file of these weights: read if it is there, else counted and written"] = None,
        rescale_with_baseline: Annotated[bool, "rescale so that unrelated texts score about 0"] = False,
        baseline_path: Annotated[str | None, "a baseline file of your own"] = None,
        threshold: Annotated[float | None, "scores from X on count as correct (default: no labels)"] = None,
        device: Annotated[str, "auto, cpu, cuda, cuda:1, mps …"] = "auto",
        runtime: Annotated[Literal["auto", "torch", "openvino"], "what runs the encoder"] = "auto",
        compat: Annotated[Literal["bert_score"] | None, "reproduce bert-score 0.3.13, defects included"] = None,
        max_tokens: Annotated[int | None, "the longest text in tokens (default: the model's limit)"] = None,
        batch_tokens: Annotated[int | None, "most tokens in a batch (default: to suit the device)"] = None,
        batch_size: Annotated[int, "most texts in a batch"] = 64,
        allow_pickle: Annotated[bool, "convert pickled weights once, reading nothing but tensors"] = False,
    ) -> None:
        from bert_judge.bertscore import BERTScorer

        if threshold is not None and not math.isfinite(threshold):
            raise InputError(f"threshold is {threshold}; a number was expected.")
        self._threshold = threshold
        self._idf_path = None if idf_path is None else Path(idf_path)
        self._scorer = BERTScorer(
            model_path,
            num_layers,
            batch_size,
            device=device,
            lang=lang,
            rescale_with_baseline=rescale_with_baseline,
            baseline_path=baseline_path,
            dtype=dtype,
            runtime=runtime,
            compat=compat,
            max_tokens=max_tokens,
            batch_tokens=batch_tokens,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
        )
        self._to_count = idf or idf_path is not None
        if self._idf_path and self._idf_path.exists():
            self._scorer.load_idf(self._idf_path)
            self._to_count = False

    @property
    def info(self) -> JudgeInfo:
        """Its signature has model and content hash, layer, idf, baseline, truncation, runtime and versions."""
        scorer = self._scorer.signature
        threshold = "none" if self._threshold is None else self._threshold
        signature = Signature.make(scorer.name, scorer.settings, threshold=threshold)
        name = f"{self._scorer.model_type.rstrip('/').split('/')[-1]}_L{self._scorer.num_layers}"
        return JudgeInfo(name, signature, "score", self._threshold)

    def fitted(self, samples: Iterable[Sample]) -> BERTScore:
        """This judge with the idf weights of the samples' references, if it uses them; written to `idf_path`."""
        if not self._to_count:
            return self
        judge = copy.copy(self)
        judge._scorer = copy.copy(self._scorer)
        judge._scorer.compute_idf(reference for sample in samples for reference in sample.references)
        judge._to_count = False
        if self._idf_path:
            judge._scorer.save_idf(self._idf_path)
        return judge

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order. An empty text has the score 0, before rescaling."""
        if self._to_count:
            raise InputError("the idf weights depend on the whole input: call fitted(samples) first, or give idf_path.")
        pairs = ((sample.candidate, sample.references) for sample in samples)
        yield from map(self._verdict, self._scorer.score_each(pairs))

    def _note(self, score: PairScore) -> str | None:
        if score.empty:
            return f"the {score.empty} is empty"
        return "the model knows no token of either text, and reads both as the same" if score.unknown else None

    def _verdict(self, score: PairScore) -> Verdict:
        precision, recall, f1 = (float(values[0]) for values in (score.precision, score.recall, score.f1))
        if not all(map(math.isfinite, (precision, recall, f1))):
            return Verdict(None, None, "the model returned no number")
        return Verdict(
            f1,
            None if self._threshold is None else int(f1 >= self._threshold),
            self._note(score),
            matched_reference=score.reference,
            truncated=score.truncated,
            details={"precision": precision, "recall": recall},
        )
