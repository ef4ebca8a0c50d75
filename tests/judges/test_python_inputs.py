"""What `predict` and `assess_table` take from Python: lists, iterators, arrays; tables of pandas, Arrow, datasets."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from datasets import Dataset

from bert_judge import BERTJudge, Sample
from bert_judge.errors import InputError
from bert_judge.judges import BERTScore, LLMJudge, RegexJudge
from bert_judge.judges.base import make_samples
from conftest import MakeJudge, Refused
from scripted_endpoint import Answer, endpoint

QUESTIONS, CANDIDATES, REFERENCES = ["q0", "q1"], ["Paris", "Rome"], ["Paris", "Paris"]
JUDGE = RegexJudge("none", "containment")


def table_of(**more: list) -> pd.DataFrame:
    return pd.DataFrame({"prompt": QUESTIONS, "model_a": CANDIDATES, "answer": REFERENCES, **more}, index=[7, 7])


def test_anything_with_an_order_is_a_list_of_texts():
    expected = [Sample("Paris", ("Paris",), "q0"), Sample("Rome", ("Paris",), "q1")]
    for kind in (list, tuple, iter, np.array, pd.Series, lambda values: (value for value in values)):
        samples = make_samples(kind(QUESTIONS), kind(CANDIDATES), kind(REFERENCES))
        assert samples == expected
        assert all(type(text) is str for sample in samples for text in (sample.candidate, *sample.references))
        assert JUDGE.predict(kind(CANDIDATES), kind(REFERENCES)) == [1.0, 0.0]
    assert make_samples([], CANDIDATES, np.array([["a", "b"], ["c", "d"]]))[1] == Sample("Rome", ("c", "d"))
    assert [sample.question for sample in make_samples([None, float("nan")], CANDIDATES, REFERENCES)] == [None, None]


def test_what_is_no_list_of_texts_is_said_in_a_sentence():
    for wrong in ("Paris", b"Paris", {"a": "b"}, {"Paris", "Rome"}, 5, None, table_of()):
        kind = type(wrong).__name__
        with pytest.raises(InputError, match=f"^candidates is {kind}; a list with one entry for each candidate was"):
            make_samples(None, wrong, REFERENCES)
    with pytest.raises(InputError, match=r"^there are 2 candidates but 1 questions; one each was expected\.$"):
        make_samples(iter(["q"]), iter(CANDIDATES), REFERENCES)
    with pytest.raises(InputError, match=r"^there are 2 candidates but 1 references"):
        make_samples(None, CANDIDATES, ["r"])


def test_an_entry_that_is_no_text_is_told_with_its_row(refused: Refused):
    a_dict = [{"a": 1}, "a"]
    sentences = {
        "candidates[1] is None; a text was expected.": (None, ["a", None], REFERENCES),
        "candidates[1] is nan; a text was expected.": (None, pd.Series(["a", float("nan")], dtype=object), REFERENCES),
        "candidates[1] is <NA>; a text was expected.": (None, ["a", pd.NA], REFERENCES),
        "candidates[0] is 1 (int); a text was expected.": (None, [1, "b"], REFERENCES),
        "questions[1] is ['q'] (list); a text was expected.": (["q", ["q"]], CANDIDATES, REFERENCES),
        "references[1] is None; a text, or a list of texts, was expected.": (None, CANDIDATES, ["a", None]),
        "references[0] is {'a': 1} (dict); a text, or a list of texts, was expected.": (None, CANDIDATES, a_dict),
        "references[1][1] is None; a text was expected.": (None, CANDIDATES, ["a", ["b", None]]),
        "references[1] is empty; at least one correct answer was expected.": (None, CANDIDATES, ["a", []]),
    }
    for sentence, arguments in sentences.items():
        with refused(match=f"^{re.escape(sentence)}$"):
            make_samples(*arguments)


def test_half_a_character_is_read_as_u_fffd_by_every_judge(make_judge: MakeJudge):
    question, candidate, references = "why \ud83d?", "It is Paris \ud83d", ["Paris \ud83d", "\udc00"]
    sample = Sample(candidate, tuple(references), question)
    assert sample == Sample("It is Paris \ufffd", ("Paris \ufffd", "\ufffd"), "why \ufffd?")
    model = str(make_judge("bert"))
    with endpoint(Answer()) as server:
        asking = LLMJudge("m", "openai", base_url=server.base_url, store="off")
        for judge in (BERTJudge(), JUDGE, BERTScore(model, num_layers=1), asking):
            (score,) = judge.predict([question], [candidate], [references])
            assert score is not None
            assert [score] == judge.predict(["why \ufffd?"], ["It is Paris \ufffd"], [["Paris \ufffd", "\ufffd"]])


def test_verdicts_are_added_to_a_data_frame():
    table = table_of(answer_count=[1, 2])
    before = table.copy(deep=True)
    assessed = JUDGE.assess_table(table, {"candidate": "model_a"})
    pd.testing.assert_frame_equal(table, before)
    pd.testing.assert_frame_equal(assessed[list(table.columns)], before)
    assert list(assessed.columns) == [*before.columns, "score", "label", "explanation"]
    assert assessed.score.tolist() == [1.0, 0.0]
    assert [str(assessed[name].dtype) for name in ("score", "label", "explanation")] == ["float64", "Int64", "string"]
    again = JUDGE.assess_table(assessed, {"candidate": "model_a"}, prefix="second_")
    assert again.second_label.tolist() == [1, 0]
    assert len(JUDGE.assess_table(table[:0], {"candidate": "model_a"})) == 0


def test_what_is_undecided_is_missing():
    def doubt(prompt: str, _: int) -> Answer:
        return Answer("I can't say." if "Rome" in prompt else "Final answer: True")

    table = table_of()
    with endpoint(doubt) as server:
        judge = LLMJudge("m", "openai", base_url=server.base_url, store="off")
        frame = judge.assess_table(table, {"candidate": "model_a"})
        dataset = judge.assess_table(Dataset.from_pandas(table, preserve_index=False), {"candidate": "model_a"})
    assert frame.score.isna().tolist() == frame.label.isna().tolist() == [False, True]
    assert frame.explanation.tolist() == ["identical to a reference", "the reply has no verdict"]
    assert dataset["explanation"][:] == frame.explanation.tolist()
    assert dataset["score"][:] == [1.0, None]
    assert dataset["label"][:] == [1, None]


def test_verdicts_are_added_to_a_dataset():
    rows = {"question": ["q"] * 3, "candidate": ["NYC", "LA", None], "references": [["x", "NYC"], ["NYC"], ["NYC"]]}
    dataset = Dataset.from_dict(rows)
    assessed = JUDGE.assess_table(dataset.with_format("numpy"), prefix="judge_")
    assert dataset.column_names == list(rows)
    plain, explanations = assessed.with_format(None), ["identical to a reference", None, "the candidate is empty"]
    assert plain["judge_score"][:] == [1.0, 0.0, 0.0]
    assert plain["judge_explanation"][:] == explanations
    kinds = {"judge_score": "float64", "judge_label": "int64", "judge_explanation": "string"}
    assert {name: assessed.features[name].dtype for name in kinds} == kinds


def test_verdicts_are_added_to_an_arrow_table():
    rows = {"question": ["q"] * 600, "candidate": [*["NYC", "LA", None] * 200], "references": [["x", "NYC"]] * 600}
    table = pa.table(rows)
    judged = JUDGE.assess_table(table, prefix="judge_")
    assert judged.drop_columns(["judge_score", "judge_label", "judge_explanation"]).equals(table)
    assert judged["judge_score"].to_pylist() == [1.0, 0.0, 0.0] * 200
    assert [str(judged.schema.field(f"judge_{name}").type) for name in ("score", "label")] == ["double", "int64"]
    assert judged["judge_explanation"].null_count == 200
    assert len(JUDGE.assess_table(table[:0])) == 0


def test_a_bar_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    class Slow(RegexJudge):
        def assess(self, samples):
            for verdict in super().assess(samples):
                time.sleep(0.6)  # a bar is there after a second
                yield verdict

    table, judge = table_of(candidate=CANDIDATES), Slow("none", "containment")
    expected = JUDGE.assess_table(table)
    for shown in (None, True, False):
        pd.testing.assert_frame_equal(judge.assess_table(table, progress=shown), expected)
        assert ("judging: 100%" in capsys.readouterr().err) == bool(shown)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)  # in a notebook
    judge.assess_table(table)
    assert "2/2" in capsys.readouterr().err


def test_cells_of_pandas_are_read_as_those_of_files():
    answers = [np.array(["x", "Paris"]), ["Paris"]]
    table = pd.DataFrame({"candidate": ["Paris", None], "answers": answers, "question": ["q", float("nan")]})
    assert JUDGE.assess_table(table).score.tolist() == [1.0, 0.0]
    numbers = pd.DataFrame({"candidate": np.array([1, 2]), "reference": [1, 3]})
    assert JUDGE.assess_table(numbers, numbers_as_text=True).label.tolist() == [1, 0]
    lists = pd.DataFrame({"candidate": ["a", "b", True], "reference": ["['x', 'a']", "x|b", False]})
    assert JUDGE.assess_table(lists, reference_separator="|").score.tolist() == [1.0, 1.0, 0.0]
    separated = pd.DataFrame({"candidate": ["a"] * 3, "reference": ["x; a"] * 3})
    with pytest.warns(UserWarning, match=r"^the table: 3 of 3 references hold '; '.*reference_separator='; '"):
        JUDGE.assess_table(separated)


def test_a_table_that_does_not_fit_is_told_in_a_sentence(refused: Refused):
    doubled = pd.DataFrame([["a", "b"]], columns=["candidate", "candidate"])
    for table, options, sentence in [
        ([{"candidate": "a"}], {}, "the table is a list; a pandas DataFrame, an Arrow table or a Dataset"),
        (table_of(), {}, "the table has no column for the candidate: found prompt, model_a, answer; name it with"),
        (table_of(), {"columns": {"candidate": "b"}}, "no column 'b', which was named for the candidate"),
        (table_of(judge_label=[1, 0], label=[1, 0]), {}, "has a column 'judge_label' already; choose another prefix"),
        (table_of(label=[1, 0]), {"prefix": ""}, "has a column 'label' already; choose another prefix for the new"),
        (table_of(candidate=[["a"], "b"]), {}, "in the column 'candidate'"),
        (table_of(candidate=["a", 2]), {}, "the table's row 1 (counted from 0) has the number 2 in the column"),
        (table_of(candidate=["a", "b"], references=["a", None]), {}, "row 1 (counted from 0) has no reference"),
        (table_of(), {"columns": {"answer": "b"}}, "'answer' can't be mapped to a column"),
        (doubled, {}, "has more than one column 'candidate'"),
        (pa.table([["a"], ["b"]], ["candidate", "candidate"]), {}, "has more than one column 'candidate'"),
    ]:
        no_flags = rf"^(?!.*--).*{re.escape(sentence)}"  # there are none in Python
        with refused(match=no_flags, table=table, options=options):
            JUDGE.assess_table(table, **options)


def test_pandas_is_never_imported_by_us():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from bert_judge.judges import RegexJudge\n"
        "print(RegexJudge().predict(['Final answer: a'], ['a']))\n"
        "try:\n    RegexJudge().assess_table([])\nexcept ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "[1.0]"
    assert "the table is a list" in done.stdout


def test_a_column_that_is_there_already_is_kept():
    table = table_of(label=[0, 0])
    for source in (table, Dataset.from_pandas(table, preserve_index=False)):
        assessed = JUDGE.assess_table(source, {"candidate": "model_a"})
        names = assessed.column_names if isinstance(assessed, Dataset) else list(assessed.columns)
        assert names == [*table.columns, "judge_score", "judge_label", "judge_explanation"]
        assert list(assessed["label"]) == [0, 0]
        assert list(assessed["judge_label"]) == [1, 0]
