"""What every voice does."""

from collections.abc import Iterator
from typing import Protocol


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
