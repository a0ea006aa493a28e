"""Sink of spoken words: how loud, in which manner, and which of them were heard."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Protocol

import numpy as np

from audio.mixer import limited
from audio.player import Player
from audio.sound_files import Clip

BLOCK_MS = 10  # what silence is looked for in
QUIET = 200  # int16; what never passes it is silence
PAUSE_MS = 100  # shorter silences belong to a word: before a "t", say
# Of speech without its pauses, for each unit of `weight`, until a whole clause has told better.
# espeak-ng 1.51 at its own speed takes (median): en 62, es 61, de 60, pt 65, vi 57, fr 47.
PACE_MS = 62.0

_DIGIT = 5  # "7" is said like a word of five letters
_WORD = 0.5  # what each word takes besides its letters


def weight(word: str) -> float:
    """Estimate how long a word takes, against others: by its letters, with digits as they are said.

    Fitted to espeak-ng's own word times in en, es, de, fr, pt and vi (least squares: 33 ms a word,
    62 ms a letter, 330 ms a digit; vowels add nothing).
    """
    letters = sum(char.isalpha() for char in word)
    return _WORD + letters + _DIGIT * sum(char.isdigit() for char in word)


class PlaybackProgress:
    """The sound of some words as it is made, and how many of the words a part of it holds.

    A word is heard when its last sample has been played. Where the voice does not tell the words'
    ends they are estimated: the time that is no pause goes to the words by their weight, so that
    silence before, behind and between them is nobody's.
    """

    def __init__(self, text: str = "", pace_ms: float = PACE_MS) -> None:
        """`pace_ms`: as another `PlaybackProgress` of the voice tells it."""
        self.words: list[str] = text.split()
        self.whole = False  # no more sound follows
        self._pace_ms = pace_ms
        self._ends_ms: list[float] = []  # of words, as the voice tells them
        self._ms = 0.0  # of sound so far
        self._rest = np.zeros(0, np.int16)  # of it, not yet a block
        self._loud: list[bool] = []  # of each block

    @property
    def sounds(self) -> bool:
        """There is sound of it."""
        return self._ms > 0.0

    @property
    def pace_ms(self) -> float:
        """Milliseconds of speech for each unit of `weight`."""
        weights = sum(map(weight, self.words))
        if not (self.whole and weights and self._spoken_ms):
            return self._pace_ms
        return self._spoken_ms[-1] / weights

    def tell(self, text: str) -> None:
        """Further words, which the sound so far or what follows says."""
        self.words += text.split()

    def add(self, pcm: bytes, rate: int, ends: Sequence[int] = ()) -> None:
        """The next piece: mono int16 at `rate` Hz; `ends`: see `audio.tts.Chunk`."""
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
        """The words that have been heard once so much of the sound has been played."""
        return " ".join(self.words[: self.words_heard(played_ms)])

    def words_heard(self, played_ms: float) -> int:
        """Count the words that have been heard once so much of the sound has been played."""
        if played_ms <= 0.0 or not self._ms:
            return 0
        played_ms += 0.5  # positions come by way of other rates, and are rounded there
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
        # Rounding must not cost the last word of a whole clause its end.
        count = bisect_right(needed, spoken[blocks - 1] + 1e-6)
        return count if self.whole else min(count, len(self.words) - 1)

    @property
    def _spoken_ms(self) -> list[float]:
        """Up to the end of each block, without the pauses."""
        if not any(self._loud):  # a voice as quiet as that
            return [block * float(BLOCK_MS) for block in range(1, len(self._loud) + 1)]
        spoken: list[float] = []
        done = 0.0
        for loud, run in groupby(self._loud):
            count = sum(1 for _ in run)
            # A silence at either end is a pause, however short.
            inside = 0 < len(spoken) < len(self._loud) - count
            counts = loud or (inside and count * BLOCK_MS < PAUSE_MS)
            for _ in range(count):
                done += BLOCK_MS if counts else 0.0
                spoken.append(done)
        return spoken


@dataclass(frozen=True, slots=True)
class Manner:
    """Manner of an announcement: what sets it apart by ear."""

    sound: str = ""  # a tone of `audio.earcons` that goes before; "": none
    volume: float | None = None  # 0 to 1, of the voice's own loudness; None: as all that is said
    alarm: bool = False  # quiet hours do not count for it
    floor: float = 0.0  # no volume and no quiet hours make it softer, 0 to 1
    clip: Clip | None = None  # sounds behind the tone, in place of words or before them
    caller: str = ""  # the program that wants it said; "" where it is Hearth itself


PLAIN = Manner()
# The microphone opens: whoever is in the room must know it, however quiet they want the rest.
OPENING = Manner(floor=0.25)


class Speaker(Protocol):
    """A conversation that speaks between its turns (`assistant.conversation.runner.Runner`)."""

    @property
    def ending(self) -> bool:
        """Nothing more is begun."""
        ...

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        """Say it like that once the conversation rests."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        """Call `ended` with the text of each that is over, before `rest` returns, and whether all
        of its sound could be played; what somebody stops could be."""
        ...


class AudioSink:
    """A player, with the loudness of what it is given and how much that was."""

    def __init__(self, player: Player, loudness: Callable[[Manner], float]) -> None:
        """`loudness` is asked for each piece: 1.0 leaves it as it is."""
        self.accepted_ms = player.played_ms  # sound given now begins there
        self._player = player
        self._loudness = loudness

    @property
    def played_ms(self) -> float:
        """Milliseconds of sound played, on the scale of `accepted_ms`."""
        return self._player.played_ms

    async def play(self, pcm: bytes, rate: int, manner: Manner) -> None:
        """Queue mono int16 at `rate` Hz, as loud as is fit for its manner. Raises AudioError."""
        loudness = self._loudness(manner)
        if loudness != 1.0:
            samples = np.frombuffer(pcm, np.int16).astype(np.float32) * max(0.0, loudness)
            pcm = limited(samples).astype(np.int16).tobytes()
        await self._player.play(pcm, rate)
        self.accepted_ms += len(pcm) / 2 / rate * 1000

    async def drain(self) -> None:
        """Return when all that was queued has been played."""
        await self._player.drain()

    def stop(self) -> None:
        """Silence at once."""
        self._player.stop()
        self.accepted_ms = self._player.played_ms
