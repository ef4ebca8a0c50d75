"""The prefetching map: order, errors, memory, and that no process stays behind.

The function is always `eval`, so that each item is what its process does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert_judge.encoder.processes import computed_ahead
from bert_judge.errors import ModelError
from conftest import Refused, wait_until_ended
from waiting import PATIENCE, wait_until

PID = "__import__('os').getpid()"
SLEEP = "__import__('time').sleep(600)"
KILL = "__import__('signal').raise_signal(9)"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, and what processes there are")


def results(items: list[str], processes: int, here: int = 0) -> list[object]:
    return [result for _, result in computed_ahead(eval, items, processes, here)]


def test_results_are_in_the_order_of_the_items(subtests: pytest.Subtests) -> None:
    items = [f"__import__('time').sleep({(n % 3) / 50}) or {n}" for n in range(9)]
    for processes, here in [(0, 0), (0, 3), (1, 0), (2, 0), (3, 4), (2, 99)]:
        with subtests.test(processes=processes, here=here):
            pairs = list(computed_ahead(eval, iter(items), processes, here))
            assert pairs == list(zip(items, range(9), strict=True))


def test_a_process_starts_only_for_an_item() -> None:
    before = os.times().children_user
    assert [list(computed_ahead(eval, [], n)) for n in (0, 1, 8)] == [[], [], []]
    assert os.times().children_user == before
    assert len({*results([PID], processes=8)}) == 1


def test_the_first_items_are_computed_here_and_others_elsewhere() -> None:
    pids = results([PID] * 8, processes=2, here=3)
    assert pids[:3] == [os.getpid()] * 3
    assert len(set(pids[3:]) - {os.getpid()}) in (1, 2)
    wait_until_ended([pid for pid in pids[3:] if isinstance(pid, int)])
    assert results([PID] * 3, processes=0) == [os.getpid()] * 3


def test_what_is_held_does_not_grow(subtests: pytest.Subtests) -> None:
    for processes, here in [(0, 0), (1, 0), (2, 0), (2, 5)]:
        with subtests.test(processes=processes, here=here):
            pulled = 0

            def items() -> Iterator[str]:
                nonlocal pulled
                for number in range(30):
                    pulled += 1
                    yield str(number)

            for yielded, _ in enumerate(computed_ahead(eval, items(), processes, here), start=1):
                assert pulled - yielded < max(2, 2 * processes)


def test_it_works_while_its_results_are_used(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(4)]
    stream = computed_ahead(eval, [f"__import__('pathlib').Path({str(file)!r}).touch()" for file in files], processes=1)
    next(stream)
    wait_until(files[1].exists, "the second item is computed, although nobody has asked for it")
    stream.close()


def test_an_error_of_the_function_comes_out_as_it_is(subtests: pytest.Subtests) -> None:
    for processes in (0, 2):
        with subtests.test(processes=processes):
            stream = computed_ahead(eval, ["1", "1 / 0", "3"], processes)
            assert next(stream) == ("1", 1)
            with pytest.raises(ZeroDivisionError, match="division by zero"):
                next(stream)


def test_an_error_of_the_input_comes_after_the_results_before_it_and_ends_the_processes() -> None:
    def items() -> Iterator[str]:
        yield from [PID, PID, PID, PID]
        raise KeyError("row 4")

    pids: list[int] = []
    with pytest.raises(KeyError, match="row 4"):
        pids.extend(pid for _, pid in computed_ahead(eval, items(), processes=2))
    assert len(pids) == 4
    wait_until_ended(pids)


def test_a_killed_process_is_told_in_a_sentence(refused: Refused) -> None:
    message = "a process that reads ahead was killed; if memory was short, use fewer workers (0: none)."
    for items in ([KILL], ["1", "2", KILL, "4"], ["__import__('os')._exit(3)"]):
        for processes in (1, 2):
            with refused(message, error=ModelError, items=items, processes=processes):
                results(items, processes)


def test_a_stream_that_is_closed_ends_what_is_still_busy() -> None:
    stream = computed_ahead(eval, [PID, PID, SLEEP, SLEEP, SLEEP], processes=2)
    pids = [next(stream)[1], next(stream)[1]]
    start = time.monotonic()
    stream.close()
    assert time.monotonic() - start < PATIENCE  # they sleep for twice as long
    wait_until_ended(pids)


def test_what_a_function_prints_is_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    assert results(["print('hello')", "2"], processes=1) == [None, 2]
    assert capfd.readouterr().out == ""


SCRIPT = """
import sys, time, os
from bert_judge.encoder.processes import computed_ahead

print("once", flush=True)
stream = computed_ahead(eval, ["__import__('os').getpid()"] * 20, processes=2)
for _ in range(3):
    print(next(stream)[1], flush=True)
"""


def run_script(folder: Path, ending: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A script without a guard of `__main__`, after it has printed the processes that it uses."""
    path = folder / "script.py"
    path.write_text(SCRIPT + ending)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, path], **pipes, text=True, start_new_session=True)
    assert process.stdout
    lines = [process.stdout.readline().strip() for _ in range(4)]
    assert lines[0] == "once"
    return process, [int(pid) for pid in lines[1:]]


@pytest.mark.parametrize(
    ("ending", "sent", "status"),
    [
        ("list(stream)", None, 0),
        ("", None, 0),  # the stream is left open
        ("sys.exit(4)", None, 4),
        ("time.sleep(600)", signal.SIGINT, -signal.SIGINT),  # Ctrl-C, which reaches the whole group
        ("time.sleep(600)", signal.SIGTERM, -signal.SIGTERM),
        ("time.sleep(600)", signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_no_process_stays_behind_however_a_script_ends(
    tmp_path: Path, ending: str, sent: signal.Signals | None, status: int
) -> None:
    process, pids = run_script(tmp_path, ending)
    if sent:
        os.killpg(process.pid, sent)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (status, "")
    assert err.count("Traceback") == (sent == signal.SIGINT)  # the script's own
    wait_until_ended(pids)
