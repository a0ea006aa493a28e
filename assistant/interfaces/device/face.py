"""The device of the house, whole: registered, with its sensors, its events and its inbox."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from assistant.announcements.desk import Announcing
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import SmallValues
from assistant.interfaces.device.commands import Buttons, Commander
from assistant.interfaces.device.events import DeviceEvents
from assistant.interfaces.device.house_device import HouseDevice
from assistant.interfaces.device.inbox import Inbox, Kept, QuestionBox
from assistant.interfaces.device.keeper import DeviceHouse, DeviceKeeper
from assistant.interfaces.device.register import Register, appearance
from assistant.interfaces.device.sensors import DeviceSensors
from assistant.interfaces.status import (
    ConversationStatus,
    Figures,
    StatusSnapshot,
    TimerStatus,
    Troubles,
    facts_of,
)
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant import mobile_app


class DeviceBox(Buttons, QuestionBox, Protocol):
    """What messages need of the box (`integrations.web.box.Box`)."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where all comes from that Home Assistant sees of us."""

    conversation: ConversationStatus
    figures: Figures
    timers: TimerStatus
    troubles: Troubles
    happenings: EventBus
    keeps_words: Callable[[], bool]  # whether what people say is kept: guests' words are not

    def facts(self) -> StatusSnapshot:
        """All of it, now."""
        return facts_of(self.conversation, self.figures, self.timers, self.troubles)


@dataclass(frozen=True, slots=True)
class Reach:
    """What messages act on."""

    box: DeviceBox
    desk: Announcing
    announcements: Kept
    catalogue: Catalogue
    store: SmallValues
    register: Register = field(default=mobile_app.register)


class DeviceInterface:
    """For as long as the context is open. Where a broker is set (`mqtt.host`), the device, its room
    and its inbox are all there is: sensors and events are shown by the other way then."""

    def __init__(
        self,
        settings: Settings,
        device: HouseDevice,
        home: DeviceHouse,
        sources: Sources,
        reach: Reach,
        clock: Clock,
    ) -> None:
        self._sources = sources
        self._broker = bool(settings.mqtt.host)
        languages = settings.assistant.languages
        shares = settings.privacy.share_heard
        self.events = DeviceEvents(
            home,
            lambda: device.device_id,
            appearance(settings).name,
            clock,
            lambda: shares and sources.keeps_words(),
        )
        self.sensors = DeviceSensors(
            home,
            reach.catalogue,
            languages[0],
            clock,
            sources.facts,
            words=shares,
            shown=not self._broker,
        )
        self._inbox = Inbox(
            reach.desk,
            reach.announcements,
            reach.box,
            Commander(reach.box, sources.happenings, reach.store, clock),
            self.events,
            reach.catalogue,
            clock,
            languages,
        )
        self._keeper = DeviceKeeper(
            device, settings, home, self._inbox.take, clock, reach.register, self._registered
        )
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.events)
            await stack.enter_async_context(self.sensors)
            sources, changed = self._sources, self.sensors.changed
            stack.callback(sources.conversation.observe(lambda standing: changed()))
            for follow in (sources.figures.follow, sources.timers.follow, sources.troubles.follow):
                stack.callback(follow(changed))
            if not self._broker:
                stack.callback(sources.happenings.follow(self.events.happened))
            await stack.enter_async_context(self._inbox)
            await stack.enter_async_context(self._keeper)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    def _registered(self, webhook_id: str) -> None:
        self.events.registered(webhook_id)
        self.sensors.registered(webhook_id)
