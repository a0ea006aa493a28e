"""What the Gemini Live brain stands on, as it needs it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from assistant.brains.briefing import Briefing
from assistant.domain.brain import PEOPLE, BrainFault, ConversationOwner, FaultKind
from assistant.domain.clock import Clock
from integrations.errors import (
    Blocked,
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import LiveEvent
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.setup import LiveSetup
from integrations.owner import OwnedTasks

# Every time span of the Gemini Live brain, in one place.


@dataclass(frozen=True, slots=True)
class LiveTimeouts:
    """How patient the brain is and how long it keeps things. Spans are in seconds."""

    # Sessions
    connect_s: float = 5.0  # from wanting a session to having one
    speculate_every_s: float = 30.0  # at most one connect on mere suspicion in this time
    unused_s: float = 10.0  # such a session that no turn followed is closed then
    warm_s: float = 180.0  # kept open after its last use
    fresh_after_s: float = 600.0  # a spell without a turn after which the talk is forgotten
    handle_s: float = 7_200.0  # Google's session page: valid 2 h after the session ended
    go_away_margin_s: float = 10.0  # left before the service's deadline, at the latest
    rotates: bool = True  # one that must be left is opened anew before anybody speaks
    back_off_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)  # after each failure on suspicion
    close_s: float = 2.0  # for closing a socket

    # Turns
    send_s: float = 5.0  # for one message to be taken by the socket
    first_event_s: float = 6.0  # from the end of the sentence to the first sign of an answer
    after_answer_s: float = 6.0  # from a tool's result to the next sign
    between_events_s: float = 10.0  # between two signs
    open_calls_s: float = 10.0  # a new sentence waits for the results of an older turn's calls
    late_text_s: float = 0.3  # after the end of a turn: its transcript may lag behind
    late_text_most_s: float = 1.0  # where more of it keeps coming


# A time limit on the injected clock.


T = TypeVar("T")


async def within(clock: Clock, seconds: float | None, work: Awaitable[T]) -> T:
    """What `work` gives. Raises TimeoutError when it takes longer; None: it may take for ever."""
    if seconds is None:
        return await work
    async with asyncio.timeout(None) as limit, OwnedTasks() as tasks:
        tasks.start(_ring(clock, seconds, limit), "time limit")
        return await work


async def _ring(clock: Clock, seconds: float, limit: asyncio.Timeout) -> None:
    await clock.sleep(seconds)
    limit.reschedule(asyncio.get_running_loop().time())


# A client's error, by its way of recovery, as the fault that a brain yields.


# The subclasses stand before their base. Whether the same brain may try again at once, too.
_FAULTS: tuple[tuple[type[IntegrationError], FaultKind, bool], ...] = (
    (Unavailable, "unreachable", True),
    (Exhausted, "quota", False),
    (SignInAgain, "sign_in", False),
    (Retired, "retired", False),
    (Misconfigured, "refused", False),
    (Stale, "unreachable", True),  # the next attempt begins afresh
    (Blocked, "blocked", False),
    (Refused, "refused", False),
)


def fault_from(error: IntegrationError) -> BrainFault:
    """The fault that tells of `error`."""
    for kind_of_error, kind, retryable in _FAULTS:
        if isinstance(error, kind_of_error):
            return BrainFault(kind, str(error), retryable)
    return BrainFault("broken", str(error), retryable=False)


class OpenSession(Protocol):
    """One open connection. Everything that sends raises IntegrationError where it cannot."""

    @property
    def handle(self) -> str | None:
        """Resumes this session once it is closed; None while the service says that nothing does."""
        ...

    async def begin_activity(self) -> None:
        """The person begins to speak."""
        ...

    async def send_audio(self, pcm: bytes) -> None:
        """A further piece of 16 kHz mono int16."""
        ...

    async def end_activity(self) -> None:
        """The person has ended: the model answers."""
        ...

    async def send_text(self, text: str, *, complete: bool = True) -> None:
        """Words in the person's role; the model answers if they are `complete`."""
        ...

    async def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Results of calls."""
        ...

    async def update(
        self,
        *,
        instruction: str | None = None,
        declarations: Sequence[Declaration] | None = None,
    ) -> None:
        """Change what the session was opened with."""
        ...

    async def close(self) -> None:
        """End it; it returns when the socket is closed, within a bounded time."""
        ...


class LiveOpener(Protocol):
    """Opens sessions."""

    async def connect(
        self, setup: LiveSetup, on_event: Callable[[LiveEvent], None], timeout_s: float = 5.0
    ) -> OpenSession:
        """A session whose events go to `on_event`, in order. Raises IntegrationError."""
        ...


class Briefer(Protocol):
    """Knows what the model is to be told before a turn."""

    async def brief(
        self, profile: str = "", said: str = "", owner: ConversationOwner = PEOPLE
    ) -> Briefing:
        """Instruction and functions as they are now, for what is `said`, where that is known, in
        the conversation of `owner`.

        Never raises, and is bounded in time.
        """
        ...
