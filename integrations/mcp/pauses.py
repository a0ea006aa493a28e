"""When a server may be opened again after it failed. Pure: the caller brings the time."""

from integrations.errors import IntegrationError, SignInAgain
from integrations.mcp.servers import ServerSpec

PAUSE_S = (0.5, 2.0)  # after a failed opening: doubled each time, from and to
PROGRAM_PAUSE_S = (0.5, 60.0)  # a program costs more to start; its first end is forgiven
SLOW_PAUSE_S = 4.0  # at most, after an opening that took so long: nobody waits twice in one turn
SIGN_IN_PAUSE_S = 60.0  # a refused token is tried seldom: Home Assistant notes every attempt
STEADY_S = 60.0  # a program that ran so long before it failed begins afresh


class Pauses:
    """Of one server. Times are seconds of one monotonic clock."""

    def __init__(self, spec: ServerSpec) -> None:
        self._program = spec.transport == "stdio"
        self._failures = 0  # in a row
        self._opened_s = 0.0
        self.not_before_s = 0.0  # no opening earlier

    def opened(self, now_s: float) -> None:
        """It works now; of a program only time can tell."""
        self._opened_s = now_s
        if not self._program:
            self._failures = 0

    def failed(self, problem: IntegrationError, took_s: float, now_s: float) -> None:
        """An opening failed after `took_s`."""
        low, high = PROGRAM_PAUSE_S if self._program else PAUSE_S
        pause_s = max(min(low * 2**self._failures, high), min(took_s, SLOW_PAUSE_S))
        if isinstance(problem, SignInAgain):
            pause_s = SIGN_IN_PAUSE_S
        self.not_before_s = now_s + pause_s
        self._failures = min(self._failures + 1, 16)

    def ended(self, problem: IntegrationError | None, now_s: float) -> None:
        """An open session came to its end; `problem`: by a fault."""
        if isinstance(problem, SignInAgain):
            self.not_before_s = now_s + SIGN_IN_PAUSE_S
        if not self._program or problem is None:
            return
        if now_s - self._opened_s >= STEADY_S:
            self._failures = 0
        if self._failures:
            low, high = PROGRAM_PAUSE_S
            self.not_before_s = now_s + min(low * 2 ** (self._failures - 1), high)
        self._failures = min(self._failures + 1, 16)
