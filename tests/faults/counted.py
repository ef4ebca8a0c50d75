"""A judge that writes down each row that it judges, and what goes wrong in its process, as the variable FAULT says.

`kill:N` kills the process when it renames, removes or flushes a file for the Nth time; `row:N` when it comes to row N;
`clock` sets the clock forwards and backwards; `hold:N` waits at row N until there is the file RELEASED, and writes the
process into the file HELD before.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from bert_judge.judges import RegexJudge
from bert_judge.records import Sample, Verdict

JUDGED, HELD, RELEASED = "judged.txt", "held.txt", "released.txt"
_KIND, _, _NUMBER = os.environ.get("FAULT", "").partition(":")
_events = count(1)


def _killing(function: Callable[..., Any]) -> Callable[..., Any]:
    def replaced(*arguments: Any, **named: Any) -> Any:
        if next(_events) == int(_NUMBER):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)

    return replaced


if _KIND == "kill":
    for name in ("replace", "rename", "unlink", "fsync", "ftruncate"):
        setattr(os, name, _killing(getattr(os, name)))
    for name in ("replace", "rename", "unlink"):
        setattr(Path, name, _killing(getattr(Path, name)))
if _KIND == "clock":
    now = time.time
    time.time = lambda: now() + random.choice((-1e7, -3600.0, 0.0, 86_400.0, 1e7))


class Counted(RegexJudge):
    """Containment, a row at a time."""

    def __init__(self) -> None:
        super().__init__(pattern="none", metric="containment")

    def assess(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        with Path(JUDGED).open("a", buffering=1) as judged:
            for number, sample in enumerate(samples):
                if _KIND == "row" and number == int(_NUMBER):
                    os.kill(os.getpid(), signal.SIGKILL)
                if _KIND == "hold" and number == int(_NUMBER) and not Path(RELEASED).exists():
                    with Path(HELD).open("a") as held:
                        held.write(f"{os.getpid()}\n")
                    while not Path(RELEASED).exists():
                        time.sleep(0.01)
                judged.write(f"{sample.id}\n")
                yield from super().assess([sample])
