"""What the face stands on, as tests need it: each does what it is told and nothing else."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from assistant.conversation.rules.state import Standing, State
from assistant.domain.events import EventBus, Happening
from assistant.domain.records import StoreError
from assistant.interfaces.mqtt.publishing import Parts
from audio.device_status import MicrophoneStatus
from integrations.errors import IntegrationError, Unavailable
from integrations.mqtt import Arrival, Broker, Publication, Subscription
from integrations.web.box import NotPossible
from integrations.web.requests import AnnounceRequest, LiveRequest, QuestionAnswer, QuestionRequest
from integrations.web.sessions import Caller


class Followed:
    """Tells whoever follows."""

    def __init__(self) -> None:
        self.followers: list[Callable[[], None]] = []

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        self.followers.append(tell)
        return lambda: self.followers.remove(tell)

    def tell(self) -> None:
        for follower in tuple(self.followers):
            follower()


class FakeBox:
    """Notes what is done; `raises` is what the next thing raises."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.raises: Exception | None = None
        self.can_listen = True
        self.answers: list[QuestionAnswer | Exception | Awaitable[QuestionAnswer]] = []

    async def mute(self, on: bool, caller: Caller) -> None:
        if not on and not caller.may_loosen("mute"):
            raise NotPossible("It stays muted.")
        self._note(("mute", on, caller.name))

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        assert caller.may("speak")
        if wanted.profile is not None and not caller.may_loosen("profile"):
            raise NotPossible("It keeps its profile.")
        self._note(wanted)

    def listen(self, caller: Caller) -> bool:
        self._note(("listen", caller.name))
        return self.can_listen

    def stop(self, caller: Caller) -> None:
        self._note(("stop", caller.name))

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        self._note((wanted.text, announcement_id, caller.name))
        return announcement_id

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        self._note((wanted.question, caller.name))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, QuestionAnswer) else await answer

    def _note(self, what: Any) -> None:
        self.done.append(what)
        if self.raises is not None:
            error, self.raises = self.raises, None
            raise error


class FakeLive(Followed):
    """Settings as the test has them."""

    volume, speed = 0.5, 1.0
    follow_up, sensitivity, wake_word, profile = "question", "normal", "okay_nabu", "none"
    quiet_hours = "off"

    def options(self, name: str) -> Sequence[str]:
        return {"wake_word": ("okay_nabu", "alexa"), "profile": ("none",)}[name]


class FakeFigures(Followed):
    """A last turn."""

    last_heard: str | None = "lights on"
    last_answer: str | None = "Done."
    turn_id: str | None = "t1"
    last_wake_word: str | None = "okay_nabu"
    brain: str | None = "offline"
    latency_ms: float | None = 512.3
    cost_today_usd: float | None = 0.01
    day = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTimers(Followed):
    """How many there are."""

    count = 0

    def next(self) -> tuple[datetime | None, int]:
        return None, self.count


class FakeConversation:
    """Stands as the test says."""

    def __init__(self) -> None:
        self.standing = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)
        self.observers: list[Callable[[Standing], None]] = []

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        self.observers.append(observer)
        return lambda: self.observers.remove(observer)

    def stand(self, **changes: Any) -> None:
        self.standing = replace(self.standing, **changes)
        for observer in tuple(self.observers):
            observer(self.standing)


class FakeTroubles(Followed):
    """What does not work."""

    sentences: Sequence[str] = ()


class FakeStore:
    """Keeps values in memory, unless it is broken."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.broken = False

    async def keep(self, name: str, value: Any) -> None:
        if self.broken:
            raise StoreError("The disk is full.")
        self.values[name] = value

    async def kept(self, name: str) -> Any | None:
        return self.values.get(name)


class House:
    """All of them."""

    def __init__(self) -> None:
        self.box = FakeBox()
        self.live = FakeLive()
        self.figures = FakeFigures()
        self.timers = FakeTimers()
        self.conversation = FakeConversation()
        self.troubles = FakeTroubles()
        self.guests = False
        self.happenings = EventBus(lambda: not self.guests)
        self.store = FakeStore()
        self.told: list[Happening] = []
        self.happenings.follow(self.told.append)

    @property
    def parts(self) -> Parts:
        return Parts(
            self.box,
            self.box,
            self.live,
            self.figures,
            self.timers,
            self.conversation,
            self.troubles,
            self.happenings,
            self.store,
        )


class FakeClient:
    """A client whose broker is there when the test says so; notes what is published."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        will: Publication,
        subscriptions: Sequence[Subscription],
        receive: Callable[[Arrival], Awaitable[bool]],
    ) -> None:
        self.broker, self.name, self.will = broker, name, will
        self.subscriptions = tuple(subscriptions)
        self.receive = receive
        self.on_connected: Callable[[], None] = lambda: None
        self.connected = False
        self.openings = 0
        self.problem: IntegrationError | None = Unavailable("The broker is away.")
        self.entered = False
        self.published: list[Publication] = []
        self.refuses = 0  # of the next messages

    async def __aenter__(self) -> Self:
        self.entered = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.entered = False

    async def publish(self, message: Publication) -> None:
        assert self.entered
        if not self.connected or self.refuses:
            self.refuses = max(0, self.refuses - 1)
            raise Unavailable("The broker is away.")
        self.published.append(message)

    def connect(self) -> None:
        """The broker is there."""
        self.connected, self.problem = True, None
        self.on_connected()

    def take(self) -> dict[str, str]:
        """What has been published since, newest of each topic; retained or not."""
        taken = {message.topic: message.payload for message in self.published}
        self.published.clear()
        return taken
