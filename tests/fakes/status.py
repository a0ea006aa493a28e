"""Fake sources of the status: turns, timers, problems, a conversation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from assistant.conversation.rules.state import Standing, State
from assistant.interfaces.status import StatusSources
from audio.device_status import MicrophoneStatus


class Followed:
    def __init__(self) -> None:
        self.followers: list[Callable[[], None]] = []

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        self.followers.append(tell)
        return lambda: self.followers.remove(tell)

    def tell(self) -> None:
        for follower in tuple(self.followers):
            follower()


class FakeStats(Followed):
    """A fake of `TurnStats`."""

    last_heard: str | None = "lights on"
    last_answer: str | None = "Done."
    turn_id: str | None = "t1"
    last_wake_word: str | None = "okay_nabu"
    brain: str | None = "offline"
    latency_ms: float | None = 512.3
    cost_today_usd: float | None = 0.01
    day = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTimers(Followed):
    """A fake of `ProgramTimers`."""

    count = 0
    due: datetime | None = None

    def next(self) -> tuple[datetime | None, int]:
        return self.due, self.count


class FakeHealth(Followed):
    """A fake of `HealthMonitor`."""

    sentences: Sequence[str] = ()


class FakeConversation(Followed):
    """A fake of `Runner`, in the state that the test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.standing = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        return self.follow(lambda: observer(self.standing))

    def stand(self, **changes: Any) -> None:
        self.standing = replace(self.standing, **changes)
        self.tell()


class FakeStatus:
    """All of these fakes together."""

    def __init__(self) -> None:
        self.conversation = FakeConversation()
        self.figures = FakeStats()
        self.timers = FakeTimers()
        self.troubles = FakeHealth()

    @property
    def all(self) -> tuple[Followed, ...]:
        return self.conversation, self.figures, self.timers, self.troubles

    @property
    def sources(self) -> StatusSources:
        return StatusSources(*cast(Any, self.all))
