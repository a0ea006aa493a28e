"""The event bus for automations and displays, listeners, and values that are made later."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, Self, TypeVar

Kind = Literal[
    "wake",  # word and score; or pressed and caller
    "heard",  # language, source, caller; words: heard
    "tool_call",  # name, status, decision, tier and entities
    "answer",  # brain, error kind, caller; words: answer
    "confirmation",  # first waits: true, words: asked; then waits: false and verdict
    "question",  # from a program: id, caller, result and answer; words: question and sentence
    "timer",  # id, kind, what: set | changed | rings | heard | ended; words: name
    "announcement",  # id, caller, what: waits | said | left_out
    "fault",  # what, on, problem (one sentence); for a rejected command what, caller and problem
    "command",  # caller and what; "on" for mute, "mode" for the mode
    "button",  # name and caller: listen or stop was pressed
]


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One event. People's words are in `words` alone, so that they can be left out."""

    kind: Kind
    turn_id: str = ""  # "" if the event belongs to no turn
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON, without anybody's words
    # People's words, by the role that they have in the event.
    words: Mapping[str, str] = field(default_factory=dict)


Follower = Callable[[BusEvent], None]


class EventBus:
    """Passes events to its followers, on the loop's thread. A follower must not block."""

    def __init__(self, keeps_words: Callable[[], bool] = lambda: True) -> None:
        """`keeps_words` is asked at each event. While it is False (for guests), words are
        left out."""
        self._keeps_words = keeps_words
        self._followers: Listeners[[BusEvent]] = Listeners("events")

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Register a follower. Returns a function that unregisters it; calling it twice is
        harmless."""
        return self._followers.add(follower)

    def publish(
        self,
        kind: Kind,
        /,
        turn_id: str = "",
        words: Mapping[str, str] | None = None,
        **data: Any,
    ) -> None:
        """Pass an event to all followers."""
        kept = words if words and self._keeps_words() else {}
        self._followers.tell(BusEvent(kind, turn_id, data, kept))


_log = logging.getLogger(__name__)
_Told = ParamSpec("_Told")


class Listeners(Generic[_Told]):
    """Callbacks for one kind of event, called in the order of registration on the loop's thread.

    A callback must not block. One that raises is logged, and the others are still called.
    """

    def __init__(self, of: str) -> None:
        """`of` names the subject for the log, such as "timers"."""
        self._of = of
        self._all: dict[object, Callable[_Told, None]] = {}

    def add(self, follower: Callable[_Told, None]) -> Callable[[], None]:
        """Register a callback. Returns a function that unregisters it; calling it twice is
        harmless."""
        place = object()
        self._all[place] = follower

        def leave() -> None:
            self._all.pop(place, None)

        return leave

    def tell(self, *args: _Told.args, **named: _Told.kwargs) -> None:
        """Call every callback with these arguments."""
        for follower in tuple(self._all.values()):
            try:
                follower(*args, **named)
            except Exception:  # a follower's own bug; the others are still called
                _log.exception("a follower of %s broke", self._of)


_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """A value that is set once, as soon as it can be made. Used on the loop's thread.

    Hearth listens before the house, its tools and the brains are ready. A part that starts early
    takes a `Deferred` of what it needs and waits for it.
    """

    def __init__(self) -> None:
        self._value: _T | None = None
        self._ready = asyncio.Event()
        self._waiting: list[Callable[[_T], object]] = []

    @classmethod
    def of(cls, value: _T) -> Self:
        """Return a `Deferred` whose value is already set."""
        deferred = cls()
        deferred.set(value)
        return deferred

    @property
    def value(self) -> _T | None:
        """The value, or None before it is set."""
        return self._value

    def get(self) -> _T:
        """Return the value. Raises LookupError before it is set."""
        if self._value is None:
            raise LookupError("This is needed before it was made.")
        return self._value

    def set(self, value: _T) -> None:
        """Set the value and call every callback of `when_set`, in order of registration.

        Raises ValueError if the value is already set.
        """
        if self._value is not None:
            raise ValueError("This was made before.")
        self._value = value
        self._ready.set()
        waiting, self._waiting = self._waiting, []
        for use in waiting:
            use(value)

    async def wait(self) -> _T:
        """Return the value once it is set."""
        await self._ready.wait()
        return self.get()

    def when_set(self, use: Callable[[_T], object]) -> None:
        """Call `use` with the value: at once if it is set, otherwise as soon as it is."""
        if self._value is None:
            self._waiting.append(use)
        else:
            use(self._value)
