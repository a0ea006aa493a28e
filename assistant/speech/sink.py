"""Audio sink for speech, and tracking of how many words have been heard."""

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
QUIET = 200  # int16; quieter samples count as silence
PAUSE_MS = 100  # shorter silences belong to a word, for example before a "t"
# Duration of speech, without pauses, per unit of `weight`; used until a clause has been measured.
# espeak-ng 1.51 at its default speed takes (median): en 62, es 61, de 60, pt 65, vi 57, fr 47.
PACE_MS = 62.0

_DIGIT = 5  # "7" is spoken like a word of five letters
_WORD = 0.5  # weight of a word in addition to its letters


def weight(word: str) -> float:
    """Estimate how long a word takes to speak, relative to other words.

    The figures were fitted by least squares to the word durations of espeak-ng in en, es, de, fr,
    pt and vi: 33 ms per word, 62 ms per letter and 330 ms per digit.
    """
    letters = sum(char.isalpha() for char in word)
    return _WORD + letters + _DIGIT * sum(char.isdigit() for char in word)


class PlaybackProgress:
    """Tracks the audio of a text, to find how many of its words have been heard.

    If the voice doesn't report where words end, their number is estimated from `weight`. `pace_ms`
    comes from an earlier `PlaybackProgress` of the same voice.
    """

    def __init__(self, text: str = "", pace_ms: float = PACE_MS) -> None:
        self.words: list[str] = text.split()
        self.whole = False  # True once all audio has been added
        self._pace_ms = pace_ms
        self._ends_ms: list[float] = []  # ends of words, as reported by the voice
        self._ms = 0.0  # ms of audio so far
        self._rest = np.zeros(0, np.int16)  # audio at the end that is shorter than a block
        self._loud: list[bool] = []  # for each block, True if it isn't silent

    @property
    def sounds(self) -> bool:
        return self._ms > 0.0

    @property
    def pace_ms(self) -> float:
        """Milliseconds of speech per unit of `weight`."""
        weights = sum(map(weight, self.words))
        if not (self.whole and weights and self._spoken_ms):
            return self._pace_ms
        return self._spoken_ms[-1] / weights

    def tell(self, text: str) -> None:
        """Add text whose audio has been added or will be added."""
        self.words += text.split()

    def add(self, pcm: bytes, rate: int, ends: Sequence[int] = ()) -> None:
        """Add mono int16 audio at `rate` Hz. `ends` is as in `audio.tts.Chunk`."""
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
        """Return the words that have been heard after `played_ms` of the audio."""
        return " ".join(self.words[: self.words_heard(played_ms)])

    def words_heard(self, played_ms: float) -> int:
        """Return how many words have been heard after `played_ms` of the audio."""
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
        if not any(self._loud):  # a very quiet voice
            return [block * float(BLOCK_MS) for block in range(1, len(self._loud) + 1)]
        spoken: list[float] = []
        done = 0.0
        for loud, run in groupby(self._loud):
            count = sum(1 for _ in run)
            # Silence at the start or end is a pause, however short.
            inside = 0 < len(spoken) < len(self._loud) - count
            counts = loud or (inside and count * BLOCK_MS < PAUSE_MS)
            for _ in range(count):
                done += BLOCK_MS if counts else 0.0
                spoken.append(done)
        return spoken


@dataclass(frozen=True, slots=True)
class Manner:
    """Settings for playing audio, mainly an announcement's tone, loudness and clip."""

    sound: str = ""  # earcon of `audio.earcons` played first; "" for none
    volume: float | None = None  # 0 to 1, relative to the voice; None for the usual volume
    alarm: bool = False  # ignores quiet hours
    floor: float = 0.0  # lowest loudness, 0 to 1, whatever the volume and quiet hours
    clip: Clip | None = None  # played after the tone, before the text if there is any
    caller: str = ""  # program that requested it; "" for Hearth itself


PLAIN = Manner()
# An opening microphone must be audible to everyone in the room, however low the volume.
OPENING = Manner(floor=0.25)


class Speaker(Protocol):
    """A conversation that can make announcements between its turns."""

    @property
    def ending(self) -> bool:
        """True once the conversation is shutting down and starts nothing new."""
        ...

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Queue a text to be spoken when no turn is in progress. Returns immediately."""
        ...

    async def rest(self) -> None:
        """Wait until no turn is in progress."""
        ...

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Call `ended` with the text of each finished announcement, before `rest` returns.

        The second argument is False if some of the audio could not be played, but True if somebody
        stopped the announcement.
        """
        ...


class AudioSink:
    """Adjusts the loudness of audio, passes it to a player and tracks how much has been played.

    `loudness` is called for each chunk and returns a factor; 1.0 leaves the audio unchanged.
    """

    def __init__(self, player: Player, loudness: Callable[[Manner], float]) -> None:
        self.accepted_ms = player.played_ms  # position at which the next audio will start
        self._player = player
        self._loudness = loudness

    @property
    def played_ms(self) -> float:
        """Milliseconds of audio played so far, comparable with `accepted_ms`."""
        return self._player.played_ms

    async def play(self, pcm: bytes, rate: int, manner: Manner) -> None:
        """Queue mono int16 at `rate` Hz, at the manner's loudness. Raises AudioError."""
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
        """Stop playback immediately and drop the queue."""
        self._player.stop()
        self.accepted_ms = self._player.played_ms
