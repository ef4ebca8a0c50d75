"""The weights of bert-judge-large, which `make test` installs: what they know, and the cascade before them."""

from __future__ import annotations

import pytest

from bert_judge import BERTJudge, Sample
from bert_judge.encoder.models import checked_hashes, find_model
from bert_judge.judges import Cascade

RIGHT = [
    Sample("It is Lima.", ("Lima",), "What is the capital of Peru?"),
    Sample("to pass away", ("to die",), "What does the idiom 'to kick the bucket' mean?"),
    Sample("CO2", ("carbon dioxide",), "Which gas do plants take in?"),
    Sample("(B)", ("(B) Mercury",), "Which planet is nearest to the Sun?\n(A) Venus\n(B) Mercury\n(C) Mars"),
]
WRONG = [
    Sample("It is Quito.", ("Lima",), "What is the capital of Peru?"),
    Sample("Either Lima or Quito.", ("Lima",), "What is the capital of Peru?"),
    Sample("some time in early autumn", ("4 October 1998",), "On which day did the museum open?"),
    Sample("I don't know.", ("carbon dioxide",), "Which gas do plants take in?"),
]


@pytest.fixture(scope="module")
def large() -> BERTJudge:
    return BERTJudge("large", dtype="float32")


def test_large_tells_right_from_wrong(large: BERTJudge) -> None:
    assert all(verdict.score > 0.7 for verdict in large.assess(RIGHT))
    assert all(verdict.score < 0.3 for verdict in large.assess(WRONG))


def test_its_files_are_those_that_it_was_packed_with() -> None:
    folder = find_model("large")
    assert checked_hashes(folder)  # refuses others than those in its judge.json
    shards = sorted(folder.glob("*.safetensors"))
    assert len(shards) == 3
    assert max(path.stat().st_size for path in shards) <= 50_000_000


@pytest.mark.filterwarnings("ignore:starter-large has thresholds")
def test_starter_large_asks_large_where_the_starter_is_unsure(large: BERTJudge) -> None:
    rows = [*RIGHT, *WRONG]
    verdicts = list(Cascade("starter-large").assess(rows))
    starter = [verdict.score for verdict in BERTJudge(dtype="float32").assess(rows)]
    for verdict, score, second in zip(verdicts, starter, large.assess(rows), strict=True):
        if 0.15 < score < 0.85:  # not near a threshold: processors with bfloat16 round differently
            assert verdict.details["stage"] == "large"
            assert verdict.label == second.label
        if not 0.05 < score < 0.95:
            assert verdict.details["stage"] == "starter"
