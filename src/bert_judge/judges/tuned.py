"""A judge with the threshold and the recalibration that were fitted to human labels of one kind of answers.

`bert-judge evaluate` fits them, and stores what is shown to help in a small JSON file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from bert_judge.errors import InputError
from bert_judge.judges.base import Costs, Judge
from bert_judge.measures.recalibration import Recalibration, RecalibrationGains
from bert_judge.records import JudgeInfo, Sample, Signature, Verdict
from bert_judge.results import write_files

_FORMAT = 1
_WHERE: Final = ("runtime", "device", "dtype")  # where a judge runs changes its scores by little


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the judge of a signature is to do otherwise: probabilities with another `temperature` and `bias`
    (`Recalibration`), labels from another `threshold` of its own scores on (None: its own labels).

    `fitted` describes the labels that it was fitted to, and what it gains.
    """

    judge: Signature
    temperature: float = 1.0
    bias: float = 0.0
    threshold: float | None = None
    fitted: Mapping[str, Any] | None = None

    @classmethod
    def shown(cls, judge: Signature, gains: RecalibrationGains, origin: Mapping[str, Any]) -> Tuning | None:
        """What is shown to help: the threshold by agreement, temperature and bias by log loss; None where neither is.

        `origin` says which labels they were fitted to.
        """
        threshold, recalibrated = gains.agreement.is_shown, gains.log_loss.is_shown
        if not (threshold or recalibrated):
            return None
        kept = gains.recalibration if recalibrated else Recalibration()
        measured = {name: getattr(gains, name)._asdict() for name in ("agreement", "log_loss", "ece")}
        gained = {name: {**gain, "estimate": asdict(gain["estimate"])} for name, gain in measured.items()}
        return cls(
            judge,
            _short(kept.temperature),
            _short(kept.bias),
            _short(gains.recalibration.threshold) if threshold else None,
            {**origin, "gains": gained},
        )

    @property
    def recalibrates(self) -> bool:
        """Whether scores change."""
        return (self.temperature, self.bias) != (1.0, 0.0)

    @classmethod
    def load(cls, path: str | Path) -> Tuning:
        """Read one from a file. Raises InputError where the file can't be read or holds something else."""
        expected = "a file that bert-judge evaluate wrote was expected."
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
            if values.pop("format") != _FORMAT:
                raise ValueError(f"its format is not {_FORMAT}")
            tuning = cls(**{**values, "judge": Signature.of(values["judge"])})
            limits = (0 < tuning.temperature < math.inf, math.isfinite(tuning.bias), 0 <= (tuning.threshold or 0) <= 1)
            if not all(limits):
                raise ValueError("a number is out of its range")
        except OSError as error:
            raise InputError(f"the tuning {path} can't be read ({error.strerror}); {expected}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{path} is not the tuning of a judge ({reason}); {expected}") from error
        return tuning

    def save(self, path: str | Path) -> None:
        """Write it, whole or not at all. Raises OutputError where that fails."""
        text = json.dumps({"format": _FORMAT, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"
        write_files(Path(path).parent, {Path(path).name: text})


class TunedJudge(Judge):
    """Another judge with a `Tuning`, or the file of one: its scores recalibrated, its labels by the new threshold.

    Raises InputError where the file is broken, was fitted to another judge, or the judge's scores are not
    probabilities.
    """

    def __init__(self, judge: Judge, tuning: Tuning | str | Path) -> None:
        where = "the tuning" if isinstance(tuning, Tuning) else str(tuning)
        self._judge, self._tuning = judge, tuning if isinstance(tuning, Tuning) else Tuning.load(tuning)
        info, fitted = judge.info, self._tuning
        if info.scale != "probability":
            raise InputError(f"{where} is for a judge with probabilities; {info.name} gives scores of another kind.")
        if difference := _what(fitted.judge).difference(_what(info.signature)):
            raise InputError(
                f"{where} was fitted to another judge ({difference}), and does not hold for this one; fit it anew."
            )
        self._recalibrated = Recalibration(fitted.temperature, fitted.bias).of
        threshold = info.threshold if fitted.threshold is None else fitted.threshold
        self._threshold = None if threshold is None else self._recalibrated(threshold)
        tuned = f"temperature={fitted.temperature:g},bias={fitted.bias:g}"
        settings = {**info.signature.settings, "threshold": self._threshold, "tuned": tuned}
        self.info = JudgeInfo(
            f"{info.name}-tuned",
            Signature.make(info.signature.name, settings),
            "probability",
            self._threshold,
            info.reads_references,
            info.paid,
        )

    @property
    def costs(self) -> Costs | None:
        """Those of the judge."""
        return self._judge.costs

    def fitted(self, samples: Iterable[Sample]) -> Judge:
        """The judge for this input, with the same tuning."""
        return TunedJudge(self._judge.fitted(samples), self._tuning)

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order."""
        for verdict in self._judge.assess(samples):
            if verdict.score is None:
                yield verdict
                continue
            score = self._recalibrated(verdict.score)
            label = verdict.label if self._threshold is None else int(score >= self._threshold)
            yield replace(verdict, score=score, label=label)


def _what(signature: Signature) -> Signature:
    """A signature without where the judge runs."""
    settings = {name: value for name, value in signature.settings.items() if name not in _WHERE}
    return replace(signature, settings=settings)


def _short(value: float) -> float:
    """The number that a signature shows."""
    return float(f"{value:g}")
