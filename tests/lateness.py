"""Lateness of this machine, which a test of real time must allow for."""

import threading
import time
from types import TracebackType

_TICK_S = 0.01
_USUAL_S = 0.005  # late is every sleep


class Lateness:
    """A thread that wakes a hundred times a second and adds up how late that was."""

    def __init__(self) -> None:
        self.ms = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="lateness", daemon=True)

    def __enter__(self) -> "Lateness":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _tick(self) -> None:
        due = time.monotonic() + _TICK_S
        while not self._over.wait(_TICK_S):
            now = time.monotonic()
            self.ms += max(0.0, now - due - _USUAL_S) * 1000
            due = now + _TICK_S
