"""Rewards over HTTP, asked for as the clients of slime, OpenRLHF and NeMo Gym ask (read from their code)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bert_judge import BERTJudge, Verdict
from bert_judge.integrations.rewards import correctness, reward_func
from bert_judge.judges import Judge, RegexJudge
from bert_judge.records import JudgeInfo
from served import Slow, ask, figure, served

SPIDER = "How many legs has a spider?"
PROMPT = f"<|im_start|>user\n{SPIDER}<|im_end|>\n<|im_start|>assistant\n"
REPLIES = ["It has eight legs.", "Six.", "<think>Six? No.</think>\n8", ""]


class Unsure(Judge):
    """Can't decide on a question mark."""

    info = JudgeInfo("unsure", "Unsure", "probability", reads_references=False)

    def assess(self, samples):
        for sample in samples:
            yield Verdict(None, explanation="no verdict in the reply") if "?" in sample.candidate else Verdict(0.75, 1)


@pytest.fixture(scope="module")
def url(starter: BERTJudge) -> Iterator[str]:
    judges = {"starter": starter, "containment": RegexJudge("none", "containment"), "unsure": Unsure(), "slow": Slow(0)}
    with served(judges) as address:
        yield address


def slime(reply: str, label: object = "8", prompt: object = PROMPT, **more: object) -> dict[str, Any]:
    return {"prompt": prompt, "response": reply, "label": label, **more}


def openrlhf(*replies: str, label: object = "8", prompt: str = PROMPT, **more: object) -> dict[str, Any]:
    queries, count = [prompt + reply for reply in replies], len(replies)
    return {"query": queries, "prompts": [prompt] * count, "labels": [label] * count, **more}


def gym(reply: str | None, **more: object) -> dict[str, Any]:
    """A row of a data set with a response: reasoning, then a message, if there is a reply."""
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    output: list[dict[str, Any]] = [
        {"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": "?"}]}
    ]
    if reply is not None:
        output.append({**message, "content": [{"type": "output_text", "text": reply, "annotations": []}]})
    return {
        "responses_create_params": {
            "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": SPIDER}]
        },
        "response": {"id": "resp_1", "created_at": 1.5, "model": "policy", "object": "response", "output": output},
        **({"expected_answer": "8"} | more),
    }


def test_rewards_are_those_of_the_reward_functions(url: str, starter: BERTJudge) -> None:
    expected = correctness(starter)([SPIDER] * len(REPLIES), REPLIES, reference=["8"] * len(REPLIES))
    asked = [{"role": "user", "content": SPIDER}]
    assert [ask(url, "/v1/rewards", slime(reply, prompt=asked))[1] for reply in REPLIES] == pytest.approx(expected)
    assert [ask(url, "/verify", gym(reply))[1]["reward"] for reply in REPLIES] == pytest.approx(expected)
    queries = openrlhf(*(reply + "<|im_end|>" for reply in REPLIES))
    rewards = reward_func(queries["query"], queries["prompts"], queries["labels"])["rewards"].tolist()
    status, answer, _ = ask(url, "/v1/rewards", queries)
    assert (status, answer["rewards"]) == (200, pytest.approx(rewards))
    assert answer["scores"] == answer["rewards"]
    assert ask(url, "/v1/rewards", slime(REPLIES[0] + "<|im_end|>"))[1] == pytest.approx(rewards[0])


def test_replies_and_labels_are_read_as_by_the_reward_functions(url: str, subtests: pytest.Subtests) -> None:
    loop = "It is 8. " * 9
    for body, expected in [
        (slime("It has 8.", prompt=PROMPT + "<think>\n"), 0.0),
        (slime("Six? </think>It has 8.", prompt=PROMPT + "<think>\n"), 1.0),
        (slime("<think>It has 8."), 0.0),
        (slime("It has 8.", ["eight", "8"]), 1.0),
        (slime("It has 8.", 8), 1.0),
        (slime("It has 8.", {"target": ["8"]}), 1.0),
        (slime("It has 8.", session="of a later version"), 1.0),
        (slime(loop, judge="slow"), float(len("It is 8."))),
        (openrlhf("It has 8.", "Six."), {"rewards": [1.0, 0.0], "scores": [1.0, 0.0]}),
        (openrlhf(), {"rewards": [], "scores": []}),  # what all servers but the first get
        (openrlhf("8", label=8, prompt=PROMPT + "<think>"), {"rewards": [0.0], "scores": [0.0]}),
    ]:
        with subtests.test(body=body):
            assert ask(url, "/v1/rewards", {"judge": "containment"} | body)[:2] == (200, expected)


def test_a_rollout_of_gym_comes_back_as_it_was_with_its_reward(url: str, subtests: pytest.Subtests) -> None:
    for row, expected in [
        (gym("It has 8."), 1.0),
        (gym("It has 9.", reward=1.0, _ng_task_index=4, temperature=0.70), 0.0),  # asked again, after a first run
        (gym(None), 0.0),  # it never answered
        (gym("It has 8.", expected_answer=None, answer=["8", "eight"]), 1.0),
        (gym("It has 8.", expected_answer=None, metadata={"expected_answer": 8}), 1.0),
        (gym("It has 8.", question=SPIDER, responses_create_params={"input": SPIDER}), 1.0),
    ]:
        with subtests.test(row=row):
            status, answer, headers = ask(url, "/verify", {"judge": "containment"} | row)
            assert (status, headers["Content-Type"]) == (200, "application/json")
            assert answer == {"judge": "containment"} | row | {"reward": expected}


def test_a_failure_of_the_judge_is_never_a_zero(url: str) -> None:
    """slime and OpenRLHF ask again at a 500, and stop; NeMo Gym reads the mark."""
    for body in (slime("8?", judge="unsure"), openrlhf("8", "8?", judge="unsure")):
        status, answer, _ = ask(url, "/v1/rewards", body)
        place = "query[1]" if "query" in body else "the body"
        message = f"unsure can't decide on {place} (no verdict in the reply)."
        assert (status, answer) == (500, {"error": {"message": message, "type": "server_error"}})
    for reply, judge, message in [("8?", "unsure", "unsure can't decide"), ("die", "slow", "the endpoint is gone")]:
        row = gym(reply, judge=judge, expected_answer="8")
        status, answer, _ = ask(url, "/verify", row)
        assert message in answer.pop("_ng_failure_judge_error")
        marks = {"reward": 0.0, "mask_sample": True, "_ng_failure_class": "judge_failed"}
        assert (status, answer) == (200, row | marks)
    assert ask(url, "/verify", gym("raise", judge="slow"))[0] == 500
    assert ask(url, "/verify", gym("8", judge="unsure"))[1]["reward"] == 0.75


def test_wrong_requests_for_rewards_get_a_sentence(url: str, subtests: pytest.Subtests) -> None:
    deep = "[" * 600 + "]" * 600
    for path, body, expected, message in [
        ("/v1/rewards", {}, 422, "prompt is missing"),
        ("/v1/rewards", [], 422, "the body is a list of 0; an object was expected"),
        ("/v1/rewards", {"prompts": [], "labels": []}, 422, "query is missing"),
        ("/v1/rewards", slime("8", None), 422, "the body has no reference, which starter needs; give label."),
        ("/v1/rewards", slime("8", True), 422, "label is True (bool)"),
        ("/v1/rewards", slime("8", {"text": "8"}), 422, "label is {'text': '8'} (dict)"),
        ("/v1/rewards", slime("8", ["8"] * 1001), 422, "label has 1,001 references; up to 1,000"),
        ("/v1/rewards", slime("8", prompt=3), 422, "prompt is 3 (int); a text, or a list of messages"),
        ("/v1/rewards", slime("8", prompt=[{"content": 3}]), 422, "prompt has the content 3"),
        ("/v1/rewards", slime("8", judge="nobody"), 404, "there is no judge 'nobody'"),
        ("/v1/rewards", slime("x" * 500_001), 413, "a text of 500,001 characters"),
        ("/v1/rewards", openrlhf("8", label=""), 422, "query[0] has no reference, which starter needs; give labels."),
        ("/v1/rewards", openrlhf("8") | {"labels": []}, 422, "have 1, 1 and 0 entries"),
        ("/v1/rewards", openrlhf("8") | {"query": "8"}, 422, "query is '8'; a list was expected"),
        ("/v1/rewards", openrlhf(*["8"] * 1025), 413, "1,025 rows were sent"),
        ("/v1/rewards", f'{{"prompt": "a", "response": "b", "label": {deep}}}', 400, "nested too deeply"),
        ("/verify", {"response": {"output": []}}, 422, "responses_create_params is missing"),
        ("/verify", gym("8", response={}), 422, "response has no list `output`"),
        ("/verify", gym("8", responses_create_params={}), 422, "responses_create_params.input is None"),
        ("/verify", gym("8", expected_answer=None), 422, "give expected_answer."),
        ("/verify", json.dumps(gym("8")).encode("utf-16"), 400, "not JSON in UTF-8"),
    ]:
        with subtests.test(path=path, message=message):
            status, answer, _ = ask(url, path, body)
            assert (status, list(answer)) == (expected, ["error"])
            assert message in answer["error"]["message"]
            assert len(answer["error"]["message"]) < 300


def test_many_at_once_are_judged_together_and_never_mixed_up() -> None:
    slow = Slow(0.02)

    def reward(url: str, number: int) -> object:
        text = "x" * number
        if number % 3 == 0:
            return ask(url, "/v1/rewards", slime(text))[1]
        if number % 3 == 1:
            return ask(url, "/v1/rewards", openrlhf(text))[1]["rewards"][0]
        return ask(url, "/verify", gym(text))[1]["reward"]

    with served({"slow": slow}) as url, ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda number: reward(url, number), range(90))) == list(range(90))
    assert max(slow.batches) > 1


def test_the_routes_are_documented_counted_and_need_the_key(url: str) -> None:
    assert {"/v1/rewards", "/verify"} <= ask(url, "/openapi.json")[1]["paths"].keys()
    for path, body in [("/v1/rewards", slime("8")), ("/verify", gym("8"))]:
        name = f'bert_judge_requests_total{{path="{path}",status="200"}}'
        before = figure(url, name)
        assert ask(url, path, body)[0] == 200
        assert figure(url, name) == before + 1
    with served({"slow": Slow(0)}, keys=["secret"]) as guarded:
        assert ask(guarded, "/v1/rewards", slime("8"))[0] == 401
        assert ask(guarded, "/verify", gym("8"), Authorization="Bearer secret")[1]["reward"] == 1.0


FIELDS = (
    *"prompt response label query prompts labels judge responses_create_params input output".split(),
    *"expected_answer answer metadata role content text question target".split(),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=9), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["/v1/rewards", "/verify"]),
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, ANYTHING)),
    st.sampled_from([slime("8"), openrlhf("8"), gym("8"), {}]),
)
def test_no_body_crashes_the_server(url: str, path: str, fields: dict[str, Any], whole: dict[str, Any]) -> None:
    status = ask(url, path, json.dumps(whole | fields, allow_nan=True))[0]
    assert status in (200, 400, 404, 413, 422)
