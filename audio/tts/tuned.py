"""A wrapper of a voice that levels it, measures its speed and caches short phrases."""

import logging
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from audio.tts import Chunk, Speed, Voice, speed_now

Samples = NDArray[np.float64]  # 1.0 is full scale

TARGET_DB = -18.0  # dBFS, the RMS of the speech without its pauses
CEILING_DB = -1.0  # dBFS that no sample exceeds
MOST_GAIN_DB = 20.0  # up or down
SLEW_DB_PER_S = 0.5  # per second of audio; too slow to be noticed
SETTLING_DB_PER_S = 12.0  # while little is known about a voice
SETTLED_S = 1.0  # speech needed to know a voice's loudness
GATE_MS = 50  # length of the blocks that are classified as speech or not
MEMORY_S = 20.0  # newest audio, without silence, from which a voice's loudness is computed
SILENCE_DB = -60.0  # dBFS; anything below is not speech
GATE_DB = -10.0  # nor is anything this far below the mean
LIMIT_MS = 5  # length of the limiter's steps
RECOVERY_DB_PER_STEP = 0.25  # 50 dB a second
_FULL_SCALE = 32_768.0
_MEMORY_BLOCKS = round(MEMORY_S * 1000 / GATE_MS)


class Leveller:
    """Brings each voice to `TARGET_DB` with a gain that belongs to the voice, not to the clause.
    Not thread-safe.

    After the first clauses of a voice, its gain changes slowly, so that differences in loudness
    between clauses are kept.
    """

    def __init__(self, target_db: float = TARGET_DB) -> None:
        self._target_db = target_db
        self._accounts: dict[str, _Account] = {}

    def level(self, voice: str, pcm: bytes, rate: int, volume: float = 1.0) -> bytes:
        """Level the next audio of `voice`, which is any name that identifies the speaker.

        `pcm` is mono int16 at `rate` Hz, and the result has the same length. A `volume` of 1.0 is
        the target, and 0.5 is 6 dB below it.
        """
        if not pcm:
            return pcm
        samples = np.frombuffer(pcm, np.int16) / _FULL_SCALE
        account = self._accounts.setdefault(voice, _Account())
        account.hear(samples, rate)
        begin, end = account.move(self._target_db, len(samples) / rate)
        louder = samples * np.linspace(_factor(begin), _factor(end), len(samples)) * volume
        limited, account.limit = limit(louder, rate, account.limit)
        return np.round(limited * _FULL_SCALE).astype(np.int16).tobytes()


@dataclass
class _Account:
    # Mean squares of GATE_MS each; full scale is 1.0.
    blocks: deque[float] = field(default_factory=lambda: deque(maxlen=_MEMORY_BLOCKS))
    rest: Samples = field(default_factory=lambda: np.zeros(0))  # too short for a block yet
    gain_db: float | None = None  # None until its first audio
    limit: float = 1.0  # the limiter's factor at the last sample

    def hear(self, samples: Samples, rate: int) -> None:
        powers, self.rest = block_powers(np.concatenate((self.rest, samples)), rate)
        self.blocks.extend(powers)

    def move(self, target_db: float, seconds: float) -> tuple[float, float]:
        power, speech_s = speech_power(self.blocks)
        if not speech_s:
            return 0.0, 0.0
        wanted = target_db - 10 * math.log10(power)
        wanted = min(MOST_GAIN_DB, max(-MOST_GAIN_DB, wanted))
        if self.gain_db is None:
            self.gain_db = wanted
            return wanted, wanted
        settled = speech_s > SETTLED_S
        most = (SLEW_DB_PER_S if settled else SETTLING_DB_PER_S) * seconds
        begin = self.gain_db
        self.gain_db = begin + min(most, max(-most, wanted - begin))
        return begin, self.gain_db


def level_whole(pcm: bytes, rate: int, target_db: float = TARGET_DB) -> bytes:
    """Level a complete clip, mono int16 at `rate` Hz, to `target_db` with a single gain."""
    step = 2 * rate  # bytes in one second; the clip can be long
    pieces = [
        np.frombuffer(pcm[at : at + step], np.int16) / _FULL_SCALE
        for at in range(0, len(pcm), step)
    ]
    powers = [power for piece in pieces for power in block_powers(piece, rate)[0]]
    power, seconds = speech_power(powers)
    gain_db = target_db - 10 * math.log10(power) if seconds else 0.0  # 0.0 for silence
    factor = _factor(min(MOST_GAIN_DB, max(-MOST_GAIN_DB, gain_db)))
    made, before = bytearray(), 1.0
    for piece in pieces:
        limited, before = limit(piece * factor, rate, before)
        made += np.round(limited * _FULL_SCALE).astype(np.int16).tobytes()
    return bytes(made)


def block_powers(samples: Samples, rate: int) -> tuple[list[float], Samples]:
    """Return the mean squares of all complete, non-silent GATE_MS blocks, and the remaining
    samples."""
    size = max(1, rate * GATE_MS // 1000)
    whole = len(samples) // size * size
    blocks = samples[:whole].reshape(-1, size)
    powers = np.mean(blocks * blocks, axis=1)
    audible = [float(power) for power in powers if power > _factor(SILENCE_DB) ** 2]
    return audible, samples[whole:]


def speech_power(blocks: Collection[float]) -> tuple[float, float]:
    """Return the mean square of the speech in these blocks, and its length in seconds. Blocks far
    below the mean are left out, as in ITU-R BS.1770-4 (annex 1)."""
    if not blocks:
        return 0.0, 0.0
    gate = sum(blocks) / len(blocks) * _factor(GATE_DB) ** 2
    speech = [power for power in blocks if power > gate]
    return sum(speech) / len(speech), len(speech) * GATE_MS / 1000


def limit(samples: Samples, rate: int, before: float = 1.0) -> tuple[Samples, float]:
    """Keep samples (floats, where 1.0 is full scale) within `CEILING_DB`, with smooth gain changes.
    `before` is the gain at the end of the previous call. Returns the samples and the gain at their
    end."""
    ceiling = _factor(CEILING_DB)
    if before >= 1.0 and np.abs(samples).max(initial=0.0) <= ceiling:
        return samples, 1.0
    size = max(1, rate * LIMIT_MS // 1000)
    steps = -(-len(samples) // size)
    padded = np.zeros(steps * size)
    padded[: len(samples)] = np.abs(samples)
    peaks = padded.reshape(steps, size).max(axis=1)
    needed = np.minimum(1.0, ceiling / np.maximum(peaks, ceiling))
    # Each border obeys the limits of both neighbouring steps, so interpolating between borders
    # keeps every step within its limit.
    borders = np.append(needed, 1.0)
    borders[1:] = np.minimum(borders[1:], needed)
    borders[0] = min(before, borders[0])
    recovery = _factor(RECOVERY_DB_PER_STEP)
    for step in range(steps):
        borders[step + 1] = min(borders[step + 1], borders[step] * recovery)
    factors = np.interp(np.arange(len(samples)), np.arange(steps + 1) * size, borders)
    return samples * factors, float(factors[-1])


def _factor(decibel: float) -> float:
    return float(10.0 ** (decibel / 20))


MOST_BYTES = 4 * 1024 * 1024  # about 95 s at 22 050 Hz
LONGEST = 60  # characters; longer texts hardly ever repeat


@dataclass(frozen=True, slots=True)
class Phrase:
    """The cache key of a phrase: everything that determines its audio."""

    voice: str  # engine and file
    speaker: str  # "" if the voice has only one
    speed: float
    text: str


class PhraseCache:
    """A cache of the most recently used phrases, limited in bytes. Not thread-safe."""

    def __init__(self, most_bytes: int = MOST_BYTES, longest: int = LONGEST) -> None:
        self._most_bytes = most_bytes
        self._longest = longest
        self._kept: OrderedDict[Phrase, tuple[Chunk, ...]] = OrderedDict()
        self.bytes = 0  # size of the cached audio

    def get(self, phrase: Phrase) -> tuple[Chunk, ...] | None:
        if phrase in self._kept:
            self._kept.move_to_end(phrase)
        return self._kept.get(phrase)

    def put(self, phrase: Phrase, sound: tuple[Chunk, ...]) -> None:
        """Cache the phrase's complete audio, unless its text or audio is too long."""
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
    """Wraps a voice: levels its loudness, caches short phrases and measures its speed. Voices that
    run on the same thread can share the leveller and the cache."""

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
        """`identity` identifies the voice; by default, it is the voice's name. `speed` must be the
        speed that `voice` uses. A `volume` of 1.0 is the leveller's target."""
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
        """Seconds of work per second of recent audio, or None if this is not known yet."""
        return self._meter.factor

    @property
    def complaint(self) -> str:
        """A sentence that says that the voice is too slow on this machine, or "" if it isn't."""
        if self._meter.factor is None or not self._meter.slow:
            return ""
        return slowness(self.name, self._meter.factor)

    def speak(self, text: str) -> Iterator[Chunk]:
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
        # Cache it only here, because after a failure or a cancellation the phrase is incomplete.
        # Don't cache it if the speed has changed in the meantime.
        if self._phrase(phrase.text) == phrase:
            self._cache.put(phrase, tuple(made))
        if sound_s:
            self._meter.note(worked_s, sound_s)
            self._warn()

    def _warn(self) -> None:
        if self.complaint and not self._said_slow:
            self._said_slow = True
            logger.warning("%s", self.complaint)


RECENT_S = 30.0  # audio over which the factor is computed
ENOUGH_S = 1.0  # audio needed to compute the factor
TOO_SLOW = 0.5  # with a higher factor, long answers can have gaps under load
QUALITIES = ("x_low", "low", "medium", "high")  # of Piper's voices, as their names end


class Meter:
    """Measures a voice's real-time factor: seconds of work per second of audio."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, float]] = deque()
        self._sound_s = 0.0

    def note(self, worked_s: float, sound_s: float) -> None:
        self._recent.append((worked_s, sound_s))
        self._sound_s += sound_s
        while self._sound_s - self._recent[0][1] >= RECENT_S:
            self._sound_s -= self._recent.popleft()[1]

    @property
    def factor(self) -> float | None:
        if self._sound_s < ENOUGH_S:
            return None
        return sum(worked_s for worked_s, _ in self._recent) / self._sound_s

    @property
    def slow(self) -> bool:
        return self.factor is not None and self.factor > TOO_SLOW


def lighter(voice: str) -> str | None:
    """Return the name of the same Piper voice in the next lower quality, or None. Such a voice
    doesn't necessarily exist."""
    begin, dash, quality = voice.rpartition("-")
    if not dash or quality not in QUALITIES[1:]:
        return None
    return f"{begin}-{QUALITIES[QUALITIES.index(quality) - 1]}"


def slowness(name: str, factor: float) -> str:
    """Return a sentence that says how slow the voice `name` ("ENGINE:VOICE") is, and what to do
    about it."""
    engine, _, voice = name.partition(":")
    if lower := lighter(voice):
        instead = f"name {lower} in voice.models"
    elif engine == "espeak":  # no voice is lighter
        instead = "see what else keeps it busy"
    else:
        instead = 'set voice.engine = "espeak"'
    return (
        f"The voice {voice} takes {factor:.2f} s for each second of sound on this machine, "
        f"more than {TOO_SLOW:g} s; {instead}."
    )
