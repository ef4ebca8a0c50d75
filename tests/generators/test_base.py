"""Stored replies, the table of backends, and what settings are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bert_judge.errors import InputError, ModelError
from bert_judge.generators import Generator, GeneratorOptions, KeptGenerator, OpenAIGenerator, make_generator
from bert_judge.generators.base import Reply, Sampling
from bert_judge.records import Signature
from bert_judge.results.store import MEMORY, Store
from conftest import Refused
from scripted_endpoint import Answer, endpoint
from streams import CountedStream


@pytest.mark.parametrize("medium", ["file", "memory"])
def test_no_prompt_is_sent_twice(medium: str, tmp_path: Path):
    store = Store(tmp_path / "store.sqlite") if medium == "file" else Store(MEMORY)
    with endpoint(lambda prompt, _: Answer(f"re: {prompt}")) as server:
        generator = KeptGenerator(OpenAIGenerator("m", base_url=server.base_url), store)
        heard: list[int] = []
        first = dict(generator.replies(["a", "b", "a", "a"], lambda index, reply: heard.append(index)))
        assert [first[index].text for index in range(4)] == ["re: a", "re: b", "re: a", "re: a"]
        assert [first[index].cached for index in range(4)] == [False, False, True, True]
        assert sorted(heard) == [0, 1]
        assert generator.generate(["c", "b", "a"]) == ["re: c", "re: b", "re: a"]
        assert server.asked == {"a": 1, "b": 1, "c": 1}


def test_another_signature_is_asked_anew(tmp_path: Path):
    store = Store(tmp_path / "store.sqlite")
    with endpoint(Answer("x")) as server:
        for sampling in (Sampling(), Sampling(max_tokens=3), Sampling()):
            KeptGenerator(OpenAIGenerator("m", sampling, base_url=server.base_url), store).generate(["a"])
        assert server.asked == {"a": 2}


def test_failed_replies_are_asked_again_and_the_others_are_not(tmp_path: Path):
    store = Store(tmp_path / "store.sqlite")

    def script(prompt: str, before: int) -> Answer:
        return Answer(status=400) if prompt == "bad" and not before else Answer(prompt)

    with endpoint(script) as server:
        generator = KeptGenerator(OpenAIGenerator("m", base_url=server.base_url), store)
        with pytest.raises(ModelError, match=r"1 of 2 prompts have no reply, the first because .* answered 400"):
            generator.generate(["good", "bad"])
        assert generator.generate(["good", "bad"]) == ["good", "bad"]
        assert server.asked == {"good": 1, "bad": 2}


class Shouting(Generator):
    """A generator of one's own: a reply is its prompt in capitals."""

    name = "shouting"
    signature = Signature("shouting")

    def replies(self, prompts: Iterable[str], arrived=None) -> Iterator[tuple[int, Reply]]:
        for index, prompt in enumerate(prompts):
            reply = Reply(prompt.upper())
            if arrived:
                arrived(index, reply)
            yield index, reply


def test_a_stream_is_never_read_as_a_whole():
    prompts = CountedStream(f"p{number}" for number in range(100_000))
    stream = KeptGenerator(Shouting(), Store(MEMORY)).replies(prompts)
    assert next(stream) == (0, Reply("P0"))
    assert prompts.read <= 1024
    assert dict([next(stream) for _ in range(3000)]) == {n: Reply(f"P{n}") for n in range(1, 3001)}


def test_an_unknown_backend_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"there is no backend 'vlm'; did you mean vllm\?"):
        make_generator("vlm", "m")
    with pytest.raises(InputError, match=r"there is no backend 'xyz'; choose from hf, openai, vllm\."):
        make_generator("xyz", "m")


def test_settings_are_checked(refused: Refused):
    for settings, message in [
        ({"temperature": -1}, "temperature is -1; 0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_p": 0}, "top_p is 0; a probability over 0"),
        ({"top_p": 1.1}, "top_p is 1.1"),
        ({"top_k": -2}, "top_k is -2"),
        ({"min_p": 2}, "min_p is 2"),
        ({"presence_penalty": 3}, "presence_penalty is 3"),
        ({"max_tokens": 0}, "max_tokens is 0"),
    ]:
        with refused(match=message, settings=settings):
            Sampling(**settings)
    for name in ["batch_tokens", "tensor_parallel_size", "concurrency", "timeout", "retries"]:
        with refused(match=f"{name} is -1; a number of at least", name=name):
            GeneratorOptions(**{name: -1})


def test_the_signature_of_a_sampling_holds_what_matters():
    assert Sampling().settings == {"temperature": 0.0, "presence_penalty": 0.0, "max_tokens": 2048}
    assert Sampling(top_p=0.3, top_k=4, min_p=0.1, seed=3).settings == Sampling(temperature=0).settings
    assert Sampling(temperature=0.5, top_p=0.3).settings["top_p"] == 0.3
    assert Sampling(temperature=1).settings != Sampling(temperature=1, seed=0).settings
