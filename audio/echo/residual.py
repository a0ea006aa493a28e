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
_RELEARNING = 60  # frames, 1.2 s: the same for another time
_TAKEN_DOWN = 10 ** (-15.0 / 10)
# Behind a break so many frames of echo are watched. Where of _LOOK in a row fewer than _SOME were
# taken down the canceller has lost the path. Medians of 24 breaks whose length was told 15 to 40 ms
# wrong: by itself it finds it again in 1.7 s, a new one in 0.65 s, with a fifth of the frames that
# were taken for a person's meanwhile. Behind breaks that were told right it stays.
_WATCHED = 50
_LOOK = 10
_SOME = 4
_MEMORY = 0.02  # of a frame in the running mean of the echo's power: 1 s


class Residual:
    """Judges frame after frame, on the microphone's side."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The path of the echo is another: nothing is known of it."""
        self._learning, self._learned = _LEARNING, _LEARNED
        self._again = False  # it is learnt for another time
        self._watched = 0  # frames to be watched still
        self._downs: deque[bool] = deque(maxlen=_LOOK)  # of them: which were taken down
        self._echo = 0.0  # mean power at the microphone while something is played
        self._tail = 0
        self._stays = 0
        self._recent: deque[bool] = deque(maxlen=_RECENT)

    def moved(self, *, opened: bool = False) -> None:
        """The output was held up, or `opened` anew: the path is the same or a little longer.

        Without this pause in belief the canceller's mend of that was taken for a person in 6 of 24
        openings that differed by up to 15 ms, with it in none.
        """
        if self._learned <= 0 or self._learning <= 0:
            self._again = True
            self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        # Over the beginning of an answer people talk, and that looks like a lost path.
        self._watched = _WATCHED if self._again and not opened else 0
        self._downs.clear()
        if self._tail:
            self._tail = _TAIL  # as long as nobody knows what is heard, it may be ours
        self._stays = 0
        self._recent.clear()

    @property
    def lost(self) -> bool:
        """The canceller does not find the path any more: a new one would, sooner. See `renewed`."""
        return len(self._downs) == _LOOK and sum(self._downs) < _SOME

    def renewed(self) -> None:
        """There is a new canceller, because this one had lost the path."""
        self._learning, self._learned = _RELEARNING, _LEARNED_AGAIN
        self._watched = 0
        self._downs.clear()

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
            if self._learn(left < heard * _TAKEN_DOWN, playing):
                return True
        elif self._learning > 0 and self._learned > 0:
            return True
        person = left > max(_AUDIBLE, heard * _PERSON_KEEPS, self._echo * _WITHIN)
        self._recent.append(person)
        if sum(self._recent) >= _ENOUGH:
            self._stays = _STAYS
        elif self._stays:
            self._stays -= 1
        return not self._stays

    def _learn(self, down: bool, playing: bool) -> bool:
        """An audible frame, taken down or not. Whether the canceller is not believed yet."""
        if self._watched and playing:
            self._watched -= 1
            self._downs.append(down)
            if not self._watched:
                self._downs.clear()
        if self._learning <= 0 or self._learned <= 0:
            return False
        self._learning -= playing
        if down:
            self._learned -= 1
        elif self._again and playing:
            self._learned = min(self._learned + 1, _LEARNED_AGAIN)
        return True
