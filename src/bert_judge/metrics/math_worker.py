"""The process that runs Math-Verify for `maths.py`: a computation that hangs can only be killed with its process.

Run as a script: each JSON line `[candidate, reference, seconds]` in gives a line `[score, reason]` out. A fork compares
the pairs. After `seconds` it ends itself, even if its parents are gone: faulthandler's watchdog is a C thread that no
computation and no lock of the interpreter can block. The line out is then `null`, and a new fork, which has SymPy
loaded already, takes over. Where there are no forks (Windows), the process itself ends.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import sys
from contextlib import suppress
from typing import Any

_START = 120.0  # seconds: to import SymPy, on a busy machine
_MEMORY = 4 << 30  # bytes; a tower of powers would use up all memory before its time is over
_DELIMITER = re.compile(r"(?<!\\)\$|\\\(|\\\[|\\boxed|\\fbox")
_COMMAND = re.compile(r"\\(?:text\w*|mathrm|mbox|begin|end|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+")
_NUMBER = re.compile(r"[^\w\\()\[\]{}]*\d+(?:[, ]\d{3})*(?:\.\d+)?[^\w\\()\[\]{}]*")

_SPELLINGS = (  # what Math-Verify misreads, and an equivalent that it reads right
    (re.compile(r"\\cfrac"), r"\\frac"),
    (re.compile(r"\\(?:mathrm|text|mathit|operatorname)\{e\}"), "e"),
    (re.compile(r"\\?\bexp\s*(?:\\left)?\(([^()]*?)(?:\\right)?\)"), r"e^{(\1)}"),
)
_DECIMALS, _ROUNDING = 1e-4, 1e-5  # an absolute difference that Math-Verify sees, and a relative one that is rounding


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not end up among the answers
    _limit()
    faulthandler.dump_traceback_later(_START, exit=True)
    import math_verify  # noqa: F401  (slow, so before the time of the first request starts)

    faulthandler.cancel_dump_traceback_later()
    print("ready", file=answers, flush=True)
    while hasattr(os, "fork") and (child := os.fork()):
        if os.waitpid(child, 0)[1] == 0:  # there are no more requests
            return
        print("null", file=answers, flush=True)
    for line in sys.stdin:
        candidate, reference, seconds = json.loads(line)
        faulthandler.dump_traceback_later(seconds, exit=True)
        result = compare(candidate, reference)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(result), file=answers, flush=True)


def compare(candidate: str, reference: str) -> tuple[float | None, str | None]:
    """1.0 for equal, 0.0 with a reason, or None if the reference can't be read. Has no time limit."""
    from math_verify import verify

    try:
        golds = _read(reference)
        if not golds:
            return None, "Math-Verify reads no maths in the reference"
        answers = _read(candidate)
        if not answers:
            return 0.0, "Math-Verify reads no maths in the answer"
        equal = any(
            verify(gold, answer, timeout_seconds=None) and _near(gold, answer) for gold in golds for answer in answers
        )
    except Exception as error:  # SymPy can raise anything
        return 0.0, f"Math-Verify failed: {type(error).__name__}"
    return float(equal), None if equal else "Math-Verify finds them different"


def _near(gold: list[Any], answer: list[Any]) -> bool:
    """Whether numbers that Math-Verify finds equal really are: it compares six decimals, so 1/2^98 would be 1/2^99."""
    numbers = [[value for value in parsed if getattr(value, "is_number", False)] for parsed in (gold, answer)]
    if not all(numbers):
        return True
    one, other = (parsed[0].doit().evalf(30) for parsed in numbers)
    difference, size = abs(one - other), max(abs(one), abs(other))
    return bool(difference > _DECIMALS or difference <= _ROUNDING * size)


def _read(text: str) -> list[list[Any]]:
    """What Math-Verify can parse, in each way that suits the text."""
    from math_verify import parse

    text = "".join(str(int(char)) if char.isdecimal() else char for char in text).strip()
    for pattern, plain in _SPELLINGS:
        text = pattern.sub(plain, text)
    formula = _is_formula(text)
    ways = [f"${text}$"] if formula else [text]
    if formula and _NUMBER.fullmatch(text):
        ways.append(text)  # "€5" and "1 000" are read right only outside LaTeX
    return [parsed for way in ways if (parsed := parse(way, parsing_timeout=None))]


def _is_formula(text: str) -> bool:
    r"""Whether a text is bare LaTeX, which Math-Verify only reads inside `$…$`."""
    bare = _COMMAND.sub("", text)
    words = re.search(r"[A-Za-z]{3}", bare) or (re.search(r"[A-Za-z]{2}", bare) and not re.search(r"[\\^=+]", text))
    return bool(text) and not words and not _DELIMITER.search(text)


def _limit() -> None:
    """Limit the memory, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits, macOS refuses some
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
