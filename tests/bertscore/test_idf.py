"""The weights of rare tokens: counted by hand, kept in a file, and given in every form that bert-score takes."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from base_encoders import MakeBase, assert_equal, own_scorer, quietly

from bert_judge import BERTScorer, bert_score
from bert_judge.encoder.models import load_tokenizer
from bert_judge.errors import InputError, OutputError
from conftest import NO_RECORDS, Refused

SENTENCES = ["Paris is the capital", "London is the the capital", "It is Paris, Paris"]
CANDIDATES = ["the capital is Paris", "London it is, London", "Berlin and Paris"]
REFERENCES = ["Paris is the capital", "It is London", "Paris and Berlin, and the capital"]


@pytest.fixture
def plain(make_base: MakeBase) -> BERTScorer:
    return own_scorer(make_base("bert"), num_layers=2)


def ids_of(scorer: BERTScorer, text: str) -> list[int]:
    """The ids of a text without those around it."""
    return load_tokenizer(Path(scorer.model_type)).encode(text, add_special_tokens=False).ids


def test_forms_of_idf_are_one(make_base: MakeBase, plain: BERTScorer) -> None:
    path = make_base("bert")
    tokens = {token for text in SENTENCES for token in ids_of(plain, text)}
    # A token that comes twice in a text counts once.
    counts = {token: sum(token in ids_of(plain, text) for text in SENTENCES) for token in tokens}
    weights = {token: math.log(4 / (1 + count)) for token, count in counts.items()}
    later = own_scorer(path, num_layers=2, idf=True)
    later.compute_idf(iter(SENTENCES))
    forms: dict[str, BERTScorer] = {
        "sentences": own_scorer(path, num_layers=2, idf=SENTENCES),
        "idf_sents": own_scorer(path, num_layers=2, idf=True, idf_sents=SENTENCES),
        "idf_sents alone": own_scorer(path, num_layers=2, idf_sents=SENTENCES),
        "later": later,
        "defaultdict": own_scorer(path, num_layers=2, idf=defaultdict(lambda: math.log(4), weights)),
        "dictionary": own_scorer(path, num_layers=2, idf=weights | {399: math.log(4)}),
    }
    expected = forms.pop("sentences").score(CANDIDATES, REFERENCES)
    for form, scorer in forms.items():
        assert scorer.idf, form
        assert_equal(scorer.score(CANDIDATES, REFERENCES), expected)
    assert (expected[2] - plain.score(CANDIDATES, REFERENCES)[2]).abs().max() > 1e-3


def test_the_function_counts_its_references(make_base: MakeBase) -> None:
    path = make_base("bert")
    refs = [[reference, "It is Berlin"] for reference in REFERENCES]
    counted = [text for group in refs for text in group]  # each is a document
    options: dict[str, Any] = {"runtime": "torch", "dtype": "float32"}
    scores = bert_score(CANDIDATES, refs, str(path), 2, idf=True, **options)
    assert_equal(scores, own_scorer(path, num_layers=2, idf=counted).score(CANDIDATES, refs))
    weighted = bert_score(CANDIDATES, refs, str(path), 2, idf=SENTENCES, **options)
    assert_equal(weighted, own_scorer(path, num_layers=2, idf=SENTENCES).score(CANDIDATES, refs))
    assert (weighted[2] - scores[2]).abs().max() > 1e-3
    assert bert_score([], [], str(path), 2, idf=True, **options)[2].tolist() == []


def test_a_dictionary_is_that_of_bert_score_and_may_be_of_numpy(make_base: MakeBase, plain: BERTScorer) -> None:
    path = str(make_base("bert"))
    weights = defaultdict(lambda: 0.5, {token: 0.1 * (token % 7) for token in range(2, 400, 3)})
    with quietly():
        import bert_score as original

        expected = original.score(CANDIDATES, REFERENCES, path, 2, idf=weights, batch_size=1, device="cpu")
    compat = own_scorer(path, num_layers=2, idf=weights, compat="bert_score", batch_size=1)
    assert_equal(compat.score(CANDIDATES, REFERENCES), expected)

    weights = {token: 0.1 * (token % 7) for token in range(2, 400, 3)}
    typed = {np.int64(token): np.float32(weight) for token, weight in weights.items()}
    path = make_base("bert")
    scores = own_scorer(path, num_layers=2, idf=weights).score(CANDIDATES, REFERENCES)
    assert_equal(own_scorer(path, num_layers=2, idf=typed).score(CANDIDATES, REFERENCES), scores, 1e-6)
    assert (scores[2] - plain.score(CANDIDATES, REFERENCES)[2]).abs().max() > 1e-3


def test_a_file_keeps_the_weights_of_its_tokenizer(make_base: MakeBase, tmp_path: Path) -> None:
    path, file = make_base("bert"), tmp_path / "idf.json"
    counted = own_scorer(path, num_layers=2, idf=SENTENCES)
    counted.save_idf(file)
    loaded = own_scorer(path, num_layers=2)
    loaded.load_idf(str(file))
    for one, other in zip(loaded.score(CANDIDATES, REFERENCES), counted.score(CANDIDATES, REFERENCES), strict=True):
        assert one.tolist() == other.tolist()
    assert loaded.signature == counted.signature
    loaded.save_idf(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    for layer in (0, 2):  # another layer has the same tokens
        own_scorer(path, num_layers=layer).load_idf(file)
    with pytest.raises(InputError, match=r"idf\.json was counted with another tokenizer \(\w+, this model's is \w+\);"):
        own_scorer(make_base("roberta"), num_layers=2).load_idf(tmp_path / "idf.json")


def test_what_is_no_idf_file_is_said(plain: BERTScorer, tmp_path: Path, refused: Refused) -> None:
    lacking = ['{"documents": 3}', '{"documents": 3, "tokenizer": "a", "counts": [1]}', '{"documents"']
    for content in [*NO_RECORDS, *lacking, "\udcff"]:
        (tmp_path / "idf.json").write_bytes(content.encode(errors="surrogateescape"))
        with refused("idf.json is not an idf file (documents, tokenizer and counts were expected)", content=content):
            plain.load_idf(tmp_path / "idf.json")

    plain.compute_idf(SENTENCES)
    plain.save_idf(tmp_path / "saved.json")
    saved = json.loads((tmp_path / "saved.json").read_text())
    # A token below 0; one that occurs less than never, or never, or in more documents than there are.
    for counts in [{"-1": 1}, {"5": -1}, {"5": 0}, {"5": 9}]:
        (tmp_path / "idf.json").write_text(json.dumps(saved | {"documents": 3, "counts": counts}))
        with refused(match=r"idf\.json is not an idf file .*: a token is in no document, or in more", counts=counts):
            plain.load_idf(tmp_path / "idf.json")


def test_weights_and_files_are_needed(make_base: MakeBase, plain: BERTScorer, tmp_path: Path) -> None:
    unfitted = own_scorer(make_base("bert"), num_layers=2, idf=True)
    with pytest.raises(InputError, match=r"^the idf weights are not counted; give idf_sents, or call compute_idf or"):
        unfitted.score(["a"], ["b"])
    with pytest.raises(InputError, match="the idf weights are not counted"):
        unfitted.score_each([("a", ["b"])])
    dictionary = own_scorer(make_base("bert"), num_layers=2, idf={5: 1.0})
    for scorer in (plain, unfitted, dictionary):
        with pytest.raises(InputError, match=r"^the scorer has no idf weights that were counted; call compute_idf"):
            scorer.save_idf(tmp_path / "idf.json")
    counted = own_scorer(make_base("bert"), num_layers=2, idf=SENTENCES)
    with pytest.raises(OutputError, match=r"^the idf file \S+idf\.json can't be written \(No such file or directory\)"):
        counted.save_idf(tmp_path / "gone" / "idf.json")
    with pytest.raises(InputError, match=r"^the idf file \S+idf\.json can't be read \(No such file or directory\)"):
        counted.load_idf(tmp_path / "idf.json")


def test_new_weights_replace_the_old_and_say_so(make_base: MakeBase, plain: BERTScorer) -> None:
    plain.compute_idf(SENTENCES)  # the first ones replace nothing
    before = plain.signature
    with pytest.warns(UserWarning, match=r"^the idf weights that the scorer had are replaced\.$"):
        plain.compute_idf(REFERENCES)
    fresh = own_scorer(make_base("bert"), num_layers=2, idf=REFERENCES)
    assert plain.signature == fresh.signature != before
    assert_equal(plain.score(CANDIDATES, REFERENCES), fresh.score(CANDIDATES, REFERENCES))


def test_weights_are_numbers_and_sentences_texts(make_base: MakeBase, plain: BERTScorer, refused: Refused) -> None:
    for weight in (math.nan, math.inf, -math.inf):
        for idf in ({5: weight}, defaultdict(partial(float, weight), {5: 1.0})):
            with refused("the idf dictionary holds a weight that is not a finite number of at least 0.", idf=idf):
                own_scorer(make_base("bert"), num_layers=2, idf=idf)
    with refused("one text; a list of texts was expected"):
        own_scorer(make_base("bert"), num_layers=2, idf=True, idf_sents="Paris")
    for sentences in (["Paris", 7], [None], [["Paris"]]):
        with pytest.raises(InputError, match="text"):
            plain.compute_idf(sentences)  # type: ignore[arg-type]


@pytest.mark.parametrize("special", ["bert", "t5"])
def test_special_tokens_count_in_no_document(make_base: MakeBase, tmp_path: Path, special: str) -> None:
    """With them, a stopword that is everywhere would still weigh more than the end of a text."""
    path = make_base(special)
    own_scorer(path, num_layers=2, idf=SENTENCES).save_idf(tmp_path / "idf.json")
    counts = json.loads((tmp_path / "idf.json").read_text())["counts"]
    assert str(load_tokenizer(path).token_to_id("</s>")) not in counts
    assert max(counts.values()) == 3
