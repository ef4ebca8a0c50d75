"""A page on which a person labels answers, one at a time; every label is on the disk before the next answer is shown.

with Labelling(draw_order(run, "active"), "labels.jsonl", target=200) as labelling:
    server = LabelServer(labelling)
    print(server.url)
    server.serve_forever()
"""

from __future__ import annotations

import hmac
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from socketserver import TCPServer
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from bert_judge.analysis.sampling import Draw
from bert_judge.artifacts import locked
from bert_judge.errors import InputError, OutputError
from bert_judge.server.static import HEADERS, static

_PAGES: Final = {"": "label.html", "label.js": "label.js", "label.css": "label.css"}
_LONGEST_REQUEST = 1_000
_START = b'{"id": '  # of every line that we write


class Labelling:
    """A file of labels with a line for each answer, in the order of `draws`; labelling continues where the file ends.

    A line has id, question, references, candidate, label (1, 0; null for a skipped answer), probability and
    labelled_at. An answer with a label in the run is written with that label, and not shown. Raises InputError for a
    file whose lines are not the first ones of `draws`, OutputError for one that can't be written or is in use.
    """

    def __init__(self, draws: Sequence[Draw], path: str | Path, target: int) -> None:
        self.path, self.target = Path(path), target
        self._draws = draws
        self._turn = Lock()
        self._last: tuple[Draw, int | None] | None = None
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise OutputError(f"{self.path} can't be written ({error.strerror}); choose another --labels.") from error
        try:
            if not locked(self._file):
                raise OutputError(f"{self.path} is being labelled already; end that first, or choose another --labels.")
            self._labels = list(self._read())
            self._take_known()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Labelling:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, so that others can write it."""
        os.close(self._file)

    @property
    def labelled(self) -> int:
        """How many answers have a label, those of the run itself included."""
        return sum(label is not None for label in self._labels)

    @property
    def skipped(self) -> int:
        """How many answers were skipped."""
        return len(self._labels) - self.labelled

    def state(self, with_judge: bool = False) -> dict[str, Any]:
        """What the page shows: the next answer (None at the end), the progress, and the verdict on the last answer.

        The verdict on the next answer is there only `with_judge`.
        """
        with self._turn:
            draw = self._next()
            state: dict[str, Any] = {
                "draw": len(self._labels) + 1,
                "labelled": self.labelled,
                "skipped": self.skipped,
                "target": self.target,
                "total": len(self._draws),
                "can_undo": self._undone() is not None,
                "answer": None,
                "judge": None,
                "last": None,
            }
            if draw is not None:
                row = draw.row
                state["answer"] = {"question": row.question, "references": row.references, "candidate": row.candidate}
                state["judge"] = _judge(draw) if with_judge else None
            if self._last is not None:
                last, label = self._last
                state["last"] = {"label": label, "judge": _judge(last)}
            return state

    def decide(self, number: int, label: int | None) -> bool:
        """Write the label of the `number`th answer, None to skip it; False where that is no longer the next one."""
        with self._turn:
            draw = self._next()
            if draw is None or number != len(self._labels) + 1:
                return False
            self._append(draw, label)
            self._last = (draw, label)
            self._take_known()
            return True

    def undo(self) -> bool:
        """Remove the last decision from the file; False where there is none."""
        with self._turn:
            place = self._undone()
            if place is None:
                return False
            with self.path.open("rb") as lines:
                os.ftruncate(self._file, sum(map(len, islice(lines, place))))
            os.fsync(self._file)
            del self._labels[place:]
            self._last = None
            return True

    def _undone(self) -> int | None:
        """The place of the last answer that a person decided."""
        return next((i for i in reversed(range(len(self._labels))) if self._draws[i].row.gold is None), None)

    def _next(self) -> Draw | None:
        return self._draws[len(self._labels)] if len(self._labels) < len(self._draws) else None

    def _take_known(self) -> None:
        """Write the labels of the run itself, up to the next answer without one."""
        while (draw := self._next()) and draw.row.gold is not None:
            self._append(draw, draw.row.gold)

    def _append(self, draw: Draw, label: int | None) -> None:
        end = os.fstat(self._file).st_size
        text = json.dumps(_record(draw, label), ensure_ascii=False) + "\n"
        line = text.encode("utf-8", "backslashreplace")
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, end)
            raise OutputError(f"{self.path} can't be written ({error.strerror}); mend that and label again.") from error
        self._labels.append(label)

    def _read(self) -> Iterator[int | None]:
        """The labels in the file; half a line that a crash left is cut off."""
        with self.path.open("rb") as lines:
            for place, line in enumerate(lines):
                if line.endswith(b"\n"):
                    yield self._label(line, place)
                    continue
                if line.endswith(b"}") or not line.startswith(_START[: len(line)]):
                    self._label(line, place)  # a file of something else is refused, not cut
                os.ftruncate(self._file, os.fstat(self._file).st_size - len(line))

    def _label(self, line: bytes, place: int) -> int | None:
        try:
            record = json.loads(line)
            key = (record["question"] or "", record["candidate"], *record["references"])
            label, probability = record["label"], float(record["probability"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self.path} line {place + 1} was not written by bert-judge label; choose another --labels."
            ) from error
        draw = self._draws[place] if place < len(self._draws) else None
        if draw is None or key != draw.row.key or not math.isclose(probability, draw.probability, rel_tol=1e-6):
            raise InputError(
                f"{self.path} line {place + 1} is not what is drawn from this run; give the run, --strategy and --seed "
                "with which it was begun, or choose another --labels."
            )
        if label not in (0, 1, None):
            raise InputError(f"{self.path} line {place + 1} has the label {label!r}; 0, 1 or null was expected.")
        return None if label is None else int(label)


class LabelServer(ThreadingHTTPServer):
    """Serves the page of a `Labelling` on 127.0.0.1 at its `url`. Raises OutputError for a port in use.

    The token in the URL keeps out other users of this machine; the checks of Host and Origin keep out other pages in
    the same browser (DNS rebinding included).
    """

    daemon_threads = True

    def __init__(self, labelling: Labelling, port: int = 0) -> None:
        self.labelling = labelling
        self.token = secrets.token_urlsafe(16)
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise OutputError(f"the port {port} can't be used ({error}); choose another --port, or 0.") from error

    def server_bind(self) -> None:
        """Take the port without looking up the name of this machine, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    @property
    def url(self) -> str:
        """The address of the page, with its token."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"


class _RefusedError(Exception):
    """Why a request is refused: its status and a sentence; never leaves this module."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """The page, its state, and its two actions."""

    server: LabelServer
    timeout = 30  # of silence

    def do_GET(self) -> None:
        """Send the page or its state."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Decide or undo, and send the new state."""
        self._answer(self._post)

    def log_message(self, *_: object) -> None:
        """Print nothing: the address has the token in it."""

    def _answer(self, how: Callable[[str], tuple[bytes, str]]) -> None:
        status, kind = 200, "application/json"
        try:
            body, kind = how(self._name())
        except _RefusedError as refused:
            status, body = refused.status, json.dumps({"error": str(refused)}).encode()
        except OutputError as error:
            status, body = 500, json.dumps({"error": str(error)}).encode()
        self.send_response(status)
        for header, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    def _name(self) -> str:
        """What the path asks for, after the token. Raises _RefusedError for other pages and users."""
        host = self.headers.get("Host", "")
        if urlsplit(f"//{host}").hostname not in ("127.0.0.1", "localhost"):
            raise _RefusedError(403, "this page is for this machine alone")
        token, _, name = urlsplit(self.path).path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _RefusedError(403, "the address lacks its token; open the one that bert-judge label printed")
        if self.command == "POST" and self.headers.get("Origin") != f"http://{host}":
            raise _RefusedError(403, "another page has asked")
        return name

    def _get(self, name: str) -> tuple[bytes, str]:
        if name == "state":
            return self._state(urlsplit(self.path).query == "judge=1")
        if name not in _PAGES:
            raise _RefusedError(404, "there is nothing here")
        return static(_PAGES[name])

    def _post(self, name: str) -> tuple[bytes, str]:
        asked = self._asked()
        number, label = asked.get("draw"), asked.get("label")
        if name == "undo":
            if not self.server.labelling.undo():
                raise _RefusedError(409, "there is nothing to undo")
        elif name != "decide":
            raise _RefusedError(404, "there is nothing here")
        elif type(number) is not int or "label" not in asked or label not in (0, 1, None) or isinstance(label, bool):
            raise _RefusedError(400, "a draw and a label (1, 0 or null) were expected")
        elif not self.server.labelling.decide(number, label):
            raise _RefusedError(409, "this answer has been decided already, perhaps in another window")
        return self._state(asked.get("judge") is True)

    def _asked(self) -> Mapping[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(415, "JSON was expected")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LONGEST_REQUEST:
            raise _RefusedError(413, "a short request with its length was expected")
        try:
            asked = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise _RefusedError(400, "the request is not JSON") from error
        if not isinstance(asked, dict):
            raise _RefusedError(400, "a JSON object was expected")
        return asked

    def _state(self, with_judge: bool) -> tuple[bytes, str]:
        return json.dumps(self.server.labelling.state(with_judge)).encode(), "application/json"


def _record(draw: Draw, label: int | None) -> dict[str, Any]:
    """A line of the file."""
    row = draw.row
    return {
        "id": row.id,
        "question": row.question,
        "references": list(row.references),
        "candidate": row.candidate,
        "label": label,
        "probability": draw.probability,
        "labelled_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _judge(draw: Draw) -> dict[str, Any]:
    return {"label": draw.row.label, "score": draw.row.score, "explanation": draw.row.explanation}
