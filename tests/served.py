"""A real server on loopback, in a thread of the tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bert_judge.errors import ModelError
from bert_judge.judges import Judge
from bert_judge.records import JudgeInfo, Verdict
from bert_judge.server import ServerOptions
from bert_judge.server.access import Keys
from bert_judge.server.app import make_app
from bert_judge.server.labelling import Labelling
from bert_judge.server.running import make_server, open_socket, url_of
from waiting import PATIENCE, wait_until


@contextmanager
def served(
    judges: Mapping[str, Judge], keys: Sequence[str] = (), labelling: Labelling | None = None, **options: Any
) -> Iterator[str]:
    """Serve judges, and a page to label answers; gives the address."""
    server_options = ServerOptions(port=0, **options)
    server = make_server(make_app(judges, server_options, Keys(keys), labelling), server_options)
    with open_socket(server_options.host, 0) as opened:
        opened.listen(2048)
        thread = threading.Thread(target=server.run, args=([opened],))
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive(), "the server has started")
            assert thread.is_alive()
            yield url_of(opened)
        finally:
            server.should_exit = True
            thread.join()


def ask(url: str, path: str, body: Any = None, method: str | None = None, **headers: str) -> tuple[int, Any, Any]:
    """The status, the body (parsed if it is JSON), and the headers."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    fields = {"Content-Type": "application/json"} if body is not None else {}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if isinstance(body, str | bytes | None) else json.dumps(body)
    connection.request(method or ("GET" if body is None else "POST"), path, text, fields)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    is_json = (response.headers["Content-Type"] or "").startswith("application/json")
    return response.status, json.loads(content) if is_json else content.decode(), response.headers


def figure(url: str, name: str) -> float:
    """A number in /metrics; 0 if it is not there yet."""
    line = re.search(rf"^{re.escape(name)} (\S+)$", ask(url, "/metrics")[1], re.MULTILINE)
    return float(line[1]) if line else 0.0


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process with `bert-judge serve`, and its address; ended in any case."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-m", "bert_judge", "serve", "--port", "0", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        try:
            yield process, process.stdout.readline().split(" at ")[1].split(";")[0]
        finally:
            process.kill()


class Slow(Judge):
    """Scores a candidate by its length, after some milliseconds a batch; a candidate can make it raise or sleep.

    If it is `held`, it takes a batch and keeps it until `let_through`.
    """

    info = JudgeInfo("slow", "Slow")

    def __init__(self, seconds: float = 0.01, held: bool = False) -> None:
        self.seconds = seconds
        self.batches: list[int] = []
        self._passes = threading.Semaphore(0) if held else None

    def assess(self, samples):
        samples = list(samples)
        self.batches.append(len(samples))
        time.sleep(self.seconds)
        assert self._passes is None or self._passes.acquire(timeout=PATIENCE)
        for sample in samples:
            if sample.candidate == "raise":
                raise RuntimeError("this row is too much")
            if sample.candidate == "sleep":
                time.sleep(PATIENCE)
            if sample.candidate == "die":
                raise ModelError("the endpoint is gone.")
            yield Verdict(float(len(sample.candidate)), None, f"of {sample.candidate}", 0)

    def let_through(self, batches: int = 1_000_000) -> None:
        """Let so many batches pass, including future ones."""
        self._passes.release(batches)


class Rule(Judge):
    """Correct if the candidate keeps a rule; reads no references."""

    def __init__(self, keeps: Callable[[str], bool]) -> None:
        self.info = JudgeInfo("rule", "Rule", "decision", reads_references=False)
        self._keeps = keeps

    def assess(self, samples):
        for sample in samples:
            keeps = self._keeps(sample.candidate)
            yield Verdict(float(keeps), int(keeps))


SHORT = Rule(lambda candidate: len(candidate.split()) <= 3)
