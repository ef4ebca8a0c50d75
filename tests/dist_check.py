"""What users install: a wheel and a source distribution, each used in an empty environment and another folder.

    make dist-check

Both must hold the same files, and give the verdicts that this source gives on the examples.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
FOLDER = PROJECT / "build" / "dist-check"
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


def tried(distribution: Path) -> list[float]:
    """Install a distribution and use it; the scores of the starter on the examples."""
    environment, work = FOLDER / distribution.suffix[1:], FOLDER / f"work-{distribution.suffix[1:]}"
    ran(sys.executable, "-m", "venv", environment)
    constraints = ("--constraint", PROJECT / "constraints.txt")
    ran(environment / "bin/python", "-m", "pip", "install", "--quiet", *constraints, f"{distribution}[cpu]")
    work.mkdir()
    shutil.copy(PROJECT / "examples" / "answers.jsonl", work)
    for command in COMMANDS:
        ran(environment / "bin/bert-judge", *command.split(), folder=work)
    where = ran(environment / "bin/python", "-c", "import bert_judge; print(bert_judge.__file__)", folder=work)
    assert str(environment) in where, where
    return [float(score) for score in json.loads((work / "out/scores.json").read_text())]


def main() -> None:
    """Build, look inside, install, use, compare."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    ran(sys.executable, "-m", "build", "--outdir", FOLDER, PROJECT)
    (wheel,), (source,) = FOLDER.glob("*.whl"), FOLDER.glob("*.tar.gz")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("bert_judge/")}
    package = PROJECT / "src"
    tracked = ran("git", "ls-files", "src/bert_judge", folder=PROJECT).split()
    missing = {name.removeprefix("src/") for name in tracked} - inside
    assert not missing, f"the wheel lacks {sorted(missing)}"
    scores = [tried(distribution) for distribution in (wheel, source)]
    ran(sys.executable, "-m", "bert_judge", "score", PROJECT / "examples/answers.jsonl", "--output_dir", "here")
    here = json.loads((FOLDER / "here/scores.json").read_text())
    for name, found in zip(("wheel", "source distribution"), scores, strict=True):
        assert found == here, f"the {name} gives other scores than {package}"
    sizes = ", ".join(f"{each.name} {each.stat().st_size / 1e6:.1f} MB" for each in (wheel, source))
    print(f"{sizes}: installed and used; {len(here)} scores are those of the source.")


if __name__ == "__main__":
    main()
