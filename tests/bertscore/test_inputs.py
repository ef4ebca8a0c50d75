"""What can't be scored is said in one sentence; what is too long is cut, counted and said."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from itertools import product
from pathlib import Path

import pytest
import sentencepiece
from base_encoders import KINDS, MakeBase, assert_equal, own_scorer, quietly, reference_scorer, reference_scores

from bert_judge import BERTScorer, bert_score
from bert_judge.encoder.models import STARTER_FOLDER
from bert_judge.errors import MissingExtraError, ModelError
from conftest import CORPUS, Refused

LONG = "Die Antwort lautet Überfluss, it is Paris (12.5 %); 北京 \U0001f680 naïve? " * 60
# Positions start after the padding's; relative positions have no limit of their own.
LIMITS = dict.fromkeys(["roberta", "xlm-roberta", "mpnet", "longformer", "eurobert"], 128)
LIMITS |= dict.fromkeys(["t5", "mt5", "xlnet"], 512)


@pytest.fixture(scope="module")
def scorer(make_base: MakeBase) -> BERTScorer:
    return own_scorer(make_base("bert"), num_layers=2)


def test_lists_that_do_not_fit_are_said_and_streams_are_checked_too(scorer: BERTScorer, refused: Refused) -> None:
    for cands, refs, message in [
        (["a", "b"], ["a"], r"^there are 2 candidates but 1 references; one entry each was expected\.$"),
        ([], ["a"], r"^there are 0 candidates but 1 references"),
        ("a", ["a"], r"^the candidates are one text; a list with one entry for each candidate was expected\.$"),
        (["a"], "a", r"^the references are one text; a list with one entry for each candidate was expected\.$"),
        (["a", "b"], ["a", []], r"^candidate 1 has no reference; at least one was expected\.$"),
        (["a", 7], ["a", "b"], r"^entry 1 holds 7 \(int\); texts were expected\.$"),
        (["a"], [["a", None]], r"^entry 0 holds None \(NoneType\); texts were expected\.$"),
        (["a"], [[["a"]]], r"^entry 0 holds \['a'\] \(list\); texts were expected\.$"),
        ([b"a"], ["a"], r"^entry 0 holds b'a' \(bytes\); texts were expected\.$"),
        (["a"], [None], r"^entry 0 holds None \(NoneType\); texts were expected\.$"),
        (["a"], [float("nan")], r"^entry 0 holds nan \(float\); texts were expected\.$"),
        (["a"], None, "the references are a NoneType"),
        ((text for text in "ab"), ["a", "b"], "the candidates are a generator"),
    ]:
        with refused(match=message, cands=cands, refs=refs):
            scorer.score(cands, refs)
        with refused(match=message, cands=cands, refs=refs):
            bert_score(cands, refs, "a model that is not looked for")

    [alone, listed] = scorer.score_each([("It is Paris", "Paris"), ("It is Paris", ["Paris"])])
    assert alone.f1 == pytest.approx(listed.f1)  # one text is one reference, not one for each letter
    for *pair, message in [("a", [], "candidate 1 has no reference"), ("a", [7], "holds 7"), (None, "a", "None")]:
        with refused(message):
            list(scorer.score_each([("a", ["b"]), tuple(pair)]))


def test_arguments_that_cannot_be_are_said(make_base: MakeBase, refused: Refused, tmp_path: Path) -> None:
    for options, message in [
        ({"compat": "bertscore"}, r"^compat is 'bertscore'; None or 'bert_score' was expected\.$"),
        ({"num_layers": 4}, r"^num_layers is 4, but \S+ has layers 0 \(the embeddings\) to 3\.$"),
        ({"num_layers": -1}, r"^num_layers is -1"),
        ({"max_tokens": 3}, r"^max_tokens is 3; a number from 4 to 130 was expected for this model\.$"),
        ({"max_tokens": 131}, r"^max_tokens is 131; a number from 4 to 130 was expected for this model\.$"),
        ({"batch_size": 0}, r"^batch_size is 0; a number of at least 1 was expected\.$"),
        ({"batch_tokens": 0}, r"^batch_tokens is 0; a number of at least 1 was expected\.$"),
        ({"dtype": "float64"}, r"^dtype is 'float64'; one of auto, float32, bfloat16, float16 was expected\.$"),
        ({"device": "abacus"}, r"^the device 'abacus' can't be used"),
        ({"rescale_with_baseline": True}, r"^there is no rescaling baseline for \S+; give a file as"),
        ({"rescale_with_baseline": True, "baseline_path": "gone.csv"}, r"^the baseline file gone\.csv can't be read"),
        ({"idf": "Paris"}, r"^the sentences for idf are one text; a list of texts was expected\.$"),
        ({"idf": {"a": 1.0}}, "the idf dictionary holds 'a'"),
        ({"idf": {5: "x"}}, "the idf dictionary holds 5: 'x'"),
        ({"idf": {5: -1.0}}, "a weight that is not a finite number of at least 0"),
        ({"runtime": "jax"}, "runtime is 'jax'"),
    ]:
        with refused(match=message, options=options):
            own_scorer(make_base("bert"), **options)

    with refused(match=r"^there is no model for the language 'xx'"):
        BERTScorer(lang="xx")
    for model, lang, name in [(str(tmp_path / "gone"), None, "gone"), (None, "en", "roberta-large")]:
        with refused(name, error=ModelError):  # also of a language, as tests reach no Hub
            BERTScorer(model, lang=lang)


@pytest.mark.parametrize("architecture", KINDS)
def test_long_texts_are_cut_at_the_limit_of_the_model(make_base: MakeBase, architecture: str, tmp_path: Path) -> None:
    """Where the tokenizer names none, as many on the Hub do; bert-score fails on them."""
    path = Path(shutil.copytree(make_base(architecture), tmp_path / architecture))
    config = json.loads((path / "tokenizer_config.json").read_text())
    del config["model_max_length"]
    (path / "tokenizer_config.json").write_text(json.dumps(config))
    scorer = own_scorer(path, num_layers=2)
    limit = LIMITS.get(architecture, 130)
    assert scorer.signature.settings["trunc"] == f"right{limit}"
    score = next(scorer.score_each([(LONG, ["Paris"])]))
    assert score.truncated == {"candidate": characters_after(path, LONG.strip(), limit)}
    assert -1 < score.f1[0] < 1
    assert len(scorer._pairs.reader.read([LONG])[0].tokens.ids) == limit
    other = LONG[: len(LONG) * 9 // 10] + "but London, all the same"
    assert next(scorer.score_each([(LONG, [other])])).f1[0] == pytest.approx(1, abs=1e-5)  # the end is not read


def characters_after(path: Path, text: str, limit: int) -> int:
    """By the offsets of the tokenizer of transformers, which is asked for all tokens."""
    from transformers import AutoTokenizer

    with quietly():
        tokenizer = AutoTokenizer.from_pretrained(path)
        bare = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        around = len(tokenizer("")["input_ids"])
    return len(text) - bare["offset_mapping"][limit - around - 1][1]


def test_max_tokens_is_kept_and_what_is_cut_is_counted(make_base: MakeBase, subtests: pytest.Subtests) -> None:
    for architecture, limit in product(["bert", "roberta", "t5", "deberta-v2", "modernbert"], [4, 5, 33, 100]):
        with subtests.test(architecture=architecture, limit=limit):
            path = make_base(architecture)
            scorer = own_scorer(path, num_layers=2, max_tokens=limit)
            cut = characters_after(path, LONG.strip(), limit)
            pairs = [(LONG, ["."]), (".", [LONG]), (LONG, [LONG, "."]), (".", [","]), ("", [LONG])]
            cuts = [dict(score.truncated) for score in scorer.score_each(pairs)]
            both = {"candidate": cut, "reference": cut}
            assert cuts == [{"candidate": cut}, {"reference": cut}, both, {}, {"reference": cut}]
            assert len(scorer._pairs.reader.read([LONG])[0].tokens.ids) == limit


def test_relative_positions_have_no_end(make_base: MakeBase, subtests: pytest.Subtests) -> None:
    for architecture in ["t5", "mt5", "xlnet"]:
        with subtests.test(architecture=architecture):
            scorer = own_scorer(make_base(architecture), num_layers=2, max_tokens=3000)
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # one would say that a text was cut
                [f1] = scorer.score([LONG[:2000]], [LONG[:1500]])[2].tolist()
            assert 0.5 < f1 < 1


def test_a_text_of_exactly_the_limit_is_whole_and_score_says_how_many_were_cut(scorer: BERTScorer) -> None:
    fits, over = "Paris " * 98, "Paris " * 99  # the tokenizer's limit is 100, and two tokens stand around a text
    whole, cut = scorer.score_each([(fits, ["Paris"]), (over, ["Paris"])])
    assert whole.truncated == {}
    assert cut.truncated == {"candidate": len(" Paris")}

    with pytest.warns(UserWarning, match=r"^2 of 3 pairs hold a text of more than 100 tokens, whose end was not read;"):
        scorer.score([LONG, "Paris", LONG], ["Paris", "Paris", LONG])
    [score] = scorer.score_each([("Paris", ["Paris", LONG])])
    assert score.reference == 0
    assert score.truncated["reference"] > 1000  # also of a reference that did not win


def test_odd_texts_have_a_score(make_base: MakeBase, subtests: pytest.Subtests) -> None:
    texts = ("", " ", "abc \ud800", "\n\t", "\x00", "\u202e", "\U0001f680" * 400, "a" * 5000, "</s>" * 300, "\u0301")
    for architecture in ("bert", "roberta", "xlm-roberta", "t5"):
        scorer = own_scorer(make_base(architecture), num_layers=2)
        for text in texts:
            with subtests.test(architecture=architecture, text=text[:9]):
                pairs = [(text, ["Paris"]), ("Paris", [text]), (text, [text]), (text, ["", text])]
                for score in scorer.score_each(pairs):
                    assert -1 <= score.f1[0] <= 1 + 1e-6
                    assert (score.f1[0] == 0) == (score.empty is not None)


def test_two_texts_are_a_pair(make_base: MakeBase) -> None:
    """bert-score takes them where they are letters; it reads longer ones letter by letter."""
    path = make_base("bert")
    scorer = own_scorer(path, num_layers=2, compat="bert_score")
    assert_equal(scorer.score("a", "b"), reference_scores(reference_scorer(path, num_layers=2), "a", "b"))
    listed = own_scorer(path, num_layers=2).score(["It is Paris"], ["London it is"])
    assert_equal(own_scorer(path, num_layers=2).score("It is Paris", "London it is"), listed)
    options = {"runtime": "torch", "dtype": "float32"}
    assert_equal(bert_score("It is Paris", "London it is", str(path), 2, **options), listed)
    weighed = bert_score(["It is Paris"], ["London it is"], str(path), 2, idf=True, **options)
    assert_equal(bert_score("It is Paris", "London it is", str(path), 2, idf=True, **options), weighed)


def test_a_tokenizer_that_is_a_sentencepiece_file(
    make_base: MakeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(make_base("t5"), tmp_path / "t5"))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer", "model_max_length": 100}')
    signatures = set()
    training = {"model_prefix": str(folder / "spiece"), "hard_vocab_limit": False, "minloglevel": 2, "pad_id": 3}
    for size in (90, 100):
        texts = iter(CORPUS * 5)
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=texts, vocab_size=size, **training)
        compat = own_scorer(folder, num_layers=2, compat="bert_score", batch_size=1)
        cands, refs = ["Paris it is", "London"], ["It is Paris", "London is the capital"]
        expected = reference_scores(reference_scorer(folder, num_layers=2), cands, refs)
        assert_equal(compat.score(cands, refs), expected)
        signatures.add(compat.signature)
    assert len(signatures) == 2
    for module, package in (("google.protobuf", "protobuf"), ("sentencepiece", "sentencepiece")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"needs the package {package};.*\[sentencepiece\]"):
            own_scorer(folder, num_layers=2)


def test_ids_with_gaps(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STARTER_FOLDER, tmp_path / "gaps"))
    raw = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words = raw["model"]["vocab"]
    last = max((word for word in words if word.isalpha() and len(word) > 3), key=words.__getitem__)
    for word in [word for word in words if word.startswith("[unused")]:
        del words[word]
    (folder / "tokenizer.json").write_text(json.dumps(raw), encoding="utf-8")
    (folder / "judge.json").unlink()  # it has the hashes of the original
    assert words[last] >= len(words)
    assert BERTScorer(folder, dtype="float32").score([last], [last])[2].item() == pytest.approx(1, abs=1e-5)
