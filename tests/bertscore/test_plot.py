"""The alignment of two texts: that what is shown gives the scores, and the figure, page and data made of it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

from bert_judge.bertscore import BERTScorer
from bert_judge.bertscore.plot import AlignedText, Alignment, check_target, draw, save
from bert_judge.errors import InputError, MissingExtraError, OutputError
from conftest import Refused

SHORT = ("Paris.", "The capital is Paris.")
LONG = (
    "The mayor said on Tuesday that she would not seek a third term, because the city needs unbelievable energy " * 2,
    "On Tuesday the mayor announced she isn't running a third time: what the town needs are fresh thoughts " * 2,
)
ODD = ("北京 שלום العربية ทดสอบ हिन्दी \U0001f680 $x$ \u202e <b>", "\U0001f469\u200d\U0001f680 は \x07 & é")
HOSTILE = ("</script><script>alert(1)</script> <b onclick='x'>", 'He said "<!-- & -->"')


@pytest.fixture(scope="module")
def scorer() -> BERTScorer:
    return BERTScorer(dtype="float32", runtime="torch")


@pytest.fixture(scope="module")
def short(scorer: BERTScorer) -> Alignment:
    return scorer.align(*SHORT)


def recomputed(shown: Alignment) -> list[float]:
    """P, R and F1 from nothing but what an alignment shows."""
    similarity = np.array(shown.similarity)
    bases = shown.baseline or (0.0, 0.0, 0.0)
    cosines = similarity * (1 - bases[2]) + bases[2]

    def weighted(text: AlignedText, rows: np.ndarray) -> float:
        matched = zip(text.weights, rows, text.matches, strict=True)
        return sum(weight * row[match] for weight, row, match in matched if match is not None)

    precision, recall = weighted(shown.candidate, cosines), weighted(shown.reference, cosines.T)
    scores = precision, recall, 2 * precision * recall / (precision + recall)
    return [(score - base) / (1 - base) for score, base in zip(scores, bases, strict=True)]


def test_the_scores_follow_from_what_is_shown(tmp_path: Path, subtests: pytest.Subtests):
    baseline = tmp_path / "baseline.csv"
    baseline.write_text("LAYER,P,R,F\n" + "".join(f"{layer},0.3,0.32,0.29\n" for layer in range(13)))
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "idf": {"idf_sents": [*SHORT, *LONG, "The end."]},
        "rescaled": {"rescale_with_baseline": True, "baseline_path": str(baseline)},
        "compat": {"compat": "bert_score"},
    }
    scorers = {kind: BERTScorer(dtype="float32", runtime="torch", **options) for kind, options in kinds.items()}
    for texts, kind in product([SHORT, LONG, ODD, SHORT[::-1], ("same words", "same words")], kinds):
        with subtests.test(texts=texts, kind=kind):
            shown = scorers[kind].align(*texts)
            scores = [shown.precision, shown.recall, shown.f1]
            assert recomputed(shown) == pytest.approx(scores, abs=1e-5)
            alone = scorers[kind].score([texts[0]], [texts[1]])
            assert [part.item() for part in alone] == pytest.approx(scores, abs=1e-5)
            assert (shown.baseline is not None) == (kind == "rescaled")
            assert shown.signature == scorers[kind].signature


@pytest.mark.parametrize("texts", [SHORT, LONG, ODD])
def test_matches_are_the_most_similar_tokens(scorer: BERTScorer, texts: tuple[str, str]):
    shown = scorer.align(*texts)
    similarity = np.array(shown.similarity)
    assert similarity.shape == (len(shown.candidate.tokens), len(shown.reference.tokens))
    for text, rows in ((shown.candidate, similarity), (shown.reference, similarity.T)):
        assert sum(text.weights) == pytest.approx(1, abs=1e-6)
        for token, match in enumerate(text.matches):
            if text.special[token]:
                assert match is None
                assert text.weights[token] == 0
            else:
                assert match == rows[token].argmax()


def test_special_tokens_can_be_matched(scorer: BERTScorer, short: Alignment):
    assert short.candidate.tokens == ("[CLS]", "paris", ".", "[SEP]")
    assert short.candidate.special == (True, False, False, True)
    assert 3 in short.reference.matches
    same = scorer.align("Paris.", "Paris.")
    assert same.candidate.matches == (None, 1, 2, None)
    assert [same.precision, same.recall, same.f1] == pytest.approx([1, 1, 1], abs=1e-5)


def test_idf_weights_are_shown(scorer: BERTScorer):
    weighed = BERTScorer(dtype="float32", runtime="torch", idf_sents=["the end.", "the beginning.", "the word paris."])
    (the, paris, dot), equal = weighed.align("the paris.", "paris").candidate.weights[1:4], 1 / 3
    assert paris > equal > the == dot == 0  # the and . are in every sentence
    assert scorer.align("the paris.", "paris").candidate.weights[1:4] == pytest.approx([equal] * 3)


def test_marks_of_a_tokenizer_control_characters_and_cuts(make_judge: Callable[..., Path]):
    shown = BERTScorer(str(make_judge("xlm-roberta")), 1, runtime="torch").align("Paris or London", "Paris")
    assert "\u2581" not in "".join(shown.candidate.tokens)
    scorer = BERTScorer(str(make_judge("roberta")), 1, runtime="torch")
    tokens = "".join(scorer.align("a\u202eb\tc\x07d", "x").candidate.tokens)
    assert tokens.isprintable()
    assert "\\x07" in tokens
    scorer = BERTScorer(str(make_judge("bert")), 1, runtime="torch", max_tokens=8)
    shown = scorer.align("Paris and London and Berlin and Moscow", "Paris")
    assert shown.truncated.keys() == {"candidate"}
    remarks = draw(shown).get_supxlabel()
    assert f"candidate cut by {shown.truncated['candidate']} characters" in remarks


def test_what_cannot_be_aligned_is_refused(scorer: BERTScorer, refused: Refused, make_judge: Callable[..., Path]):
    for candidate, reference, message in [
        ("", "x", "the candidate is '', which has no tokens"),
        ("x", " \n", "the reference is ' .n', which has no tokens"),
        (["x"], "x", r"the candidate is \['x'\] \(list\); one text was expected"),
    ]:
        with refused(match=message):
            scorer.align(candidate, reference)
    model = str(make_judge("bert"))
    for options, message in [
        ({"all_layers": True}, "all layers, but an alignment shows one"),
        ({"idf": True}, "idf weights are not counted"),
        ({"idf": {0: 0.0}, "compat": "bert_score"}, "all have the weight 0"),
    ]:
        with refused(message, options=options):
            BERTScorer(model, 1, runtime="torch", **options).align("a", "b")


def test_the_figure_marks_the_matches(short: Alignment):
    figure = draw(short)
    rows, columns = figure.axes[0].collections
    cells = [tuple(round(place) for place in offset) for offset in rows.get_offsets()]
    assert cells == [(match, row) for row, match in enumerate(short.candidate.matches) if match is not None]
    cells = [tuple(round(place) for place in offset) for offset in columns.get_offsets()]
    assert cells == [(column, match) for column, match in enumerate(short.reference.matches) if match is not None]
    shapes = [marks.get_paths()[0].vertices.tolist() for marks in (rows, columns)]
    assert shapes[0] != shapes[1]  # told apart without colour
    assert figure.get_suptitle() == f"P {short.precision:.3f}   R {short.recall:.3f}   F1 {short.f1:.3f}"


def test_the_figure_fits_its_tokens(scorer: BERTScorer, short: Alignment):
    small, large = draw(short), draw(scorer.align(*LONG))
    assert [text.get_text() for text in small.axes[0].texts] == [f"{v:.2f}" for row in short.similarity for v in row]
    assert not large.axes[0].texts  # no value is written where it can't be read
    assert (large.get_size_inches() > 1.5 * small.get_size_inches()).all()
    for figure in (small, large):
        figure.draw_without_rendering()
        edge = figure.bbox
        labels = [*figure.axes[0].get_xticklabels(), *figure.axes[0].get_yticklabels(), *figure.texts, *figure.legends]
        for box in (label.get_window_extent() for label in labels):
            assert edge.x0 <= box.x0 < box.x1 <= edge.x1
            assert edge.y0 <= box.y0 < box.y1 <= edge.y1
    assert pyplot.get_fignums() == []


def test_any_text_can_be_drawn(scorer: BERTScorer, tmp_path: Path, subtests: pytest.Subtests):
    for texts, suffix in product([ODD, HOSTILE], [".png", ".svg", ".pdf", ".json"]):
        with subtests.test(texts=texts, suffix=suffix), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            save(scorer.align(*texts), tmp_path / f"x{suffix}")
            assert (tmp_path / f"x{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF"), ("a.json", b'{"candidate"')]
)
def test_files_are_what_their_names_say(short: Alignment, tmp_path: Path, name: str, start: bytes):
    path = tmp_path / name
    save(short, path)
    first = path.read_bytes()
    assert first.startswith(start)
    save(short, path)
    assert path.read_bytes() == first
    if not name.endswith(("json", "pdf")):
        assert short.signature.settings["model"].encode() in first


def test_a_wrong_file_is_told_at_once(tmp_path: Path, refused: Refused):
    (tmp_path / "folder.png").mkdir()
    for name, error, message in [
        ("a.gif", InputError, "a name that ends with .png, .svg, .pdf, .json was expected"),
        ("a", InputError, "a name that ends with"),
        ("none/a.png", OutputError, "the folder .*none does not exist"),
        ("folder.png", OutputError, "is a folder"),
    ]:
        with refused(match=message, error=error, name=name):
            check_target(tmp_path / name)


def test_a_missing_matplotlib_is_told(short: Alignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = "the plot needs the package matplotlib; .*`pip install matplotlib`"
    for use in (lambda: draw(short), lambda: check_target(tmp_path / "a.png")):
        with pytest.raises(MissingExtraError, match=message):
            use()
    save(short, tmp_path / "a.json")  # which needs none


def test_plot_example_is_that_of_bert_score(scorer: BERTScorer, tmp_path: Path):
    figure = scorer.plot_example(*SHORT, fname=str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["[CLS]", "paris", ".", "[SEP]"]
    with pytest.raises(InputError, match="a name that ends with"):
        scorer.plot_example("", "", "a.gif")  # before the texts are read
