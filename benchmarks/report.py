"""How quick a report is made, how large it is, and how quick it answers in a browser.

`python benchmarks/report.py --rows 100000 [--data FOLDER] [--judges 2]` writes results with made-up verdicts on the
labelled answers of a folder (`*.jsonl.gz` or `*.jsonl` with question, references, candidate and label; default: the
examples of the project, over and over, with a number in each), makes their report, and opens it in headless Chromium,
where there is one (`BERT_JUDGE_CHROMIUM` names another).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bert_judge.records import Row, Sample, Signature, Verdict
from bert_judge.report import find_runs, write_report
from bert_judge.results import Identity, ResultFolder

EXAMPLES = Path(__file__).parents[1] / "examples" / "answers.jsonl"
FILTERS = {
    "a verdict": "part('f-verdict').value='1'",
    "a score": "part('f-low').value='0.8'",
    "a word": "part('filters').reset();part('search').value='the'",
    "a rare word": "part('search').value='photosynthesis'",
    "a phrase": "part('search').value='\"New York City\"'",
    "a sort": "part('search').value='';state.sort='0'",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--judges", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder of labelled answers")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name), list(islice(read(args.data), args.rows))
        for number in range(args.judges):
            write_result(folder / f"judge-{number}", rows, random.Random(number))
        wall, cpu = time.time(), time.process_time()
        write_report(find_runs([folder]), folder / "report.html")
        wall, cpu = time.time() - wall, time.process_time() - cpu
        size = (folder / "report.html").stat().st_size / 1e6
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{len(rows):,} rows, {args.judges} judge(s): {wall:.1f} s ({cpu:.1f} s of processor time), {size:.1f} MB"
        )
        print(f"memory at most {memory:.0f} MiB")
        browse(folder / "report.html")


def read(folder: Path | None) -> Iterator[dict[str, Any]]:
    """Labelled rows without end, in a random order that is always the same."""
    paths = sorted(folder.glob("*.jsonl*")) if folder else [EXAMPLES]
    rows = []
    for path in paths:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    random.Random(0).shuffle(rows)
    for turn, row in enumerate(cycle(rows)):
        again = f" ({turn // len(rows)})" if turn >= len(rows) else ""
        yield {**row, "candidate": row["candidate"] + again}


def write_result(folder: Path, rows: list[dict[str, Any]], chance: random.Random) -> None:
    """A result that is right most of the time."""
    result = ResultFolder(folder, Identity(Signature.make("BERTJudge", model=folder.name), "0" * 64, {}))
    with result.writing():
        for _ in result.write(0, range(len(rows)), records(rows, chance)):
            pass
        run = {"input": {"path": "answers.jsonl", "format": "jsonl", "columns": {}}, "command": ["bert-judge", "score"]}
        result.finish({**run, "timings": {"started": "", "seconds": 1.0, "rows": len(rows)}, "versions": {}})


def records(rows: list[dict[str, Any]], chance: random.Random) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows):
        meta = {name: row[name] for name in ("source", "task", "model") if isinstance(row.get(name), str)}
        references = tuple(row.get("references") or [row["reference"]])
        gold = row["label"] if row["label"] in (0, 1) else None
        sample = Sample(row["candidate"], references, row.get("question"), f"row-{number}", gold, meta)
        score = chance.betavariate(4, 1.2) if gold == (chance.random() < 0.9) else chance.betavariate(1, 4)
        verdict = Verdict(score, int(score >= 0.5), matched_reference=0, details={"logit": score})
        yield Row.of(sample, verdict).record()


def browse(page: Path) -> None:
    """Seconds until rows are there, until all are read, and of filters after that."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("BERT_JUDGE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium: name one with BERT_JUDGE_CHROMIUM")
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = chromium.new_page()
        start = time.time()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_selector("#table tbody tr")
        print(f"first rows after {time.time() - start:.1f} s", end="")
        tab.wait_for_selector("html[data-read=all]", timeout=120_000)
        print(f", all of them after {time.time() - start:.1f} s")
        for name, change in FILTERS.items():
            script = f"async()=>{{const t=performance.now();{change};await apply();return performance.now()-t}}"
            print(f"{name:12} {tab.evaluate(script):5.0f} ms, {tab.text_content('#count')}")
        chromium.close()


if __name__ == "__main__":
    main()
