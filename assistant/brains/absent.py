"""A rung that is set but cannot be there: it says why, so that the ladder can tell it and go on."""

from collections.abc import AsyncGenerator

from assistant.domain.brain import BrainEvent, BrainFault, FaultKind, TurnRequest
from assistant.domain.outcome import ToolOutcome


class AbsentBrain:
    """Stands for a brain that may not be asked, such as Gemini without `privacy.accept_cloud`."""

    def __init__(self, name: str, kind: FaultKind, message: str) -> None:
        """`message`: one sentence for the log and `--json`."""
        self._name = name
        self._fault = BrainFault(kind, message, retryable=False)

    @property
    def name(self) -> str:
        """Of the brain that it stands for."""
        return self._name

    def anticipate(self) -> None:
        """There is nothing to prepare."""

    def begin(self, request: TurnRequest) -> "AbsentTurn":
        """A turn that fails at once."""
        return AbsentTurn(self._fault)


class AbsentTurn:
    """Nothing but the fault."""

    def __init__(self, fault: BrainFault) -> None:
        self._fault = fault

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """The fault."""
        yield self._fault

    async def answer(self, outcome: ToolOutcome) -> None:
        """Nothing was asked for."""
