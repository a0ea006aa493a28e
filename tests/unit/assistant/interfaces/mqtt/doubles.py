"""The parts that the MQTT interface depends on, for tests: each does only what the test sets."""

from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar, Self, cast

from assistant.domain.events import BusEvent, EventBus
from assistant.interfaces.mqtt.commands import MqttParts
from integrations.errors import IntegrationError, Unavailable
from integrations.mqtt.client import MqttClient
from integrations.mqtt.messages import Publication
from integrations.web.box import Caller, NotPossible
from integrations.web.requests import AnnounceRequest, LiveRequest, QuestionAnswer, QuestionRequest
from tests.fakes.small_values import FakeValues
from tests.fakes.status import FakeStatus, Followed


class FakeBox:
    """Records what is done; `raises` is raised by the next action."""

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
    """Settings as the test sets them."""

    volume, speed = 0.5, 1.0
    follow_up, sensitivity, wake_word, profile = "question", "normal", "okay_nabu", "none"
    quiet_hours = "off"

    def options(self, name: str) -> Sequence[str]:
        return {"wake_word": ("okay_nabu", "alexa"), "profile": ("none",)}[name]


class House(FakeStatus):
    """All parts."""

    def __init__(self) -> None:
        super().__init__()
        self.box = FakeBox()
        self.live = FakeLive()
        self.guests = False
        self.bus = EventBus(lambda: not self.guests)
        self.store = FakeValues()
        self.told: list[BusEvent] = []
        self.bus.follow(self.told.append)

    @property
    def parts(self) -> MqttParts:
        stands_on = (self.box, self.box, self.live, self.sources, self.bus, self.store)
        return MqttParts(*cast(Any, stands_on))


class FakeClient(MqttClient):
    """A client whose broker appears when the test says so, and which records what is published."""

    made: ClassVar[list["FakeClient"]] = []

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.broker, self.name, self.will, self.subscriptions, self.receive, self._greet = given
        self.there = False
        self.entered = False
        self.published: list[Publication] = []
        self.refuses = 0  # of the next messages
        self.made.append(self)

    @property
    def connected(self) -> bool:
        return self.there

    @property
    def problem(self) -> IntegrationError | None:
        return None if self.there else Unavailable("The broker is away.")

    async def __aenter__(self) -> Self:
        self.entered = True
        return self

    async def __aexit__(self, *error: object) -> None:
        self.entered = False

    async def publish(self, message: Publication) -> None:
        assert self.entered
        if not self.there or self.refuses:
            self.refuses = max(0, self.refuses - 1)
            raise Unavailable("The broker is away.")
        self.published.append(message)

    def connect(self) -> None:
        """Make the broker available."""
        self.there = True
        self._greet()

    def take(self) -> dict[str, str]:
        """Return the newest publication of each topic since the last call, retained or not."""
        taken = {message.topic: message.payload for message in self.published}
        self.published.clear()
        return taken
