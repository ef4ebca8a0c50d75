"""How likely a language model finds a text, in batches: causal models, and sequence-to-sequence ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from bert_judge.encoder.devices import choose_device, fastest_dtype
from bert_judge.encoder.models import find_model, load_config, load_language_model, max_input_tokens, unlimited_input
from bert_judge.errors import InputError, ModelError
from bert_judge.generators.local import content_hash, in_halves, load_chat_tokenizer

LONGEST = 1024
"""The longest input in tokens, unless the model's limit is lower or another one is asked for: BARTScore's."""

_LEAST_TOKENS = 8  # of an input: room for the model's own tokens and some of each text
_BATCH_TOKENS = {"cpu": 2_048, "mps": 8_192, "cuda": 16_384}  # each has a logit for every word of the vocabulary
_BETWEEN = "\n"

_Ids = tuple[int, ...]
_Input = tuple[_Ids, _Ids]  # what is read before, and what is written


class Likelihood(NamedTuple):
    """The mean natural log probability of the tokens of a text, their number, and the characters that were cut.

    `mean` is NaN where the text has no token.
    """

    mean: float
    tokens: int
    source_cut: int
    text_cut: int


class _Encoded(NamedTuple):
    """What is read before, and the tokens whose probabilities count."""

    source: _Ids
    target: _Ids
    source_cut: int
    text_cut: int


class LikelihoodModel:
    """A language model from a folder or the Hub that says how likely texts are; weights are safetensors only.

    A causal model reads its first token, then the source, if there is one, and a line break, and the text; only the
    text's tokens count. A sequence-to-sequence model reads the source with its encoder and writes the text; all tokens
    of that count, with those that its tokenizer puts around them, as in BARTScore (arXiv 2106.11520). Special tokens in
    texts are read as plain text. Of what is too long the end is cut; a causal model's source keeps at least a half of
    the room if it needs it.

    Pairs are sorted by length and packed into batches of at most `batch_tokens` tokens, each distinct one once; a batch
    that does not fit into memory is halved. `settings` are what changes a number. Raises InputError where an argument
    is wrong, and for a sequence-to-sequence model without sources; ModelError where the model can't be loaded.
    """

    def __init__(
        self,
        model_path: str,
        *,
        with_source: bool,
        trust_remote_code: bool = False,
        dtype: str = "auto",
        device: str = "auto",
        max_tokens: int | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        folder = find_model(model_path, trust_remote_code)
        config = load_config(folder, trust_remote_code)
        self._seq2seq = bool(config.is_encoder_decoder)
        if self._seq2seq and not with_source:
            raise InputError(
                f"{model_path} is a sequence-to-sequence model, which reads one text and writes another: "
                "set source to 'question' or 'reference', or use a causal model."
            )
        self._max_tokens = _longest(max_tokens, config.get_text_config().to_dict(), model_path)
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"batch_tokens is {batch_tokens}; a number of at least 1 was expected.")
        self._device = choose_device(device)
        dtype = fastest_dtype(self._device) if dtype == "auto" else dtype
        self._batch_tokens = batch_tokens or _BATCH_TOKENS.get(self._device.type, _BATCH_TOKENS["cuda"])
        tokenizer = load_chat_tokenizer(folder, hasattr(config, "auto_map"))
        self._read_tokenizer(tokenizer, model_path)
        self._model = load_language_model(folder, config, dtype, self._seq2seq).to(self._device)
        self._lock = Lock()  # a model runs one batch at a time
        self.settings: Mapping[str, object] = {
            "weights": content_hash(folder),
            "max_tokens": self._max_tokens,
            "device": self._device.type,
            "dtype": dtype,
        }

    def score(self, pairs: Sequence[tuple[str | None, str]]) -> list[Likelihood]:
        """The likelihood of each text after its source (None: no source), in their order."""
        distinct = {pair: self._encode(*pair) for pair in dict.fromkeys(pairs)}
        inputs = {(each.source, each.target) for each in distinct.values() if each.target}
        means: dict[_Input, float] = {}
        for batch in self._batches(sorted(inputs, key=lambda each: (-len(each[0]) - len(each[1]), each))):
            means.update(zip(batch, self._means(batch), strict=True))
        found = {
            pair: Likelihood(means.get((e.source, e.target), float("nan")), len(e.target), e.source_cut, e.text_cut)
            for pair, e in distinct.items()
        }
        return [found[pair] for pair in pairs]

    def _read_tokenizer(self, tokenizer: Any, name: str) -> None:
        """The tokenizer, and the tokens around a text."""
        if not tokenizer.is_fast:
            raise ModelError(f"{name} has no fast tokenizer; a model with a tokenizer.json was expected.")
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.encode_special_tokens = True  # those in texts are plain text
        self._pad_id = int(tokenizer.pad_token_id or 0)
        framed = self._tokenizer.encode("a")
        places = [place for place, special in enumerate(framed.special_tokens_mask) if not special]
        self._head, self._tail = tuple(framed.ids[: places[0]]), tuple(framed.ids[places[-1] + 1 :])
        if not self._head and not self._seq2seq:
            ids = (tokenizer.bos_token_id, tokenizer.eos_token_id)  # what ends a text comes before the next one
            first = next((each for each in ids if each is not None), None)
            if first is None:
                raise ModelError(f"{name} has no token that begins or ends a text; another model was expected.")
            self._head = (first,)

    def _encode(self, source: str | None, text: str) -> _Encoded:
        if self._seq2seq:
            room = self._max_tokens - len(self._head) - len(self._tail)
            (before, source_cut), (own, text_cut) = (self._ids(each, room) for each in (source or "", text))
            target = (*self._head, *own, *self._tail) if own else ()
            return _Encoded((*self._head, *before, *self._tail), target, source_cut, text_cut)
        room = self._max_tokens - len(self._head)
        between = () if source is None else self._ids(_BETWEEN, room)[0]
        room -= len(between)
        own, text_cut = self._ids(text, room)
        before, source_cut = self._ids(source or "", max(room // 2, room - len(own)))
        if len(before) + len(own) > room:
            own, text_cut = self._ids(text, room - len(before))
        return _Encoded((*self._head, *before, *between), own, source_cut, text_cut)

    def _ids(self, text: str, most: int) -> tuple[_Ids, int]:
        """The first ids of a text, and how many of its characters did not fit."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = tuple(encoding.ids[:most])
        return ids, len(text) - encoding.offsets[most - 1][1] if len(encoding.ids) > most else 0

    def _batches(self, inputs: Sequence[_Input]) -> Iterator[list[_Input]]:
        """Inputs of similar length together; the longest first, so that lack of memory shows at once."""
        batch: list[_Input] = []
        widths = (0, 0)
        for each in inputs:
            wider = (max(widths[0], len(each[0])), max(widths[1], len(each[1])))
            if batch and sum(wider) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch, wider = [], (len(each[0]), len(each[1]))
            batch.append(each)
            widths = wider
        if batch:
            yield batch

    def _means(self, batch: Sequence[_Input]) -> list[float]:
        def run(batch: Sequence[_Input]) -> list[float]:
            with self._lock:
                return self._run(batch)

        def too_long(texts: _Input) -> float:
            raise ModelError(
                f"an input of {sum(map(len, texts))} tokens does not fit into memory; use a smaller model, "
                "a lower max_tokens, or another device."
            )

        return in_halves(batch, run, too_long, self._batch_tokens)

    def _run(self, batch: Sequence[_Input]) -> list[float]:
        import torch

        read = [source if self._seq2seq else source + target for source, target in batch]
        ids, mask = self._padded(read, self._pad_id)
        labels = {"labels": self._padded([target for _, target in batch], -100)[0]} if self._seq2seq else {}
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, **labels, use_cache=False).logits
            means = []
            for row, (source, target) in enumerate(batch):
                first = 0 if self._seq2seq else len(source) - 1  # a causal model's logits are those of the next token
                own = logits[row, first : first + len(target)].float()
                chosen = own.gather(1, torch.tensor(target, device=own.device)[:, None])[:, 0]
                means.append((chosen - own.logsumexp(1)).mean())
        return torch.stack(means).tolist()

    def _padded(self, rows: Sequence[_Ids], pad_id: int) -> tuple[Any, Any]:
        """Rows as one tensor with padding on the right, and its mask."""
        import torch

        ids = torch.full((len(rows), max(map(len, rows))), pad_id)
        mask = torch.zeros_like(ids)
        for row, own in enumerate(rows):
            ids[row, : len(own)] = torch.tensor(own)
            mask[row, : len(own)] = 1
        return ids.to(self._device), mask.to(self._device)


def _longest(asked: int | None, config: Mapping[str, Any], name: str) -> int:
    """The longest input in tokens. Raises InputError where the model can't read as many as were asked for."""
    limit = max_input_tokens(config)
    if asked is None:
        return min(limit, LONGEST)
    if asked < _LEAST_TOKENS or (asked > limit and not unlimited_input(config)):
        raise InputError(
            f"max_tokens is {asked}; a number from {_LEAST_TOKENS} to {limit} (the limit of {name}) was expected."
        )
    return asked
