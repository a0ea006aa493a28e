"""How much a server may send unasked: enough for any honest one, too little to hurt."""

from dataclasses import dataclass, field

BYTES = (32 * 1024 * 1024, 2 * 1024 * 1024)  # at once, and each second from then on
MESSAGES = (2_000, 100)  # lines of a program; events of a stream have two or three


class Allowance:
    """A bucket that fills with time. Pure: the caller brings the time."""

    def __init__(self, at_once: float, per_s: float) -> None:
        self._size = at_once
        self._per_s = per_s
        self._left = at_once
        self._at_s: float | None = None  # of the last taking

    def take(self, amount: float, now_s: float) -> bool:
        """Take `amount` at `now_s` (any monotonic clock); False: there is not so much."""
        if self._at_s is not None:
            self._left = min(self._size, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if amount > self._left:
            return False
        self._left -= amount
        return True


@dataclass(slots=True)
class Flow:
    """Of one connection: bytes and messages."""

    _bytes: Allowance = field(default_factory=lambda: Allowance(*BYTES))
    _messages: Allowance = field(default_factory=lambda: Allowance(*MESSAGES))

    def take(self, part: bytes, now_s: float) -> bool:
        """Whether this much more is bearable; a line is a message."""
        return self._bytes.take(len(part), now_s) and self._messages.take(part.count(b"\n"), now_s)
