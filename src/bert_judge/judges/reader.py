"""What a judge reads of samples before its encoder runs, beside the encoder: in a thread, or in other processes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from bert_judge.errors import InputError
from bert_judge.reading import Answer, Prompt, PromptEncoder, Scope
from bert_judge.records import Sample

MOST_READ: Final = 500_000
"""The most characters of a text that are read, half of them at its beginning and half at its end: what is tokenized
takes some 60 bytes of memory a character."""

_MOST = 8  # processes that "auto" takes: what they read in a second is as much as one process can turn into verdicts
_CORES = 8  # of a processor, whose encoder needs a process for so many
_FIRST = 5  # windows, some 2,000 rows, that start no process: there would be little left to gain


class Read(NamedTuple):
    """What was read of a sample: its answer, the prompts (none where no judge is needed), and why it is out of the
    scope."""

    answer: Answer
    prompts: list[Prompt]
    out_of_scope: str | None


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads samples, a window at a time; it can be pickled."""

    prompts: PromptEncoder
    scope: Scope

    def __call__(self, samples: Sequence[Sample]) -> list[Read]:
        """What is read of each sample; the same for it in any window."""
        answers = [self.prompts.form.answer_of(sample) for sample in samples]
        read = [_with_short_texts(answer.sample) for answer in answers]
        undecided = [sample for sample, answer in zip(read, answers, strict=True) if answer.verdict is None]
        prompts = iter(self.prompts.encode(undecided))
        return [
            self._read(answer, sample, next(prompts) if answer.verdict is None else [])
            for sample, answer in zip(read, answers, strict=True)
        ]

    def _read(self, answer: Answer, sample: Sample, prompts: list[Prompt]) -> Read:
        unread = len(answer.sample.candidate) - len(sample.candidate)
        for prompt in prompts if unread else ():
            prompt.truncated["candidate"] = prompt.truncated.get("candidate", 0) + unread
        return Read(answer, prompts, self.scope.reason(sample))


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes read, and how many windows at the start are read without them."""

    processes: int
    here: int = 0

    @classmethod
    def of(cls, asked: str | int, device: str, cores: int) -> Workers:
        """A number, or what suits a device and so many cores ("auto").

        An accelerator is faster than one reader, so all cores but one read for it, up to eight. An encoder on the
        processor shares the cores with the readers: one process reads for every eight cores, and on fewer a thread,
        which fills the gaps that the encoder leaves. The first windows are read by a thread on any machine, as
        processes take a while to start.
        """
        if asked != "auto":
            return cls(int(asked))
        return cls(min(_MOST, cores // _CORES if device == "cpu" else cores - 1), _FIRST)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(asked: str | int) -> None:
    """Raises InputError for what is neither "auto" nor a number of processes."""
    if asked != "auto" and not str(asked).isdecimal():
        raise InputError(f"workers is {asked!r}; 'auto', or a number of processes (0: none), was expected.")


def texts_of(sample: Sample) -> Sample:
    """A sample as judges read it: its texts alone, which another process can be given, whatever else it holds."""
    return Sample(sample.candidate, sample.references, sample.question)


def _with_short_texts(sample: Sample) -> Sample:
    if max(map(len, (sample.candidate, sample.question or "", *sample.references))) <= MOST_READ:
        return sample
    question = None if sample.question is None else _ends(sample.question)
    return Sample(_ends(sample.candidate), tuple(map(_ends, sample.references)), question)


def _ends(text: str) -> str:
    return text if len(text) <= MOST_READ else text[: MOST_READ // 2] + text[-MOST_READ // 2 :]
