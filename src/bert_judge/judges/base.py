"""What a judge is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bert_judge.errors import InputError
from bert_judge.types import Reply, Sample, Scale, Signature, Verdict

if TYPE_CHECKING:
    from bert_judge.sources import ColumnMap

Table = TypeVar("Table")

FIRST_WINDOW = 64
"""Samples that are judged before the first verdict is given."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a judge has used so far. `cached` replies cost nothing and are in no other number but `rows`.

    `rows` counts the rows that needed a reply, `requests` those that were asked for, `failed` those of them without a
    reply. `money` is None unless prices were given.
    """

    rows: int = 0
    requests: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    money: float | None = None

    def plus(self, reply: Reply, seconds: float) -> Costs:
        """With one more reply, which took these seconds."""
        costs = replace(self, rows=self.rows + 1, seconds=self.seconds + seconds)
        if reply.cached:
            return replace(costs, cached=self.cached + 1)
        return replace(
            costs,
            requests=self.requests + 1,
            failed=self.failed + (reply.error is not None),
            prompt_tokens=self.prompt_tokens + reply.prompt_tokens,
            completion_tokens=self.completion_tokens + reply.completion_tokens,
        )

    def since(self, earlier: Costs) -> Costs:
        """What was used after `earlier`, which are costs of the same judge."""
        return Costs(*(now and now - then for now, then in zip(astuple(self), astuple(earlier), strict=True)))


class Judge(ABC):
    """Says of each sample how good its candidate is. A judge of your own implements the three abstract members."""

    @property
    def scale(self) -> Scale:
        """What its scores mean: "probability" (of being correct, in [0, 1]: it has a Brier score and a calibration),
        "decision" (1 correct, 0 incorrect) or "score" (a scale of their own). A class may simply set it.
        """
        return "score"

    @property
    @abstractmethod
    def variant(self) -> str:
        """The judge's name in paths: the model, and what distinguishes it from others of its kind."""

    @property
    @abstractmethod
    def signature(self) -> Signature | str:
        """Everything that changes a number; written beside every result. A text is taken as a name without settings."""

    @abstractmethod
    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict a sample, in the order of the samples, as a stream: in constant memory, whatever their number."""

    @property
    def costs(self) -> Costs | None:
        """What its verdicts have cost so far, for a judge that pays for them."""
        return None

    def fitted(self, samples: Iterable[Sample]) -> Judge:
        """The judge for this input. Most are the same for all; one whose scores depend on the whole input reads it."""
        return self

    def predict(
        self,
        questions: Sequence[str] | None,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]],
    ) -> list[float | None]:
        """The scores of candidates, in their order; None where the judge could not decide.

        `references` holds a text or several for each candidate. Without `questions` (None or empty), candidates and
        references are compared alone. Each may be a list, an array, a pandas Series or an iterator. Raises InputError
        where the lengths differ, or where an entry is not a text: it says which.
        """
        samples = make_samples(questions, candidates, references)
        return [verdict.score for verdict in self.fitted(samples).assess(samples)]

    def assess_table(
        self,
        table: Table,
        columns: ColumnMap | None = None,
        *,
        prefix: str = "",
        numbers_as_text: bool = False,
    ) -> Table:
        """A pandas DataFrame or a Dataset of datasets with the columns `score`, `label` and `explanation` added.

        The table that is given stays as it is. `columns` names the columns of "question", "reference" and "candidate",
        as in {"candidate": "model_a"}; others are recognised as in files. A missing candidate is an empty answer, a
        missing question no question. `prefix` stands before the new names; `numbers_as_text` takes numbers for texts.
        Where the judge is undecided, score and label are missing (NaN and NA in pandas, None in datasets). Raises
        InputError for another kind of table, a column that is missing or there already, and a row without a reference.
        """
        from bert_judge.judges.tables import read_table, with_verdicts

        samples = read_table(table, columns, prefix, numbers_as_text)
        return with_verdicts(table, list(self.fitted(samples).assess(samples)), prefix)


def make_samples(
    questions: Iterable[str | None] | None, candidates: Iterable[str], references: Iterable[str | Iterable[str]]
) -> list[Sample]:
    """Samples from the three lists that the paper's judges take.

    Raises InputError where the lengths differ or an entry is not a text. A missing question (None, NaN) is left out.
    """
    given = {"candidates": _entries("candidates", candidates), "references": _entries("references", references)}
    if questions is not None and (asked := _entries("questions", questions)):
        given["questions"] = asked
    rows = len(given["candidates"])
    for name, values in given.items():
        if len(values) != rows:
            raise InputError(f"there are {rows} candidates but {len(values)} {name}; one each was expected.")
    return [
        Sample(
            _text(candidate, f"candidates[{row}]"),
            _texts(reference, f"references[{row}]"),
            None if _is_missing(question) else _text(question, f"questions[{row}]"),
        )
        for row, (question, candidate, reference) in enumerate(
            zip(given.get("questions", [None] * rows), given["candidates"], given["references"], strict=True)
        )
    ]


def windows_of(samples: Iterable[Sample], most: int, first: int = FIRST_WINDOW) -> Iterator[list[Sample]]:
    """A stream in the windows that are judged at a time: `first` samples, so that the first verdicts come soon, then
    ever more, up to `most` of them or eight million characters.
    """
    from bert_judge.encoder import windows

    def characters(sample: Sample) -> int:
        return len(sample.candidate) + len(sample.question or "") + sum(map(len, sample.references))

    return windows(samples, characters, 1 << 23, first, most)


def read_yaml(path: Path, what: str, read: Callable[[str], Any] | None = None) -> Any:
    """What a YAML file holds, as `read` (`yaml.safe_load`) has it; errors name it as `what`.

    Raises InputError where it can't be read or is not valid YAML.
    """
    import yaml

    try:
        return (read or yaml.safe_load)(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the {what} {path} can't be read ({error.strerror}); a YAML file was expected.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML ({str(error).splitlines()[0]}).") from error


def _entries(name: str, values: Any) -> list[Any]:
    if not _is_list(values):
        raise InputError(f"{name} is {type(values).__name__}; a list with one entry for each candidate was expected.")
    return list(values)


def _texts(value: Any, place: str) -> tuple[str, ...]:
    if not _is_list(value):
        return (_text(value, place, "a text, or a list of texts,"),)
    texts = tuple(_text(each, f"{place}[{number}]") for number, each in enumerate(value))
    if not texts:
        raise InputError(f"{place} is empty; at least one correct answer was expected.")
    return texts


def _is_list(values: Any) -> bool:
    """Whether this is a list, an array, a Series or an iterator: it has entries in an order, and no columns."""
    if isinstance(values, str | bytes | Mapping | Set) or hasattr(values, "columns"):
        return False
    return isinstance(values, Iterable)


def _text(value: Any, place: str, expected: str = "a text") -> str:
    if isinstance(value, str):
        return str(value)  # of an array, too
    shown = repr(value) if _is_missing(value) else f"{value!r:.60} ({type(value).__name__})"
    raise InputError(f"{place} is {shown}; {expected} was expected.")


def _is_missing(value: object) -> bool:
    """Whether this is None, or what pandas and numpy put in its place (NaN, NA, NaT)."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )
