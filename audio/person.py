"""Whose voice is it? The person's level beside that of those who talked before the person did.

Where nobody did, everything voiced is the person's: how loud one person speaks varies as much as
two persons differ.
"""

import math
from bisect import insort
from collections import deque

FAINT_MS = 900  # voiced, but not near the person's level for so long: it is others who talk on
_CHUNKS = 8  # that a level is taken over, 0.26 s with Silero's: a syllable or two
_LOUD = 0.8  # of what is voiced is fainter than the person's level, or that of who talked before
_OTHERS = 0.9  # of what was voiced before is fainter than the others' loud level
_LEAST = 5  # chunks of it; fewer are no talk
_APART_DB = 2.5  # below the wake word are others; else it may be the person who talked before
_OVER_DB = 1.0  # the others at least is somebody louder
_NEAR_DB = 2.5  # below the person's level is always the person
_AUDIBLE_DB = 24.0  # below the loudest chunk of the turn is only its echo
_FLOOR = 0.1  # of all chunks, before and in the turn, are fainter than the room's noise
_ABOVE_FLOOR_DB = 1.5
_DIGITAL_SILENCE_DB = -120.0


class PersonLevel:
    """One turn's. Levels are of chunks, in dB; None, where none is measured, is the person's."""

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=_CHUNKS)
        self._before: list[float] = []  # sorted, as the next two
        self._word: list[float] = []
        self._levels: list[float] = []
        self._others: float | None = None
        self._loudest = _DIGITAL_SILENCE_DB
        self._heard: list[float] = []  # raw levels of every chunk, sorted

    def background(self, level: float | None, voiced: bool, own: bool = False) -> None:
        """A chunk from before the turn's speech.

        `own`: what is voiced of it may be the person, who said the wake word.
        """
        if level is not None:
            insort(self._heard, level)
            smooth = self._smooth(level)
            if voiced:
                insort(self._word if own else self._before, smooth)

    def next_turn(self) -> "PersonLevel":
        """Of another turn with the same people: who the others are is known already."""
        after = PersonLevel()
        after._others = self._others
        return after

    def begin(self) -> None:
        """The person begins to speak."""
        self._levels.clear()
        self._loudest = _DIGITAL_SILENCE_DB
        if len(self._before) < _LEAST:
            return
        talk = self._before[int(len(self._before) * _LOUD)]
        # Who was as loud as the wake word may have been the person, talking to somebody else.
        if not self._word or talk < self._word[-1] - _APART_DB:
            self._others = self._before[int(len(self._before) * _OTHERS)]

    def is_audible(self, level: float | None) -> bool:
        """A chunk of the turn: can it be speech, or only what a room or a voice leaves behind?"""
        if level is None:
            return True
        insort(self._heard, level)
        self._loudest = max(self._loudest, level)
        floor = self._heard[int(len(self._heard) * _FLOOR)]
        return level >= max(self._loudest - _AUDIBLE_DB, floor + _ABOVE_FLOOR_DB)

    def is_near(self, level: float | None) -> bool:
        """A voiced chunk of the turn: is it the person's?"""
        if level is None or self._others is None:
            return True
        smooth = self._smooth(level)
        insort(self._levels, smooth)
        loud = self._levels[int(len(self._levels) * _LOUD)]
        if loud < self._others + _OVER_DB:
            return True  # only they have spoken yet
        return smooth >= min(loud - _NEAR_DB, (loud + self._others) / 2)

    def pause(self, level: float | None) -> None:
        """A chunk of the turn that is not voiced."""
        if level is not None:
            self._smooth(level)

    def _smooth(self, level: float) -> float:
        self._powers.append(10 ** (level / 10))
        mean = sum(self._powers) / len(self._powers)
        return 10 * math.log10(mean) if mean else _DIGITAL_SILENCE_DB
