"""`bert-judge bertscore --plot` as its user meets it: what it writes, prints and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bert_judge.bertscore import BERTScorer
from bert_judge.cli.bertscore import main
from bert_judge.errors import BertJudgeError
from bert_judge.records import Signature
from conftest import Refused

TEXTS = ["-c", "She died in her home.", "-r", "He died at his house."]


@pytest.fixture(scope="module")
def model(make_judge: Callable[..., Path]) -> str:
    return str(make_judge("bert"))


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The lines of standard output by their first word."""
    return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())


def test_the_starter_draws_and_prints_the_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "alignment.json"
    assert main([*TEXTS, "--plot", str(path), "--dtype", "float32"]) == 0
    data, lines = json.loads(path.read_text(encoding="utf-8")), printed(capsys)
    assert data["candidate"]["tokens"] == "[CLS] she died in her home . [SEP]".split()
    scores = BERTScorer(dtype="float32").score([TEXTS[1]], [TEXTS[3]])
    assert [data[name] for name in ("precision", "recall", "f1")] == pytest.approx([s.item() for s in scores], abs=1e-5)
    assert lines["P"] == f"{data['precision']:.6f}  R {data['recall']:.6f}  F1 {data['f1']:.6f}"
    assert lines["scorer"] == str(Signature.of(data["signature"]))
    assert data["signature"]["settings"]["model"] == "starter"
    assert lines["file"] == str(path)


@pytest.mark.parametrize(
    "flags",
    [
        "--cand a --ref a --model MODEL --num_layers 1 --rescale_with_baseline --baseline_path FILE",
        "--cand=a --ref=a --model-path=MODEL --num-layers=1 --verbose --rescale-with-baseline --baseline-path FILE",
        "-c a -r a --model_path MODEL -l 1 -v --rescale_with_baseline --baseline_path=FILE",
    ],
)
def test_every_spelling_is_understood(model: str, tmp_path: Path, flags: str):
    path, baseline = tmp_path / "a.json", tmp_path / "baseline.csv"
    baseline.write_text("LAYER,P,R,F\n0,0,0,0\n1,0.25,0.25,0.25\n", encoding="utf-8")
    assert main([*flags.replace("MODEL", model).replace("FILE", str(baseline)).split(), "--plot", str(path)]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["baseline"] == [0.25, 0.25, 0.25]
    assert data["signature"]["settings"]["layer"] == "1(given)"


def test_idf_weights_come_from_a_file(model: str, tmp_path: Path):
    scorer = BERTScorer(model, 1, idf_sents=["paris is", "london is", "it is"])
    scorer.save_idf(tmp_path / "idf.json")
    path = tmp_path / "a.json"
    flags = ["-m", model, "-l", "1", "--idf_path", str(tmp_path / "idf.json"), "--plot", str(path)]
    assert main(["-c", "paris is", "-r", "paris is", *flags]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["signature"]["settings"]["idf"] == scorer.signature.settings["idf"]
    assert len(set(data["candidate"]["weights"])) > 1


def test_a_cut_is_said(tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]):
    words = "Paris " * 200
    assert main(["-c", words, "-r", "Paris", "-m", model, "-l", "1", "--plot", str(tmp_path / "a.json")]) == 0
    assert printed(capsys)["cut"].startswith("candidate: ")


def test_mistakes_are_told_before_a_model_loads(folder: Path, refused: Refused):
    for given, message in [
        (["--plot", "a.gif"], "a name that ends with .png, .svg, .pdf, .json was expected"),
        (["--plot", "none/a.png"], "the folder .*none does not exist; make it first"),
        (["--plot", "."], "a name that ends with"),
        (["-r", " "], "the text of -r is empty"),
        (["-c", ""], "the text of -c is empty"),
        (["--idf_path", "none.json"], "the idf file none.json does not exist"),
    ]:
        with refused(match=message, error=BertJudgeError, given=given):
            main([*TEXTS, "-m", "no/such-model", "--plot", "a.json", *given])
        assert not list(folder.iterdir())
