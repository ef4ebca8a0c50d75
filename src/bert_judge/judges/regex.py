"""A judge without a model: a pattern finds the answer in a candidate, a metric compares it with the references."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from bert_judge.errors import InputError
from bert_judge.judges.base import WHOLE_CANDIDATE, Judge, make_samples
from bert_judge.metrics import MATH_TIMEOUT, METRICS, MetricResult, find_boxed, find_metric, option_letter, strip_markup
from bert_judge.metrics.timing import check_time, limited
from bert_judge.reading import ANSWER_VERSION, THINK_TOKEN, find_answer
from bert_judge.records import JudgeInfo, Sample, Scale, Signature, Verdict, __version__

FINAL_ANSWER = r"Final answer:\s*(.+)"
"""The pattern of the paper's package; its prompts ask for such a line."""

NAMED: dict[str, Callable[[str], list[str]]] = {"boxed": find_boxed, "none": lambda text: [text]}
"""Names for patterns, and how they find answers: in boxes of LaTeX, or the whole candidate."""

PATTERN_TIMEOUT = 1.0
"""Seconds that a regular expression may take on a candidate."""


class RegexJudge(Judge):
    r"""Extract an answer, compare it: the string matching that judges are measured against (arXiv 2604.09497).

    The paper uses "EM" for multiple choice, "ROUGE" from 0.5 on for answers from a text, "Math-Verify" for mathematics.
    The score is the metric's, in [0, 1], for the reference that fits best; the label is 1 from `threshold` on.
    Candidates that are empty, have no answer, or whose reasoning trace has no end are incorrect, with the reason. Where
    Math-Verify can read none of the references, or the pattern takes too long, the verdict is undecided. `details` have
    the answer.

    A `pattern` is a regular expression with a group for the answer, "boxed" (`\boxed{…}`, with any inner braces), or
    "none" (the whole candidate, and texts are compared as they are). White space, Markdown, `$…$` and a final full stop
    around an extracted answer and the references do not count, and of two options ("D" and "D) none of these") the
    letters are compared.

    Raises InputError where an argument is wrong, MissingExtraError where the metric's package is not installed.
    """

    def __init__(
        self,
        pattern: Annotated[
            str, "what finds the answer: a regular expression with a group, boxed, or none (everything)"
        ] = FINAL_ANSWER,
        metric: Annotated[str, f"how to compare it: {', '.join(METRICS)}"] = "EM",
        *,
        which: Annotated[Literal["last", "first"], "the match that counts"] = "last",
        case_sensitive: Annotated[bool, "match the pattern's upper and lower case"] = False,
        threshold: Annotated[float, "scores from X on count as correct"] = 0.5,
        think_token: Annotated[str, "the tag that closes a reasoning trace"] = THINK_TOKEN,
        whole_candidate: Annotated[bool, WHOLE_CANDIDATE] = False,
    ) -> None:
        if which not in ("last", "first"):
            raise InputError(f"which is {which!r}; 'last' or 'first' was expected.")
        if not 0 < threshold <= 1:
            raise InputError(f"threshold is {threshold}; a number over 0, up to 1, was expected.")
        self._find = NAMED.get(pattern) or _finder(pattern, case_sensitive)
        self._metric = find_metric(metric)
        self._pattern, self._name, self._which = pattern, metric, which
        self._case_sensitive, self._threshold = case_sensitive, threshold
        self._think_token, self._whole = think_token, whole_candidate

    @cached_property
    def info(self) -> JudgeInfo:
        """Its signature has metric, pattern and how it is used, threshold, and the versions of what computes it."""
        metric, searched = self._metric, self._pattern not in NAMED
        signature = Signature.make(
            "RegexJudge",
            {
                "variant": self._variant(),
                "pattern": self._pattern,
                "case_sensitive": self._case_sensitive if searched else None,
                "regex": importlib.metadata.version("regex") if searched else None,
                "which": None if self._pattern == "none" else self._which,
                "think_token": self._think_token,
                "reading": "whole" if self._whole else str(ANSWER_VERSION),
                "threshold": self._threshold if metric.graded else None,
                **{package: importlib.metadata.version(package) for package in metric.packages},
                "version": __version__,
            },
        )
        scale: Scale = "score" if metric.graded else "decision"
        return JudgeInfo(self._variant(), signature, scale, self._threshold)

    def _variant(self) -> str:
        """The metric, and the pattern if it is not the usual one: its name, or a hash of it."""
        if self._pattern == FINAL_ANSWER:
            return self._name
        named = self._pattern in NAMED
        return f"{self._name}-{self._pattern if named else hashlib.sha256(self._pattern.encode()).hexdigest()[:8]}"

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order, as soon as the sample is read; questions are not used."""
        return map(self._verdict, samples)

    def predict(self, *arguments: Any, **named: Any) -> list[float | None]:
        """The scores of candidates, in their order; None where the judge could not decide.

        Takes `(candidates, references)`, as the paper's package does, or `(questions, candidates, references)`, as
        every judge does; by position or by name. Raises InputError for anything else, or where the lengths differ.
        """
        names = ["candidates", "references"]
        if len(arguments) + len(named) == 3:
            names.insert(0, "questions")
        by_position = [name for name in names if name not in named]
        if len(by_position) != len(arguments) or not named.keys() <= {*names}:
            raise InputError("predict takes (candidates, references) or (questions, candidates, references).")
        texts = {"questions": None, **named, **dict(zip(by_position, arguments, strict=True))}
        return [verdict.score for verdict in self.assess(make_samples(**texts))]

    def _verdict(self, sample: Sample) -> Verdict:
        answer = find_answer(sample, self._think_token, whole=self._whole)
        return answer.verdict or replace(self._compare(answer.sample), left_out=answer.left_out)

    def _compare(self, sample: Sample) -> Verdict:
        """The verdict on the answer of a sample, by the pattern and the metric."""
        try:
            answers = [answer for match in self._find(sample.candidate) if (answer := self._clean(match))]
        except TimeoutError:
            return Verdict(None, None, f"the pattern took more than {PATTERN_TIMEOUT:g} s")
        if not answers:
            return Verdict(0.0, 0, "the pattern does not match", matched_reference=0)
        answer = answers[-1 if self._which == "last" else 0]
        results: list[MetricResult] = []
        for reference in sample.references:
            check_time()
            results.append(self._metric.find(*self._compared(answer, reference), MATH_TIMEOUT))
            if results[-1].score == 1.0:
                break  # none is better
        scores = [-1.0 if result.score is None else result.score for result in results]
        best = max(range(len(scores)), key=scores.__getitem__)
        score, why, _ = results[best]
        details = {"answer": answer}
        if score is None:
            return Verdict(None, None, why, details=details)
        return Verdict(score, int(score >= self._threshold), why, matched_reference=best, details=details)

    def _compared(self, answer: str, reference: str) -> tuple[str, str]:
        """The two texts that the metric compares: of two options, their letters."""
        if self._pattern == "none":
            return answer, reference
        reference = self._clean(reference)
        candidate_letter, reference_letter = option_letter(answer), option_letter(reference)
        return (candidate_letter, reference_letter) if candidate_letter and reference_letter else (answer, reference)

    def _clean(self, text: str) -> str:
        return text if self._pattern == "none" else strip_markup(text)


@lru_cache
def compile_pattern(pattern: str, case_sensitive: bool) -> Any:
    """A pattern of the package regex, whose searches take a timeout (`re` may search some texts for years).

    Raises InputError where it is not a regular expression.
    """
    import regex

    try:
        return regex.compile(pattern, 0 if case_sensitive else regex.IGNORECASE)
    except (regex.error, TypeError) as error:
        raise InputError(f"the pattern {pattern!r} is not a regular expression ({error}).") from error


def _finder(pattern: str, case_sensitive: bool) -> Callable[[str], list[str]]:
    """Finds all matches of a regular expression: of each, the first group that took part in it."""
    compiled = compile_pattern(pattern, case_sensitive)
    if not compiled.groups:
        raise InputError(f"the pattern {pattern!r} has no group; put the part that is the answer into parentheses.")

    def find(text: str) -> list[str]:
        with limited(PATTERN_TIMEOUT) as seconds:
            groups = (match.groups() for match in compiled.finditer(text, timeout=seconds))
            return [next((group for group in groups_of_match if group is not None), "") for groups_of_match in groups]

    return find
