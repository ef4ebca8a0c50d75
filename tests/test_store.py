from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bert_judge.errors import OutputError
from bert_judge.store import RecentReplies, Replies, ReplyStore, reply_key
from bert_judge.types import Reply, TokenChoice
from conftest import Refused

FULL = Reply(
    "Ça <think>…</think> \ud83d",
    "length",
    prompt_tokens=12,
    completion_tokens=7,
    choices=(TokenChoice(" True", {" True": -0.1, " False": -2.5}),),
    truncated=3,
)


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Replies:
    return ReplyStore(tmp_path / "new" / "replies.sqlite") if request.param == "file" else RecentReplies()


def test_a_reply_comes_back_as_it_was(store: Replies):
    assert store.get("key") is None
    store.put("key", FULL)
    assert store.get("key") == replace(FULL, cached=True)
    assert store.get("another") is None


def test_a_failed_reply_is_not_kept(store: Replies):
    store.put("key", Reply("", error="the connection failed"))
    assert store.get("key") is None


def test_memory_holds_the_newest():
    store = RecentReplies(size=2)
    for key in "abc":
        store.put(key, Reply(key))
    assert store.get("a") is None
    assert [store.get(key).text for key in "bc"] == ["b", "c"]


def test_another_store_of_the_same_file_has_it(tmp_path: Path):
    first = ReplyStore(tmp_path / "replies.sqlite")
    first.put("key", FULL)
    second = ReplyStore(str(tmp_path / "replies.sqlite"))
    assert second.get("key") == replace(FULL, cached=True)
    second.put("other", Reply("x"))
    assert first.get("other").text == "x"
    assert len(first) == 2


def test_tokens_and_time_can_be_read_with_sqlite(tmp_path: Path):
    ReplyStore(tmp_path / "replies.sqlite").put("key", FULL)
    connection = sqlite3.connect(tmp_path / "replies.sqlite")
    ((prompt_tokens, completion_tokens, kept_at),) = connection.execute(
        "SELECT prompt_tokens, completion_tokens, kept_at FROM replies"
    )
    connection.close()
    assert (prompt_tokens, completion_tokens) == (12, 7)
    assert kept_at > 1.7e9


def test_keys_differ_where_anything_differs(subtests: pytest.Subtests):
    for one, other in [
        (("a", "b"), ("ab", "")),
        (("a", "b"), ("a", "c")),
        (("a", "b"), ("c", "b")),
        (("a", "\ud83d"), ("a", "\ud83e")),
    ]:
        with subtests.test(one=one, other=other):
            assert reply_key(*one) != reply_key(*other)
            assert reply_key(*one) == reply_key(*one)


def test_threads_share_a_store(tmp_path: Path):
    store = ReplyStore(tmp_path / "replies.sqlite")

    def work(worker: int) -> bool:
        for number in range(40):
            store.put(f"{worker}-{number}", Reply(f"{worker} {number}"))
            store.put("shared", Reply("the same"))
        return all(store.get(f"{worker}-{number}").text == f"{worker} {number}" for number in range(40))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert len(store) == 8 * 40 + 1


def _fill(path: Path, worker: int) -> None:
    store = ReplyStore(path)
    for number in range(50):
        store.put(f"{worker}-{number}", Reply("x"))


def test_processes_share_a_file(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_fill, args=(path, worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    _fill(path, 3)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(ReplyStore(path)) == 4 * 50


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_can_go_on_with_the_store(tmp_path: Path):
    code = f"""
import os
from bert_judge.store import ReplyStore
from bert_judge.types import Reply
store = ReplyStore({str(tmp_path / "r.sqlite")!r})
store.put("parent", Reply("x"))
child = os.fork()
store.put("child" if child == 0 else "parent again", Reply("y"))
if child == 0:
    os._exit(0 if store.get("parent") else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert len(store) == 3
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_put_survives_kill_9(tmp_path: Path):
    code = f"""
from itertools import count
from bert_judge.store import ReplyStore
from bert_judge.types import Reply
store = ReplyStore({str(tmp_path / "replies.sqlite")!r})
for number in count():
    store.put(str(number), Reply("x" * 500))
    print(number, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    last = 0
    for line in process.stdout:
        last = int(line)
        if last == 200:
            process.send_signal(signal.SIGKILL)
            break
    process.stdout.close()
    process.wait()
    store = ReplyStore(tmp_path / "replies.sqlite")
    assert all(store.get(str(number)) for number in range(last + 1))


def test_a_file_that_is_no_store_is_told_in_a_sentence(tmp_path: Path, refused: Refused):
    for what in ["folder", "text", "no folder"]:
        path = tmp_path / f"{what}.sqlite"
        if what == "folder":
            path.mkdir()
        else:
            path.write_text("this is a text, not a database; " * 100)
        said = r"the store of replies .* can't be used .*'off' to keep none"
        with refused(match=said, error=OutputError, what=what):
            ReplyStore(path / "below" if what == "no folder" else path)
