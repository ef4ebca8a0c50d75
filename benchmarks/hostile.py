"""One honest client of `bert-judge serve` beside hostile ones: `python benchmarks/hostile.py --minutes 10`.

The honest client sends a short row a second, to each judge in turn, first alone and then beside the hostile ones, of
which each has one request under way, all the time. Prints how long its answers took (p50, p99, the longest), the memory
of the server and of the processes that it started, what was refused by reason, and how long the server took to end on
SIGTERM while the hostile clients went on. Ends with status 1 where an answer was wrong or missing, or where the server
did not end within its drain.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from parts import processor

DRAIN = 20  # seconds
AIM_SECONDS, AIM_BYTES = 2.0, 1 << 30  # of the p99, and of memory over that of an idle server
PATIENCE = 120.0  # seconds after which a client gives up
JUDGES = {
    "slow.yaml": "judge_type: RegexJudge\npattern: ((a|a)*$)\nmetric: EM\n",
    "maths.yaml": "judge_type: RegexJudge\npattern: none\nmetric: Math-Verify\n",
    "rouge.yaml": "judge_type: RegexJudge\npattern: none\nmetric: ROUGE\n",
}
HONEST = {  # a judge, an answer to a reference, and the label that it has
    "starter": ("It is Paris, in the year {n}.", "Paris", 1),
    "slow": ("aaa", "aaa", 1),
    "maths": ("{n}/2", "{n}/2 + 1", 0),
}
SLOW_TEXT = "a" * 40 + "b"
TOWER = ("$9^{9^{9^{9}}}$", "$9^{9^{9^{8}}}$")
LONG = "It is Paris or 12 km in all. "

ADDRESS = threading.local()
_NICE = 10  # of the hostile clients: elsewhere they would take none of the server's time

Hostile = Callable[[str], object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="beside the hostile clients (default: 10)")
    parser.add_argument("--alone", type=float, default=30.0, help="seconds alone, before that (default: 30)")
    parser.add_argument("--only", nargs="*", default=[], help="hostile clients with one of these words in their names")
    parser.add_argument(
        "--row_seconds", type=float, default=0.6, help="as of `serve`; more on a busy machine (default: 0.6)"
    )
    parser.add_argument("--hostile", metavar="URL", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.hostile:
        be_hostile(args.hostile, args.only)
        return 0
    print(f"machine: {os.cpu_count()} cores, {processor()}")
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), args.row_seconds) as (server, url):
        honest_for(url, 3.0)
        idle = memory(server.pid)
        alone = honest_for(url, args.alone)
        say("alone", alone)
        watch = Watch(server.pid)
        command = [sys.executable, __file__, "--hostile", url, "--only", *args.only]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as clients:
            try:
                assert clients.stdout
                clients.stdout.readline()  # it has made all that it sends
                beside = honest_for(url, args.minutes * 60)
                refused = refusals(url)
                ended = ending(server)
            finally:
                clients.kill()
        watch.ended.set()
    say("beside hostile clients", beside)
    most, together = watch.most
    print(f"memory (MiB): server idle {idle[0] >> 20}, at most {most >> 20}", end="")
    print(f"; with its processes idle {idle[1] >> 20}, at most {together >> 20}")
    print(f"refused: {', '.join(f'{count} {reason}' for reason, count in refused.most_common()) or 'nothing'}")
    print(f"ended {ended:.1f} s after SIGTERM, with {DRAIN} s to drain")
    aims = {
        f"p99 under {AIM_SECONDS:g} s": beside.quantile(99) < AIM_SECONDS,
        f"memory within {AIM_BYTES >> 20} MiB of idle": most - idle[0] < AIM_BYTES,
    }
    print("; ".join(f"{aim}: {'yes' if met else 'no'}" for aim, met in aims.items()))
    return int(bool(alone.wrong or beside.wrong or ended > DRAIN + 5))


# the server


@contextmanager
def serving(folder: Path, row_seconds: float) -> Iterator[tuple[subprocess.Popen[str], str]]:
    for name, text in JUDGES.items():
        (folder / name).write_text(text)
    judges = ",".join(["starter", *JUDGES, "BERTScore"])
    command = [sys.executable, "-m", "bert_judge", "serve", "--port", "0", "--quiet", "--judge", judges]
    command += ["--drain_seconds", str(DRAIN), "--row_seconds", str(row_seconds)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        yield process, process.stdout.readline().split(" at ")[1].split(";")[0].strip()
    finally:
        process.kill()
        process.wait()


def ending(process: subprocess.Popen[str]) -> float:
    start = time.monotonic()
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(3 * DRAIN)
    return time.monotonic() - start


def memory(pid: int) -> tuple[int, int]:
    """Bytes of a process, and of it together with those that it started."""
    parent = resident(pid)
    return parent, parent + sum(map(resident, children(pid)))


def resident(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def children(pid: int) -> list[int]:
    pids = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                pids.append(int(path.parent.name))
    return pids


class Watch:
    """The most memory of a server, of it alone and with its processes, until it has `ended`."""

    def __init__(self, pid: int) -> None:
        self.most, self.ended = (0, 0), threading.Event()
        threading.Thread(target=self._watch, args=(pid,), daemon=True).start()

    def _watch(self, pid: int) -> None:
        while not self.ended.wait(0.1):
            parent, together = memory(pid)
            self.most = max(self.most[0], parent), max(self.most[1], together)


def refusals(url: str) -> Counter[str]:
    text = asked(url, "/metrics", None)[1].decode()
    counters = re.findall(r'^bert_judge_refusals_total\{reason="(\w+)",status="(\w+)"\} (\S+)', text, re.MULTILINE)
    return Counter({f"{reason} ({status})": int(float(count)) for reason, status, count in counters})


# the honest client


@dataclass
class Seen:
    """The seconds of each answer, and those that were wrong or missing."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in HONEST})
    wrong: list[str] = field(default_factory=list)

    def quantile(self, percent: int) -> float:
        together = sorted(second for times in self.seconds.values() for second in times)
        return together[min(len(together) - 1, len(together) * percent // 100)]


def honest_for(url: str, seconds: float) -> Seen:
    """A row a second."""
    seen, end, number = Seen(), time.monotonic() + seconds, 0
    while time.monotonic() < end or number < len(HONEST):
        judge = list(HONEST)[number % len(HONEST)]
        candidate, reference, label = HONEST[judge]
        n = random.randrange(1_000_000)
        body = {"judge": judge, "candidate": candidate.format(n=n), "reference": reference.format(n=n)}
        start = time.monotonic()
        try:
            status, answer = asked(url, "/v1/judge", body)
            if status != 200 or json.loads(answer)["label"] != label:
                seen.wrong.append(f"{judge}: {status} {answer[:200]!r}")
        except OSError as error:
            seen.wrong.append(f"{judge}: {error!r}")
        seen.seconds[judge].append(time.monotonic() - start)
        number += 1
        time.sleep(max(0.0, start + 1 - time.monotonic()))
    return seen


def say(name: str, seen: Seen) -> None:
    print(f"{name}:")
    for judge, seconds in seen.seconds.items():
        p50, longest = statistics.median(seconds), max(seconds)
        print(f"  {judge:8} {len(seconds):5} rows, p50 {p50 * 1000:6.0f} ms, longest {longest * 1000:6.0f} ms")
    print(f"  together p99 {seen.quantile(99) * 1000:.0f} ms, wrong or missing {len(seen.wrong)}", flush=True)
    for reply in seen.wrong[:5]:
        print(f"    {reply}")


def asked(url: str, path: str, body: object, **headers: str) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE, source_address=source())
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(
            "GET" if body is None else "POST", path, data, {"Content-Type": "application/json", **headers}
        )
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def source() -> tuple[str, int]:
    """The address of this client: on Linux all of 127.0.0.0/8 are this machine's."""
    return getattr(ADDRESS, "of", "127.0.0.1"), 0


# the hostile clients


def be_hostile(url: str, only: Sequence[str]) -> None:
    """Each in a thread of its own, for ever."""

    os.nice(_NICE)

    def again(client: Hostile, number: int) -> None:
        ADDRESS.of = f"127.0.1.{number}"
        while True:
            try:
                client(url)
            except OSError:
                time.sleep(0.1)

    for number, (name, client) in enumerate(hostile_clients().items(), 1):
        if not only or any(word in name for word in only):
            threading.Thread(target=again, args=(client, number), daemon=True).start()
    print("ready", flush=True)
    signal.pause()


def hostile_clients() -> dict[str, Hostile]:
    """What each of them sends."""

    def posts(path: str, body: object, **headers: str) -> Hostile:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return lambda url: asked(url, path, data, **headers)

    def rows(count: int, candidate: str, reference: str = "Paris", judge: str = "starter") -> Hostile:
        sample = {"candidate": candidate, "reference": reference}
        return posts("/v1/judge", {"judge": judge, "samples": [sample] * count})

    def explains(characters: int) -> Hostile:
        return posts("/v1/explain", {"candidate": (LONG * characters)[:characters], "reference": "Paris"})

    return {
        "a name of half a character": posts("/v1/judge", {"candidate": "x", "reference": "r", "judge": "\ud800"}),
        "wrong rows": posts("/v1/judge", b'{"samples": [' + b"0," * 3_900_000 + b"0]}"),
        "wrong fields": posts("/v1/judge", json.dumps({str(n): 0 for n in range(500_000)}).encode()),
        "nesting": posts("/v1/judge", b'{"samples": ' + b"[" * 5_000_000),
        "long names": posts("/v1/judge", {"judge": "s" * 7_000_000}),
        "long rows": rows(16, (LONG * 20_000)[:480_000]),
        "many rows": rows(1024, LONG * 40),
        "many references": posts("/v1/judge", {"candidate": LONG, "reference": [f"{n} km" for n in range(1_000)]}),
        "slow patterns": rows(64, SLOW_TEXT, "r", "slow"),
        "a slow pattern": rows(1, SLOW_TEXT, "r", "slow"),
        "slow formulas": rows(64, *TOWER, "maths"),
        "a slow formula": rows(1, *TOWER, "maths"),
        "a slow metric": rows(1, "a b c d " * 60_000, "b a d c " * 60_000, "rouge"),
        **{f"explanations, {n}": explains(210_000) for n in range(8)},
        "too long an explanation": explains(480_000),
        "long texts for BERTScore": rows(1, LONG * 15_000, LONG, "BERTScore"),
        "another host": posts("/v1/judge", {}, Host="evil.example"),
        "another origin": posts("/v1/labelling", {}, Origin="http://evil.example"),
        "an answer that is not read": does_not_read,
        "a slow body": dribbles,
        "half heads": opens(100),
        "many connections": opens(2_000),
    }


def does_not_read(url: str) -> None:
    with connected(url, 4096) as client:
        client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        time.sleep(30)


def dribbles(url: str) -> None:
    head = "POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000"
    with connected(url) as client:
        client.sendall(f"{head}\r\n\r\n".encode())
        for _ in range(1000):
            client.sendall(b" ")
            time.sleep(1)


def opens(count: int) -> Hostile:
    """Opens so many connections, with half a head in each, and leaves them for ten seconds."""

    def client(url: str) -> None:
        sockets: list[socket.socket] = []
        try:
            for _ in range(count):
                with suppress(OSError):
                    sockets.append(connected(url))
                    sockets[-1].sendall(b"POST /v1/judge HTTP/1.1\r\nHost:")
            time.sleep(10)
        finally:
            for client_socket in sockets:
                client_socket.close()

    return client


def connected(url: str, buffer: int | None = None) -> socket.socket:
    client = socket.socket()
    if buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.bind(source())
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", urlsplit(url).port or 0))
    return client


if __name__ == "__main__":
    sys.exit(main())
