"""A judge whose verdicts are kept, so that no answer is judged twice, in this run or another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from bert_judge.errors import InputError
from bert_judge.judges.base import Costs, Judge, windows_of
from bert_judge.records import Sample, Verdict
from bert_judge.results.store import Entry, Store, key_of

_WINDOW = 1024  # rows that are held


class StoredJudge(Judge):
    """Another judge, whose verdicts are kept by its signature and the texts of the sample.

    Verdicts on which the judge failed are not kept, nor those with details that JSON can't hold. It is for judges that
    read nothing of a sample but its texts. Raises OutputError where the store can't be used.
    """

    def __init__(self, judge: Judge, store: Store) -> None:
        self.info = judge.info
        self._judge, self._store = judge, store

    @property
    def costs(self) -> Costs | None:
        """Those of the judge: a kept verdict has none."""
        return self._judge.costs

    def fitted(self, samples: Iterable[Sample]) -> Judge:
        """The judge for this input, with the same store."""
        return StoredJudge(self._judge.fitted(samples), self._store)

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; the judge is asked once about each that is not in the store."""
        signature = str(self.info.signature)
        for window in windows_of(samples, _WINDOW):
            keys = [
                key_of(f"judge:{signature}", sample.question, sample.candidate, sample.references) for sample in window
            ]
            entries = self._store.get(list(dict.fromkeys(keys)))
            stored = {key: verdict for key, entry in entries.items() if (verdict := _verdict(entry))}
            missing: dict[str, Sample] = {}
            for key, sample in zip(keys, window, strict=True):
                if key not in stored:
                    missing.setdefault(key, sample)
            judged = list(self._judge.assess(missing.values()))
            if len(judged) != len(missing):
                raise InputError(
                    f"{self.info.name} gave {len(judged)} verdicts for {len(missing)} samples; one per sample, in "
                    "their order, was expected. None of them is kept."
                )
            new = dict(zip(missing, judged, strict=True))
            self._store.put({key: asdict(verdict) for key, verdict in new.items() if _can_be_kept(verdict)})
            yield from (new[key] if key in new else stored[key] for key in keys)


def _verdict(entry: Entry) -> Verdict | None:
    """A kept verdict; None for an entry that somebody else changed."""
    try:
        return Verdict.read(entry)
    except (ValueError, TypeError):
        return None


def _can_be_kept(verdict: Verdict) -> bool:
    return isinstance(verdict, Verdict) and not verdict.failed and _is_plain(verdict.details)


def _is_plain(value: Any) -> bool:
    """Whether JSON gives a value back as it is: a tuple would come back as a list."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)
