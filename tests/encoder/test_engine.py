"""Logits are those of the input alone, however inputs are ordered, batched, repeated or interrupted."""

from __future__ import annotations

import itertools
import math
import random
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bert_judge import BERTJudge, Sample
from bert_judge.encoder.batching import Batch, pack, windows
from bert_judge.encoder.engine import Engine, Model, load_model
from bert_judge.errors import ModelError
from bert_judge.reading import JudgeConfig, PromptEncoder
from bert_judge.records import Tokens
from conftest import MakeJudge, Refused, record_rows
from streams import CountedStream

WITHIN = {"float32": 1e-5, "bfloat16": 1e-2}
RUNTIMES = {"float32": 1e-4, "bfloat16": 2e-2}


def tokens_of(model: Model, samples: Sequence[Sample]) -> list[Tokens]:
    encoder = PromptEncoder(model.tokenizer, JudgeConfig.load(model.folder).form, model.max_tokens)
    return [prompt.tokens for group in encoder.encode(samples) for prompt in group]


def scores(engine: Engine, inputs: Sequence[Tokens], batch_size: int | None = None) -> list[float]:
    return [1 / (1 + math.exp(no - yes)) for no, yes in (logits.tolist() for logits in engine.run(inputs, batch_size))]


@pytest.fixture(scope="module")
def load(make_judge: MakeJudge) -> Callable[[str, str, str], Model]:
    @cache
    def load(name: str, runtime: str, dtype: str) -> Model:
        return load_model("starter" if name == "starter" else str(make_judge(name)), runtime=runtime, dtype=dtype)

    return load


def test_a_score_does_not_depend_on_the_other_inputs(
    load: Callable[..., Model], samples: list[Sample], subtests: pytest.Subtests
) -> None:
    starters = product(["float32", "bfloat16"], ["torch", "openvino"], ["starter"])
    for dtype, runtime, name in [*starters, ("float32", "torch", "eurobert"), ("float32", "openvino", "modernbert")]:
        with subtests.test(dtype=dtype, runtime=runtime, name=name):
            model = load(name, runtime, dtype)
            inputs = tokens_of(model, samples[::4])
            alone = [scores(Engine(model), [tokens])[0] for tokens in inputs]
            order = list(range(len(inputs)))
            random.Random(0).shuffle(order)
            shuffled = scores(Engine(model), [inputs[i] for i in order])
            ways = {
                "together": scores(Engine(model), inputs),
                "shuffled": [shuffled[order.index(i)] for i in range(len(inputs))],
                "repeated": scores(Engine(model), inputs * 3)[len(inputs) : 2 * len(inputs)],
                "two rows": scores(Engine(model, batch_size=2), inputs),
                "one row": scores(Engine(model), inputs, batch_size=1),
                "few tokens": scores(Engine(model, batch_tokens=50), inputs),
                "many tokens": scores(Engine(model, batch_tokens=10**6), inputs),
            }
            for way, values in ways.items():
                assert values == pytest.approx(alone, abs=WITHIN[dtype]), way
            halves = scores(Engine(model), inputs[::2]) + scores(Engine(model), inputs[1::2])
            assert halves == pytest.approx(alone[::2] + alone[1::2], abs=WITHIN[dtype])
            assert max(alone) - min(alone) > 0.005  # the inputs do differ


def test_runtimes_agree(load: Callable[..., Model], samples: list[Sample], subtests: pytest.Subtests) -> None:
    for dtype, name in product(RUNTIMES, ["starter", "bert", "roberta", "xlm-roberta", "modernbert", "eurobert"]):
        with subtests.test(dtype=dtype, name=name):
            models = [load(name, runtime, dtype) for runtime in ("torch", "openvino")]
            fitting = [sample for sample in samples if len(sample.candidate) < 1000] if name == "bert" else samples
            one, other = (scores(Engine(model), tokens_of(model, fitting)) for model in models)
            assert one == pytest.approx(other, abs=RUNTIMES[dtype])
            assert models[0].hashes["weights"] == models[1].hashes["weights"]
            assert models[0].runtime.name != models[1].runtime.name


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
def test_bfloat16_stays_near_float32(load: Callable[..., Model], samples: list[Sample], runtime: str) -> None:
    exact, fast = (load("starter", runtime, dtype) for dtype in WITHIN)
    drift = np.subtract(*(scores(Engine(model), tokens_of(model, samples)) for model in (exact, fast)))
    assert np.abs(drift).max() < 5e-2
    assert (np.abs(drift).max() > 0) == (fast.runtime.dtype == "bfloat16")  # what ran is what it says


def test_a_processor_without_bfloat16_says_that_it_ran_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenVINO lists no BF16 there, and takes the hint for float32."""

    class Older(ov.Core):
        def get_property(self, device: str, name: str) -> Any:
            value = super().get_property(device, name)
            return [item for item in value if item != "BF16"] if name == "OPTIMIZATION_CAPABILITIES" else value

        def compile_model(self, model: ov.Model, device: str, hints: dict[str, str]) -> ov.CompiledModel:
            return super().compile_model(model, device, hints | {"INFERENCE_PRECISION_HINT": "f32"})

    monkeypatch.setattr(ov, "Core", Older)
    question = ["What is the capital of France?"], ["Paris"], ["It is Paris"]
    exact = BERTJudge(dtype="float32", runtime="openvino")
    for dtype in ("auto", "bfloat16"):
        judge = BERTJudge(dtype=dtype, runtime="openvino")
        assert judge.info.signature == exact.info.signature
        assert judge.predict(*question) == exact.predict(*question)


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
def test_padding_beyond_a_sliding_window_changes_nothing(make_judge: MakeJudge, runtime: str) -> None:
    """Such padding has nothing to attend to; a later layer must not spread what comes of that."""
    model = load_model(str(make_judge("modernbert", num_hidden_layers=4)), runtime=runtime, dtype="float32")
    inputs = tokens_of(model, [Sample("It is " * n, ("Paris",), "Which?") for n in (1, 40)])
    assert len(inputs[1].ids) > len(inputs[0].ids) + 3 * 16
    together = scores(Engine(model, batch_tokens=10**6), inputs)
    assert together == pytest.approx([scores(Engine(model), [tokens])[0] for tokens in inputs], abs=1e-5)


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
def test_identical_inputs_are_computed_once(
    make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    judge = BERTJudge(str(make_judge("eurobert")), dtype="float32", runtime=runtime)
    rows = record_rows(monkeypatch, judge._model.runtime)
    first = judge.predict(["a"] * 5, ["b", "c", "b", "b", "c"], ["d"] * 5)
    assert rows == [2]
    assert first[0] == first[2] == first[3] != first[1] == first[4]
    judge.predict(["a", "a"], ["b"] * 2, [["d", "f"], "d"])
    assert rows == [2, 2]  # of three references two are the same


def test_marks_tell_inputs_apart(load: Callable[..., Model], monkeypatch: pytest.MonkeyPatch) -> None:
    model = load("starter", "torch", "float32")
    [plain] = tokens_of(model, [Sample("It is Paris.", ("Paris",), "Which?")])
    assert plain.types is not None
    unmarked = Tokens(plain.ids, (0,) * len(plain.ids))
    engine = Engine(model)
    rows = record_rows(monkeypatch, model.runtime)
    one, other = scores(engine, [plain, unmarked])
    assert abs(one - other) > 1e-4
    assert rows == [2]


@pytest.mark.parametrize("message", [None, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"])
@pytest.mark.parametrize("batch_size", [None, 3])
@pytest.mark.parametrize("in_flight", [1, 2])
def test_a_batch_too_large_for_the_memory_is_halved(
    make_judge: MakeJudge, samples: list[Sample], message: str | None, batch_size: int | None, in_flight: int
) -> None:
    import torch

    model = load_model(str(make_judge("eurobert")), runtime="torch", dtype="float32")
    model.runtime._in_flight = in_flight  # a GPU has two
    inputs = tokens_of(model, samples)
    expected = scores(Engine(model, batch_tokens=10**6), inputs)
    sizes = []

    def full(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> None:
        sizes.append(len(args[0]))
        if sizes[-1] > 2:
            raise RuntimeError(message) if message else torch.OutOfMemoryError("CUDA out of memory")

    hook = model.runtime._model.register_forward_pre_hook(full)
    try:
        with pytest.warns(UserWarning, match=r"did not fit into memory and was halved; batch_tokens=\d+ avoids that"):
            halved = scores(Engine(model, batch_tokens=10**6, batch_size=batch_size), inputs)
    finally:
        hook.remove()
    assert halved == pytest.approx(expected, abs=1e-5)
    assert max(sizes) > 2
    assert min(sizes) >= 1


def test_an_error_of_one_input_comes_through_and_leaves_the_judge_usable(make_judge: MakeJudge) -> None:
    import torch

    judge = BERTJudge(str(make_judge("eurobert", seed=1)), runtime="torch", dtype="float32")
    expected = judge.predict(["a"], ["b"], ["d"])
    for raised, error, message in [
        (torch.OutOfMemoryError("out of memory"), ModelError, r"one input of \d+ tokens does not fit into the memory"),
        (RuntimeError("shapes do not fit"), RuntimeError, "shapes do not fit"),  # which is not taken for memory
    ]:

        def fail(module: torch.nn.Module, args: object, raised: Exception = raised) -> None:
            raise raised

        hook = judge._model.runtime._model.register_forward_pre_hook(fail)
        with pytest.raises(error, match=message):
            judge.predict(["a"], ["c"], ["d"])
        hook.remove()
    assert judge.predict(["a", "a"], ["b", "c"], ["d", "d"])[0] == expected[0]


@pytest.mark.parametrize("runtime", ["torch", "openvino"])
def test_a_run_that_is_left_half_way_leaves_the_runtime_usable(load: Callable[..., Model], runtime: str) -> None:
    """A small batch and then a large one, so that this is still under way when the run is left."""
    model = load("starter", runtime, "float32")
    rows = [Sample(f"It is {n}, so it is. " * 40, ("7",), "What is it?") for n in range(12)]
    inputs = tokens_of(model, rows)
    small, large = (pack(part, 10**6, None, model.pad_id, 8, model.max_tokens)[0] for part in (inputs[:1], inputs))
    batches = model.runtime.run([small, large])
    next(batches)
    batches.close()
    assert np.allclose(Engine(model).run(inputs)[:4], Engine(model).run(inputs[:4]), atol=1e-4)


def test_an_error_in_the_stream_of_samples_comes_through(make_judge: MakeJudge) -> None:
    judge = BERTJudge(str(make_judge("eurobert")), dtype="float32")

    def rows() -> Iterator[Sample]:
        for n in range(70):
            yield Sample(f"It is {n}.", ("7",), "What is it?")
        raise ZeroDivisionError

    stream = judge.assess(rows())
    assert len(list(itertools.islice(stream, 64))) == 64  # the first window
    with pytest.raises(ZeroDivisionError):
        next(stream)


class Meta(dict):
    """What a sample carries along; unlike the sample it can be watched."""


def test_a_stream_is_judged_in_constant_memory(make_judge: MakeJudge) -> None:
    judge = BERTJudge(str(make_judge("eurobert")), dtype="float32")
    live = 0

    def died() -> None:
        nonlocal live
        live -= 1

    def rows() -> Iterator[Sample]:
        nonlocal live
        for n in range(3000):
            meta = Meta()
            weakref.finalize(meta, died)
            live += 1
            yield Sample(str(n), ("7",), "q", meta=meta)

    most_live = most_ahead = 0
    stream = CountedStream(rows())
    for consumed, _ in enumerate(judge.assess(stream), 1):
        most_ahead = max(most_ahead, stream.read - consumed)
        most_live = max(most_live, live)
    assert stream.read == consumed == 3000
    assert most_ahead < 2 * 1024  # the window that is judged, and the next, which is read
    assert most_live <= 3 * 1024 + 1
    assert live == 0


@given(st.lists(st.integers(0, 50), max_size=400), st.integers(1, 500), st.integers(1, 9), st.integers(9, 40))
def test_windows_lose_nothing(items: list[int], most: int, first: int, last: int) -> None:
    lists = list(windows(iter(items), int, most, first, last))
    assert all(len(window) <= min(first * 2**n, last) for n, window in enumerate(lists))
    assert list(itertools.chain(*lists)) == items
    assert all(lists)
    assert all(sum(window[:-1]) < most for window in lists)


INPUTS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=60).map(tuple), max_size=30)
LIMITS = st.sampled_from([60, 61, 1 << 20])


@given(INPUTS, st.integers(1, 200), st.none() | st.integers(1, 5), st.sampled_from([1, 8]), LIMITS, st.booleans())
def test_packing(
    rows: list[tuple[int, ...]], batch_tokens: int, batch_size: int | None, multiple: int, limit: int, marks: bool
) -> None:
    inputs = [Tokens(ids, tuple(i % 2 for i in ids) if marks else None) for ids in rows]
    batches = pack(inputs, batch_tokens, batch_size, 77, multiple, limit)
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(inputs)))
    lengths = [len(inputs[row].ids) for batch in batches for row in batch.rows]
    assert lengths == sorted(lengths, reverse=True)
    for batch in batches:
        assert batch.ids.size <= batch_tokens or len(batch.rows) == 1
        assert len(batch.rows) <= (batch_size or len(inputs))
        assert batch.ids.shape == batch.mask.shape
        assert batch.ids.shape[1] % multiple == 0 or batch.ids.shape[1] == limit
        assert batch.ids.shape[1] <= limit
        assert batch.ids.shape[1] < len(inputs[batch.rows[0]].ids) + multiple
        check_rows(batch, inputs)
        if len(batch.rows) > 1:
            halves = batch.halves()
            assert halves[0].rows + halves[1].rows == batch.rows
            assert all(half.rows for half in halves)
            for half in halves:
                check_rows(half, inputs)


def check_rows(batch: Batch, inputs: Sequence[Tokens]) -> None:
    """Each row holds its tokens, then padding that is masked."""
    assert len(batch.rows) == len(batch.ids) == len(batch.mask)
    for at, row in enumerate(batch.rows):
        ids, types = inputs[row]
        padding = [0] * (batch.ids.shape[1] - len(ids))
        assert batch.ids[at].tolist() == [*ids, *(77 for _ in padding)]
        assert batch.mask[at].tolist() == [1] * len(ids) + padding
        assert batch.types[at].tolist() == [*(types or [0] * len(ids)), *padding]


def test_bad_options_are_refused(make_judge: MakeJudge, load: Callable[..., Model], refused: Refused) -> None:
    for option, value in (("dtype", "int3"), ("device", "abacus")):
        with refused(value, option=option):
            load_model(str(make_judge("eurobert")), **{option: value})
    for name in ("batch_tokens", "batch_size"):
        with refused(f"{name} is 0"):
            Engine(load("eurobert", "torch", "float32"), **{name: 0})


def test_large_batches_end_where_much_shorter_inputs_begin() -> None:
    """As on a GPU, whose batches are large: every input is there once, and little of a batch is padding."""
    lengths = [240] * 20 + list(range(1, 200)) * 40
    inputs = [Tokens(tuple([1] * length)) for length in lengths]

    def padding(least: int | None) -> tuple[float, int]:
        batches = pack(inputs, 65_536, None, 0, 8, 512, least=least)
        assert sorted(row for batch in batches for row in batch.rows) == list(range(len(inputs)))
        assert all(batch.ids.size <= 65_536 for batch in batches)
        return 1 - sum(lengths) / sum(batch.ids.size for batch in batches), len(batches)

    (wasted, few), (saved, more) = padding(None), padding(16_384)
    assert saved < 0.08 < wasted
    assert few < more < 3 * few + 10
    assert padding(10**9) == (wasted, few)


def test_few_inputs_are_divided_among_the_batches_that_run_at_a_time() -> None:
    for count, at_once, expected in [(8, 1, [8]), (8, 2, [4, 4]), (40, 2, [17, 17, 6])]:  # 40 are enough for full ones
        batches = pack([Tokens(tuple(range(60)))] * count, 1_024, None, 0, 4, 512, at_once)
        assert [len(batch.rows) for batch in batches] == expected
