"""What every voice-activity detector does."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Voicing:
    """How much one chunk of sound is speech."""

    end: int  # sample index (16 kHz) at which the chunk ends
    probability: float  # 0 to 1


class VoiceDetector(Protocol):
    """Tells speech from everything else, chunk by chunk."""

    @property
    def chunk_samples(self) -> int:
        """Length of the chunks that it judges."""
        ...

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        """Take the next frame (FRAME_BYTES) that ends at sample `end`; give what chunks it ends."""
        ...

    def reset(self) -> None:
        """Forget what was heard; the next frame may have any place in the stream."""
        ...
