"""Refusals: a status, a sentence, and a reason by which they are counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

_TYPES: Final = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_REASONS: Final = {
    400: "json",
    401: "key",
    403: "origin",
    404: "name",
    405: "method",
    408: "body_seconds",
    409: "decided",
    413: "size",
    422: "invalid",
    429: "busy",
    499: "gone",
    503: "ending",
}
_SHOWN = 60  # characters of what was sent


class RefusedError(HTTPException):
    """Why a request is refused: its status, a sentence, and the reason in a word, for the figures."""

    def __init__(self, status: int, message: str, reason: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.reason = reason or reason_of(status)


class SafeJSONResponse(JSONResponse):
    """JSON that may hold half a character, which comes back as it came: escaped."""

    def render(self, content: Any) -> bytes:
        """The content as UTF-8."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def reason_of(status: int) -> str:
    """The reason of refusals that name none."""
    return _REASONS.get(status, "other")


def failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A response with an error in the shape of OpenAI's."""
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    return SafeJSONResponse({"error": {"message": message, "type": kind}}, status, dict(headers or {}))


def shown(value: object) -> str:
    """What was sent, for a sentence: the beginning of a text, the size of a list or an object."""
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, Mapping):
        return f"an object of {len(value):,}"
    text = repr(value[: _SHOWN + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def shortened(text: str) -> str:
    """The beginning of a name that was sent, for a sentence."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
