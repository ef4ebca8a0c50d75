"""Addresses of endpoints as they may be shown: without user, password and keys, which belong in no file.

What is written or printed has scheme, host, port and path; requests have the whole address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# One slash is left of two where an address was taken for a path.
_ADDRESS = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]+:/{1,2})(?P<rest>[^\s'\"<>|]*)", re.IGNORECASE)


def public_text(text: str) -> str:
    """The text with every address in it cut to scheme, host, port and path."""
    return _ADDRESS.sub(lambda found: found["scheme"] + _public(found["rest"]), text)


def public_command(command: Iterable[str]) -> list[str]:
    """The words of a command line, each as `public_text`, for the record of a run."""
    return [public_text(word) for word in command]


def _public(rest: str) -> str:
    """What follows the `//` of an address, without the user before the host, the query and the fragment."""
    host, slash, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    return host.rpartition("@")[2] + slash + path
