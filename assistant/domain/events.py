"""What happens, for automations and whoever shows it: one place that all of it passes."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, Self, TypeVar

Kind = Literal[
    "wake",  # word, and score; or pressed and caller
    "heard",  # language, source, caller; words: heard
    "tool_call",  # name, status, decision, tier, entities
    "answer",  # brain, error kind, caller; words: answer
    "confirmation",  # waits: true, words: asked; then waits: false, verdict
    "question",  # a program's: id, caller, result, answer; words: question, sentence
    "timer",  # id, kind, what: set | changed | rings | heard | ended; words: name
    "announcement",  # id, caller, what: waits | said | left_out
    "fault",  # what, on, problem: one sentence; of a refused order what, caller, problem
    "command",  # caller, what; on of mute, mode of mode
    "button",  # name, caller: listen or stop was pressed
]


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One of them. What people said is in `words` alone, so that it can be left out."""

    kind: Kind
    turn_id: str = ""  # "" where no turn had part in it
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON, without anybody's words
    words: Mapping[str, str] = field(default_factory=dict)  # what was said, by whom it may concern


Follower = Callable[[BusEvent], None]


class EventBus:
    """Tells everybody. On the loop's thread; a follower must not block."""

    def __init__(self, keeps_words: Callable[[], bool] = lambda: True) -> None:
        """`keeps_words`: asked each time; what guests say is told to nobody."""
        self._keeps_words = keeps_words
        self._followers: Listeners[[BusEvent]] = Listeners("events")

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Have it told from now on; what is returned ends that."""
        return self._followers.add(follower)

    def publish(
        self,
        kind: Kind,
        /,
        turn_id: str = "",
        words: Mapping[str, str] | None = None,
        **data: Any,
    ) -> None:
        """It has just happened."""
        kept = words if words and self._keeps_words() else {}
        self._followers.tell(BusEvent(kind, turn_id, data, kept))


# Whoever wants to be told when something changes or happens.


_log = logging.getLogger(__name__)
_Told = ParamSpec("_Told")


class Listeners(Generic[_Told]):
    """Tells all of them, in the order in which they came. On the loop's thread; a follower must
    not block. One that breaks is logged, and the others are told all the same."""

    def __init__(self, of: str) -> None:
        """`of`: what they follow, for the log, such as "timers"."""
        self._of = of
        self._all: dict[object, Callable[_Told, None]] = {}

    def add(self, follower: Callable[_Told, None]) -> Callable[[], None]:
        """Tell this one too from now on; what is returned ends that, and called again does
        nothing."""
        place = object()
        self._all[place] = follower

        def leave() -> None:
            self._all.pop(place, None)

        return leave

    def tell(self, *args: _Told.args, **named: _Told.kwargs) -> None:
        """It has just happened."""
        for follower in tuple(self._all.values()):
            try:
                follower(*args, **named)
            except Exception:  # other people's code: we go on
                _log.exception("a follower of %s broke", self._of)


# A value that is made later than those who need it.


_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """Hold a value that is set once, as soon as it could be made. On the loop's thread.

    Hearth listens before the house, its tools and the brains are there: what begins early takes
    a `Deferred` of what it needs, and waits for it.
    """

    def __init__(self) -> None:
        self._value: _T | None = None
        self._ready = asyncio.Event()
        self._waiting: list[Callable[[_T], object]] = []

    @classmethod
    def of(cls, value: _T) -> Self:
        """Return one whose value is there already."""
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
        """Set the value, and call everyone who registered with `when_set`, in their order.

        Raises ValueError where it was set before.
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
        """Call `use` with the value: at once where it is set, else as soon as it is."""
        if self._value is None:
            self._waiting.append(use)
        else:
            use(self._value)
