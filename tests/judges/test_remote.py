"""A judge that runs on a server: what it sends, what it tries again, and what it says of servers that fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.errors import InputError, ModelError
from bert_judge.judges import RegexJudge, RemoteJudge
from bert_judge.judges.naming import JudgeSpec
from bert_judge.records import Signature
from conftest import Command, Refused
from json_lines import EXAMPLES, read_rows
from scripted_endpoint import Answer, Endpoint, endpoint
from served import Slow, served

pytestmark = pytest.mark.usefixtures("endpoints")
ROW = Sample("Paris", ("Paris",), "Capital of France?")


@pytest.fixture(scope="module")
def url(starter: BERTJudge) -> Iterator[str]:
    with served({"starter": starter, "containment": RegexJudge("none", "containment"), "slow": Slow()}) as address:
        yield address


def test_verdicts_are_those_of_the_served_judge(url: str, starter: BERTJudge, samples: list[Sample]) -> None:
    remote = RemoteJudge(url, request_rows=5, connections=2)
    expected, verdicts = list(starter.assess(samples)), list(remote.assess(samples))
    assert [verdict.label for verdict in verdicts] == [verdict.label for verdict in expected]
    assert [verdict.score for verdict in verdicts] == pytest.approx([verdict.score for verdict in expected], abs=5e-3)
    assert [verdict.truncated for verdict in verdicts] == [verdict.truncated for verdict in expected]
    assert [verdict.out_of_scope for verdict in verdicts] == [verdict.out_of_scope for verdict in expected]
    assert verdicts[0].details.keys() == expected[0].details.keys()
    assert remote.info.signature == starter.info.signature
    assert (remote.info.scale, remote.info.threshold) == ("probability", 0.5)


def test_one_of_several_is_named(url: str, refused: Refused) -> None:
    assert RemoteJudge(url, "containment").predict(None, ["so Paris"], ["Paris"]) == [1.0]
    assert RemoteJudge(url, "slow").info.threshold is None
    spec = JudgeSpec.of({"judge_type": "RemoteJudge", "server": url, "served": "containment"})
    assert spec.make().info.name == RegexJudge("none", "containment").info.name
    with refused("has no judge 'containmint'; did you mean containment?"):
        RemoteJudge(url, "containmint")


def test_score_asks_a_server(url: str, folder: Path, command: Command, subtests: pytest.Subtests) -> None:
    for name, flags in [("first", ()), ("named", ("--judge", "containment"))]:
        with subtests.test(name=name):
            judged = command("score", EXAMPLES, "--server", url, "--output_dir", name, "--no_report", "--quiet", *flags)
            assert judged == (0, "", "")
    here = command("score", EXAMPLES, "--judge", "containment", "--output_dir", "here", "--no_report", "--quiet")
    assert here == (0, "", "")
    assert read_rows(folder / "named" / "verdicts.jsonl") == read_rows(folder / "here" / "verdicts.jsonl")
    run = json.loads((folder / "first" / "run.json").read_text())
    assert Signature.of(run["identity"]["signature"]).name == "BERTJudge"


def test_a_busy_server_is_asked_again(url: str) -> None:
    """More rows at once than it has room for: each request comes back until it is taken."""
    with served({"slow": Slow(0.02)}, queue_rows=16, max_rows=16) as small:
        remote = RemoteJudge(small, connections=8, request_rows=16, retries=50)
        texts = ["x" * number for number in range(1, 300)]
        assert remote.predict(None, texts, ["r"] * len(texts)) == [len(text) for text in texts]


MODEL = {"id": "m", "name": "m", "scale": "probability", "threshold": 0.5, "reads_references": True}
MODEL |= {"paid": False, "signature": {"name": "M", "settings": {}}}
LIMITS = {"max_rows": 2, "max_text": 100, "max_row": 1_000, "max_characters": 2_000}
LISTED = Answer(body=json.dumps({"data": [MODEL], "limits": LIMITS}))
VERDICT = Answer(body=json.dumps({"judge": "m", "verdicts": [{"score": 0.5, "label": 1}]}))


@contextmanager
def answering(*answers: Answer) -> Iterator[Endpoint]:
    """A server that lists a judge, and gives these answers to requests for verdicts, the last one from then on."""
    with endpoint(lambda path, n: LISTED if path == "/v1/v1/models" else answers[min(n, len(answers) - 1)]) as running:
        yield running


def test_failures_are_tried_again(subtests: pytest.Subtests) -> None:
    for first in (Answer(status=429, headers={"Retry-After": "0"}), Answer(status=503), Answer(cut=True)):
        with subtests.test(first=first), answering(first, VERDICT) as faults:
            assert RemoteJudge(faults.base_url).predict(None, ["x"], ["y"]) == [0.5]
            assert len(faults.bodies) == 3


def test_rows_that_fail_for_good_are_undecided_and_failed() -> None:
    with answering(Answer(status=500)) as faults:
        remote = RemoteJudge(faults.base_url, retries=1)
        (verdict,) = remote.assess([ROW])
        assert (verdict.score, verdict.failed, len(faults.bodies)) == (None, True, 3)
        assert f"{faults.base_url} answered 500 (scripted trouble)" in (verdict.explanation or "")


def test_what_no_try_mends_is_an_error(refused: Refused) -> None:
    for answer, message, error in [
        (Answer(status=401), "is the key right (api_key, or BERT_JUDGE_API_KEY)?", ModelError),
        (Answer(status=404), "is it the address of a bert-judge serve?", ModelError),
        (Answer(status=422), "answered 422 (scripted trouble)", InputError),
        (Answer(body="[]"), "sent what is not verdicts", ModelError),
        (Answer(body="{}"), "sent what is not verdicts", ModelError),
        (Answer(body='{"verdicts": []}'), "gave 0 verdicts for", ModelError),
    ]:
        with answering(answer) as faults, refused(message, error=error, answer=answer):
            list(RemoteJudge(faults.base_url, retries=0).assess([ROW]))
    with endpoint(Answer()) as other, refused("it lists other models than judges", error=ModelError):
        RemoteJudge(other.base_url)


def test_arguments_that_make_no_sense(refused: Refused) -> None:
    for values, message in [
        ({"server": "localhost:8000"}, "server is 'localhost:8000'; an address"),
        ({"server": "http://u:secret@host:x/"}, "server is not an address"),
        ({"connections": 0}, "connections is 0"),
        ({"timeout": 0}, "timeout is 0"),
    ]:
        with refused(message, values=values):
            RemoteJudge(**{"server": "http://127.0.0.1:9", **values})
    with refused("is bert-judge serve running there?", error=ModelError):
        RemoteJudge("http://user:secret@127.0.0.1:9")


def test_a_key_is_sent(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    with served({"slow": Slow()}, keys=["secret"]) as url:
        for key in (None, "wrong"):
            with refused("is the key right (api_key, or BERT_JUDGE_API_KEY)?", error=ModelError):
                RemoteJudge(url, api_key=key)
        judge = RemoteJudge(url, api_key="secret")
        assert judge.predict(None, ["xyz"], ["r"]) == [3.0]
        assert "secret" not in repr(judge.info.signature)
        assert JudgeSpec.of({"judge_type": "RemoteJudge", "server": url, "api_key": "secret"}).make().info.name
        monkeypatch.setenv("BERT_JUDGE_API_KEY", "secret")
        assert RemoteJudge(url).predict(None, ["xyz"], ["r"]) == [3.0]
        monkeypatch.setenv("BERT_JUDGE_API_KEY", "another")
        assert RemoteJudge(url, api_key="secret").predict(None, ["xyz"], ["r"]) == [3.0]


def test_a_key_is_no_flag(complaint: Callable[..., str]) -> None:
    message = complaint("score", EXAMPLES, "--server", "http://127.0.0.1:9", "--api_key", "secret", status=2)
    assert "there is no flag --api_key" in message
