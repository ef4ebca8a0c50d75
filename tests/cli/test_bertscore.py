"""The command bertscore, as users type it; its plots are in test_bertscore_plot.py."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import bert_score_cli.score
import pytest

from bert_judge import BERTScorer
from bert_judge.cli import main

CANDIDATES = ["A cat was sitting.", "London is big.", ""]
REFERENCES = ["The cat sat.", "Paris is big.", "x"]
OTHERS = ["There is a cat.", "London is large.", "x y"]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, lines in (("c.txt", CANDIDATES), ("r.txt", REFERENCES), ("r2.txt", OTHERS)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    status = main(line.split())
    out, err = capsys.readouterr()
    return status, out.splitlines(), err


def test_the_line_of_bert_score_and_the_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    scorer = BERTScorer(dtype="float32")
    expected = scorer.score(CANDIDATES, list(zip(REFERENCES, OTHERS, strict=True)))
    status, out, err = run("bertscore -r r.txt r2.txt -c c.txt -s --dtype float32", capsys)
    assert (status, err) == (0, "")
    means = [float(part.mean()) for part in expected]
    signature, *printed = re.split(r" (?:P|R|F1): ", out[0])
    assert signature == scorer.hash
    assert [float(text) for text in printed] == pytest.approx(means, abs=2e-6)
    assert out[1:] == ["\t".join(f"{float(part[i]):.6f}" for part in expected) for i in range(3)]


def test_the_hash_of_bert_score_with_compat(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run("bertscore -r r.txt -c c.txt --compat bert_score", capsys)
    assert re.fullmatch(
        r"starter_L3_no-idf_version=0\.3\.12\(hug_trans=[\d.]+\)_fast-tokenizer P: \S+ R: \S+ F1: \S+", out[0]
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "line",
    [
        "-r r.txt -c c.txt -m MODEL -l 2",
        "--ref r.txt r2.txt --cand c.txt --model MODEL --num_layers 3 --seg_level --batch_size 2 --nthreads 1",
        "-r r.txt -c c.txt -m MODEL -l 2 --lang en --rescale_with_baseline --baseline_path own.csv -s -b 1",
        "-r r.txt -c c.txt -m MODEL -l 2 --use_fast_tokenizer --idf -v -s",
        "-r London Paris -c Berlin -m MODEL -l 2 -s",
    ],
)
def test_the_line_of_bert_score_with_compat(
    line: str, starter_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its own command prints it for the same flags."""
    Path("own.csv").write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.1,0.1,0.1\n2,0.3,0.2,0.25\n", encoding="utf-8")
    words = line.replace("MODEL", str(starter_folder)).split()
    Path("c.txt").write_text("A cat was sitting.\nLondon is big.\nyes\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["bert-score", *words])
    bert_score_cli.score.main()
    theirs = [text for text in capsys.readouterr().out.splitlines() if "\t" in text or " P: " in text]
    assert main(["bertscore", *words, "--compat", "bert_score", "--runtime", "torch"]) == 0
    ours = capsys.readouterr().out.splitlines()
    number = re.compile(r"-?\d\.\d{6}")
    assert [number.sub("N", text) for text in ours] == [number.sub("N", text) for text in theirs]
    found, expected = ([float(x) for x in number.findall("\n".join(lines))] for lines in (ours, theirs))
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.filterwarnings("default")
def test_texts_in_place_of_files(capsys: pytest.CaptureFixture[str]) -> None:
    _, expected, _ = run("bertscore --texts -r Paris -c London", capsys)
    status, out, err = run("bertscore -r Paris -c London", capsys)
    assert (status, out) == (0, expected)
    assert err == "note: 'London' and 'Paris' are not files: compared as texts.\n"
    assert main(["bertscore", "-r", "x " * 9000, "-c", "x"]) == 0
    _, out, _ = run("bertscore --texts -r cat -c cat --dtype float32", capsys)
    assert out[-1].endswith("P: 1.000000 R: 1.000000 F1: 1.000000")


def test_idf_is_kept_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    _, counted, _ = run("bertscore -r r.txt -c c.txt --idf", capsys)
    _, written, _ = run("bertscore -r r.txt -c c.txt --idf_path idf.json", capsys)
    Path("r3.txt").write_text("Something else.\nParis is big.\nx\n", encoding="utf-8")
    _, first, _ = run("bertscore -r r3.txt -c c.txt --idf-path idf.json", capsys)
    _, other, _ = run("bertscore -r r3.txt -c c.txt --idf", capsys)
    assert counted == written
    assert json.loads(Path("idf.json").read_text())["documents"] == 3
    assert first[0].split(" P:")[0] == written[0].split(" P:")[0] != other[0].split(" P:")[0]


@pytest.mark.filterwarnings("default")
def test_a_long_text_is_said_to_be_cut(capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.txt").write_text("word " * 600 + "\nshort\nshort\n", encoding="utf-8")
    status, _, err = run("bertscore -r r.txt -c long.txt", capsys)
    assert status == 0
    assert err.startswith("note: 1 of 3 pairs hold a text of more than 512 tokens")


def test_bad_input_is_one_sentence(complaint: Callable[..., str], subtests: pytest.Subtests) -> None:
    Path("short.txt").write_text("one\n", encoding="utf-8")
    Path("empty.txt").write_text("", encoding="utf-8")
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00")
    for line, said in [
        ("bertscore -r nowhere.txt -c c.txt", "the file 'nowhere.txt' can't be read (No such file or directory)"),
        ("bertscore -r r.txt -c nowhere", "to compare two texts given here, add --texts"),
        ("bertscore -r r.txt -c short.txt", "r.txt has 3 lines, but short.txt has 1; one reference for each candidate"),
        ("bertscore -r empty.txt -c empty.txt", "there is nothing to score"),
        ("bertscore -r bytes.txt -c c.txt", "bytes.txt is not UTF-8 text"),
        ("bertscore -r r.txt -c c.txt --lang tlh", "no model for the language 'tlh'"),
        ("bertscore -r r.txt -c c.txt --lang en -m no/model", "the model 'no/model' was not found"),
        ("bertscore -r r.txt -c c.txt -l 9", "num_layers is 9, but starter has layers 0 (the embeddings) to 6"),
        (
            "bertscore -r r.txt -c c.txt --baseline_path r.txt",
            "r.txt is not a baseline file: its first line is 'The cat sat.'",
        ),
        ("bertscore -r r.txt -c c.txt --idf_path c.txt", "c.txt is not an idf file"),
        ("bertscore -r r.txt -c c.txt --max_tokens 600", "max_tokens is 600; a number from 4 to 512 was expected"),
    ]:
        with subtests.test(line=line, said=said):
            assert said in complaint(*line.split())


@pytest.mark.filterwarnings("default")
def test_mistyped_file_names_are_not_compared_as_texts(capsys: pytest.CaptureFixture[str]) -> None:
    for names in ("-r refs.txt -c cands.txt", "-r ./refs -c ../cands", "-r data/refs.jsonl -c data/cands.jsonl"):
        assert main(["bertscore", *names.split()]) == 1
        assert "look like files, and none of them is there" in capsys.readouterr().err
    status, out, _ = run("bertscore -r refs.txt -c cands.txt --texts", capsys)
    assert status == 0
    assert len(out) == 1
    assert run("bertscore -r km/h -c m/s", capsys)[0] == 0


@pytest.mark.filterwarnings("default")
def test_texts_that_the_model_does_not_know_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run("bertscore -r 😂 -c 😢", capsys)
    assert "the model knows no token of 1 of 1 pairs" in err
    _, _, err = run("bertscore -r 😂 -c sad", capsys)
    assert "knows no token" not in err
