"""What the backends on this machine share: prompts to token ids, and token ids to replies."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from bert_judge.encoder.models import hash_files
from bert_judge.errors import ModelError
from bert_judge.generators.base import Arrived, BackendGenerator, GeneratorOptions, Reply, TokenChoice
from bert_judge.reading import opening_token

_PLACE = "\ue000prompt\ue000"  # stands for the prompt; in private characters, which no template contains
_BLANK = " "
_SHORTEST_MARKUP = 3  # shorter added tokens, or blank ones, are not markup


class LocalGenerator(BackendGenerator):
    """A model on this machine. It applies the chat template itself, so that all backends format and cut alike."""

    window: ClassVar[int]  # prompts that are encoded together
    _format: ChatFormat
    _limit: int  # the most tokens of a prompt and its reply

    def replies(self, prompts: Iterable[str], arrived: Arrived | None = None) -> Iterator[tuple[int, Reply]]:
        """The replies of each batch when it is done."""
        numbered = enumerate(prompts)
        room = max(1, self._limit - self._sampling.max_tokens, self._limit // 2)
        while window := list(islice(numbered, self.window)):
            encoded = {index: self._format.encode(prompt, room) for index, prompt in window}
            fitting = {index: prompt for index, prompt in encoded.items() if prompt}
            refusal = Reply("", "error", error=f"the system prompt alone is longer than {room} tokens")
            refused = [(index, refusal) for index in encoded if index not in fitting]
            for replies in chain([refused], self._run_batches(fitting)):
                if arrived:
                    for index, reply in replies:
                        arrived(index, reply)
                yield from replies

    def _run_batches(self, prompts: Mapping[int, EncodedPrompt]) -> Iterator[list[tuple[int, Reply]]]:
        for rows in self._batches(prompts):
            yield list(zip(rows, self._run([prompts[row] for row in rows]), strict=True))

    def _batches(self, prompts: Mapping[int, EncodedPrompt]) -> Iterable[Sequence[int]]:
        """The indices of the prompts that run together: all of a window, where the engine makes its own batches."""
        return [list(prompts)] if prompts else []

    @abstractmethod
    def _run(self, batch: Sequence[EncodedPrompt]) -> list[Reply]: ...

    def _reply(
        self, prompt: EncodedPrompt, ids: Sequence[int], tokens: int, cut: bool, steps: Sequence[Mapping[int, float]]
    ) -> Reply:
        """A reply from its ids; `steps` are the log probabilities of the likeliest ids at its last positions."""
        text_of = self._format.token
        choices = tuple(
            TokenChoice(text_of(token), {text_of(other): value for other, value in likeliest.items()})
            for token, likeliest in zip(ids[len(ids) - len(steps) :], steps, strict=True)
        )
        text, reason = self._format.decode(ids), "length" if cut else "stop"
        return Reply(text, reason, len(prompt.ids), tokens, choices=choices, truncated=prompt.truncated)


class EncodedPrompt(NamedTuple):
    """The token ids of a prompt, and how many of its characters did not fit."""

    ids: tuple[int, ...]
    truncated: int


class ChatFormat:
    """Formats prompts by a model's chat template, or as plain text if it has none.

    The prompt is data: a special token in it is encoded as plain text, so that it can't end its turn and begin another.
    A prompt that is too long loses its start; the template and the system prompt are never cut. `end_ids` are the
    tokens that end a turn.
    """

    def __init__(self, tokenizer: Any, options: GeneratorOptions) -> None:
        self._tokenizer = tokenizer
        head, tail = _frame(tokenizer, options)
        # `_frame` puts blanks around the prompt; if they are gone, the template trims its texts, and so do we.
        blanks = head.endswith(_BLANK), tail.startswith(_BLANK)
        self._trims = [trim for trim, blank in zip((str.lstrip, str.rstrip), blanks, strict=True) if not blank]
        self._head, self._tail = head.removesuffix(_BLANK), tail.removeprefix(_BLANK)
        # A token that the tokenizer puts before a text; one that it puts after it would end the turn.
        first = tokenizer("a")["input_ids"][:1]
        begins = not tokenizer.chat_template and first == [tokenizer.bos_token_id]
        self._start = tuple(first) if begins else ()
        opening = opening_token(options.think_token)
        self._prefill = opening if opening and self._tail.rstrip().endswith(opening) else ""
        markup = sorted(token for token in tokenizer.get_added_vocab() if len(token.strip()) >= _SHORTEST_MARKUP)
        self._markup = re.compile("|".join(f"(?={re.escape(token)})" for token in markup) or r"(?!)")
        tags = tokenizer.convert_tokens_to_ids([opening, options.think_token] if opening else [])
        self._hidden = _special_ids(tokenizer) - frozenset(tags)
        self.end_ids = _end_ids(tokenizer)

    def encode(self, prompt: str, limit: int) -> EncodedPrompt | None:
        """The ids of a prompt, at most `limit`; None if not even the template fits."""
        text = prompt.encode(errors="replace").decode()  # tokenizers refuse lone surrogates
        for trim in self._trims:
            text = trim(text)
        length = len(text)
        while len(ids := self._ids(text)) > limit:
            if not text:
                return None
            text = self._without_start(text, len(ids) - limit)
        return EncodedPrompt(ids, length - len(text))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a reply without special tokens, except for the tags of a reasoning trace."""
        visible = [token for token in ids if token not in self._hidden]
        return self._prefill + str(self._tokenizer.decode(visible, skip_special_tokens=False))

    def token(self, token_id: int) -> str:
        """The text of one token."""
        return str(self._tokenizer.decode([token_id], skip_special_tokens=False))

    def _ids(self, text: str) -> tuple[int, ...]:
        cuts = [match.start() + 1 for match in self._markup.finditer(text)]
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        parts[0] = self._head + parts[0]
        parts[-1] += self._tail
        return (*self._start, *(token for part in parts for token in self._encode(part)["input_ids"]))

    def _without_start(self, text: str, tokens: int) -> str:
        """The text without about this many tokens at its start; at least one character shorter."""
        offsets = self._encode(text, return_offsets_mapping=True)["offset_mapping"]
        return text[max(1, offsets[tokens][0]) if tokens < len(offsets) else len(text) :]

    def _encode(self, text: str, **flags: bool) -> Any:
        return self._tokenizer(text, add_special_tokens=False, return_attention_mask=False, verbose=False, **flags)


def content_hash(folder: Path) -> str:
    """Twelve hexadecimal digits for a model's configuration, tokenizer, template and weights."""
    patterns = ("*.json", "*.jinja", "*.model", "*.safetensors")
    return hash_files([path for pattern in patterns for path in sorted(folder.glob(pattern))])


def _frame(tokenizer: Any, options: GeneratorOptions) -> tuple[str, str]:
    from jinja2 import TemplateError

    system = options.system_prompt
    if not tokenizer.chat_template:
        return f"{system}\n\n{_BLANK}" if system else _BLANK, _BLANK
    place = f"{_BLANK}{_PLACE}{_BLANK}"
    turns = [{"role": "system", "content": system}] if system else []
    try:
        text = _render(tokenizer, [*turns, {"role": "user", "content": place}], options)
        if system and system.strip() not in text:
            raise ValueError("the template leaves the system prompt out")
    except (ValueError, TemplateError) as error:
        if not system:
            raise ModelError(f"the chat template of the model can't be used: {error}") from error
        # Some templates (such as Gemma's) have no system turn.
        text = _render(tokenizer, [{"role": "user", "content": f"{system}\n\n{place}"}], options)
    head, place, tail = text.partition(_PLACE)
    if not place or _PLACE in tail:
        raise ModelError(
            "the chat template of the model does not show the prompt exactly once; use a model with another template."
        )
    return head, tail


def _render(tokenizer: Any, turns: list[dict[str, str]], options: GeneratorOptions) -> str:
    thinking = {} if options.enable_thinking is None else {"enable_thinking": options.enable_thinking}
    return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **thinking))


def _end_ids(tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text, and a turn of the assistant as the template writes it."""
    from jinja2 import TemplateError

    ends = {tokenizer.eos_token_id} - {None}
    if tokenizer.chat_template:
        turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _PLACE}]
        try:
            after = tokenizer.apply_chat_template(turns, tokenize=False).rpartition(_PLACE)[2]
        except TemplateError:  # a template for prompts alone
            after = ""
        ids = tokenizer(after, add_special_tokens=False)["input_ids"]
        ends |= {token for token in ids[:2] if token in _special_ids(tokenizer)}
    return frozenset(ends)


def _special_ids(tokenizer: Any) -> frozenset[int]:
    """Tokens that are not text: those with a role, such as eos, and those of the template, which often have none."""
    marked = (token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset([*tokenizer.all_special_ids, *marked])
