"""The event bus for automations and displays, lists of callbacks, and values that are set later."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, Self, TypeVar

Kind = Literal[
    "wake",  # word and score, or pressed and caller
    "heard",  # language, source, caller; words: heard
    "tool_call",  # name, status, decision, tier and entities
    "answer",  # brain, error kind, caller; words: answer
    "confirmation",  # first waits: true (words: asked), then waits: false and verdict
    "question",  # from a program: id, caller, result and answer; words: question and sentence
    "timer",  # id, kind, what: set | changed | rings | heard | ended; words: name
    "announcement",  # id, caller, what: waits | said | left_out
    "fault",  # what, on, problem (one sentence); if a command was rejected: what, caller, problem
    "command",  # caller and what; "on" for mute, "mode" for the mode
    "button",  # name (listen or stop) and caller
]


@dataclass(frozen=True, slots=True)
class BusEvent:
    """An event. Spoken and typed text is only in `words`, so that it can be omitted."""

    kind: Kind
    turn_id: str = ""  # "" if the event belongs to no turn
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON without spoken or typed text
    # Spoken and typed text by role, such as "heard" or "answer".
    words: Mapping[str, str] = field(default_factory=dict)


Follower = Callable[[BusEvent], None]


class EventBus:
    """Passes events to its followers on the event loop's thread. Followers must not block.

    While `keeps_words` returns False (for guests), events omit their `words`.
    """

    def __init__(self, keeps_words: Callable[[], bool] = lambda: True) -> None:
        self._keeps_words = keeps_words
        self._followers: Listeners[[BusEvent]] = Listeners("events")

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Register a follower and return a function that unregisters it."""
        return self._followers.add(follower)

    def publish(
        self,
        kind: Kind,
        /,
        turn_id: str = "",
        words: Mapping[str, str] | None = None,
        **data: Any,
    ) -> None:
        kept = words if words and self._keeps_words() else {}
        self._followers.tell(BusEvent(kind, turn_id, data, kept))


_log = logging.getLogger(__name__)
_Told = ParamSpec("_Told")


class Listeners(Generic[_Told]):
    """Callbacks for one kind of event. They are called on the event loop's thread and must not
    block.

    If one raises an exception, it is logged and the other callbacks are still called. `of` names
    the subject in log messages, such as "timers".
    """

    def __init__(self, of: str) -> None:
        self._of = of
        self._all: dict[object, Callable[_Told, None]] = {}

    def add(self, follower: Callable[_Told, None]) -> Callable[[], None]:
        """Register a callback and return a function that unregisters it."""
        place = object()
        self._all[place] = follower

        def leave() -> None:
            self._all.pop(place, None)

        return leave

    def tell(self, *args: _Told.args, **named: _Told.kwargs) -> None:
        for follower in tuple(self._all.values()):
            try:
                follower(*args, **named)
            except Exception:  # a bug in one follower; the others must still be called
                _log.exception("a listener of %s failed", self._of)


_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """A value that is set once, usually after the components that wait for it have been created.
    Use it on the event loop's thread only."""

    def __init__(self) -> None:
        self._value: _T | None = None
        self._ready = asyncio.Event()
        self._waiting: list[Callable[[_T], object]] = []

    @classmethod
    def of(cls, value: _T) -> Self:
        deferred = cls()
        deferred.set(value)
        return deferred

    @property
    def value(self) -> _T | None:
        return self._value

    def get(self) -> _T:
        """Return the value. Raises LookupError if it isn't set yet."""
        if self._value is None:
            raise LookupError("This value was read before it was set.")
        return self._value

    def set(self, value: _T) -> None:
        """Set the value and pass it to the callbacks of `when_set`. Raises ValueError if the value
        is already set."""
        if self._value is not None:
            raise ValueError("This value is already set.")
        self._value = value
        self._ready.set()
        waiting, self._waiting = self._waiting, []
        for use in waiting:
            use(value)

    async def wait(self) -> _T:
        await self._ready.wait()
        return self.get()

    def when_set(self, use: Callable[[_T], object]) -> None:
        """Call `use` with the value, either immediately or as soon as the value is set."""
        if self._value is None:
            self._waiting.append(use)
        else:
            use(self._value)
