"""What the backends that run on this machine share: prompts become token ids, and token ids replies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

from bert_judge.generators.base import Arrived, BackendGenerator
from bert_judge.generators.chat import ChatFormat, Encoded
from bert_judge.models import hash_files
from bert_judge.types import Reply, TokenChoice


class LocalGenerator(BackendGenerator):
    """A model on this machine. The chat template is applied here, so that all backends ask, and cut, alike."""

    window: ClassVar[int]  # prompts that are encoded together
    _format: ChatFormat
    _limit: int  # the most tokens of a prompt and its reply

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies of each batch when it is done."""
        numbered = enumerate(prompts)
        room = max(1, self._limit - self._sampling.max_tokens, self._limit // 2)
        while window := list(islice(numbered, self.window)):
            fitting: dict[int, Encoded] = {}
            for index, prompt in window:
                encoded = self._format.encode(prompt, room)
                if encoded is None:
                    yield index, Reply("", "error", error=f"the system prompt alone is longer than {room} tokens")
                else:
                    fitting[index] = encoded
            for rows in self._batches(fitting):
                found = list(zip(rows, self._run([fitting[row] for row in rows]), strict=True))
                if arrived:
                    for each in found:
                        arrived(*each)
                yield from found

    @abstractmethod
    def _batches(self, prompts: Mapping[int, Encoded]) -> Iterable[Sequence[int]]:
        """The indices of the prompts that run together."""

    @abstractmethod
    def _run(self, batch: Sequence[Encoded]) -> list[Reply]: ...

    def _reply(
        self, prompt: Encoded, ids: Sequence[int], tokens: int, cut: bool, steps: Sequence[Mapping[int, float]]
    ) -> Reply:
        """A reply from its ids; `steps` are the log probabilities of the likeliest ids at its last positions."""
        text_of = self._format.token
        choices = tuple(
            TokenChoice(text_of(token), {text_of(other): value for other, value in likeliest.items()})
            for token, likeliest in zip(ids[len(ids) - len(steps) :], steps, strict=True)
        )
        reason = "length" if cut else "stop"
        text = self._format.decode(ids)
        return Reply(text, reason, len(prompt.ids), tokens, choices=choices, truncated=prompt.truncated)


def content_hash(folder: Path) -> str:
    """Twelve hexadecimal digits for what a model's folder holds: configuration, tokenizer, template and weights."""
    patterns = ("*.json", "*.jinja", "*.model", "*.safetensors")
    return hash_files([path for pattern in patterns for path in sorted(folder.glob(pattern))])
