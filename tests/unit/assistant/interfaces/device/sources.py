"""All that Home Assistant sees of us, as a test has it stand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assistant.conversation.rules.state import Standing, State
from assistant.domain.events import EventBus
from assistant.interfaces.device.face import Sources
from audio.device_status import MicrophoneStatus

IDLE = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
SECRET = "open the safe"  # what somebody said


class Followed:
    """Whoever tells of changes."""

    def __init__(self) -> None:
        self.followers: list[Callable[[], None]] = []

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        self.followers.append(tell)
        return lambda: self.followers.remove(tell)

    def tell(self) -> None:
        for follower in tuple(self.followers):
            follower()


class Numbers(Followed):
    """As `Figures`."""

    def __init__(self) -> None:
        super().__init__()
        self.last_heard: str | None = SECRET
        self.last_answer: str | None = "It is open."
        self.turn_id: str | None = "t1"
        self.last_wake_word: str | None = "okay_nabu"
        self.brain: str | None = "offline"
        self.latency_ms: float | None = 812.0
        self.cost_today_usd: float | None = 0.5
        self.day = NOON.replace(hour=0)


class Ringing(Followed):
    """As `TimerDesk`."""

    def __init__(self) -> None:
        super().__init__()
        self.due: datetime | None = None

    def next(self) -> tuple[datetime | None, int]:
        return self.due, 0 if self.due is None else 1


class Trouble(Followed):
    """As `Troubles`."""

    sentences: tuple[str, ...] = ()


class Talk(Followed):
    """As the `ConversationLoop`."""

    standing = IDLE

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        return self.follow(lambda: observer(self.standing))


@dataclass
class Life:
    """All of them."""

    talk: Talk = field(default_factory=Talk)
    numbers: Numbers = field(default_factory=Numbers)
    ringing: Ringing = field(default_factory=Ringing)
    trouble: Trouble = field(default_factory=Trouble)
    happenings: EventBus = field(default_factory=EventBus)
    guests: bool = False

    @property
    def sources(self) -> Sources:
        return Sources(
            self.talk,
            self.numbers,
            self.ringing,
            self.trouble,
            self.happenings,
            lambda: not self.guests,
        )
