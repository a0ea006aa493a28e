"""How all stands at one moment, as the faces show it, and who knows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from assistant.conversation.rules.state import Standing

Leave = Callable[[], None]  # ends what it was given for


class ConversationStatus(Protocol):
    """How the talk stands (`assistant.conversation.loop.ConversationLoop`)."""

    @property
    def standing(self) -> Standing:
        """Now."""
        ...

    def observe(self, observer: Callable[[Standing], None]) -> Leave:
        """Call it with each change."""
        ...


class Figures(Protocol):
    """The last turn, and today (`assistant.interfaces.turn_stats.TurnStats`). None: not known."""

    @property
    def last_heard(self) -> str | None: ...

    @property
    def last_answer(self) -> str | None: ...

    @property
    def turn_id(self) -> str | None: ...

    @property
    def last_wake_word(self) -> str | None: ...

    @property
    def brain(self) -> str | None: ...

    @property
    def latency_ms(self) -> float | None: ...

    @property
    def cost_today_usd(self) -> float | None: ...

    @property
    def day(self) -> datetime: ...

    def follow(self, tell: Callable[[], None]) -> Leave:
        """Have it called at each change."""
        ...


class TimerStatus(Protocol):
    """Those of the box (`assistant.timers.desk.TimerDesk`)."""

    def next(self) -> tuple[datetime | None, int]:
        """When the next one is due, and how many there are."""
        ...

    def follow(self, tell: Callable[[], None]) -> Leave:
        """Have it called at each change."""
        ...


class Troubles(Protocol):
    """What does not work (`assistant.interfaces.health.HealthMonitor`)."""

    @property
    def sentences(self) -> Sequence[str]:
        """What a person should know now."""
        ...

    def follow(self, tell: Callable[[], None]) -> Leave:
        """Have it called at each change."""
        ...


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """All that is shown of us beside the settings. None: not known."""

    standing: Standing
    problems: tuple[str, ...] = ()  # sentences
    heard: str | None = None
    answer: str | None = None
    turn_id: str | None = None  # of the two
    wake_word: str | None = None
    brain: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    day: datetime | None = None  # the midnight from which the cost counts
    next_timer: datetime | None = None
    timers: int = 0


def facts_of(
    conversation: ConversationStatus, figures: Figures, timers: TimerStatus, troubles: Troubles
) -> StatusSnapshot:
    """All of it, now."""
    due, count = timers.next()
    return StatusSnapshot(
        standing=conversation.standing,
        problems=tuple(troubles.sentences),
        heard=figures.last_heard,
        answer=figures.last_answer,
        turn_id=figures.turn_id,
        wake_word=figures.last_wake_word,
        brain=figures.brain,
        latency_ms=figures.latency_ms,
        cost_usd=figures.cost_today_usd,
        day=figures.day,
        next_timer=due,
        timers=count,
    )
