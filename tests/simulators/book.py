"""State, expectations and records of the simulated service, shared by its sockets and REST."""

import asyncio
import itertools
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assistant.domain.clock import Clock
from tests.simulators.models import ModelRules
from tests.simulators.records import ConnectionRecord, HeardTurn, OnceRequest, Session
from tests.simulators.script import OnceTurn, Opening, Step, Turn
from tests.simulators.window import WindowRules
from tests.simulators.wire import NOT_HERE, Json, Refusal

Respond = Callable[[HeardTurn], Sequence[Step]]
RespondOnce = Callable[[OnceRequest], Sequence[Step]]

_LOG_LINES = 60
_KEPT_HANDLES = 50  # of one session


@dataclass(frozen=True, slots=True)
class Expectations:
    """A test's script."""

    turns: Sequence[Turn] = ()
    respond: Respond | None = None  # makes the turns beyond the scripted ones
    once: Sequence[OnceTurn] = ()
    respond_once: RespondOnce | None = None
    openings: Sequence[Opening] = ()
    opening: Opening = field(default_factory=Opening)  # of connections beyond the scripted ones
    refusals: Sequence[str] = ()  # patterns of "1007 reason", each expected once, in this order


class Changes:
    """Wake tasks and threads that wait for something to happen."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._events: set[asyncio.Event] = set()

    def tell(self) -> None:
        """Report a change; called in the service's event loop."""
        with self._condition:
            self._condition.notify_all()
        for event in self._events:
            event.set()

    async def until(self, holds: Callable[[], bool], timeout_s: float) -> None:
        """Wait in the service's event loop. Raises TimeoutError."""
        event = asyncio.Event()
        self._events.add(event)
        try:
            async with asyncio.timeout(timeout_s):
                while not holds():
                    await event.wait()
                    event.clear()
        finally:
            self._events.discard(event)

    def wait_until(self, holds: Callable[[], bool], timeout_s: float) -> None:
        """Wait in another thread. Raises TimeoutError."""
        with self._condition:
            if not self._condition.wait_for(holds, timeout_s):
                raise TimeoutError(f"not within {timeout_s:g} s")


class Book:
    """The whole state of the simulated service except its sockets."""

    def __init__(
        self,
        expected: Expectations,
        models: Mapping[str, ModelRules],
        retired: Sequence[str],
        clock: Clock,
        keep_turns: int | None,
        *,
        cancels_blocking: bool,
        gives_handles: bool,
        withholds_handles: bool,
        crossing_s: float,
        version: str,
        most_sessions: int | None,
        keeps_frames: bool,
        window: WindowRules | None,
    ) -> None:
        self.clock = clock
        self.changes = Changes()
        self.turns: list[HeardTurn] = []
        self.connections: list[ConnectionRecord] = []
        self.sessions: dict[str, Session] = {}
        self.once_requests: list[OnceRequest] = []
        self.failures: list[str] = []
        self.log: deque[str] = deque(maxlen=_LOG_LINES)
        self.heard_samples = 0
        self.stray_bytes = 0
        self.expected = expected
        self.cancels_blocking = cancels_blocking
        self.gives_handles = gives_handles
        self.withholds_handles = withholds_handles
        self.crossing_s = crossing_s
        self.version = version
        self.keeps_frames = keeps_frames
        self.window = window
        self._most_sessions = most_sessions
        self._models = models
        self._retired = set(retired)
        self._keep_turns = keep_turns
        self._turns = deque(expected.turns)
        self._once = deque(expected.once)
        self._openings = deque(expected.openings)
        self._refusals = deque(expected.refusals)
        self._by_handle: dict[str, Session] = {}
        self._expired: set[str] = set()
        self._numbers = itertools.count()
        self._names = itertools.count(1)
        self._call_ids = itertools.count(1)
        self._handle_numbers = itertools.count(1)

    def note(self, line: str) -> None:
        """Add a line to the log shown for a failed test, and wake waiters."""
        self.log.append(f"{self.clock.monotonic():.3f} {line}")
        self.changes.tell()

    def fail(self, what: str) -> None:
        """Record something that the test did not script."""
        self.failures.append(what)
        self.note(f"FAILED: {what}")

    def refuse(self, refusal: Refusal) -> None:
        """Record a refusal by the service's rules, which fails the test unless it is expected."""
        said = str(refusal)
        if self._refusals and re.search(self._refusals[0], said):
            self._refusals.popleft()
            self.note(f"refused, as expected: {said}")
        else:
            self.fail(f"refused: {said}")

    def is_full(self, newest: ConnectionRecord) -> bool:
        """Return True if as many other sessions are open as the key may have."""
        others = [one for one in self.connections if one is not newest and one.open and one.setup]
        return self._most_sessions is not None and len(others) >= self._most_sessions

    # --- models and sessions

    def rules(self, model: str, *, live: bool) -> ModelRules | None:
        """Return the model's rules; None if it does not exist (any more) for this method."""
        rules = self._models.get(model)
        return rules if rules and rules.live == live and model not in self._retired else None

    def described(self) -> dict[str, Json]:
        """Return the models as models.get describes them, by name."""
        methods = {True: ["bidiGenerateContent"], False: ["generateContent", "countTokens"]}
        return {
            name: {"name": f"models/{name}", "supportedGenerationMethods": methods[rules.live]}
            for name, rules in self._models.items()
            if name not in self._retired
        }

    def is_retired(self, model: str) -> bool:
        """Return True if the test has retired the model."""
        return model in self._retired

    def new_session(self) -> Session:
        """Start a conversation."""
        session = Session(f"session-{next(self._names)}")
        self.sessions[session.name] = session
        return session

    def resume(self, handle: str) -> Session:
        """Return the conversation of a handle. Raises Refusal."""
        session = self._by_handle.get(handle)
        if session is None:
            expired = handle in self._expired
            raise Refusal("BidiGenerateContent session not found", NOT_HERE, scripted=expired)
        return session

    def new_handle(self, session: Session) -> str:
        """Make another handle for a conversation."""
        handle = f"{session.name}-handle-{next(self._handle_numbers)}"
        session.handles.append(handle)
        self._by_handle[handle] = session
        for forgotten in session.handles[:-_KEPT_HANDLES]:
            self._by_handle.pop(forgotten, None)
        del session.handles[:-_KEPT_HANDLES]
        return handle

    def expire_handles(self) -> None:
        """Invalidate all handles given so far."""
        self._expired.update(self._by_handle)
        self._by_handle.clear()

    # --- the test's script

    def take_opening(self) -> Opening:
        """Return the beginning of the next connection."""
        return self._openings.popleft() if self._openings else self.expected.opening

    def take_turn(self, turn: HeardTurn) -> Turn | None:
        """Return the script of a new turn; None: `respond` writes it. Raises AssertionError."""
        self.add(turn)
        if self._turns:
            script = self._turns.popleft()
            if script.expect != turn.kind:
                raise AssertionError(
                    f"turn {turn.index}: {script.expect} was expected, {turn.kind} came"
                )
            return script
        if self.expected.respond is None:
            said = f" ({turn.text!r})" if turn.text else ""
            raise AssertionError(
                f"turn {turn.index}: unexpected {turn.kind} turn{said}: no more turns are scripted"
            )
        return None

    def add(self, turn: HeardTurn) -> None:
        """Record a new turn."""
        self.turns.append(turn)
        kept = self._keep_turns
        if kept is not None:
            del self.turns[:-kept]
            record = self.connections[turn.connection]
            for growing in (record.turns, record.contents, record.answers, record.updates):
                del growing[:-kept]

    def next_index(self) -> int:
        """Return the number of the next turn."""
        return next(self._numbers)

    def next_call_id(self) -> str:
        """Return an id that no other call has."""
        return f"call-{next(self._call_ids)}"

    def take_once(self) -> OnceTurn | None:
        """Return the script of the next REST turn; None: `respond_once` writes it."""
        if self._once:
            return self._once.popleft()
        if self.expected.respond_once is None:
            raise AssertionError("unexpected REST request: no more turns are scripted")
        return None

    def unconsumed(self) -> list[str]:
        """Return what was scripted and did not happen."""
        return [
            *(f"never came: {turn!r}" for turn in self._turns),
            *(f"never came: {turn!r}" for turn in self._once),
            *(f"never came: {opening!r}" for opening in self._openings),
            *(f"never refused: {pattern!r}" for pattern in self._refusals),
        ]
