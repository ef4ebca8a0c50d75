"""Turns for work that holds up the event loop: one at a time, and three times as long for everybody else after each."""

from __future__ import annotations

import asyncio

_PAUSE = 3  # times as long as the work


class Turns:
    """Within one event loop. After `await turns.turn()` what follows at once, up to the next wait, is the work."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def turn(self) -> None:
        """Wait for a turn; it ends by itself when the work is done and others have had theirs."""
        await self._lock.acquire()
        loop = asyncio.get_running_loop()
        start = loop.time()
        loop.call_soon(lambda: loop.call_later(_PAUSE * (loop.time() - start), self._lock.release))
