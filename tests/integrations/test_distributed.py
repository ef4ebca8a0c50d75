"""The same judge on a Ray cluster on this machine: the same bytes, also where an actor is killed."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert_judge.cli.judging import JUDGE_FAILED
from bert_judge.errors import InputError, MissingExtraError, ModelError, OutputError
from bert_judge.inputs import open_source
from bert_judge.integrations.distributed import LOSSES, RayJudge, _sendable
from bert_judge.judges.cascade import CascadePlan, Certificate, Stage
from bert_judge.judges.naming import JudgeSpec
from bert_judge.results import read_verdicts
from bert_judge.studies.score import open_result, score_source
from conftest import Command, one_sentence
from json_lines import EXAMPLES, read_rows, write_rows
from waiting import wait_until

pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """One cluster for all tests of this module; the first command starts it."""
    import ray

    yield
    ray.shutdown()


@pytest.fixture
def answers(folder: Path) -> Path:
    """The examples, four times, with ids of their own."""
    rows = [{**row, "id": f"{n}-{row['id']}"} for n in range(4) for row in read_rows(EXAMPLES)]
    return Path(write_rows(folder / "rows.jsonl", rows))


def parts_of(folder: Path) -> dict[str, bytes]:
    return {part.name: part.read_bytes() for part in (folder / "verdicts").glob("*.parquet")}


def signature(folder: Path) -> object:
    return json.loads((folder / "run.json").read_text())["identity"]["signature"]


def test_parts_signature_and_table_are_those_of_one_machine(command: Command, answers: Path, folder: Path) -> None:
    common = ("score", answers, "--part_rows", 20, "--no_report", "--limit", 100)
    status, out, _ = command(*common, "--engine", "ray", "--actors", "1", "--output_dir", "far", "--explain", 2)
    assert status == 0
    _, here, _ = command(*common, "--output_format", "parquet", "--output_dir", "here", "--explain", 2)
    assert out == here.replace("here", "far")
    assert len(parts_of(folder / "far")) == 5
    assert parts_of(folder / "far") == parts_of(folder / "here")
    assert signature(folder / "far") == signature(folder / "here")
    assert (folder / "far/explanations.jsonl").read_bytes() == (folder / "here/explanations.jsonl").read_bytes()
    assert command("doctor", "far", "--input", answers)[0] == 0


def test_judges_that_depend_on_the_whole_input(command: Command, answers: Path, folder: Path) -> None:
    (folder / "own.py").write_text(
        "from bert_judge.judges import Judge\n"
        "from bert_judge.records import JudgeInfo, Verdict\n"
        "class Share(Judge):\n"
        "    info = JudgeInfo('share', 'Share')\n"
        "    longest = 1\n"
        "    def fitted(self, samples):\n"
        "        new = Share()\n"
        "        new.longest = max(len(sample.candidate) for sample in samples)\n"
        "        new.info = JudgeInfo('share', f'Share {new.longest}')\n"
        "        return new\n"
        "    def assess(self, samples):\n"
        "        for sample in samples:\n"
        "            yield Verdict(len(sample.candidate) / self.longest)\n"
    )
    common = ("score", answers, "--part_rows", 100, "--no_report", "--judge", "own:Share,containment", "--quiet")
    assert command(*common, "--engine", "ray", "--actors", "2", "--output_dir", "far")[0] == 0
    assert command(*common, "--output_format", "parquet", "--output_dir", "here")[0] == 0
    for name in ("Share", "containment"):
        assert parts_of(folder / "far" / name) == parts_of(folder / "here" / name)
        assert signature(folder / "far" / name) == signature(folder / "here" / name)


def test_the_stages_of_a_cascade_are_those_of_one_machine(command: Command, answers: Path, folder: Path) -> None:
    names = ("containment", "token_f1")
    stages = []
    for name, high in zip(names, (Certificate(1.0, 100, 99, 0.95), None), strict=True):
        spec = JudgeSpec.of(name)
        settings = {"judge_type": "RegexJudge", **spec.settings}
        stages.append(Stage(name, settings, spec.make().info.signature, high))
    CascadePlan(tuple(stages), 0.95, 0.1).save(folder / "cascade.json")
    common = ("score", answers.name, "--part_rows", 100, "--no_report", "--judge_type", "Cascade", "--model_path")
    status, far, error = command(*common, "cascade.json", "--engine", "ray", "--actors", "2", "--output_dir", "far")
    assert status == 0, error
    _, here, _ = command(*common, "cascade.json", "--output_format", "parquet", "--output_dir", "here")
    tables = [[row.split()[:4] for row in out.splitlines() if row.startswith(names)] for out in (far, here)]
    assert tables[0] == tables[1]
    counts = [row[1] for row in tables[0]]
    assert counts[0] == "392"
    for name in ("far", "here"):
        used = json.loads((folder / name / "run.json").read_text())["costs"]["stages"]
        assert [str(stage["rows"]) for stage in used] == counts
        assert all(stage["seconds"] > 0 for stage in used)


def test_an_input_that_a_machine_lacks_is_named(answers: Path, folder: Path) -> None:
    source = open_source(answers, part_rows=100)
    judge, result = open_result(source, RayJudge(JudgeSpec.of("containment"), 1), folder / "out", {"part_rows": 100})
    answers.unlink()
    with pytest.raises(InputError, match=r"on a machine of the cluster: .*rows\.jsonl cannot be read \(No such file"):
        list(score_source(source, judge, result))


@pytest.mark.filterwarnings("default")  # a command makes notes of them
def test_errors_and_warnings_of_a_judge_are_said(command: Command, answers: Path, folder: Path) -> None:
    (folder / "bad.py").write_text(
        "import warnings\n"
        "from bert_judge.errors import InputError\n"
        "from bert_judge.judges import Judge\n"
        "from bert_judge.records import JudgeInfo, Verdict\n"
        "class Bad(Judge):\n"
        "    info = JudgeInfo('bad', 'bad')\n"
        "    def assess(self, samples):\n"
        "        warnings.warn('this judge guesses')\n"
        "        for sample in samples:\n"
        "            if sample.id.startswith('2'):\n"
        "                raise InputError(f'row {sample.id} is too hard; give an easier one.')\n"
        "            yield Verdict(1.0, 1)\n"
    )
    common = ("score", answers, "--judge", "bad:Bad", "--engine", "ray", "--part_rows", 98, "--output_dir", "out")
    status, _, error = command(*common, "--actors", "1")
    assert status == 1
    assert error.endswith("bert-judge score: row 2-short_facts-1 is too hard; give an easier one.\n")
    assert error.count("this judge guesses") == 1
    assert "Traceback" not in error
    kept = (folder / "out/verdicts.partial/_parts.jsonl").read_text().splitlines()
    assert 1 <= len(kept) <= 3  # of four parts, the third of which is bad
    status, _, error = command(*common, "--actors", "0", "--limit", 97, "--overwrite")
    assert (status, "actors is 0" in one_sentence(error)) == (1, True)


KILLER = """
import os, time
from pathlib import Path
from bert_judge.judges import RegexJudge
class Killer(RegexJudge):
    def __init__(self) -> None:
        super().__init__(pattern='none', metric='containment')
    def assess(self, samples):
        for sample in samples:
            if sample.id == '1-short_facts-3' and not Path('{folder}/mended').exists():
                with open('{folder}/losses', 'a') as file:
                    file.write('x')
                os._exit(1)
            with open('{folder}/judged', 'a') as file:
                file.write(f'{{sample.id}}\\n')
            time.sleep(0.01)
            yield from super().assess([sample])
"""


@pytest.mark.filterwarnings("default")  # a command makes notes of them
def test_a_row_that_kills_its_process_costs_its_part_alone(command: Command, answers: Path, folder: Path) -> None:
    (folder / "killer.py").write_text(KILLER.format(folder=folder))
    common = ("score", answers, "--judge", "killer:Killer", "--part_rows", 49, "--no_report", "--output_dir")
    cluster = ("far", "--engine", "ray", "--actors", "2")
    status, out, error = command(*common, *cluster)
    assert status == JUDGE_FAILED
    assert (folder / "losses").read_text() == "x" * LOSSES
    assert "undecided   49, 49 as the judge failed" in out
    lost = "the process that judged part 2 was lost 3 times (killed, or out of memory)"
    records = list(read_verdicts(folder / "far"))
    ids = f"{records[98]['id']} to {records[146]['id']}"
    assert f"note: {lost}; its 49 rows ({ids}) have no verdict." in error
    assert f"the judge failed on 49 rows of far with '{lost}; rows {ids}.'; fix this and run" in error
    assert "Traceback" not in error
    assert [at for at, record in enumerate(records) if record.get("failed")] == [*range(98, 147)]

    (folder / "mended").touch()
    (folder / "judged").unlink()
    assert command(*common, *cluster)[0] == 0
    assert (folder / "judged").read_text().split() == [record["id"] for record in records[98:147]]
    assert command(*common, "here", "--output_format", "parquet")[0] == 0
    assert parts_of(folder / "far") == parts_of(folder / "here")
    assert command("doctor", "far", "--input", answers)[0] == 0


def test_a_judge_that_no_process_can_start_ends_the_run(command: Command, answers: Path, folder: Path) -> None:
    (folder / "starts.py").write_text(
        "import os\n"
        "from bert_judge.judges import RegexJudge\n"
        "class Starts(RegexJudge):\n"
        "    def __init__(self) -> None:\n"
        "        super().__init__(pattern='none', metric='containment')\n"
        f"        with open('{folder}/starts', 'a') as file:\n"
        "            file.write('x')\n"
        f"        if os.path.getsize('{folder}/starts') > 1:\n"  # not where it is only described
        "            os._exit(1)\n"
    )
    common = ("score", answers, "--judge", "starts:Starts", "--engine", "ray", "--actors", "1", "--output_dir", "out")
    status, _, error = command(*common, "--quiet")
    assert status == 1
    assert error.endswith("each process that starts a judge there is lost; see whether it has enough memory.\n")
    assert len((folder / "starts").read_text()) < 10


def test_a_killed_command_goes_on(command: Command, answers: Path, folder: Path) -> None:
    (folder / "killer.py").write_text(KILLER.format(folder=folder).replace("sleep(0.01)", "sleep(0.02)"))
    (folder / "mended").touch()
    far, begun = folder / "far", folder / "far" / "verdicts.partial"
    flags = ["--judge", "killer:Killer", "--part_rows", "20", "--no_report"]
    cluster = ["--engine", "ray", "--actors", "2", "--output_dir", "far"]
    words = [sys.executable, "-m", "bert_judge", "score", str(answers), *flags, *cluster, "--quiet"]
    listed = begun / "_parts.jsonl"
    with subprocess.Popen(words) as run:
        wait_until(lambda: run.poll() is not None or (listed.exists() and listed.read_text().count("\n") > 3), "parts")
        run.kill()
    kept = {json.loads(line)["number"]: json.loads(line)["sha256"] for line in listed.read_text().splitlines()}
    assert 3 < len(kept) < 20
    before = {path.name: path.stat().st_mtime_ns for path in begun.glob("*.parquet")}
    status, out, error = command("score", answers, *flags, *cluster)
    assert status == 0
    assert "of 392 rows already; going on." in error
    assert out.rstrip().endswith("files  far/: verdicts/, scores.json, run.json")
    for number, digest in kept.items():
        name = f"part-{number:05d}.parquet"
        assert (far / "verdicts" / name).stat().st_mtime_ns == before[name]
        assert hashlib.sha256((far / "verdicts" / name).read_bytes()).hexdigest() == digest
    assert command("score", answers, *flags, "--output_format", "parquet", "--output_dir", "here")[0] == 0
    assert parts_of(far) == parts_of(folder / "here")
    assert {path.name for path in far.glob("verdicts/*")} == {*parts_of(far), "_parts.jsonl"}
    assert {path.name for path in far.iterdir()} == {"verdicts", "run.json", "scores.json"}
    assert command("doctor", far, "--input", answers)[0] == 0


def test_every_error_of_ours_survives_the_way_from_an_actor() -> None:
    errors = [InputError("too long"), MissingExtraError("x", "math-verify", "math"), OutputError("disk full")]
    for error, kind in zip(errors, (InputError, ModelError, OutputError), strict=True):
        sent = pickle.loads(pickle.dumps(_sendable(error)))
        assert (type(sent), str(sent)) == (kind, str(error))


def test_a_cluster_that_is_not_there_is_said(answers: Path) -> None:
    """In a process of its own, as this one has a cluster."""
    words = [sys.executable, "-m", "bert_judge", "score", str(answers), "--judge", "containment", "--engine", "ray"]
    done = subprocess.run([*words, "--ray_address", "127.0.0.1:1"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "there is no Ray cluster at 127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr
