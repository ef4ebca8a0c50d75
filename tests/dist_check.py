"""What users install: a wheel and a source distribution of each package, used in an empty environment and other folder.

    make dist-check

Both must hold the same files, and give the verdicts that this source gives on the examples. bert-judge-large is
installed beside bert-judge; where it has its weights, it judges, too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).parents[1]
FOLDER = PROJECT / "build" / "dist-check"
LARGE = PROJECT / "large"
MOST = 115_000_000  # bytes of a wheel
COMMANDS = (
    "--version",
    "doctor",
    "score answers.jsonl --output_dir out",
    "score answers.jsonl --judge containment --output_format parquet --output_dir parts",
    "score answers.jsonl --judge BERTScore --output_dir bertscore",
    "compare out parts",
    "audit --items 5 --output_dir audited",
    "doctor out parts bertscore",
)


def ran(*words: str | Path, folder: Path = FOLDER) -> str:
    """What a command prints. Ends everything, with what it said, where it fails."""
    print("$", *words, flush=True)
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}\nstatus {done.returncode}")
    return done.stdout


def tried(distribution: Path, large: Path, judges: Sequence[str]) -> dict[str, list[float]]:
    """Install the two distributions and use them; the scores of these judges on the examples."""
    environment, work = FOLDER / distribution.suffix[1:], FOLDER / f"work-{distribution.suffix[1:]}"
    ran(sys.executable, "-m", "venv", environment)
    constraints = ("--constraint", PROJECT / "constraints.txt")
    ran(environment / "bin/python", "-m", "pip", "install", "--quiet", *constraints, f"{distribution}[cpu]")
    ran(environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", large)
    work.mkdir()
    shutil.copy(PROJECT / "examples" / "answers.jsonl", work)
    for command in COMMANDS:
        ran(environment / "bin/bert-judge", *command.split(), folder=work)
    where = ran(environment / "bin/python", "-c", "import bert_judge; print(bert_judge.__file__)", folder=work)
    assert str(environment) in where, where
    assert f"bert-judge-large {version(large)}" in ran(environment / "bin/bert-judge", "doctor", folder=work)
    return {judge: scored(judge, environment / "bin/bert-judge", folder=work) for judge in judges}


def scored(judge: str, *command: str | Path, folder: Path = FOLDER) -> list[float]:
    """The scores of a judge on the examples."""
    answers = PROJECT / "examples" / "answers.jsonl"
    ran(*command, "score", answers, "--judge", judge, "--output_dir", f"by-{judge}", folder=folder)
    return [float(score) for score in json.loads((folder / f"by-{judge}" / "scores.json").read_text())]


def version(distribution: Path) -> str:
    """The version in a file's name."""
    return distribution.name.removesuffix(".tar.gz").split("-")[1]


def main() -> None:
    """Build, look inside, install, use, compare."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for project in (PROJECT, LARGE):
        ran(sys.executable, "-m", "build", "--outdir", FOLDER, project)
    dists = {
        suffix: sorted(FOLDER.glob(f"*{suffix}"), key=lambda path: len(path.name)) for suffix in (".whl", ".tar.gz")
    }
    for (main_file, large_file), project in zip(dists.values(), ("the wheel", "the source distribution"), strict=True):
        assert max(main_file.stat().st_size, large_file.stat().st_size) <= MOST, f"{project} is over {MOST:,} bytes"
    wheels = dists[".whl"]
    inside = {name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()}
    tracked = ran("git", "ls-files", "src/bert_judge", "large/src", folder=PROJECT).split()
    missing = {name.partition("src/")[2] for name in tracked} - inside
    assert not missing, f"the wheels lack {sorted(missing)}"
    weights = LARGE / "src" / "bert_judge_large" / "weights"
    files = {"large": "config.json", "starter-large": "cascade.json"}
    judges = ["starter", *(name for name, file in files.items() if (weights / file).exists())]
    here = {judge: scored(judge, sys.executable, "-m", "bert_judge") for judge in judges}
    for name, (main_file, large_file) in dists.items():
        assert tried(main_file, large_file, judges) == here, f"what {name} installs gives other scores than the source"
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for paths in dists.values() for path in paths)
    without = "" if weights.exists() else " bert-judge-large has no weights yet."
    print(f"{sizes}: installed and used; the scores of {', '.join(judges)} are those of the source.{without}")


if __name__ == "__main__":
    main()
