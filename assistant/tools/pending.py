"""The one call that waits for the person's yes: frozen as it was judged, run once at the most."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from assistant.domain.call import ToolCall
from assistant.domain.clock import Clock
from assistant.domain.outcome import ToolOutcome
from assistant.domain.question import Question
from assistant.tools.verdict import PolicyDecision

EXPIRES_S = 180.0  # longer than any question is waited for; who answers later answers nothing


@dataclass(frozen=True, slots=True)
class Frozen:
    """A gated call as it was when the person was asked."""

    question: Question
    call: ToolCall
    verdict: PolicyDecision
    kind: str  # the exact kind of call, for "always"
    left: str  # what is said where it is not done: "I left Front Door locked."
    again: Callable[
        [], PolicyDecision | None
    ]  # judged anew, as the house is now; None: it fits no more
    run: Callable[[PolicyDecision, str], Awaitable[ToolOutcome]]  # told who confirmed it
    refuse: Callable[[str, str], Awaitable[ToolOutcome]]  # by a sentence and the rule's name
    loud: str  # what is said where the room was not quiet until the yes
    aloud: bool  # asked in a room, about something secure: nothing may sound meanwhile

    def is_unchanged(self) -> bool:
        """Whether the call would touch just what the person was asked about."""
        now = self.again()
        return now is not None and _what(now) == _what(self.verdict)


class Pending:
    """Holds one frozen call. Taken once, it is gone; with the process it dies."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._frozen: Frozen | None = None
        self._until_s = 0.0

    @property
    def frozen(self) -> Frozen | None:
        """The call that waits now."""
        if self._frozen is not None and self._clock.monotonic() >= self._until_s:
            self._frozen = None
        return self._frozen

    def freeze(self, frozen: Frozen) -> None:
        """From here on it waits."""
        self._frozen = frozen
        self._until_s = self._clock.monotonic() + EXPIRES_S

    def take(self, question_id: str) -> Frozen | None:
        """The call of this question, once; None: it was answered before, or has expired."""
        frozen = self.frozen
        if frozen is None or frozen.question.id != question_id:
            return None
        self._frozen = None
        return frozen


def _what(verdict: PolicyDecision) -> tuple[object, ...]:
    touched = frozenset((*verdict.entities, *verdict.effects))
    return touched, dict(verdict.arguments), verdict.tier, verdict.ruling, verdict.moves
