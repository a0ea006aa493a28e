"""Remembers what is down: a rung that failed is not asked again until a while has passed."""

from assistant.domain.brain import BrainFault, FaultKind
from assistant.domain.clock import Clock

FAILURES_TO_OPEN = 2  # in a row, of a kind that may pass by itself or be one sentence's
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
QUOTA_PAUSE_S = 600.0
REFUSED_PAUSE_S = 600.0  # one request may be refused for what is in it; two in a row are a pattern
SETTING_PAUSE_S = 3_600.0  # a person must change something first

PASSING: frozenset[FaultKind] = frozenset({"unreachable", "timeout", "broken", "empty"})
_SETTING: frozenset[FaultKind] = frozenset({"no_consent", "sign_in", "retired"})


class Breaker:
    """One rung's. Closed, the rung is asked; open, it is skipped and costs no time.

    When the pause is over the rung is asked once more: a success closes the breaker, a further
    failure opens it at once, for twice as long.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0  # in a row
        self._pause_s = FIRST_PAUSE_S  # of the next opening
        self._until_s = 0.0  # on the monotonic clock
        self._fault: BrainFault | None = None  # what opened it

    @property
    def fault(self) -> BrainFault | None:
        """What keeps the rung from being asked now; None: ask it."""
        if self._fault is not None and self._clock.monotonic() < self._until_s:
            return self._fault
        return None

    def succeeded(self) -> None:
        """The rung has served a turn."""
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._fault = None

    def failed(self, fault: BrainFault) -> None:
        """The rung has failed once. Faults of one sentence or of the house change nothing; nor does
        the budget, which has its own end (`assistant.brains.budget`)."""
        if fault.kind in PASSING or fault.kind == "refused":
            self._failures += 1
            if self._failures < FAILURES_TO_OPEN:
                return
            if fault.kind == "refused":
                self._open(fault, REFUSED_PAUSE_S)
            else:
                self._open(fault, self._pause_s)
                self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        elif fault.kind == "quota":
            self._open(fault, QUOTA_PAUSE_S)
        elif fault.kind in _SETTING:
            self._open(fault, SETTING_PAUSE_S)

    def _open(self, fault: BrainFault, pause_s: float) -> None:
        self._fault = fault
        self._until_s = self._clock.monotonic() + pause_s
