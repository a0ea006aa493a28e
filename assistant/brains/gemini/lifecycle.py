"""Rules for connecting, resuming and closing a Live session.

The service's behaviour is described in Google's documentation of Live sessions (handles, goAway).
According to public reports, reconnecting in the middle of a reply loses the reply, so Hearth
reconnects between turns.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

from assistant.domain.clock import Clock
from integrations.owner import OwnedTasks


@dataclass(frozen=True, slots=True)
class LiveTimeouts:
    """Time limits and intervals of the Gemini Live brain, in seconds."""

    # Sessions
    connect_s: float = 5.0  # how long a turn waits for a session
    # Time after which an attempt to connect is given up. It continues after its turn, so that the
    # next one can use the session. A turn waits `overdue_s` for an attempt that has already taken
    # `connect_s`, and then makes another one.
    handshake_s: float = 15.0
    overdue_s: float = 2.5
    speculate_every_s: float = 30.0  # minimum interval between advance connections
    unused_s: float = 10.0  # lifetime of a session that was opened in advance and is not used
    warm_s: float = 180.0  # how long a session stays open after a turn
    fresh_after_s: float = 600.0  # the conversation is forgotten after this time without a turn
    handle_s: float = 7_200.0  # lifetime of a handle after its session (Google's documentation)
    go_away_margin_s: float = 10.0  # a session is left this long before the service's deadline
    rotates: bool = True  # a session that must be left is replaced before the next turn
    back_off_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)  # pauses before retrying to connect
    close_s: float = 2.0  # maximum time to close a socket

    # Turns
    send_s: float = 5.0  # maximum time to send a message
    first_event_s: float = 6.0  # from the end of the sentence to the first sign of an answer
    after_answer_s: float = 6.0  # from a tool result to the next event
    between_events_s: float = 10.0  # between two events
    open_calls_s: float = 10.0  # wait for open calls of an earlier turn before a new sentence
    late_text_s: float = 0.3  # wait for a late transcript after the end of a turn
    # The same while more text arrives or is certain to follow. It was 1.5 s late in public reports
    # (google-gemini/cookbook #822).
    late_text_most_s: float = 2.0


T = TypeVar("T")


async def within(clock: Clock, seconds: float | None, work: Awaitable[T]) -> T:
    """Await `work`. Raises TimeoutError if it takes longer than `seconds` on the given clock."""
    if seconds is None:
        return await work
    async with asyncio.timeout(None) as limit, OwnedTasks() as tasks:
        tasks.start(_ring(clock, seconds, limit), "time limit")
        return await work


async def _ring(clock: Clock, seconds: float, limit: asyncio.Timeout) -> None:
    await clock.sleep(seconds)
    limit.reschedule(asyncio.get_running_loop().time())


class Step(Enum):
    """The session manager's next action."""

    NOTHING = auto()
    CONNECT = auto()  # retry an advance connection
    CLOSE = auto()  # close the open session but keep its handle
    ROTATE = auto()  # close the open session and reconnect, before the service closes it
    FORGET = auto()  # close, and drop the handle and the history


class SessionLifecycle:
    """Tracks a session's state and decides which step is due.

    It uses no clock and no I/O. `now` is a time in seconds on one monotonic clock.
    """

    def __init__(self, timeouts: LiveTimeouts) -> None:
        self._timeouts = timeouts
        self._open = False
        self._in_turn = False
        self._handle: str | None = None
        self._handle_until = 0.0
        self._last_used: float | None = None  # end of the last turn
        self._keep_until = 0.0  # time at which an unused session is closed
        self._leave_by: float | None = None  # deadline set by the service's goAway
        self._full = False  # a new session must continue the conversation
        self._suspected: float | None = None  # time of the last advance connection
        self._failures = 0  # its failures
        self._again_at: float | None = None  # time of its next attempt

    # --- events ---

    def suspect(self, now: float) -> bool:
        """Prepare for a turn that may follow. Returns True if the caller should connect now."""
        if self._open:
            self._keep_until = max(self._keep_until, now + self._timeouts.unused_s)
            return False
        if self._in_turn or self._again_at is not None or not self._may_suspect(now):
            return False
        self._suspected = now
        self._failures = 0
        return True

    def opened(self, now: float) -> None:
        """Record that a session is open. It is closed again soon unless a turn uses it."""
        self._open = True
        self._leave_by = None
        self._again_at = None
        self._keep_until = max(self._keep_until, now + self._timeouts.unused_s)

    def failed(self, now: float, worth_another: bool) -> None:
        """Record that connecting in advance failed, and schedule a retry if it is worthwhile."""
        wait_s = self._timeouts.back_off_s[min(self._failures, len(self._timeouts.back_off_s) - 1)]
        self._failures += 1
        since = now if self._suspected is None else self._suspected
        # There is no retry after the time at which an unused session would be closed.
        in_time = now + wait_s <= since + self._timeouts.unused_s
        self._again_at = now + wait_s if worth_another and in_time else None

    def turn_began(self, now: float) -> None:
        self._in_turn = True
        self._again_at = None  # the turn itself connects immediately

    def turn_ended(self, now: float) -> None:
        self._in_turn = False
        self._last_used = now
        self._keep_until = now + self._timeouts.warm_s

    def go_away(self, now: float, left_s: float) -> None:
        """Record that the service will close the connection in `left_s` seconds."""
        margin_s = self._timeouts.go_away_margin_s
        self._leave_by = now + max(left_s - margin_s, left_s / 2, 0.0)

    def filled(self) -> None:
        """Record, after a turn, that the open session's context is full.

        A new session replaces it. Resuming would not help, because a handle keeps the context.
        """
        self._full = self._open

    def closed(self, now: float, handle: str | None) -> None:
        """Record that the session is closed. If `handle` is None, it can't be resumed."""
        self._open = False
        self._leave_by = None
        self._handle = None if self._full else handle
        self._full = False
        self._handle_until = now + self._timeouts.handle_s

    # --- decisions ---

    def is_quiet(self, now: float) -> bool:
        """Return True if the last turn ended so long ago that the conversation is over."""
        return (
            not self._in_turn
            and self._last_used is not None
            and now >= self._last_used + self._timeouts.fresh_after_s
        )

    def forgot(self) -> None:
        self._handle = None
        self._last_used = None

    def take_handle(self, now: float) -> str | None:
        """Return the handle that resumes the conversation, or None to start a new one.

        A handle is returned only once.
        """
        handle, self._handle = self._handle, None
        return handle if now < self._handle_until else None

    def due(self) -> float | None:
        """Return the time of the next step, or None if nothing is pending."""
        moments = [self._again_at, self._quiet_at()]
        if self._open and self._in_turn:
            moments.append(self._leave_by)
        elif self._open:
            moments += [self._keep_until, 0.0 if self.must_leave else None]
        return min((at for at in moments if at is not None), default=None)

    def step(self, now: float) -> Step:
        """Return the step that is due now. The caller must carry it out."""
        if self.is_quiet(now):
            return Step.FORGET
        if self._open and self._in_turn:
            late = self._leave_by is not None and now >= self._leave_by
            return Step.CLOSE if late else Step.NOTHING
        if self._open and self.must_leave:
            return self._rotate(now)
        if self._open:
            return Step.CLOSE if now >= self._keep_until else Step.NOTHING
        if self._again_at is not None and now >= self._again_at:
            self._again_at = None
            return Step.CONNECT
        return Step.NOTHING

    @property
    def must_leave(self) -> bool:
        return self._full or self._leave_by is not None

    def _rotate(self, now: float) -> Step:
        # The minimum interval prevents endless reconnecting if the service sends goAway to every
        # session.
        rotates = self._timeouts.rotates and self._may_suspect(now)
        if now >= self._keep_until or not rotates:
            return Step.CLOSE
        self._suspected = now
        self._failures = 0
        return Step.ROTATE

    def _may_suspect(self, now: float) -> bool:
        return self._suspected is None or now >= self._suspected + self._timeouts.speculate_every_s

    def _quiet_at(self) -> float | None:
        if self._in_turn or self._last_used is None:
            return None
        return self._last_used + self._timeouts.fresh_after_s
