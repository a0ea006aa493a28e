"""How late the event loop is: what a program on it notices when something holds it up."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from integrations.owner import OwnedTasks

EVERY_S = 0.5
_KEPT = 120  # looks, the last minute


class LoopLag:
    """Sleeps again and again, and sees how much longer that took. Enter it on the loop.

    `beat_age_s` may be asked by any thread: it grows while the loop stands.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, every_s: float = EVERY_S) -> None:
        """`now`: seconds that never go back."""
        self._now = now
        self._every_s = every_s
        self._lags: deque[float] = deque(maxlen=_KEPT)
        self._beat = now()
        self.on_lag: Callable[[float], None] = lambda lag_s: None  # must not block
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        self._beat = self._now()
        await self._owner.__aenter__()
        self._owner.start(self._look(), "loop lag")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    @property
    def worst_s(self) -> float:
        """The worst of the last minute."""
        return max(self._lags, default=0.0)

    @property
    def beat_age_s(self) -> float:
        """Since the loop was last seen to go on."""
        return self._now() - self._beat

    async def _look(self) -> None:
        while True:
            due = self._now() + self._every_s
            await asyncio.sleep(self._every_s)
            self._beat = self._now()
            lag_s = max(0.0, self._beat - due)
            self._lags.append(lag_s)
            self.on_lag(lag_s)
