"""What the face stands on: the parts of a process that stays, as far as it has to do with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.announcements.desk import Announcing
from assistant.domain.events import Happenings
from assistant.interfaces.facts import Conversation, Figures, Leave, Timers, Troubles
from assistant.interfaces.mqtt.taken import Store
from integrations.errors import IntegrationError
from integrations.mqtt.messages import Publication
from integrations.web.callers import Caller
from integrations.web.requests import LiveRequest, QuestionAnswer, QuestionRequest


class Box(Protocol):
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


class Live(Protocol):
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


class Client(Protocol):
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

    box: Box
    desk: Announcing
    live: Live
    figures: Figures
    timers: Timers
    conversation: Conversation
    troubles: Troubles
    happenings: Happenings
    store: Store
