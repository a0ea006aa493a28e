"""Whose voice is it? The person's level beside that of those who talked before the person did.

Where nobody did, everything voiced is the person's: how loud one person speaks varies as much as
two persons differ.
"""

import math
from bisect import insort
from collections import deque

FAINT_MS = 800  # voiced, but not near the person's level for so long: it is others who talk on
_CHUNKS = 8  # that a level is taken over, 0.26 s with Silero's: a syllable or two
_LOUD = 0.8  # of what is voiced is fainter than the person's level
_OTHERS = 0.9  # of what was voiced before is fainter than the others' level
_LEAST = 5  # chunks of it; fewer are no talk
_NEAR_DB = 2.5  # below the person's level is always the person
_FAR_DB = 12.0  # below it is not, where others talk
_ABOVE_OTHERS_DB = 3.0
_AUDIBLE_DB = 24.0  # below the loudest chunk of the turn is only its echo
_FLOOR = 0.1  # of all chunks, before and in the turn, are fainter than the room's noise
_ABOVE_FLOOR_DB = 1.5
_DIGITAL_SILENCE_DB = -120.0


class PersonLevel:
    """One turn's. Levels are of chunks, in dB; None, where none is measured, is the person's."""

    def __init__(self) -> None:
        self._powers: deque[float] = deque(maxlen=_CHUNKS)
        self._before: list[float] = []  # sorted, as the next
        self._levels: list[float] = []
        self._others: float | None = None
        self._loudest = _DIGITAL_SILENCE_DB
        self._heard: list[float] = []  # raw levels of every chunk, sorted

    def background(self, level: float | None, voiced: bool, own: bool = False) -> None:
        """A chunk from before the turn's speech; `own`: what is voiced of it may be the person."""
        if level is not None:
            insort(self._heard, level)
            smooth = self._smooth(level)
            if voiced and not own:
                insort(self._before, smooth)

    def begin(self) -> None:
        """The person begins to speak."""
        self._levels.clear()
        self._loudest = _DIGITAL_SILENCE_DB
        if len(self._before) >= _LEAST:
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
        least = max(loud - _FAR_DB, self._others + _ABOVE_OTHERS_DB)
        return smooth >= min(loud - _NEAR_DB, least)

    def pause(self, level: float | None) -> None:
        """A chunk of the turn that is not voiced."""
        if level is not None:
            self._smooth(level)

    def _smooth(self, level: float) -> float:
        self._powers.append(10 ** (level / 10))
        mean = sum(self._powers) / len(self._powers)
        return 10 * math.log10(mean) if mean else _DIGITAL_SILENCE_DB
