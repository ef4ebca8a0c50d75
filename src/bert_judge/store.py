"""Replies of language models, kept in a SQLite file so that none is paid for twice.

    store = ReplyStore("replies.sqlite")
    store.put(reply_key(generator.signature, prompt), reply)

Several threads and processes may use one file. A reply that `put` has kept survives a killed process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any

from bert_judge.errors import OutputError
from bert_judge.types import Reply, TokenChoice

STORE_FILE = "replies.sqlite"
"""The name of the store in the user's cache folder."""

_PATIENCE = 60  # seconds to wait for another process that writes
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, reply TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    kept_at REAL NOT NULL
) WITHOUT ROWID
"""


def reply_key(signature: str, prompt: str) -> str:
    """The key of a reply: a digest of everything that changes it."""
    parts = json.dumps([signature, prompt])  # ASCII: lone surrogates have no UTF-8
    return hashlib.sha256(parts.encode("ascii")).hexdigest()


class ReplyStore:
    """Replies in a SQLite file, which is made with its folder if it does not exist. `len` counts them.

    A reply is on the disk when `put` returns. Raises OutputError where the file can't be opened, read or written, or is
    not a store.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._lock = Lock()
        self._process: int | None = None
        with self._using():
            pass  # a file that can't be used shows at once

    def __len__(self) -> int:
        with self._using() as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def get(self, key: str) -> Reply | None:
        """The reply of a key, marked as `cached`, or None."""
        with self._using() as connection:
            found = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        if found is None:
            return None
        values: dict[str, Any] = json.loads(found[0])
        choices = tuple(TokenChoice(**choice) for choice in values.pop("choices"))
        return Reply(**values, choices=choices, cached=True)

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; one with an error is not kept."""
        if reply.error is not None:
            return
        values = asdict(reply)
        del values["error"], values["cached"]
        row = (key, json.dumps(values), reply.prompt_tokens, reply.completion_tokens, time.time())
        with self._using() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; a forked process opens its own, as SQLite demands."""
        try:
            with self._lock:
                if self._process != os.getpid():
                    self._connection, self._process = self._open(), os.getpid()
                yield self._connection
        except (sqlite3.Error, OSError) as error:
            raise OutputError(
                f"the store of replies {self.path} can't be used ({error}); name another file, or 'off' to keep none."
            ) from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, _PATIENCE, isolation_level=None, check_same_thread=False)
        weakref.finalize(self, connection.close)
        # With a write-ahead log readers do not wait for writers, and a killed writer leaves no half row.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_TABLE)
        return connection


class RecentReplies:
    """The newest replies, in memory: used instead of a store when that is off."""

    def __init__(self, size: int = 1 << 14) -> None:
        self._size = size
        self._known: dict[str, Reply] = {}
        self._lock = Lock()

    def get(self, key: str) -> Reply | None:
        """The reply of a key, marked as `cached`, or None."""
        found = self._known.get(key)
        return replace(found, cached=True) if found else None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; one with an error is not kept."""
        if reply.error is None:
            with self._lock:
                self._known[key] = reply
                if len(self._known) > self._size:
                    del self._known[next(iter(self._known))]


Replies = ReplyStore | RecentReplies
