"""The second distribution, `large/`, with a tiny judge packed into it as the trained one will be."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from bert_judge import BERTJudge, __version__
from bert_judge.encoder.models import find_model
from bert_judge.judges import Cascade
from conftest import MakeJudge

PROJECT = Path(__file__).parents[2]
RECIPE = PROJECT / "recipes" / "large" / "pack.py"


def test_a_packed_judge_is_large(make_judge: MakeJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((PROJECT / "large" / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert project["dependencies"] == [f"bert-judge>={__version__}"]
    assert (PROJECT / "large" / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()

    spec = importlib.util.spec_from_file_location("pack", RECIPE)
    assert spec and spec.loader
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    assert recipe.WEIGHTS.parent == PROJECT / "large" / "src" / "bert_judge_large"

    package = tmp_path / "bert_judge_large"
    package.mkdir()
    shutil.copy(recipe.WEIGHTS.parent / "__init__.py", package)
    judge = make_judge("mpnet", hidden_size=64, intermediate_size=128)
    for _ in range(2):  # the second time in place of the first
        recipe.pack(judge, package / "weights", 0.97, 0.02, "quizzes")
    points = project["entry-points"]["bert_judge.judges"]
    info = tmp_path / "bert_judge_large-0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.0\n")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[bert_judge.judges]", *lines]) + "\n")
    monkeypatch.delitem(sys.modules, "bert_judge_large", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert find_model("large") == package / "weights"
        rows = (["Where?", "Who?"], ["In Rome, I would say", "Ada"], ["Rome", "Grace"])
        packed, whole = (BERTJudge(name, dtype="float32").predict(*rows) for name in ("large", str(judge)))
        assert packed == pytest.approx(whole, abs=0.03)
        with pytest.warns(UserWarning, match="not certified on your data"):
            cascade = Cascade("starter-large")
        assert [stage.name for stage in cascade.plan.stages] == ["starter", "large"]
    finally:
        sys.modules.pop("bert_judge_large", None)
