"""The scorer of inspect_ai: its numbers are those of the judge."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from bert_judge.errors import InputError, MissingExtraError
from bert_judge.judges import RegexJudge

MODULE = "bert_judge.integrations.inspect_ai"


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="inspect_ai is installed")
def test_without_inspect_it_says_what_to_install() -> None:
    with pytest.raises(
        MissingExtraError, match=r"needs the package inspect_ai; install it with `pip install inspect_ai`\."
    ):
        importlib.import_module(MODULE)


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # inspect's
def test_a_run_of_inspect_has_the_numbers_of_the_judge(tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    bert_judge = importlib.import_module(MODULE).bert_judge
    answers = ["It is Paris.", "Lyon", "eight legs", "nothing"]
    targets = [["Paris"], ["Paris", "Lutetia"], ["8", "eight"], [""]]

    def answer(messages, *_):
        output = ModelOutput.from_content("mockllm/model", answers[int(messages[-1].text)])
        output.usage = ModelUsage()
        return output

    rows = [Sample(input=str(n), target=target) for n, target in enumerate(targets)]
    task = inspect_ai.Task(dataset=rows, solver=generate(), scorer=bert_judge("containment"))
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    expected = RegexJudge("none", "containment").predict(None, answers[:3], targets[:3])
    scores = {score.name: score for score in log.results.scores}
    assert scores["correct"].metrics["accuracy"].value == pytest.approx(sum(expected) / 3)
    assert scores["score"].metrics["mean"].value == pytest.approx(sum(expected) / 3)
    values = [sample.scores["bert_judge"].value for sample in log.samples[:3]]
    assert [value["score"] for value in values] == expected
    assert "no target" in log.samples[3].scores["bert_judge"].explanation
    with pytest.raises(InputError, match="did you mean containment"):
        bert_judge("containmnt")


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # inspect's
def test_a_letter_is_read_with_the_options(tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    bert_judge = importlib.import_module(MODULE).bert_judge
    asked = [("The capital of France?", "B"), ("The largest city of France?", "C"), ("Which Town is the fourth?", "D")]
    cities = ["Lyon", "Paris", "Nice", "Metz"]
    rows = [Sample(input=question, choices=cities, target=target) for question, target in asked]

    def answer(messages, *_):
        output = ModelOutput.from_content("mockllm/model", "Metz" if "Town" in messages[-1].text else "ANSWER: B")
        output.usage = ModelUsage()
        return output

    task = inspect_ai.Task(dataset=rows, solver=generate(), scorer=bert_judge())
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    assert [sample.scores["bert_judge"].value["correct"] for sample in log.samples] == [1, 0, 1]
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=rows[:1], solver=generate(), scorer=bert_judge("BERTScore")),
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(tmp_path),
        display="none",
    )
    assert "gives scores without labels" in log.error.message
