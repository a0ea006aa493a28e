"""How long a loudspeaker had nothing to play. Pure: all times are told."""

_WINDOW = 20  # blocks, over which the device's times are looked at
_TOLD_S = 0.005  # less is no silence: the times of a device are that much out


class Stalls:
    """Watches how much later each block sounds than those before it have taken to play.

    A device that tells of a stall knows its own buffer at once, but what lies behind that only
    after a moment; and some stall without telling. So the silence of a stall is told with the
    block that follows it, and what shows later, for a whole window, at its end. A slow change is
    the difference of two clocks and is no silence.
    """

    def __init__(self) -> None:
        self._handed = 0.0  # seconds of sound before this block
        self._late: float | None = None  # seconds of the device's time, when nothing was handed
        self._blocks = 0  # of the window
        self._least = 0.0  # seconds that all of them were later than that

    def note(self, seconds: float, sounds_at: float, stalled: bool) -> float:
        """Seconds of silence that came before a block and were not told yet.

        `seconds`: the block's length. `sounds_at`: when its first sample sounds, by any clock that
        runs evenly; 0 where the device cannot tell. `stalled`: there was nothing to play before it.
        """
        late = sounds_at - self._handed
        self._handed += seconds
        if not sounds_at:
            return 0.0
        if self._late is None:
            self._late = late
        silence = late - self._late
        if not stalled:
            self._least = min(self._least, silence) if self._blocks else silence
            self._blocks += 1
            if self._blocks < _WINDOW:
                return 0.0
            self._late += self._least
            silence = self._least
        elif silence > _TOLD_S:
            self._late = late
        self._blocks = 0
        return silence if silence > _TOLD_S else 0.0
