"""A voice as Hearth uses it: levelled, measured, and quick with what it said before."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from audio.tts.level import Leveller, Meter, slowness
from audio.tts.protocol import Chunk, Speed, Voice, speed_now

# Short phrases that were said before, ready to be said again.


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


logger = logging.getLogger(__name__)


class TunedVoice:
    """Another voice with its loudness levelled, its short phrases kept and its pace measured.

    The leveller and the cache can be shared by voices that work in the same thread.
    """

    def __init__(
        self,
        voice: Voice,
        leveller: Leveller,
        cache: PhraseCache,
        *,
        identity: str = "",
        speaker: str = "",
        speed: Speed = 1.0,
        volume: float = 1.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`identity`: tells the voice from all others, "" where its name does.

        `speed`: the one that `voice` itself asks, only read here. `volume`: 1.0 is the leveller's
        loudness. `clock`: seconds.
        """
        self._voice = voice
        self._leveller = leveller
        self._cache = cache
        self._identity = identity or voice.name
        self._speaker = speaker
        self._speed = speed
        self._volume = volume
        self._clock = clock
        self._meter = Meter()
        self._said_slow = False

    @property
    def name(self) -> str:
        return self._voice.name

    @property
    def rate(self) -> int:
        return self._voice.rate

    @property
    def factor(self) -> float | None:
        """Seconds of work for each second of sound, of what was made last; None: not known yet."""
        return self._meter.factor

    @property
    def complaint(self) -> str:
        """One sentence where the voice is too slow for this machine, else ""."""
        if self._meter.factor is None or not self._meter.slow:
            return ""
        return slowness(self.name, self._meter.factor)

    def speak(self, text: str) -> Iterator[Chunk]:
        """As of every voice. Raises AudioError."""
        phrase = self._phrase(text)
        kept = self._cache.get(phrase)
        if kept is not None:
            yield from map(self._levelled, kept)
            return
        with closing(self._make(phrase)) as sound:
            yield from map(self._levelled, sound)

    def _levelled(self, chunk: Chunk) -> Chunk:
        who = f"{self._identity} {self._speaker}"
        pcm = self._leveller.level(who, chunk.pcm, self.rate, self._volume)
        return Chunk(pcm, chunk.ends)

    def _phrase(self, text: str) -> Phrase:
        return Phrase(self._identity, self._speaker, speed_now(self._speed), text)

    def _make(self, phrase: Phrase) -> Generator[Chunk]:
        made: list[Chunk] = []
        worked_s = sound_s = 0.0
        sound = self._voice.speak(phrase.text)
        try:
            began = self._clock()
            for chunk in sound:
                worked_s += self._clock() - began
                sound_s += len(chunk.pcm) / 2 / self.rate
                made.append(chunk)
                yield chunk
                began = self._clock()
            worked_s += self._clock() - began
        finally:
            if isinstance(sound, Generator):
                sound.close()
        # Only here: after a failure or a cancellation it would not be the whole phrase. And the
        # speed may have been changed while it was made.
        if self._phrase(phrase.text) == phrase:
            self._cache.put(phrase, tuple(made))
        if sound_s:
            self._meter.note(worked_s, sound_s)
            self._warn()

    def _warn(self) -> None:
        if self.complaint and not self._said_slow:
            self._said_slow = True
            logger.warning("%s", self.complaint)
