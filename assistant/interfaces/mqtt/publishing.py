"""The names of the topics. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.announcements.desk import Announcing
from assistant.config.sections import Mqtt
from assistant.domain.events import EventBus
from assistant.interfaces.mqtt.taken import TakenStore
from assistant.interfaces.status import ConversationStatus, Figures, Leave, TimerStatus, Troubles
from integrations.errors import IntegrationError
from integrations.mqtt.messages import Publication, Subscription
from integrations.web.requests import LiveRequest, QuestionAnswer, QuestionRequest
from integrations.web.sessions import Caller

ONLINE, OFFLINE = "online", "offline"
_OWN = 12  # characters of the box's own id that make a topic its own


@dataclass(frozen=True, slots=True)
class Topics:
    """Of one box."""

    base: str  # everything of ours begins with it
    prefix: str  # where Home Assistant looks for devices
    identifier: str  # of this box, the same for ever

    @property
    def client(self) -> str:
        """Our name at the broker, under which it keeps the session."""
        return f"hearth-{self.identifier}"

    @property
    def config(self) -> str:
        """What Home Assistant makes the device of; retained."""
        return f"{self.prefix}/device/hearth_{self.identifier}/config"

    @property
    def birth(self) -> str:
        """Where Home Assistant says that it has started."""
        return f"{self.prefix}/status"

    @property
    def availability(self) -> str:
        """ONLINE or OFFLINE; retained."""
        return f"{self.base}/availability"

    @property
    def events(self) -> str:
        """What happens, as JSON with `event_type`."""
        return f"{self.base}/event"

    @property
    def answer(self) -> str:
        """What came of a question that was asked by MQTT, as JSON."""
        return f"{self.base}/answer"

    def state(self, key: str) -> str:
        """How one thing stands; retained."""
        return f"{self.base}/{key}"

    def order(self, key: str) -> str:
        """Where that one thing is done: announce, ask, listen, stop."""
        return f"{self.base}/{key}"

    def setting(self, key: str) -> str:
        """Where what stands at `state(key)` is changed."""
        return f"{self.base}/{key}/set"

    def subscriptions(self) -> tuple[Subscription, ...]:
        """What we listen to.

        What is to be said or set is kept by the broker while we are away. A button that is pressed
        then does nothing later, and a question that comes late helps nobody any more.
        """
        return (
            Subscription(self.birth, 1),
            Subscription(self.order("announce"), 1),
            Subscription(self.setting("+"), 1),
            *(Subscription(self.order(key), 0) for key in ("ask", "listen", "stop")),
        )


def topics_of(mqtt: Mqtt, identifier: str) -> Topics:
    """As the settings have them."""
    base = mqtt.topic or f"hearth/{identifier[:_OWN]}"
    return Topics(base, mqtt.discovery_prefix, identifier)


# What the face stands on: the parts of a process that stays, as far as it has to do with them.


class MqttBox(Protocol):
    """What is done (`assistant.interfaces.api.box.Box`); errors as in `integrations.web.box`."""

    async def mute(self, on: bool, caller: Caller) -> None:
        """Raises NotKept and NotPossible."""
        ...

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        """Raises NotPossible and NotKept."""
        ...

    def listen(self, caller: Caller) -> bool:
        """False: it cannot."""
        ...

    def stop(self, caller: Caller) -> None:
        """Silence at once."""
        ...

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Raises NotPossible."""
        ...


class MqttChanges(Protocol):
    """What may be changed while it runs (`assistant.interfaces.live_settings.LiveSettings`)."""

    @property
    def volume(self) -> float: ...

    @property
    def speed(self) -> float: ...

    @property
    def follow_up(self) -> str: ...

    @property
    def sensitivity(self) -> str: ...

    @property
    def wake_word(self) -> str: ...

    @property
    def profile(self) -> str: ...

    @property
    def quiet_hours(self) -> str: ...

    def options(self, name: str) -> Sequence[str]:
        """What one of them can be."""
        ...

    def follow(self, tell: Callable[[], None]) -> Leave:
        """Have it called at each change."""
        ...


class BrokerConnection(Protocol):
    """The connection (`integrations.mqtt.MqttClient`)."""

    on_connected: Callable[[], None]
    openings: int

    @property
    def connected(self) -> bool:
        """Whether something can be published."""
        ...

    @property
    def problem(self) -> IntegrationError | None:
        """Why not."""
        ...

    async def publish(self, message: Publication) -> None:
        """Raises IntegrationError."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """All of them."""

    box: MqttBox
    desk: Announcing
    live: MqttChanges
    figures: Figures
    timers: TimerStatus
    conversation: ConversationStatus
    troubles: Troubles
    happenings: EventBus
    store: TakenStore
