"""Remembers which server is down: it is not called again until a while has passed."""

from dataclasses import dataclass

from assistant.domain.clock import Clock

FAILURES_TO_OPEN = 3  # in a row
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
PROBE_S = 30.0  # a probe of which nothing is heard is given up


@dataclass(slots=True)
class _Breaker:
    """One server's."""

    failures: int = 0  # in a row
    pause_s: float = FIRST_PAUSE_S  # of the next opening
    until_s: float | None = None  # open until then, on the monotonic clock; None: closed
    probe_until_s: float | None = None  # one call is on its way to see; None: none


class Breakers:
    """One breaker for each server, closed at first.

    Failures are the server's own: unreachable, no answer in time, an answer that is none. A tool
    that ran and reports an error is a success here.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._breakers: dict[str, _Breaker] = {}

    def admits(self, server: str) -> bool:
        """Whether it may be called now. After a pause one call is let through to see.

        Each call that is admitted must be followed by `succeeded`, `failed` or nothing (cancelled).
        """
        breaker = self._breakers.get(server)
        if breaker is None or breaker.until_s is None:
            return True
        now = self._clock.monotonic()
        if now < breaker.until_s:
            return False
        if breaker.probe_until_s is not None and now < breaker.probe_until_s:
            return False
        breaker.probe_until_s = now + PROBE_S
        return True

    def is_down(self, server: str) -> bool:
        """Whether its last calls failed; nothing is let through by asking."""
        breaker = self._breakers.get(server)
        return breaker is not None and breaker.until_s is not None

    def succeeded(self, server: str) -> None:
        """It has answered."""
        self._breakers.pop(server, None)

    def failed(self, server: str) -> None:
        """It has not. Failures of calls that were sent before it opened change nothing."""
        breaker = self._breakers.setdefault(server, _Breaker())
        if breaker.until_s is not None and breaker.probe_until_s is None:
            return
        breaker.failures += 1
        if breaker.until_s is None and breaker.failures < FAILURES_TO_OPEN:
            return
        breaker.until_s = self._clock.monotonic() + breaker.pause_s
        breaker.probe_until_s = None
        breaker.pause_s = min(2 * breaker.pause_s, LONGEST_PAUSE_S)
