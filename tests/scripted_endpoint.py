"""An endpoint on loopback, of a chat or decision model, that says what a test tells it to, faults included."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from waiting import PATIENCE


@dataclass(frozen=True)
class Answer:
    """What the endpoint does with one request."""

    text: str | None = "Final answer: True"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    seconds: float = 0.0
    cut: bool = False
    finish_reason: str = "stop"
    reasoning: str | None = None
    usage: str | None = None
    """The JSON of `usage`, in the place of the number of words."""

    drips: float = 0.0
    """Seconds between blanks that never end: in a header, where the answer has headers, or else in the body."""

    tokens: Sequence[tuple[str, Mapping[str, float]]] = ()
    """The last tokens of the reply, each with the log probabilities of the likeliest ones."""

    probability: float | None = 0.9
    """What a decision route answers; None is a refusal."""

    def content(self, prompt: str, asked: Mapping) -> bytes:
        if self.body is not None:
            return self.body.encode()
        if self.status != 200:
            return json.dumps({"error": {"message": "scripted trouble"}}).encode()
        if "questions" in asked:
            return json.dumps(self.decided(prompt, asked)).encode()
        message = {"role": "assistant", "content": self.text}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        choice: dict = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        if self.tokens:
            choice["logprobs"] = {"content": [_token(token, known) for token, known in self.tokens]}
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(str(self.text or "").split())}
        completion = json.dumps({"object": "chat.completion", "choices": [choice]})[:-1]
        return f'{completion}, "usage": {self.usage or json.dumps(usage)}}}'.encode()

    def decided(self, prompt: str, asked: Mapping) -> dict:
        """The answers to one question, as openai.types.Decision or as TypeSafe's SystemOneResponse."""
        usage: dict = {"input_tokens": len(prompt.split()), "output_tokens": 1}
        if "state" in asked:
            answer = {"type": "noul", "noul": self.probability}
            answers: object = {} if self.probability is None else dict.fromkeys(asked["questions"], answer)
            return {"model": asked["model"], "answers": answers, "usage": usage}
        refusal, predicate = {"type": "refusal"}, {"type": "predicate", "probability": self.probability}
        answer = refusal if self.probability is None else predicate
        usage |= {"total_tokens": usage["input_tokens"] + 1, "output_tokens_details": {"reasoning_tokens": 0}}
        usage["input_tokens_details"] = {"cache_write_tokens": 0, "cached_tokens": 0}
        answers = [{**answer, "name": question.get("name")} for question in asked["questions"]]
        return {"model": asked["model"], "answers": answers, "usage": usage}


def _token(token: str, known: Mapping[str, float]) -> dict:
    top = [{"token": alternative, "logprob": value} for alternative, value in known.items()]
    return {"token": token, "logprob": known[token], "top_logprobs": top}


MALFORMED = Answer(body='{"choices": [{"mess')
EMPTY = Answer(body='{"choices": []}')
NO_COMPLETION = Answer(body='{"choices": [{"delta": 1}]}')
CUT = Answer(cut=True)

Script = Callable[[str, int], Answer]
"""From the prompt (the path, where a request has none), and how often it was asked before, to what is answered."""


class Endpoint:
    """A running endpoint: its address, the bodies of all requests, and how often each prompt was asked."""

    def __init__(self, script: Script, server: ThreadingHTTPServer) -> None:
        self.script = script
        self.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        self.bodies: list[dict] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.asked: Counter[str] = Counter()
        self.times: list[float] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self._left: int | None = None
        self._released = threading.Event()

    @contextmanager
    def held_after(self, answers: int) -> Iterator[None]:
        """Within this, so many more requests are answered; those that come then wait for the end of it."""
        self._left, self._released = answers, threading.Event()
        try:
            yield
        finally:
            self._left = None
            self._released.set()

    def wait_for_turn(self) -> None:
        """Wait where requests are held."""
        with self.lock:
            if self._left is None:
                return
            self._left -= 1
            answered_at_once = self._left >= 0
        if not answered_at_once:
            assert self._released.wait(PATIENCE)

    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]


@contextmanager
def endpoint(script: Script | Answer) -> Iterator[Endpoint]:
    """Serve a script, or always the same answer."""
    server = _Server(("127.0.0.1", 0), _Handler)
    running = Endpoint(script if callable(script) else lambda *_: script, server)
    server.endpoint = running  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # connections that come at once; with the default of 5 some are reset

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed is no trouble of ours
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        running: Endpoint = self.server.endpoint  # type: ignore[attr-defined]
        length = int(self.headers["content-length"] or 0)
        content = self.rfile.read(length)
        if len(content) < length:  # the client was killed before it had asked
            self.close_connection = True
            return
        body = json.loads(content or b"{}")
        prompt = self.prompt(body)
        with running.lock:
            before = running.asked[prompt]
            running.asked[prompt] += 1
            running.bodies.append(body)
            running.headers.append(dict(self.headers))
            running.paths.append(self.path)
            running.times.append(time.monotonic())
            running.busy += 1
            running.busiest = max(running.busiest, running.busy)
        running.wait_for_turn()
        answer = running.script(prompt, before)
        time.sleep(answer.seconds)
        if answer.drips:
            self.drip(answer)
        with running.lock:
            running.busy -= 1
        if answer.drips:
            return
        content = answer.content(prompt, body)
        try:
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content) + (100 if answer.cut else 0)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # the client has given up
            self.close_connection = True
        self.close_connection |= answer.cut

    def prompt(self, body: dict) -> str:
        """What is asked about: the last message, or the state of a decision; the path, where a request has none."""
        if "messages" in body:
            return body["messages"][-1]["content"]
        return json.dumps(body["state"], ensure_ascii=False) if "state" in body else body.get("input", self.path)

    def drip(self, answer: Answer) -> None:
        """Send blanks until the client has gone."""
        self.close_connection = True
        head = b"X-Slow:" if answer.headers else b"Content-Length: 1000000\r\n\r\n"
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + head)
            while True:
                self.wfile.write(b" ")
                time.sleep(answer.drips)
        except OSError:
            pass

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass
