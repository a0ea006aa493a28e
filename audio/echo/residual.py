"""Whether what the echo canceller left of a frame is still our own voice.

It takes the echo down by 20 dB and more in 99 of 100 frames once it has found the path (measured:
median 39 dB), and a person who speaks at the echo's level by 5 to 12 dB. So a frame that lost
little is a person's, and only while something is played is there any doubt. Pure: no clock.
"""

from collections import deque

_PERSON_KEEPS = 10 ** (-12.0 / 10)  # share of the frame's power
_WITHIN = 10 ** (-18.0 / 10)  # of the echo's power: what is left below that is no talking over us
_AUDIBLE = 30.0**2  # int16 power below which nothing is speech
_RECENT = 5  # frames, of which so many must be a person's before we believe it ...
_ENOUGH = 3
_STAYS = 15  # frames, 300 ms: ... and then so long beyond the last of them
_TAIL = 25  # frames, 500 ms, of echo and delay after the last that was played
_LEARNED_AGAIN = 20  # as _LEARNED, where the path is almost the one that is known: 400 ms
_LEARNED = 50  # frames of echo, 1 s, that were taken down before the canceller is believed ...
_LEARNING = 150  # ... or so many in all, 3 s: then what is left is somebody who speaks
_TAKEN_DOWN = 10 ** (-15.0 / 10)
_MEMORY = 0.02  # of a frame in the running mean of the echo's power: 1 s


class Residual:
    """Judges frame after frame, on the microphone's side."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The path of the echo is another: nothing is known of it."""
        self._learning, self._learned = _LEARNING, _LEARNED
        self._echo = 0.0  # mean power at the microphone while something is played
        self._tail = 0
        self._stays = 0
        self._recent: deque[bool] = deque(maxlen=_RECENT)

    def moved(self) -> None:
        """The output was opened anew, or was held up: the path is the same or a little longer.

        Without this pause in belief the canceller's mend of that was taken for a person in 6 of 24
        openings that differed by up to 15 ms, with it in none.
        """
        if self._learned <= 0 or self._learning <= 0:
            self._learning, self._learned = _LEARNING, _LEARNED_AGAIN
        if self._tail:
            self._tail = _TAIL  # as long as nobody knows what is heard, it may be ours
        self._stays = 0
        self._recent.clear()

    def judge(self, heard: float, left: float, playing: bool) -> bool:
        """Whether the frame is ours alone: to be neither speech nor a wake word.

        `heard`, `left`: mean square of the microphone's frame and of the same frame cleaned, int16.
        `playing`: the reference of this frame is not silence.
        """
        self._tail = _TAIL if playing else max(0, self._tail - 1)
        if not self._tail:
            self._stays = 0
            self._recent.clear()
            return False
        if heard > _AUDIBLE:
            self._echo += _MEMORY * (heard - self._echo)
        if self._learning > 0 and self._learned > 0:
            self._learning -= playing and heard > _AUDIBLE
            self._learned -= heard > _AUDIBLE and left < heard * _TAKEN_DOWN
            return True
        person = left > max(_AUDIBLE, heard * _PERSON_KEEPS, self._echo * _WITHIN)
        self._recent.append(person)
        if sum(self._recent) >= _ENOUGH:
            self._stays = _STAYS
        elif self._stays:
            self._stays -= 1
        return not self._stays
