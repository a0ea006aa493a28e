"""Audio sink for speech: its loudness, its manner, and the words that were heard."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Protocol

import numpy as np

from audio.mixer import limited
from audio.player import Player
from audio.sound_files import Clip

BLOCK_MS = 10  # block length for detecting silence
QUIET = 200  # int16; sound below this counts as silence
PAUSE_MS = 100  # shorter silences belong to a word, for example before a "t"
# Speech without pauses per unit of `weight`, until a complete clause gives a better value.
# espeak-ng 1.51 at its default speed takes (median): en 62, es 61, de 60, pt 65, vi 57, fr 47.
PACE_MS = 62.0

_DIGIT = 5  # "7" is spoken like a word of five letters
_WORD = 0.5  # weight of a word in addition to its letters


def weight(word: str) -> float:
    """Estimate the relative duration of a word from its letters, with digits as they are spoken.

    Fitted to espeak-ng's own word times in en, es, de, fr, pt and vi (least squares: 33 ms per
    word, 62 ms per letter, 330 ms per digit; vowels add nothing).
    """
    letters = sum(char.isalpha() for char in word)
    return _WORD + letters + _DIGIT * sum(char.isdigit() for char in word)


class PlaybackProgress:
    """The audio of some words as it is made, to find how many words a part of it holds.

    A word is heard when its last sample has been played. If the voice does not report the words'
    ends, they are estimated: the time without pauses is divided among the words by their weight.
    """

    def __init__(self, text: str = "", pace_ms: float = PACE_MS) -> None:
        """`pace_ms` is the value of another `PlaybackProgress` of the same voice."""
        self.words: list[str] = text.split()
        self.whole = False  # no more sound follows
        self._pace_ms = pace_ms
        self._ends_ms: list[float] = []  # ends of words, as reported by the voice
        self._ms = 0.0  # of sound so far
        self._rest = np.zeros(0, np.int16)  # of the sound, less than a block
        self._loud: list[bool] = []  # for each block

    @property
    def sounds(self) -> bool:
        """True if any audio is to be played."""
        return self._ms > 0.0

    @property
    def pace_ms(self) -> float:
        """Milliseconds of speech per unit of `weight`."""
        weights = sum(map(weight, self.words))
        if not (self.whole and weights and self._spoken_ms):
            return self._pace_ms
        return self._spoken_ms[-1] / weights

    def tell(self, text: str) -> None:
        """Add words that the audio so far, or the audio to come, speaks."""
        self.words += text.split()

    def add(self, pcm: bytes, rate: int, ends: Sequence[int] = ()) -> None:
        """Add a piece of mono int16 at `rate` Hz; `ends` is as in `audio.tts.Chunk`."""
        self._ends_ms += [self._ms + end / rate * 1000 for end in ends]
        sound = np.frombuffer(pcm, np.int16)
        self._ms += len(sound) / rate * 1000
        sound = np.concatenate([self._rest, sound])
        size = rate * BLOCK_MS // 1000
        count = len(sound) // size
        blocks = sound[: count * size].astype(np.int32).reshape(count, size)
        self._loud += [bool(np.any(np.abs(block) > QUIET)) for block in blocks]
        self._rest = sound[count * size :]

    def heard(self, played_ms: float) -> str:
        """Return the words that have been heard after this much of the audio."""
        return " ".join(self.words[: self.words_heard(played_ms)])

    def words_heard(self, played_ms: float) -> int:
        """Return the number of words that have been heard after this much of the audio."""
        if played_ms <= 0.0 or not self._ms:
            return 0
        played_ms += 0.5  # positions are rounded when converted between rates
        if self.whole and played_ms >= self._ms:
            return len(self.words)
        told = len(self._ends_ms)
        if told == len(self.words) or (told and not self.whole):
            return min(bisect_right(self._ends_ms, played_ms), len(self.words))
        return self._estimate(played_ms)

    def _estimate(self, played_ms: float) -> int:
        spoken = self._spoken_ms
        blocks = min(int(played_ms / BLOCK_MS), len(spoken))
        if not blocks:
            return 0
        pace_ms = self.pace_ms
        needed = list(accumulate(weight(word) * pace_ms for word in self.words))
        # Rounding must not lose the last word of a complete clause.
        count = bisect_right(needed, spoken[blocks - 1] + 1e-6)
        return count if self.whole else min(count, len(self.words) - 1)

    @property
    def _spoken_ms(self) -> list[float]:
        """Milliseconds without pauses, up to the end of each block."""
        if not any(self._loud):  # a very quiet voice
            return [block * float(BLOCK_MS) for block in range(1, len(self._loud) + 1)]
        spoken: list[float] = []
        done = 0.0
        for loud, run in groupby(self._loud):
            count = sum(1 for _ in run)
            # Silence at either end is a pause, however short.
            inside = 0 < len(spoken) < len(self._loud) - count
            counts = loud or (inside and count * BLOCK_MS < PAUSE_MS)
            for _ in range(count):
                done += BLOCK_MS if counts else 0.0
                spoken.append(done)
        return spoken


@dataclass(frozen=True, slots=True)
class Manner:
    """Manner of an announcement: its tone, loudness and clip."""

    sound: str = ""  # tone of `audio.earcons` before it; "" for none
    volume: float | None = None  # 0 to 1, relative to the voice; None for the usual volume
    alarm: bool = False  # ignores quiet hours
    floor: float = 0.0  # 0 to 1; no volume or quiet hours make it softer
    clip: Clip | None = None  # played after the tone, instead of words or before them
    caller: str = ""  # program that requested it; "" for Hearth itself


PLAIN = Manner()
# An opening microphone must be audible to everyone in the room, however quiet the rest is.
OPENING = Manner(floor=0.25)


class Speaker(Protocol):
    """A conversation that speaks between its turns
    (`assistant.conversation.loop.ConversationLoop`)."""

    @property
    def ending(self) -> bool:
        """True once nothing new is started."""
        ...

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Speak a text once no turn is going on."""
        ...

    async def rest(self) -> None:
        """Wait until no turn is under way."""
        ...

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Call `ended` with the text of each finished announcement, before `rest` returns.

        The second argument is True if all of its audio could be played, even if somebody stopped
        it.
        """
        ...


class AudioSink:
    """A player with a loudness, which counts the audio that it is given."""

    def __init__(self, player: Player, loudness: Callable[[Manner], float]) -> None:
        """`loudness` is called for each piece; 1.0 leaves it unchanged."""
        self.accepted_ms = player.played_ms  # start of sound given now
        self._player = player
        self._loudness = loudness

    @property
    def played_ms(self) -> float:
        """Milliseconds of audio played, on the scale of `accepted_ms`."""
        return self._player.played_ms

    async def play(self, pcm: bytes, rate: int, manner: Manner) -> None:
        """Queue mono int16 at `rate` Hz, with the loudness for its manner. Raises AudioError."""
        loudness = self._loudness(manner)
        if loudness != 1.0:
            samples = np.frombuffer(pcm, np.int16).astype(np.float32) * max(0.0, loudness)
            pcm = limited(samples).astype(np.int16).tobytes()
        await self._player.play(pcm, rate)
        self.accepted_ms += len(pcm) / 2 / rate * 1000

    async def drain(self) -> None:
        """Wait until everything queued has been played."""
        await self._player.drain()

    def stop(self) -> None:
        """Silence at once."""
        self._player.stop()
        self.accepted_ms = self._player.played_ms
