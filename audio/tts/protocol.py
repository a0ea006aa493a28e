"""What every voice does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

# 1.0 is the voice's own pace, 2.0 twice as fast. A function is asked before each clause.
Speed = float | Callable[[], float]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a clause's sound, and which words end in it.

    The words are the whitespace-separated ones of the text given to `speak`, in order, over all
    chunks of that text.
    """

    pcm: bytes  # mono int16
    ends: tuple[int, ...] = ()  # samples from the chunk's begin; () where the voice cannot tell


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

    def speak(self, text: str) -> Iterator[Chunk]:
        """The sound of `text`, in pieces as they are made. Blank text gives nothing.

        Raises AudioError when the voice fails. Closing the iterator stops the work.
        """
        ...


def speed_now(speed: Speed) -> float:
    """The speed of the clause that is about to be spoken."""
    return speed() if callable(speed) else speed
