"""The options of a server, apart from its judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Final

from bert_judge.errors import InputError

_COUNTS: Final = (
    *("batch_rows", "batch_characters", "queue_rows", "max_rows", "max_file_rows", "max_text", "max_row"),
    *("max_characters", "max_columns", "max_body", "max_bodies", "max_connections"),
)
_SECONDS: Final = ("batch_wait", "body_seconds", "drain_delay", "drain_seconds")
_POSITIVE_SECONDS: Final = ("batch_seconds", "answer_seconds", "row_seconds", "report_seconds")
_RANGES: Final[Sequence[tuple[Sequence[str], Callable[[float], bool], str]]] = (
    (_COUNTS, lambda count: count >= 1, "of at least 1"),
    (_SECONDS, lambda seconds: 0 <= seconds < float("inf"), "of at least 0"),
    (_POSITIVE_SECONDS, lambda seconds: 0 < seconds < float("inf"), "over 0"),
    (("port",), lambda port: 0 <= port < 1 << 16, "from 0 to 65535"),
)
_ORDERED: Final = (("max_body", "max_bodies"), ("max_row", "max_characters"), ("max_rows", "queue_rows"))
"""A limit of one, and the limit of all together, which must be at least as large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where a server listens, how it batches, and what it refuses. Raises InputError for values out of range."""

    host: Annotated[str, "address to listen on; 0.0.0.0: every network"] = "127.0.0.1"
    port: Annotated[int, "0: any free port"] = 8000
    allowed_hosts: Annotated[
        str | None,
        "host names that clients may use, with commas; * is any (default: any with keys, else this machine)",
    ] = None
    api_keys: Annotated[str | None, "file with one key a line (or BERT_JUDGE_API_KEYS=key,key); others get a 401"] = (
        None
    )
    batch_rows: Annotated[int, "most rows in a batch"] = 64
    batch_characters: Annotated[int, "most characters in a batch of several rows"] = 250_000
    batch_seconds: Annotated[float, "seconds after which no more rows are added to a batch"] = 0.25
    batch_wait: Annotated[float, "milliseconds that an idle judge waits for more rows"] = 2.0
    queue_rows: Annotated[int, "most rows waiting for a judge; further ones get a 429"] = 2048
    max_rows: Annotated[int, "most rows in a request"] = 1024
    max_file_rows: Annotated[int, "most rows in a file for a report"] = 10_000
    max_text: Annotated[int, "most characters in a text"] = 500_000
    max_row: Annotated[int, "most characters in a row, counting candidate and question once for each reference"] = (
        1_000_000
    )
    max_characters: Annotated[int, "most characters in all rows of a request or file"] = 8_000_000
    max_columns: Annotated[int, "most columns in a file"] = 1_000
    max_body: Annotated[int, "most bytes in a request"] = 8_000_000
    max_bodies: Annotated[int, "most bytes in all current requests together; further ones get a 429"] = 128_000_000
    max_connections: Annotated[int, "most connections, if the process may open that many files"] = 20_000
    body_seconds: Annotated[float, "seconds within which a request must arrive"] = 30.0
    answer_seconds: Annotated[float, "seconds within which a client must read its answer"] = 60.0
    row_seconds: Annotated[float, "seconds that patterns and formulas may take for a row before it fails"] = 0.6
    report_seconds: Annotated[float, "seconds of work on a report, besides judging"] = 30.0
    drain_delay: Annotated[float, "seconds to keep serving after SIGTERM, with /ready at 503, before draining"] = 0.0
    drain_seconds: Annotated[int, "most seconds after that to answer the remaining requests"] = 120
    log_texts: Annotated[bool, "log questions, references and candidates"] = False
    quiet: Annotated[bool, "log only failures"] = False

    def __post_init__(self) -> None:
        for names, is_valid, expected in _RANGES:
            for name in names:
                if not is_valid(getattr(self, name)):
                    raise InputError(f"{name} is {getattr(self, name)}; a number {expected} was expected.")
        for one, together in _ORDERED:
            if getattr(self, one) > getattr(self, together):
                values = f"{one} is {getattr(self, one)} and {together} is {getattr(self, together)}"
                raise InputError(f"{values}; {together} must be at least {one}.")

    @property
    def limits(self) -> dict[str, int]:
        """The limits that clients must keep to."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.name.startswith("max_")}
