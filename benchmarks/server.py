"""`bert-judge serve` on loopback beside the library and beside plain endpoints: `python benchmarks/server.py`.

For 1, 8 and 64 clients, each of which sends one row at a time, prints rows/s and the latency (p50, p95, p99) of

- (a) the library: one call of `predict` in one process over the same rows
- `bert-judge serve`
- (b) a plain FastAPI endpoint that calls `predict` for each request
- (c) a plain FastAPI endpoint that calls transformers for each request, in bfloat16 where the processor has it

The clients are a process of their own. Their processor time is printed apart, as it comes off the same cores; *without
clients* is the throughput as if it did not. No row is sent twice, since a judge remembers what it has read.

With `--storm 10000`, sends so many requests at once instead, of which some are given up after a random time, and counts
what was lost or mixed up; with `--overload`, how long a refusal takes while the queue is full.

`--data` takes any file that `bert-judge score` reads; without it, rows are made from the project's examples.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from judge import native_dtype
from parts import EXAMPLES, distinct_rows, processor
from pydantic import BaseModel

from bert_judge import BERTJudge, Sample

SERVERS = {
    "bert-judge serve": [sys.executable, "-m", "bert_judge", "serve", "--port", "0", "--quiet"],
    "(b) predict a request": [sys.executable, __file__, "--endpoint", "predict"],
    "(c) transformers a request": [sys.executable, __file__, "--endpoint", "transformers"],
}


class Body(BaseModel):
    """What the plain endpoints take."""

    question: str
    references: list[str]
    candidate: str


@dataclass
class Load:
    """What clients have seen: seconds of each request, scores by row, and the time of it all."""

    seconds: list[float] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    wall: float = 0.0
    processor: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=str(EXAMPLES), help="a file of answers")
    parser.add_argument("--rows", type=int, default=1000, help="rows for each number of clients (default: 1000)")
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 64])
    parser.add_argument("--storm", type=int, default=0, help="send so many requests at once, some of them given up")
    parser.add_argument("--overload", action="store_true", help="measure how long a 429 takes")
    parser.add_argument("--endpoint", choices=["predict", "transformers"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.endpoint:
        run_endpoint(args.endpoint)
        return
    print(f"machine: {os.cpu_count()} cores, {processor()}")
    if args.storm:
        storm(distinct_rows(args.data, args.storm))
    elif args.overload:
        overload(distinct_rows(args.data, 4000))
    else:
        compare(args.data, args.rows, args.clients)


def compare(data: str, rows: int, clients: Sequence[int]) -> None:
    samples = distinct_rows(data, rows * len(clients) + 64)
    warm, parts = samples[:64], [samples[64 + n * rows : 64 + (n + 1) * rows] for n in range(len(clients))]
    scores, seconds = in_process(warm, parts)
    for number, part, expected, elapsed in zip(clients, parts, scores, seconds, strict=True):
        print(f"\n{number} clients, {rows} rows\n{'':28}{'rows/s':>8}{'of (a)':>8}{'without clients':>17}", end="")
        print(f"{'p50':>8}{'p95':>8}{'p99':>8} ms   drift")
        print(f"{'(a) library':28}{rows / elapsed:8.0f}{1:8.0%}")
        for name, command in SERVERS.items():
            with running(command) as url:
                asyncio.run(send(url, warm, 8))
                load = asyncio.run(send(url, part, number))
            say(name, load, rows / elapsed, expected)


def in_process(warm: Sequence[Sample], parts: Sequence[Sequence[Sample]]) -> tuple[list[list[float]], list[float]]:
    judge = BERTJudge()
    scores, seconds = [], []
    predict(judge, warm)
    for part in parts:
        start = time.perf_counter()
        scores.append(predict(judge, part))
        seconds.append(time.perf_counter() - start)
    return scores, seconds


def predict(judge: BERTJudge, rows: Sequence[Sample]) -> list[float]:
    questions = [sample.question or "" for sample in rows]
    scores = judge.predict(questions, [s.candidate for s in rows], [s.references for s in rows])
    return [score or 0.0 for score in scores]


def say(name: str, load: Load, library: float, expected: Sequence[float]) -> None:
    rows = len(load.seconds)
    cores = os.cpu_count() or 1
    plain, apart = rows / load.wall, rows / max(load.wall - load.processor / cores, 1e-9)
    p50, p95, p99 = (1000 * statistics.quantiles(load.seconds, n=100)[at - 1] for at in (50, 95, 99))
    drift = max((abs(score - expected[row]) for row, score in load.scores.items()), default=0.0)
    print(f"{name:28}{plain:8.0f}{plain / library:8.0%}{apart:11.0f}{apart / library:6.0%}", end="")
    print(f"{p50:8.0f}{p95:8.0f}{p99:8.0f}      {drift:.0e}")


@contextmanager
def running(command: Sequence[str]) -> Iterator[str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().split(" at ")[1].split(";")[0].strip()
    finally:
        process.terminate()
        process.wait()


async def send(url: str, rows: Sequence[Sample], clients: int) -> Load:
    """Send each row once, by so many clients, each of which waits for its answer."""
    load, left = Load(), iter(enumerate(rows))
    start, before = time.perf_counter(), time.process_time()

    async def client() -> None:
        reader, writer = await connect(url)
        for number, sample in left:
            began = time.perf_counter()
            status, body = await ask(reader, writer, sample)
            load.seconds.append(time.perf_counter() - began)
            load.statuses.append(status)
            load.scores[number] = body["score"]
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    load.wall, load.processor = time.perf_counter() - start, time.process_time() - before
    return load


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", urlsplit(url).port)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *rows: Sample) -> tuple[int, dict]:
    """One request, as plainly as can be, so that the clients take little of the processor."""
    bodies = [{"question": s.question, "references": s.references, "candidate": s.candidate} for s in rows]
    text = json.dumps(bodies[0] if len(rows) == 1 else {"samples": bodies}).encode()
    head = "POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
    return int(answer[9:12]), json.loads(await reader.readexactly(length))


def storm(rows: Sequence[Sample]) -> None:
    """So many requests at once, of which three in ten are given up."""
    (expected,), _ = in_process(rows[:64], [rows])
    outcomes: dict[str, int] = {"answered": 0, "given up": 0, "refused": 0, "lost": 0, "mixed up": 0}

    async def client(url: str, number: int) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random())
        patience = chance.uniform(0, 10) if chance.random() < 0.3 else None
        reader, writer = await connect(url)
        try:
            async with asyncio.timeout(patience):
                status, body = await ask(reader, writer, rows[number])
            if status != 200:
                outcomes["refused"] += 1
            else:
                near = abs(body["score"] - expected[number]) < 0.02
                outcomes["answered" if near else "mixed up"] += 1
        except TimeoutError:
            outcomes["given up"] += 1
        except (OSError, EOFError):
            outcomes["lost"] += 1
        finally:
            writer.close()

    async def clients(url: str) -> None:
        await asyncio.gather(*(client(url, number) for number in range(len(rows))))

    with running([*SERVERS["bert-judge serve"], "--queue_rows", str(2 * len(rows))]) as url:
        start = time.perf_counter()
        asyncio.run(clients(url))
        seconds = time.perf_counter() - start
    summary = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    print(f"{len(rows)} requests at once, in {seconds:.0f} s: {summary}")


def overload(rows: Sequence[Sample]) -> None:
    """How long refusals take while the queue is full: one client that asks again and again."""
    seconds: list[float] = []

    async def fill(url: str, part: Sequence[Sample]) -> None:
        reader, writer = await connect(url)
        await ask(reader, writer, *part)
        writer.close()

    async def clients(url: str) -> None:
        full = [asyncio.create_task(fill(url, rows[n : n + 500])) for n in range(0, len(rows), 500)]
        await asyncio.sleep(1)
        reader, writer = await connect(url)
        while len(seconds) < 300:
            start = time.perf_counter()
            status, _ = await ask(reader, writer, *rows[:500])
            if status != 429:
                break
            seconds.append(time.perf_counter() - start)
        writer.close()
        await asyncio.gather(*full)

    with running([*SERVERS["bert-judge serve"], "--queue_rows", "2000", "--max_rows", "1000"]) as url:
        asyncio.run(clients(url))
    p50, p95, p99 = (1000 * statistics.quantiles(seconds, n=100)[at - 1] for at in (50, 95, 99))
    print(f"{len(seconds)} requests refused (429): p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f} ms")


def run_endpoint(kind: str) -> None:
    """The endpoint that one writes first: a request is a call."""
    import uvicorn
    from fastapi import FastAPI

    from bert_judge.server.running import open_socket, url_of

    judge = BERTJudge() if kind == "predict" else None
    app = FastAPI()

    @app.post("/v1/judge")
    def endpoint(body: Body) -> dict[str, float]:
        if judge is not None:
            return {"score": judge.predict([body.question], [body.candidate], [body.references])[0] or 0.0}
        return {"score": score(Sample(body.candidate, tuple(body.references), body.question))}

    if judge is None:
        score = transformers_score()
    with open_socket("127.0.0.1", 0) as opened:
        opened.listen(2048)
        print(f"serving at {url_of(opened)}; Ctrl-C ends.", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run([opened])


def transformers_score():
    """A row's score by transformers alone, as `benchmarks/judge.py` has it."""
    import torch
    from transformers import PreTrainedTokenizerFast

    from bert_judge.encoder.models import find_model, load_hf_encoder

    folder = find_model("starter")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")
    model = load_hf_encoder("starter", dtype="float32").to(getattr(torch, native_dtype("cpu")))

    def score(sample: Sample) -> float:
        text = f"<|question|>{sample.question}<|candidate|>{sample.candidate}<|reference|>{sample.references[0]}"
        limit = model.config.max_position_embeddings
        with torch.no_grad():
            logits = model(**tokenizer([text], return_tensors="pt", truncation=True, max_length=limit)).logits
        return float(torch.sigmoid(logits[:, 1] - logits[:, 0]))

    return score


if __name__ == "__main__":
    main()
