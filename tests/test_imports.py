"""The import ladder of the design, what stays unimported until it is needed, and what packages say they offer."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bert_judge

ROOT = Path(bert_judge.__file__).parent
LADDER = [
    "errors",
    "wording measures",
    "records",
    "paths metrics",
    "encoder",
    "reading",
    "results",
    "inputs",
    "generators bertscore tasks",
    "training",
    "judges",
    "pipeline studies",
    "report",
    "integrations server compat",
    "cli",
    "__main__ utils",
]
LEVELS = {name: level for level, names in enumerate(LADDER) for name in names.split()}
HEAVY = (
    *("torch", "transformers", "numpy", "datasets", "pyarrow", "tokenizers", "scipy", "sklearn"),
    *("openai", "vllm", "matplotlib", "jinja2", "fastapi", "uvicorn", "httpx2", "prometheus_client", "ray"),
)
COMMANDS = "try score serve bertscore evaluate audit compare report label export correct cascade generate tasks"


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem != "__init__")


def part(path: Path) -> str:
    """The package or module of the ladder that a file belongs to."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported_parts(tree: ast.AST, package: str) -> Iterator[tuple[str, int]]:
    """Every part of bert_judge that is imported anywhere but under `if TYPE_CHECKING`, with its line."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from imported_parts(ast.Module([other], []), package)
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                module = ".".join([*base, *([module] if module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "bert_judge" else [module]
        for name in names:
            first, *rest = name.split(".")
            if first == "bert_judge" and rest:
                yield rest[0], node.lineno
        yield from imported_parts(node, package)


def violations(path: Path, text: str) -> list[str]:
    """What a module imports against the ladder, in words."""
    ours = part(path)
    package = ".".join(["bert_judge", *path.relative_to(ROOT).parent.parts])
    where = path.relative_to(ROOT)
    if ours not in LEVELS:
        return [f"{where}: {ours!r} has no place in the ladder; put it into LADDER of this test and into the design"]
    problems = []
    for other, line in imported_parts(ast.parse(text), package):
        if other == ours:
            continue
        if other not in LEVELS:
            problems.append(f"{where}:{line} imports {other!r}, which has no place in the ladder")
        elif LEVELS[other] >= LEVELS[ours]:
            direction = "sideways" if LEVELS[other] == LEVELS[ours] else "up"
            problems.append(
                f"{where}:{line} imports {direction}: {ours} (level {LEVELS[ours]}) may not use {other} "
                f"(level {LEVELS[other]})"
            )
    return problems


def test_imports_go_down_only():
    problems = [line for path in modules() for line in violations(path, path.read_text(encoding="utf-8"))]
    assert not problems, "\n".join(problems)


def test_a_wrong_import_is_seen_and_a_right_one_is_not(subtests: pytest.Subtests):
    cases = {
        "from bert_judge.judges import Judge": "imports up: measures (level 1) may not use judges",
        "def f():\n    import bert_judge.cli": "measures.py:2 imports up",
        "from bert_judge.wording import percent": "imports sideways",
        "from . import pipeline": "imports up",
        "if TYPE_CHECKING:\n    pass\nelse:\n    from bert_judge.cli import main": "imports up",
    }
    for text, complaint in cases.items():
        with subtests.test(text=text, wrong=complaint):
            assert complaint in violations(ROOT / "measures.py", text)[0]
    for text in ["from ..cli import main", "from bert_judge import pipeline"]:
        with subtests.test(text=text):
            assert "imports up" in violations(ROOT / "judges" / "new.py", text)[0]
    assert "no place in the ladder" in violations(ROOT / "new.py", "")[0]
    assert not violations(ROOT / "judges" / "new.py", "from bert_judge.judges.base import Judge")
    assert not violations(ROOT / "reading.py", "from bert_judge.metrics import normalise")
    assert not violations(ROOT / "measures.py", "if TYPE_CHECKING:\n    from bert_judge.cli import main")


def test_every_name_of_all_exists():
    names = [".".join(["bert_judge", *path.relative_to(ROOT).parent.parts]) for path in ROOT.rglob("__init__.py")]
    for name in names:
        module = importlib.import_module(name)
        missing = [attribute for attribute in getattr(module, "__all__", ()) if not hasattr(module, attribute)]
        assert not missing, f"{name}.__all__ names {', '.join(missing)}, which is not there"


@pytest.mark.parametrize(
    "code",
    [
        "import bert_judge",
        "import bert_judge.metrics, bert_judge.measures, bert_judge.judges, bert_judge.inputs",
        "import bert_judge.pipeline, bert_judge.studies.score",
        "import bert_judge.utils",
        "from bert_judge.cli import main; main(['--help'])",
        *(f"from bert_judge.cli import main; main([{name!r}, '--help'])" for name in COMMANDS.split()),
        "from bert_judge.cli import main; main(['judge', '--help', '--judge_type', 'BERTJudge,LLMJudge'])",
        "from bert_judge.tasks import discover; discover()",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str):
    code += f"; import sys; print('heavy:', [name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_the_package_lists_what_it_offers() -> None:
    import bert_judge.wording

    listed = dir(bert_judge)
    assert {name for name in listed if not name.startswith("__")} == {*bert_judge.__all__} - {"__version__"}
    assert {"BERTJudge", "bert_score", "rewards", "__version__", "__doc__"} <= {*listed}
    assert len(listed) == len({*listed})
    assert all(hasattr(bert_judge, name) for name in listed)
    with pytest.raises(AttributeError, match="no attribute 'Bert'"):
        _ = bert_judge.Bert
