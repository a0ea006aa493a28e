"""How fast a voice works on this machine, and what to take where it is too slow."""

from collections import deque

RECENT_S = 30.0  # of sound, that the figure is of
ENOUGH_S = 1.0  # of sound, before there is a figure
TOO_SLOW = 0.5  # of real time: beyond it the sound of a long answer can run dry under load
QUALITIES = ("x_low", "low", "medium", "high")  # of Piper's voices, as their names end


class Meter:
    """The real-time factor of a voice: seconds of work for each second of sound."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, float]] = deque()
        self._sound_s = 0.0

    def note(self, worked_s: float, sound_s: float) -> None:
        """Add a clause that was made."""
        self._recent.append((worked_s, sound_s))
        self._sound_s += sound_s
        while self._sound_s - self._recent[0][1] >= RECENT_S:
            self._sound_s -= self._recent.popleft()[1]

    @property
    def factor(self) -> float | None:
        """0.5: a second of sound takes half a second. None: too little was made yet."""
        if self._sound_s < ENOUGH_S:
            return None
        return sum(worked_s for worked_s, _ in self._recent) / self._sound_s

    @property
    def slow(self) -> bool:
        """Whether the voice is too slow for this machine."""
        return self.factor is not None and self.factor > TOO_SLOW


def lighter(voice: str) -> str | None:
    """The name of the same voice in the next lower quality; None where there is no lower one.

    Piper's voices are named LANGUAGE_REGION-NAME-QUALITY. Whether that one was ever made is not
    known here.
    """
    begin, dash, quality = voice.rpartition("-")
    if not dash or quality not in QUALITIES[1:]:
        return None
    return f"{begin}-{QUALITIES[QUALITIES.index(quality) - 1]}"


def slowness(name: str, factor: float) -> str:
    """One sentence: which voice is too slow, by how much, and what to do.

    `name` as a voice tells its own, "ENGINE:VOICE".
    """
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
