"""What every echo canceller does, and where it learns what the loudspeaker plays."""

from typing import Protocol


class Reference(Protocol):
    """Takes what goes to the loudspeaker, from the output's own thread."""

    def played(self, pcm: bytes, rate: int) -> None:
        """The next block of mono int16 that the device took, silence too. Must not block."""
        ...

    def stalled(self, seconds: float) -> None:
        """The device was silent so long before the next block, for want of one; 0: about so long,
        or nobody knows how long. Must not block."""
        ...


class Cleaner(Protocol):
    """Cleans the microphone's frames, on the microphone's own way to the ear."""

    def clean(self, pcm: bytes) -> bytes:
        """A frame (FRAME_BYTES, 16 kHz mono int16) without our own voice; as long as it was."""
        ...

    def restart(self) -> None:
        """The microphone was opened anew."""
        ...
