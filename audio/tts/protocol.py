"""What every voice does."""

from collections.abc import Callable, Iterator
from typing import Protocol

# 1.0 is the voice's own pace, 2.0 twice as fast. A function is asked before each clause.
Speed = float | Callable[[], float]


class Voice(Protocol):
    """Turns a clause into sound. Blocking: it is called from a worker thread."""

    @property
    def name(self) -> str:
        """For logs and the journal, e.g. "espeak:en"."""
        ...

    @property
    def rate(self) -> int:
        """Hz of the PCM that `speak` yields."""
        ...

    def speak(self, text: str) -> Iterator[bytes]:
        """Mono int16 PCM of `text`, in pieces as they are made. Blank text gives nothing.

        Raises AudioError when the voice fails. Closing the iterator stops the work.
        """
        ...


def speed_now(speed: Speed) -> float:
    """The speed of the clause that is about to be spoken."""
    return speed() if callable(speed) else speed
