"""How often somebody may do something: so many at once, then one in so many seconds."""

from collections.abc import Callable

_MOST = 1024  # of those who are remembered; whoever did nothing for longest is forgotten first


class Rate:
    """A limit for each of many, by name.

    One number is kept of each: when all that was done would be paid off at the rate (the generic
    cell rate algorithm of ATM Forum TM-4.1, annex B).
    """

    def __init__(self, at_once: int, every_s: float, now: Callable[[], float]) -> None:
        """`now`: seconds of a clock that is never set."""
        self._ahead_s = (at_once - 1) * every_s
        self._every_s = every_s
        self._now = now
        self._paid: dict[str, float] = {}

    def wait_s(self, who: str) -> float:
        """Seconds until they may again, 0 for now."""
        wait = self._paid.get(who, 0.0) - self._now() - self._ahead_s
        return max(0.0, round(wait, 6))  # sums of fractions are not exact

    def take(self, who: str) -> float:
        """Count one that is done now, and give 0; or count nothing, and give the seconds until it
        may be."""
        wait = self.wait_s(who)
        if wait:
            return wait
        paid = max(self._paid.pop(who, 0.0), self._now()) + self._every_s
        if len(self._paid) >= _MOST:
            del self._paid[next(iter(self._paid))]
        self._paid[who] = paid
        return 0.0
