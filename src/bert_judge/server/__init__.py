"""Judges over HTTP, and pages for the browser: try a judge, label answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Final

from bert_judge.errors import InputError, import_extra

_MAY_BE_ZERO: Final = frozenset(["port", "batch_wait", "drain_delay", "drain_seconds"])
_ORDERED: Final = (("max_body", "max_bodies"), ("max_row", "max_characters"), ("max_rows", "queue_rows"))
"""A limit of one, and the limit of all together, which must be at least as large."""


def need_server(feature: str) -> None:
    """Raises MissingExtraError, naming the feature, if the extra [server] is not installed."""
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        import_extra(package, feature, "server", package.replace("_", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where a server listens, how it batches, and what it refuses. Raises InputError for values out of range."""

    host: Annotated[str, "address to listen on; 0.0.0.0: all networks"] = "127.0.0.1"
    port: Annotated[int, "port to listen on; 0: any free one"] = 8000
    allowed_hosts: Annotated[
        str | None,
        "host names that clients may use: a,b; *: any (default: any with API keys, else this machine's)",
    ] = None
    api_keys: Annotated[
        str | None, "file with one API key a line (or BERT_JUDGE_API_KEYS=a,b); without, a client gets a 401"
    ] = None
    batch_rows: Annotated[int, "most rows in a batch"] = 64
    batch_characters: Annotated[int, "most characters in a batch of several rows"] = 250_000
    batch_seconds: Annotated[float, "seconds after which a batch takes no more rows"] = 0.25
    batch_wait: Annotated[float, "milliseconds that an idle judge waits for more rows"] = 2.0
    queue_rows: Annotated[int, "most rows waiting for a judge; further ones get a 429"] = 2048
    max_rows: Annotated[int, "most rows in a request"] = 1024
    max_text: Annotated[int, "most characters in a text"] = 500_000
    max_row: Annotated[int, "most characters in a row, counting candidate and question once for each reference"] = (
        1_000_000
    )
    max_characters: Annotated[int, "most characters in all rows of a request"] = 8_000_000
    max_body: Annotated[int, "most bytes in a request"] = 8_000_000
    max_bodies: Annotated[int, "most bytes in all current requests together; further ones get a 429"] = 128_000_000
    max_connections: Annotated[int, "most connections, if the process may open that many files"] = 20_000
    body_seconds: Annotated[float, "seconds within which a request must arrive"] = 30.0
    answer_seconds: Annotated[float, "seconds within which a client must read its answer"] = 60.0
    row_seconds: Annotated[float, "seconds that patterns and formulas may take for a row before it fails"] = 0.6
    drain_delay: Annotated[float, "seconds to keep serving after SIGTERM, with /ready at 503, before draining"] = 0.0
    drain_seconds: Annotated[int, "most seconds to answer the remaining requests after that"] = 120
    state_map: Annotated[
        Mapping[str, str] | None, "other names in a decision's state: question=input.q,candidate=result.text"
    ] = None
    state_template: Annotated[
        str | None, "the pattern of a state that is text: 'Q: {question}\\nRight: {reference}\\nGiven: {candidate}'"
    ] = None
    questions: Annotated[
        Mapping[str, str] | None, "other names of the questions that ask for correctness: is_right=correct"
    ] = None
    log_texts: Annotated[bool, "log questions, references and candidates"] = False
    quiet: Annotated[bool, "log only failures"] = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            may_be_zero = option.name in _MAY_BE_ZERO
            if not (0 <= value < float("inf") and (value or may_be_zero)):
                expected = "of at least 0" if may_be_zero else "over 0"
                raise InputError(f"{option.name} is {value}; a number {expected} was expected.")
        if self.port >= 1 << 16:
            raise InputError(f"port is {self.port}; a number from 0 to 65535 was expected.")
        for one, together in _ORDERED:
            if getattr(self, one) > getattr(self, together):
                values = f"{one} is {getattr(self, one)} and {together} is {getattr(self, together)}"
                raise InputError(f"{values}; {together} must be at least {one}.")

    @property
    def limits(self) -> dict[str, int]:
        """The limits that clients must keep to."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.name.startswith("max_")}
