"""The files of the pages that are served, and the headers that go with them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def static(name: str) -> tuple[bytes, str]:
    """The content of a file of a page, and its media type."""
    return files("bert_judge.server").joinpath(name).read_bytes(), _TYPES[name.rpartition(".")[2]]
