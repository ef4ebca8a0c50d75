"""What the server sends: JSON, errors in a sentence with a reason by which they are counted, and files of its pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""The headers of all that our pages load."""

INVALID: Final = "invalid"
"""The reason of a refusal that has no reason of its own."""

_MEDIA_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_TYPES: Final = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_LONGEST = 60  # characters of a client's text in a message


class RefusedError(HTTPException):
    """A refused request: its status, a sentence, and the reason in a word, for the metrics."""

    def __init__(
        self, status: int, message: str, reason: str = INVALID, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, headers)
        self.reason = reason


class SafeJSONResponse(JSONResponse):
    """JSON in ASCII: a text may hold a lone surrogate, which UTF-8 can't encode."""

    def render(self, content: Any) -> bytes:
        """The content as JSON."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error response in OpenAI's shape."""
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    return SafeJSONResponse({"error": {"message": message, "type": kind}}, status, dict(headers or {}))


def page_file(name: str) -> Response:
    """A file of one of our pages."""
    content = files("bert_judge.server").joinpath(name).read_bytes()
    media_type = _MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(content, media_type=f"{media_type}; charset=utf-8", headers=PAGE_HEADERS)


def shown(value: object) -> str:
    """A client's value for a message: the beginning of a text, the size of a list or an object."""
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, Mapping):
        return f"an object of {len(value):,}"
    return shortened(repr(value[: _LONGEST + 1] if isinstance(value, str | bytes) else value))


def shortened(text: str) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
