"""What a judge is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, TypeVar

from bert_judge.errors import BertJudgeError, InputError
from bert_judge.records import Explanation, JudgeInfo, Sample, Verdict, is_missing

if TYPE_CHECKING:
    from bert_judge.inputs import ColumnMap

Table = TypeVar("Table")

WHOLE_CANDIDATE = "judge the whole candidate, with reasoning, run-on text and remarks after the answer"

_FIRST_WINDOW = 64  # samples, so that the first verdicts come soon


@dataclass(frozen=True, slots=True)
class Costs:
    """What a judge has used so far: of the `rows` that needed a reply, some were `cached`, others `requests`.

    `failed` counts the requests without a reply. Cached replies cost nothing. `money` is None unless prices were given.
    `stages` are those of each stage of a cascade, whose `rows` and `seconds` are those that it judged, and took.
    """

    rows: int = 0
    requests: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    money: float | None = None
    stages: tuple[Costs, ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Costs:
        """Costs that were written as JSON. Raises ValueError, KeyError or TypeError for what is none."""
        amounts = {name: record[name] for name in _AMOUNTS}
        if not all(isinstance(amount, int | float | None) for amount in amounts.values()):
            raise ValueError(f"not costs: {amounts!r:.80}")
        return cls(**amounts, stages=tuple(map(cls.of, record["stages"])))

    def and_of(self, other: Costs) -> Costs:
        """What two judges have used together."""
        return self._combined(other, 1)

    def since(self, earlier: Costs) -> Costs:
        """What the same judge has used after `earlier`."""
        return self._combined(earlier, -1)

    def _combined(self, other: Costs, sign: int) -> Costs:
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in _AMOUNTS}
        amounts = {name: one if two is None else (one or 0) + sign * two for name, (one, two) in pairs.items()}
        stages = zip_longest(self.stages, other.stages, fillvalue=Costs())
        return Costs(**amounts, stages=tuple(one._combined(two, sign) for one, two in stages))


_AMOUNTS = tuple(amount.name for amount in fields(Costs) if amount.name != "stages")


SECRETS: Final = frozenset(["api_key"])
"""The parameters of judges that are no flags, which others on the machine can read, and that no file holds."""


class Judge(ABC):
    """Scores the candidate of each sample. A judge of your own sets `info` and implements `assess`."""

    def __repr__(self) -> str:
        """Its signature in short, as far as it has one."""
        with suppress(BertJudgeError, AttributeError):  # an encoder that is to be trained
            threshold = "" if self.info.threshold is None else f", correct from {self.info.threshold:g}"
            return f"<{self.info.signature.short}: {self.info.scale}{threshold}>"
        return f"<{type(self).__name__}>"

    @cached_property  # unlike a property, it can be assigned
    def info(self) -> JudgeInfo:
        """What the judge is: its name, its signature, and what its scores mean."""
        raise InputError(f"{type(self).__name__} does not say what it is; set its `info` to a JudgeInfo.")

    @abstractmethod
    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in their order, as a stream: memory does not grow with the number of samples."""

    @property
    def costs(self) -> Costs | None:
        """What its verdicts have cost so far, for a judge that counts it."""
        return None

    def fitted(self, samples: Iterable[Sample]) -> Judge:
        """The judge for this input: another one only where scores depend on the whole input, which is then read."""
        return self

    def predict(
        self,
        questions: Sequence[str] | None,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]],
    ) -> list[float | None]:
        """The scores of candidates, in their order; None where the judge could not decide.

        `references` has one text or several for each candidate. Without `questions` (None or empty), only candidates
        and references are compared. Each may be a list, an array, a pandas Series or an iterator. Raises InputError
        where the lengths differ or an entry is not a text.
        """
        samples = make_samples(questions, candidates, references)
        return [verdict.score for verdict in self.fitted(samples).assess(samples)]

    def explain(self, sample: Sample) -> Explanation:
        """Which sentences and words of the candidate carried its score, by leaving them out, up to 36 in all.

        `explanation.carrying()` are those that matter. Every variant is judged, and paid for where verdicts are.
        """
        from bert_judge.judges.occlusion import explain

        (verdict,) = self.assess([sample])
        (explanation,) = explain(self, [(sample, verdict.score)])
        return explanation

    def assess_table(
        self,
        table: Table,
        columns: ColumnMap | None = None,
        *,
        prefix: str | None = None,
        numbers_as_text: bool = False,
        reference_separator: str | None = None,
        progress: bool | None = None,
    ) -> Table:
        """A pandas DataFrame, an Arrow table or a Dataset of datasets with `score`, `label` and `explanation` added.

        The given table does not change. Where it has a column of one of these names, such as a human `label`, all
        three are `judge_score`, `judge_label` and `judge_explanation`; `prefix` is what stands before the new names
        instead. `columns` names the columns of "question", "reference" and "candidate", as in
        {"candidate": "model_a"}; others are recognised as in files. A missing candidate is an empty answer; a missing
        question is ignored. `numbers_as_text` reads numbers as texts, and `reference_separator` splits several
        references in one text, as for files. `progress` shows a bar (None: on a terminal and in a notebook). Where the
        judge is undecided, score and label are missing (NaN and NA in pandas, None elsewhere). Raises InputError for
        another kind of table, a column that is missing, a new column that already exists, and a row without a
        reference.
        """
        from bert_judge.judges import tables

        samples, prefix = tables.read_table(table, columns, prefix, numbers_as_text, reference_separator)
        verdicts = tables.progress(self.fitted(samples).assess(samples), len(samples), progress)
        return tables.with_verdicts(table, list(verdicts), prefix)


def make_samples(
    questions: Iterable[str | None] | None, candidates: Iterable[str], references: Iterable[str | Iterable[str]]
) -> list[Sample]:
    """Samples from the three lists that the paper's judges take.

    Raises InputError where the lengths differ or an entry is not a text. A missing question (None, NaN) is left out.
    """
    answers, right = _entries("candidates", candidates), _entries("references", references)
    asked = [] if questions is None else _entries("questions", questions)
    asked = asked or [None] * len(answers)
    for name, values in (("references", right), ("questions", asked)):
        if len(values) != len(answers):
            raise InputError(f"there are {len(answers)} candidates but {len(values)} {name}; one each was expected.")
    return [
        Sample(
            _text(candidate, f"candidates[{row}]"),
            _texts(reference, f"references[{row}]"),
            None if is_missing(question) else _text(question, f"questions[{row}]"),
        )
        for row, (question, candidate, reference) in enumerate(zip(asked, answers, right, strict=True))
    ]


def characters_read(sample: Sample) -> int:
    """How many characters a judge reads for a row: those of question and candidate again for each reference."""
    again = len(sample.candidate) + len(sample.question or "")
    return len(sample.references) * again + sum(map(len, sample.references))


def windows_of(samples: Iterable[Sample], most: int) -> Iterator[list[Sample]]:
    """The windows that are judged together: 64 samples, then more, up to `most` or eight million characters."""
    from bert_judge.encoder.batching import windows

    def characters(sample: Sample) -> int:
        return len(sample.candidate) + len(sample.question or "") + sum(map(len, sample.references))

    return windows(samples, characters, 1 << 23, _FIRST_WINDOW, most)


def _entries(name: str, values: Any) -> list[Any]:
    if not _is_list(values):
        raise InputError(f"{name} is {type(values).__name__}; a list with one entry for each candidate was expected.")
    return list(values)


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not _is_list(value):
        return (_text(value, place, "a text, or a list of texts,"),)
    texts = tuple(_text(amount, f"{place}[{number}]") for number, amount in enumerate(value))
    if not texts:
        raise InputError(f"{place} is empty; at least one correct answer was expected.")
    return texts


def _is_list(values: Any) -> bool:
    """Whether this is a list, an array, a Series or an iterator: it has entries in an order, and no columns."""
    other = isinstance(values, str | bytes | Mapping | Set) or hasattr(values, "columns")
    return isinstance(values, Iterable) and not other


def _text(value: Any, place: str, expected: str = "a text") -> str:
    if isinstance(value, str):
        return str(value)  # numpy has a class of its own
    shown = repr(value) if is_missing(value) else f"{value!r:.60} ({type(value).__name__})"
    raise InputError(f"{place} is {shown}; {expected} was expected.")
