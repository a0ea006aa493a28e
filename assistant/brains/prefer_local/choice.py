"""Who acts on a spoken sentence: the home by itself, or the model. Pure: times come in.

The model is never kept waiting for more than HOLD_S: neither by a dry run that is slow, nor by a
transcript that comes late. Whoever acts first is the only one.
"""

from enum import Enum

HOLD_S = 0.1  # from the transcript's newest piece, and from what the model does, to the decision
# A transcript comes in pieces, and half a sentence may be a command of its own. It lags by about
# 0.3 s (facts of Gemini Live), so that of pieces which came while the person spoke, nobody knows
# that they are all until the model acts: then nothing may have followed for SETTLE_S. While the
# model is still silent there is time to wait longer for more.
SETTLE_S = 0.05
QUIET_S = 0.25


class Side(Enum):
    """Who acts."""

    OPEN = "open"  # nobody yet
    HOME = "home"
    MODEL = "model"  # for good: a later match is dropped


class LocalChoice:
    """One turn's. Tell it what happens; `side` is what follows."""

    def __init__(self) -> None:
        self._over_at: float | None = None  # the person has ended
        self._text = ""
        self._text_at = 0.0
        self._matches: bool | None = None  # whether the home may serve `_text`; None: not known
        self._held_at: float | None = None  # since when something of the model's is held
        self._side = Side.OPEN

    def side(self, now: float) -> Side:
        """Who acts, as far as is known at `now`; never taken back."""
        if self._side is Side.OPEN:
            self._side = self._decide(now)
        return self._side

    def over(self, now: float) -> None:
        """The sentence has ended."""
        self._over_at = now

    def heard(self, text: str, now: float) -> None:
        """The transcript so far. What was known of a shorter one is void."""
        if text != self._text:
            self._text, self._text_at, self._matches = text, now, None

    def tried(self, text: str, matches: bool, now: float) -> None:
        """The dry run's verdict on `text`; one that comes too late counts as no match."""
        if text == self._text:
            self._matches = matches and now <= self._text_at + HOLD_S

    def made(self, now: float) -> None:
        """The model acts: what it says or asks for is held from now on."""
        if self._held_at is None:
            self._held_at = now

    def due(self) -> float | None:
        """When `side` may change without anything happening; None: never."""
        if self._side is not Side.OPEN:
            return None
        times = []
        if self._held_at is not None:
            times.append(self._held_at + HOLD_S)
            if self._text:
                times.append(self._text_at + (HOLD_S if self._matches is None else SETTLE_S))
        elif self._matches and self._ended:
            times.append(self._text_at + QUIET_S)
        return min(times, default=None)

    @property
    def _ended(self) -> bool:
        """The newest piece came after the person had ended."""
        return self._over_at is not None and self._text_at >= self._over_at

    def _decide(self, now: float) -> Side:
        settled = bool(self._text) and now >= self._text_at + SETTLE_S
        if self._held_at is None:
            whole = self._ended and now >= self._text_at + QUIET_S
            return Side.HOME if whole and self._matches else Side.OPEN
        if settled and self._matches:
            return Side.HOME
        untold = self._matches is None and bool(self._text) and now >= self._text_at + HOLD_S
        refused = self._matches is False and settled
        too_late = now >= self._held_at + HOLD_S
        return Side.MODEL if untold or refused or too_late else Side.OPEN
