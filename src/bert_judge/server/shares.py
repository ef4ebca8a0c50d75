"""How much of a judge's time each client has used of late."""

from __future__ import annotations

from typing import Final

_HALVED: Final = 20.0  # seconds after which half of what was used is forgotten
_MOST_CLIENTS: Final = 4096


class Shares:
    """Seconds by client, of which half are forgotten every 20 seconds. Times are those of `time.monotonic`."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}

    def of(self, client: str, now: float) -> float:
        """The seconds that a client has used."""
        seconds, at = self._used.get(client, (0.0, now))
        return float(seconds * 0.5 ** ((now - at) / _HALVED))

    def add(self, client: str, seconds: float, now: float) -> None:
        """Note that a client has used so many more."""
        self._used[client] = self.of(client, now) + seconds, now
        if len(self._used) > _MOST_CLIENTS:
            most = sorted(self._used, key=lambda name: -self.of(name, now))
            self._used = {name: self._used[name] for name in most[: _MOST_CLIENTS // 2]}
