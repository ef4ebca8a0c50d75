"""How judges are chosen and measured: the audit in halves, what a row costs, families left out."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

RECIPE = Path(__file__).parents[2] / "recipes" / "starter"
sys.path.insert(0, str(RECIPE))

import ablate  # noqa: E402
import halves  # noqa: E402
import measure  # noqa: E402

from bert_judge import BERTJudge, Sample  # noqa: E402
from bert_judge.encoder.models import STARTER, STARTER_FOLDER, read_config  # noqa: E402
from bert_judge.errors import OutputError  # noqa: E402
from bert_judge.judges import RegexJudge  # noqa: E402
from bert_judge.studies.audit import FAMILIES, PLAIN, load_items  # noqa: E402
from conftest import MakeJudge  # noqa: E402

CHOOSE, FINAL = (halves.trials_of(half) for half in halves.HALVES)


def test_the_halves_of_the_audit_have_nothing_in_common() -> None:
    assert not {trial.sample.id for trial in CHOOSE} & {trial.sample.id for trial in FINAL}
    assert {trial.sample.id for trial in (*CHOOSE, *FINAL)} == {item.id for item in load_items()}
    wordings: list[dict[str, set[str]]] = [{}, {}]
    for half, trials in zip(wordings, (CHOOSE, FINAL), strict=True):
        for trial in trials:
            half.setdefault(trial.family, set()).add(halves.wording_key(trial.pattern))
    for name in ("negated", "several answers", "vague", "refusal", "concludes otherwise", "polite frame"):
        ours, theirs = (half[name] for half in wordings)
        assert not [key for key in ours & theirs if re.search("[a-z]", key)], name


def test_each_half_has_enough_trials_of_every_family() -> None:
    for trials in (CHOOSE, FINAL):
        counts = Counter(trial.family for trial in trials)
        assert counts.keys() == {PLAIN, *FAMILIES}
        assert min(counts.values()) >= 60  # so that a limit of 3 % can be met with an accepted one
        assert len(set(trials)) == len(trials)


def test_no_question_or_wording_moves_when_others_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "load_items", lambda: load_items()[::2])
    for half, whole in zip(halves.HALVES, (CHOOSE, FINAL), strict=True):
        fewer = halves.trials_of(half)
        assert 0 < len(fewer) < len(whole)
        drawn = [trial for trial in fewer if "long text" not in trial.family]  # of which only some questions are tried
        assert {*drawn} <= {*whole}


def test_the_arithmetic_of_a_row_is_that_of_the_layers() -> None:
    row = Sample("It is Lima.", ("Lima",), "What is the capital of Peru?", gold=1)
    config = read_config(STARTER_FOLDER)
    width, inner, layers = (config[name] for name in ("hidden_size", "intermediate_size", "num_hidden_layers"))
    cost = measure.measure_cost(STARTER, [row])
    tokens = int(float(cost.split()[0]))
    attention = 2 * 3 * tokens * width**2 + 2 * 2 * tokens**2 * width  # keys, queries, values; weights and their use
    after = 2 * width**2 + 2 * 2 * width * inner  # of a token, which in the last layer is the first one alone
    head = 2 * width**2 + 2 * 2 * width
    flop = layers * attention + ((layers - 1) * tokens + 1) * after + head
    size = (STARTER_FOLDER / "model.safetensors").stat().st_size
    assert cost == f"{tokens}.0 tokens and {flop / 1e9:.3f} GFLOP a row (1 rows); {size / 1e6:.1f} MB."


def labelled(count: int) -> list[Sample]:
    sources = ("mmlu_pro", "evouna_nq", "made:denied plainly")
    return [
        Sample(
            f"It is {n if n % 2 else n + 1}.", (f"{n}",), f"What is number {n}?", gold=n % 2, meta={"source": source}
        )
        for n in range(count)
        for source in sources
    ]


def test_a_training_is_kept_and_measured_on_families_that_it_left_out(
    make_judge: MakeJudge, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, base = labelled(60), str(make_judge("bert", type_vocab_size=3, max_position_embeddings=256))
    groups = ablate.by_family(rows, 50)
    assert {name: len(group) for name, group in groups.items()} == {"options": 50, "open-domain": 50, "denials": 50}
    for name in ("all", "without:options,denials"):
        record = ablate.run(name, rows, 60, tmp_path, base)
        weights = tmp_path / name / "model.safetensors"
        written = weights.stat().st_mtime_ns
        again = ablate.run(name, rows, 60, tmp_path, base)  # nothing is left to do
        assert weights.stat().st_mtime_ns == written
        assert record["minutes"] < again["minutes"] < 2 * record["minutes"]
        used = json.loads((tmp_path / name / "metrics.json").read_text())["data"]["by_task"]
        assert used.keys() == ({"evouna_nq"} if "without" in name else {row.meta["source"] for row in rows})
    with pytest.raises(OutputError, match="holds another training"):
        ablate.run("all", rows, 50, tmp_path, base)
    assert BERTJudge(str(tmp_path / "all")).predict(["Who?"], [""], ["Ann"]) == [0.0]
    seen, unseen = RegexJudge(pattern="(.*)", metric="containment"), RegexJudge(pattern="(.*)", metric="EM")
    for name, judge in (("all", seen), ("without:options,denials", unseen)):
        figures = ablate.measure(judge, groups)
        assert figures["labelled"]["rows"] == 100
        rule = "containment" if judge is seen else "exact match"
        for family in figures["families"].values():
            assert family["accuracy"] == family["rules"][rule]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | figures))
    (tmp_path / "unfinished.json").write_text(json.dumps({"without": ["options"], "rows": 60, "minutes": 1.0}))
    monkeypatch.setattr(sys, "argv", ["ablate.py", "--work", str(tmp_path), "--against", str(tmp_path)])
    ablate.main()
    parts, families = capsys.readouterr().out.strip().split("\n\n")
    assert [line.split(" | ")[:2] for line in parts.splitlines()[2:]] == [
        ["| all", "60"],
        ["| without:options,denials", "51"],
    ]
    heads, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in families.splitlines())
    assert [line[0] for line in lines] == ["options", "denials"]
    for line in lines:
        row = dict(zip(heads, line, strict=True))
        assert row["which"] == "containment"
        assert row["best rule"] == row["containment"]
        assert float(row["drop"]) == -float(row["over the best rule"]) > 20
        assert row["drop closed"] == f"0% of {row['drop']}"
    assert lines[1][heads.index("its attacks, accepted")].startswith("negated ")
