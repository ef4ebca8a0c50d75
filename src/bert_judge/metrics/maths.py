"""Mathematical equality by Math-Verify, with a time limit that works in any thread."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from bert_judge.errors import MissingExtraError, require_extra
from bert_judge.metrics.timing import limited

MATH_TIMEOUT = 5.0
"""Seconds that a pair may take: Math-Verify's limit for each of its steps."""

_SCRIPT = Path(__file__).with_name("math_worker.py")
_REQUIREMENT = ("the metric Math-Verify", "math-verify", "lexical")  # feature, package and extra


class MetricResult(NamedTuple):
    """The number of a metric (None if it can't read the reference), the reason, and whether it finished in time."""

    score: float | None
    reason: str | None = None
    finished: bool = True


def math_verify(candidate: str, reference: str) -> float:
    r"""1.0 if both texts hold the same number, expression, set, interval …, else 0.0; takes at most 5 s.

    Texts may be bare (`\frac{9}{7}`, "1,000"), in `$…$` or `\boxed{…}`, or sentences, of which the last formula counts.
    Not symmetric: Math-Verify (Hugging Face, 2025) takes the reference as the correct one. Raises MissingExtraError.
    """
    return verify_math(candidate, reference).score or 0.0


def verify_math(candidate: str, reference: str, timeout: float = MATH_TIMEOUT) -> MetricResult:
    """`math_verify` with a reason if it is not 1.0; a pair that takes more than `timeout` seconds is not equal.

    Identical texts are equal, and bare LaTeX is read as if in `$…$`. Works in any thread, one pair at a time, in a
    separate process that is killed if it takes too long.
    """
    if candidate.strip() == reference.strip():
        return MetricResult(1.0)
    with limited(timeout) as seconds:
        result = _WORKER.ask(candidate, reference, seconds)
        if not result.finished and seconds < timeout:
            raise TimeoutError
    return result


class _Worker:
    """A process that runs `math_worker.py`: started when first needed, and again if it has ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, candidate: str, reference: str, timeout: float) -> MetricResult:
        """The worker's result; a pair that takes too long, or kills the worker twice, is not equal."""
        request = json.dumps([candidate, reference, timeout]) + "\n"
        with self._lock:
            for _ in range(2):
                process = self._started()
                start = time.monotonic()
                if answer := json.loads(self._exchange(process, request) or "null"):
                    return MetricResult(*answer)
                if time.monotonic() - start >= timeout:
                    return MetricResult(0.0, f"Math-Verify took more than {timeout:g} s", finished=False)
        return MetricResult(0.0, "Math-Verify ended without an answer", finished=False)

    def close(self) -> None:
        """Kill the process and its fork."""
        if process := self._process:
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self._process = None

    def forget(self) -> None:
        """In a forked process: leave the parent's worker to the parent."""
        if self._process:
            self._process.returncode = 0  # so that Popen does not wait for it
        self._lock, self._process = Lock(), None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            require_extra("math_verify", *_REQUIREMENT)
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env={**os.environ, "PYTHONHASHSEED": "0"},
                process_group=None if sys.platform == "win32" else 0,  # a new group, to be killed as a whole
            )
            if not self._exchange(self._process, ""):
                raise MissingExtraError(*_REQUIREMENT)
        return self._process

    def _exchange(self, process: subprocess.Popen[str], request: str) -> str:
        """Send a request and wait for the line that answers it; "" if the process ended instead."""
        assert process.stdin and process.stdout
        line = ""
        try:
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # a broken pipe: the process has ended
            pass
        finally:  # also after Ctrl-C, or a late answer would be read as the next pair's
            if not line.endswith("\n"):
                self.close()
                line = ""
        return line


_WORKER = _Worker()
atexit.register(_WORKER.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKER.forget)
