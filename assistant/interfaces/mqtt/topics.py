"""The names of the topics. Pure."""

from dataclasses import dataclass

from assistant.config.schema import Mqtt
from integrations.mqtt.messages import Subscription

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
