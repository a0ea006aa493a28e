"""Short phrases that were said before, ready to be said again."""

from collections import OrderedDict
from dataclasses import dataclass

from audio.tts.protocol import Chunk

MOST_BYTES = 4 * 1024 * 1024  # about 95 s at 22 050 Hz
LONGEST = 60  # characters; longer texts hardly ever come again


@dataclass(frozen=True, slots=True)
class Phrase:
    """What must be the same for the same sound."""

    voice: str  # of which engine and file
    speaker: str  # "" where the voice has but one
    speed: float
    text: str


class PhraseCache:
    """The phrases used last, within a number of bytes. Not for several threads at once."""

    def __init__(self, most_bytes: int = MOST_BYTES, longest: int = LONGEST) -> None:
        self._most_bytes = most_bytes
        self._longest = longest
        self._kept: OrderedDict[Phrase, tuple[Chunk, ...]] = OrderedDict()
        self.bytes = 0  # of sound that is kept

    def get(self, phrase: Phrase) -> tuple[Chunk, ...] | None:
        """The whole sound of the phrase, None where it is not kept."""
        if phrase in self._kept:
            self._kept.move_to_end(phrase)
        return self._kept.get(phrase)

    def put(self, phrase: Phrase, sound: tuple[Chunk, ...]) -> None:
        """Keep the whole sound of the phrase; what was used longest ago goes for it.

        A text or a sound that is too long is not kept.
        """
        size = _size(sound)
        if not sound or len(phrase.text) > self._longest or size > self._most_bytes:
            return
        self.bytes += size - _size(self._kept.pop(phrase, ()))
        self._kept[phrase] = sound
        while self.bytes > self._most_bytes:
            self.bytes -= _size(self._kept.popitem(last=False)[1])


def _size(sound: tuple[Chunk, ...]) -> int:
    return sum(len(chunk.pcm) for chunk in sound)
