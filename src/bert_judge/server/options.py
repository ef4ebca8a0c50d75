"""What `bert-judge serve` takes besides its judges."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Final

from bert_judge.errors import InputError
from bert_judge.inputs.limits import Limits

_COUNTS: Final = (
    *("batch_rows", "batch_characters", "queue_rows", "max_rows", "max_file_rows", "max_text", "max_row"),
    *("max_characters", "max_columns", "max_body", "max_bodies", "max_connections"),
)
_SECONDS: Final = ("batch_wait", "body_seconds", "drain_delay", "drain_seconds")
_SOME_SECONDS: Final = ("batch_seconds", "answer_seconds", "row_seconds", "report_seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where a server listens, how it batches, and what it refuses. Raises InputError for values that make no sense."""

    host: Annotated[str, "the address to listen on; 0.0.0.0: every network"] = "127.0.0.1"
    port: Annotated[int, "0: any that is free"] = 8000
    allowed_hosts: Annotated[
        str | None,
        "names with commas by which clients call it; * is any (default: any with keys, else this machine's and --host)",
    ] = None
    api_keys: Annotated[str | None, "file with a key a line (or BERT_JUDGE_API_KEYS=key,key): others get a 401"] = None
    batch_rows: Annotated[int, "the most rows that a judge is given together"] = 64
    batch_characters: Annotated[int, "the most characters to read for them, or one row"] = 250_000
    batch_seconds: Annotated[float, "seconds after which a judge is given no more rows of a batch"] = 0.25
    batch_wait: Annotated[float, "milliseconds that an idle judge waits for more rows"] = 2.0
    queue_rows: Annotated[int, "the most rows that wait for a judge; what comes then gets a 429"] = 2048
    max_rows: Annotated[int, "the most rows of a request"] = 1024
    max_file_rows: Annotated[int, "the most rows of a file that gets its report"] = 10_000
    max_text: Annotated[int, "the most characters of a text"] = 500_000
    max_row: Annotated[int, "the most characters of a row, those of candidate and question for each reference"] = (
        1_000_000
    )
    max_characters: Annotated[int, "the most characters of all rows of a request, or of a file"] = 8_000_000
    max_columns: Annotated[int, "the most columns of a file"] = 1_000
    max_body: Annotated[int, "the most bytes of a request"] = 8_000_000
    max_bodies: Annotated[int, "the most bytes of all requests under way; what comes then gets a 429"] = 128_000_000
    max_connections: Annotated[int, "the most connections, as far as the process may open so many files"] = 20_000
    body_seconds: Annotated[float, "seconds within which a request has to arrive"] = 30.0
    answer_seconds: Annotated[float, "seconds within which a client has to take its answer"] = 60.0
    row_seconds: Annotated[float, "seconds that patterns and formulas of a row may take; else it is failed"] = 0.6
    report_seconds: Annotated[float, "seconds of work on a file's report, besides its judging"] = 30.0
    drain_delay: Annotated[float, "seconds to go on after SIGTERM, while /ready says 503, before draining"] = 0.0
    drain_seconds: Annotated[int, "the most seconds for the requests under way after that"] = 120
    log_texts: Annotated[bool, "write questions, references and candidates into the log"] = False
    quiet: Annotated[bool, "log nothing but what goes wrong"] = False

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; a number of at least 1 was expected.")
        for name in _SECONDS:
            if not 0 <= getattr(self, name) < float("inf"):
                raise InputError(f"{name} is {getattr(self, name):g}; a number of at least 0 was expected.")
        for name in _SOME_SECONDS:
            if not 0 < getattr(self, name) < float("inf"):
                raise InputError(f"{name} is {getattr(self, name):g}; a number over 0 was expected.")
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"port is {self.port}; a number from 0 to 65535 was expected.")
        if self.max_body > self.max_bodies:
            raise InputError(
                f"max_body is {self.max_body} and max_bodies {self.max_bodies}: the largest requests would never be "
                "taken; let all of them together have at least the size of one."
            )
        if self.max_row > self.max_characters:
            raise InputError(
                f"max_row is {self.max_row} and max_characters {self.max_characters}: the largest rows would never be "
                "taken; let a request hold at least one of them."
            )
        if self.max_rows > self.queue_rows:
            raise InputError(
                f"max_rows is {self.max_rows} and queue_rows {self.queue_rows}: the largest requests would never be "
                "taken; let the queue hold at least one of them."
            )

    @property
    def limits(self) -> dict[str, int]:
        """What clients have to keep to."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name.startswith("max_")}

    @property
    def file_limits(self) -> Limits:
        """What a file may cost that gets its report."""
        return Limits(
            text=self.max_text,
            characters=self.max_characters,
            whole=self.max_body,
            columns=self.max_columns,
        )

    @property
    def host_names(self) -> frozenset[str] | None:
        """The names in `allowed_hosts`, in lower case; None where there are none."""
        if self.allowed_hosts is None:
            return None
        return frozenset(name.strip().lower() for name in self.allowed_hosts.split(",") if name.strip())
