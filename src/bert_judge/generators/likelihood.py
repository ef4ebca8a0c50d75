"""How likely a text is by a language model, causal or sequence-to-sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from bert_judge.encoder.devices import choose_device, fastest_dtype
from bert_judge.encoder.models import choose_limit, find_model, load_config, load_language_model, max_input_tokens
from bert_judge.errors import InputError, ModelError
from bert_judge.generators.local import content_hash, in_halves, load_chat_tokenizer

LONGEST = 1024
"""The default for the longest input in tokens: BARTScore's."""

_LEAST_TOKENS = 8  # of an input: room for the model's own tokens and some of each text
_BATCH_TOKENS = {"cpu": 2_048, "mps": 8_192, "cuda": 16_384}  # each has a logit for every word of the vocabulary
_BETWEEN = "\n"

_Ids = tuple[int, ...]
_Input = tuple[_Ids, _Ids]  # the source, and the target, whose probability is computed


class Likelihood(NamedTuple):
    """The mean natural log probability of a text's tokens (NaN if there are none), their number, and characters cut."""

    mean: float
    tokens: int
    source_cut: int
    text_cut: int


class LikelihoodModel:
    """A language model from a folder or the Hub that computes likelihoods; weights are safetensors only.

    A causal model reads its first token, the source and a line break (if there is a source), and the text; only the
    tokens of the text count. A sequence-to-sequence model reads the source with its encoder; the tokens of the text
    count, with those that the tokenizer puts around them, as in BARTScore (arXiv 2106.11520). Special tokens in texts
    are read as plain text. Texts that are too long lose their end; a causal model's source keeps up to half of the
    room.

    Distinct pairs are sorted by length and packed into batches of at most `batch_tokens` tokens; a batch that does not
    fit into memory is halved. `settings` is everything that changes a number. Raises InputError if an argument is
    wrong, and for a sequence-to-sequence model without sources; ModelError if the model can't be loaded.
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
        settings = config.get_text_config().to_dict()
        default_limit = min(max_input_tokens(settings), LONGEST)
        self._max_tokens = choose_limit(max_tokens, settings, default_limit, least=_LEAST_TOKENS)
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
        inputs = {(source, target) for (source, target), _ in distinct.values() if target}
        means: dict[_Input, float] = {}
        for batch in self._batches(sorted(inputs, key=lambda ids: (-len(ids[0]) - len(ids[1]), ids))):
            means.update(zip(batch, self._means(batch), strict=True))
        likelihoods = {
            pair: Likelihood(means.get(ids, float("nan")), len(ids[1]), *cuts) for pair, (ids, cuts) in distinct.items()
        }
        return [likelihoods[pair] for pair in pairs]

    def _read_tokenizer(self, tokenizer: Any, name: str) -> None:
        """Keep the tokenizer, and the tokens that it or the model puts around a text."""
        if not tokenizer.is_fast:
            raise ModelError(f"{name} has no fast tokenizer; a model with a tokenizer.json was expected.")
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.encode_special_tokens = True  # those in texts are plain text
        self._pad_id = int(tokenizer.pad_token_id or 0)
        example = self._tokenizer.encode("a")
        places = [place for place, special in enumerate(example.special_tokens_mask) if not special]
        self._head, self._tail = tuple(example.ids[: places[0]]), tuple(example.ids[places[-1] + 1 :])
        if not self._head and not self._seq2seq:
            ids = (tokenizer.bos_token_id, tokenizer.eos_token_id)  # an end token also precedes the next text
            first = next((token for token in ids if token is not None), None)
            if first is None:
                raise ModelError(f"{name} has no token that begins or ends a text; another model was expected.")
            self._head = (first,)

    def _encode(self, source: str | None, text: str) -> tuple[_Input, tuple[int, int]]:
        """The ids of a pair, and how many characters of its source and of its text were cut."""
        if self._seq2seq:
            room = self._max_tokens - len(self._head) - len(self._tail)
            source_ids, source_cut = self._ids(source or "", room)
            text_ids, text_cut = self._ids(text, room)
            target = (*self._head, *text_ids, *self._tail) if text_ids else ()
            return ((*self._head, *source_ids, *self._tail), target), (source_cut, text_cut)
        room = self._max_tokens - len(self._head)
        between = () if source is None else self._ids(_BETWEEN, room)[0]
        room -= len(between)
        text_ids, text_cut = self._ids(text, room)
        source_ids, source_cut = self._ids(source or "", max(room // 2, room - len(text_ids)))
        if len(source_ids) + len(text_ids) > room:
            text_ids, text_cut = self._ids(text, room - len(source_ids))
        return ((*self._head, *source_ids, *between), text_ids), (source_cut, text_cut)

    def _ids(self, text: str, most: int) -> tuple[_Ids, int]:
        """The first ids of a text, and how many of its characters did not fit."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = tuple(encoding.ids[:most])
        return ids, len(text) - encoding.offsets[most - 1][1] if len(encoding.ids) > most else 0

    def _batches(self, inputs: Sequence[_Input]) -> Iterator[list[_Input]]:
        """Inputs of similar length together; the longest first, so that lack of memory shows at once."""
        batch: list[_Input] = []
        widths = (0, 0)
        for source, target in inputs:
            widths = (max(widths[0], len(source)), max(widths[1], len(target)))
            if batch and sum(widths) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch, widths = [], (len(source), len(target))
            batch.append((source, target))
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

        inputs = [source if self._seq2seq else source + target for source, target in batch]
        ids, mask = self._padded(inputs, self._pad_id)
        labels = {"labels": self._padded([target for _, target in batch], -100)[0]} if self._seq2seq else {}
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, **labels, use_cache=False).logits
            means = []
            for row, (source, target) in enumerate(batch):
                first = 0 if self._seq2seq else len(source) - 1  # a causal model's logits are those of the next token
                of_target = logits[row, first : first + len(target)].float()
                chosen = of_target.gather(1, torch.tensor(target, device=of_target.device)[:, None])[:, 0]
                means.append((chosen - of_target.logsumexp(1)).mean())
        return torch.stack(means).tolist()

    def _padded(self, rows: Sequence[_Ids], pad_id: int) -> tuple[Any, Any]:
        """Rows as one tensor with padding on the right, and its mask."""
        import torch

        ids = torch.full((len(rows), max(map(len, rows))), pad_id)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        return ids.to(self._device), mask.to(self._device)
