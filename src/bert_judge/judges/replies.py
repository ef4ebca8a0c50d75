"""What judges share that ask a model about each row: the rules, the store of replies, and what they cost."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Annotated, NamedTuple

from bert_judge.generators import Generator, KeptGenerator
from bert_judge.generators.base import Reply
from bert_judge.judges.base import Costs, Judge, windows_of
from bert_judge.reading import ANSWER_VERSION, find_answer
from bert_judge.records import JudgeInfo, Sample, Scale, Signature, Verdict, __version__
from bert_judge.results.store import open_store

CORRECTNESS = """\
The CANDIDATE is right if its final answer means the same as a REFERENCE, as an answer to the QUESTION:
- Only its final answer counts. How it got there, by sound reasoning or not, does not matter, and neither does an
  answer that it considers on the way and drops.
- The REFERENCES are right. Do not solve the QUESTION yourself, and use no knowledge from elsewhere.
- Wording, order, notation and length do not matter where the meaning is the same.
- A CANDIDATE that gives no final answer, or several that contradict each other, is wrong."""
"""The rules of the paper (arXiv 2604.09497), in our words."""

StoreFile = Annotated[str | None, "file that keeps replies; auto: one in the cache folder; off: none"]
PriceIn = Annotated[float | None, "what a million prompt tokens cost"]
PriceOut = Annotated[float | None, "what a million tokens of replies cost"]

_WINDOW = 1024  # rows that are held


class JudgePrompt(NamedTuple):
    """The text of a prompt, and the parts of the sample in it as spans of characters."""

    text: str
    spans: tuple[tuple[str, int, int], ...] = ()


class ReplyJudge(Judge):
    """A judge that asks a model about the answer of each candidate. A subclass says what a reply means, by `_verdict`.

    The model reads the answer alone (`bert_judge.reading`), unless `whole`; where there is none, or where it is the
    text of a reference, the model is not asked. Replies are kept in a file, so that no prompt is sent twice.
    """

    def __init__(
        self,
        generator: Generator,
        name: str,
        scale: Scale,
        settings: Mapping[str, object],
        *,
        store: str | None,
        prices: tuple[float | None, float | None],
        whole: bool,
    ) -> None:
        self._generator = KeptGenerator(generator, open_store(store))
        self._prices = None if prices == (None, None) else (prices[0] or 0.0, prices[1] or 0.0)
        self._whole = whole
        self._costs, self._lock = Costs(), Lock()
        read = {"reading": "whole" if whole else str(ANSWER_VERSION), "generator": generator.signature.name}
        values = {"variant": name, **settings, **read, **generator.signature.settings}
        signature = Signature.make(type(self).__name__, values, version=__version__)
        self.info = JudgeInfo(name, signature, scale, paid=True)

    @abstractmethod
    def _verdict(self, sample: Sample, prompt: JudgePrompt, reply: Reply) -> Verdict:
        """The verdict of a reply that has no error; details are added."""

    @property
    def costs(self) -> Costs:
        """What this judge has used since it was made."""
        with self._lock:
            costs = self._costs
        if self._prices is None:
            return costs
        price_in, price_out = self._prices
        return replace(costs, money=(costs.prompt_tokens * price_in + costs.completion_tokens * price_out) / 1e6)

    def _assess(self, samples: Iterable[Sample], prompt_of: Callable[[Sample], JudgePrompt]) -> Iterator[Verdict]:
        """One verdict for each sample, in order; up to 1,024 rows are asked together."""
        for window in windows_of(samples, _WINDOW):
            answers = [find_answer(sample, whole=self._whole) for sample in window]
            prompts = [None if answer.verdict else prompt_of(answer.sample) for answer in answers]
            replies = self._timed([prompt.text for prompt in prompts if prompt])
            arrived, row = dict[int, Reply](), 0
            for answer, prompt in zip(answers, prompts, strict=True):
                if answer.verdict:
                    yield answer.verdict
                elif prompt:
                    while row not in arrived:
                        arrived.update([next(replies)])
                    yield replace(self._judged(answer.sample, prompt, arrived.pop(row)), left_out=answer.left_out)
                    row += 1

    def _judged(self, sample: Sample, prompt: JudgePrompt, reply: Reply) -> Verdict:
        if reply.error is not None:
            return Verdict(None, None, f"no reply: {reply.error}", failed=True)
        names = ("finish_reason", "prompt_tokens", "completion_tokens")
        details = {"reply": reply.text, **{name: getattr(reply, name) for name in names}}
        return replace(self._verdict(sample, prompt, reply), details=details)

    def _timed(self, prompts: Sequence[str]) -> Iterator[tuple[int, Reply]]:
        """The replies as they come. What is paid for counts as it arrives, also where nobody waits for it any more."""
        start = time.monotonic()
        for index, reply in self._generator.replies(prompts, lambda _, reply: self._count(reply, 0.0)):
            self._count(reply if reply.cached else None, time.monotonic() - start)
            yield index, reply
            start = time.monotonic()

    def _count(self, reply: Reply | None, seconds: float) -> None:
        used = Costs(seconds=seconds)
        if reply and reply.cached:
            used = replace(used, rows=1, cached=1)
        elif reply:
            failed, tokens, written = int(reply.error is not None), reply.prompt_tokens, reply.completion_tokens
            used = Costs(1, 1, 0, failed, tokens, written, seconds)
        with self._lock:
            self._costs = self._costs.and_of(used)
