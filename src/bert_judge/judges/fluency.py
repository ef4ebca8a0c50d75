"""Fluency: how likely a language model finds the candidate (BARTScore's way, arXiv 2106.11520)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated, Literal, get_args

from bert_judge.errors import InputError
from bert_judge.generators.likelihood import Likelihood, LikelihoodModel
from bert_judge.judges.base import Judge, windows_of
from bert_judge.records import JudgeInfo, Sample, Signature, Verdict, __version__

SourceName = Literal["question", "reference"]

_WINDOW = 1024  # rows that are held


class FluencyJudge(Judge):
    """A judge of fluency, not of correctness: the score is the mean natural log probability of the candidate's tokens
    under a language model, at most 0 (`exp(-score)` is the perplexity).

    A causal model reads the candidate alone, or after the question or the reference, as `source` says. A
    sequence-to-sequence model always reads a source, with its encoder. Of several references that one counts after
    which the candidate is likeliest. Scores of two models, or of two sources, can't be compared. There is no label
    unless `threshold` is given. Undecided are an empty candidate, which has no token to be likely, and a row without
    the source. See docs/fluency.md.

    Raises InputError where an argument is wrong and for a sequence-to-sequence model without a source, ModelError where
    the model can't be found or is not a language model.
    """

    def __init__(
        self,
        model_path: Annotated[str, "a language model, causal or sequence-to-sequence: a folder or a name on the Hub"],
        trust_remote_code: Annotated[bool, "run the model's own code if transformers lacks its architecture"] = False,
        dtype: Annotated[str, "auto (the fastest native one), float32 (exact), bfloat16 or float16"] = "auto",
        *,
        source: Annotated[
            SourceName | None, "what the model reads before the candidate (default: nothing; seq2seq needs one)"
        ] = None,
        threshold: Annotated[float | None, "label scores from here on correct (default: no labels)"] = None,
        max_tokens: Annotated[int | None, "the longest input in tokens (default: 1,024, or the model's limit)"] = None,
        batch_tokens: Annotated[int | None, "tokens in a batch (default: what suits the device)"] = None,
        device: Annotated[str, "auto, cpu, cuda, cuda:1, mps …"] = "auto",
    ) -> None:
        if source not in (None, *get_args(SourceName)):
            raise InputError(f"source is {source!r}; 'question', 'reference' or None was expected.")
        if threshold is not None and not math.isfinite(threshold):
            raise InputError(f"threshold is {threshold}; a number was expected.")
        self._threshold = threshold
        self._source = source
        self._name = model_path.rstrip("/").split("/")[-1]
        self._model = LikelihoodModel(
            model_path,
            with_source=source is not None,
            trust_remote_code=trust_remote_code,
            dtype=dtype,
            device=device,
            max_tokens=max_tokens,
            batch_tokens=batch_tokens,
        )

    @cached_property
    def info(self) -> JudgeInfo:
        """Its signature has model and content hash, source, longest input, device, dtype, threshold and version."""
        signature = Signature.make(
            "FluencyJudge",
            {"model": self._name, "source": self._source or "none", **self._model.settings},
            threshold="none" if self._threshold is None else self._threshold,
            version=__version__,
        )
        name = "-".join(filter(None, (self._name, self._source)))
        return JudgeInfo(name, signature, "score", self._threshold, reads_references=self._source == "reference")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; the number of tokens is in the details."""
        for window in windows_of(samples, _WINDOW):
            sources = [self._sources(sample) if sample.candidate.strip() else {} for sample in window]
            pairs = [
                (text, sample.candidate)
                for sample, of_sample in zip(window, sources, strict=True)
                for text in of_sample.values()
            ]
            likelihoods = iter(self._model.score(pairs))
            for sample, of_sample in zip(window, sources, strict=True):
                yield self._verdict(sample, {index: next(likelihoods) for index in of_sample})

    def _sources(self, sample: Sample) -> dict[int, str | None]:
        """What is read before the candidate, by the index of the reference (0 where that is not read)."""
        if self._source is None:
            return {0: None}
        texts = sample.references if self.info.reads_references else (sample.question or "",)
        return {index: text for index, text in enumerate(texts) if text.strip()}

    def _verdict(self, sample: Sample, likelihoods: dict[int, Likelihood]) -> Verdict:
        if not sample.candidate.strip():
            return Verdict(None, None, "the candidate is empty")
        if not likelihoods:
            return Verdict(None, None, f"the row has no {self._source}, which the model reads before the candidate")
        best = max(likelihoods, key=lambda index: likelihoods[index].mean)
        likelihood = likelihoods[best]
        if not likelihood.tokens:
            return Verdict(None, None, "the model's tokenizer finds no token in the candidate")
        if not math.isfinite(likelihood.mean):
            return Verdict(None, None, "the model returned no number")
        cut = {"candidate": likelihood.text_cut, self._source or "source": likelihood.source_cut}
        return Verdict(
            likelihood.mean,
            None if self._threshold is None else int(likelihood.mean >= self._threshold),
            matched_reference=best if self.info.reads_references else None,
            truncated={part: characters for part, characters in cut.items() if characters},
            details={"tokens": likelihood.tokens},
        )
