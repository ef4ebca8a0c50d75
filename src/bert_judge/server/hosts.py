"""By which names a server is called, and which pages may ask it to change something.

A page of another site can have its own name lead to this machine (DNS rebinding) and then read what is answered there;
the browser still sends that name as the host.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

LOOPBACK: Final = frozenset(["localhost", "127.0.0.1", "[::1]"])
"""The names of one's own machine."""

_PORT = re.compile(r":\d*\Z")


def host_name(header: str) -> str:
    """The name in a header `Host`, or in a list of names: without its port, in lower case."""
    name = header.strip().lower()
    return f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else _PORT.sub("", name)


def allowed_hosts(host: str, names: Collection[str] | None, has_keys: bool) -> frozenset[str] | None:
    """The names by which a server that listens on `host` may be called, None for any.

    Without `names` a server with keys may be called by any: a page that reaches it does not have the key.
    """
    if names is None and has_keys:
        return None
    return LOOPBACK | {host_name(name) for name in (host, *(names or ()))}


def allows(allowed: frozenset[str] | None, headers: Sequence[bytes]) -> bool:
    """Whether a request with these headers `Host` is answered: there is one, and it has an allowed name."""
    if allowed is None or "*" in allowed:
        return True
    names = [host_name(header.decode("latin-1")) for header in headers]
    return len(names) == 1 and (names[0] in allowed or any(_is_below(names[0], each) for each in allowed))


def is_same_origin(origin: str, host: str) -> bool:
    """Whether a page of this server has asked: browsers send Origin with everything that may change something."""
    return origin.partition("://")[2] == host != ""


def _is_below(name: str, wildcard: str) -> bool:
    return wildcard.startswith("*.") and name.endswith(wildcard[1:])
