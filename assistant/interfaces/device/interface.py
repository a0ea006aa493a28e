"""The device in Home Assistant: it stays registered, receives messages and reports its state."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from assistant.announcements.service import AnnouncementService
from assistant.announcements.speaking import Announcements
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import SmallValues, StoreError
from assistant.interfaces.api.box import Box
from assistant.interfaces.device.inbox import Commander, Inbox
from assistant.interfaces.device.registration import (
    DeviceRecord,
    HouseDevice,
    Register,
    address_of,
    appearance,
    ensure_registered,
)
from assistant.interfaces.device.sensors import DeviceEvents, DeviceSensors
from assistant.interfaces.status import StatusSources
from assistant.speech.catalogue import Catalogue
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.mobile_app import CHANNEL, Push, confirm, read_push
from integrations.owner import Opened, OwnedTasks
from integrations.web.box import NotKept

_MESSAGES_WAITING = 64  # beyond this, the newest message is dropped
_REMEMBERED = 256  # number of message ids kept to ignore repeated deliveries
_WATCH_S = 2.0  # seconds between connection checks; a restart takes longer
_RENEW_S = 600.0  # seconds between registration checks
_PAUSE_S = (1.0, 300.0)  # shortest and longest delay in seconds after a failure
_SOON_S = 5.0  # longest delay while Home Assistant is unreachable or starting


_log = logging.getLogger(__name__)

Take = Callable[[Push], Awaitable[None]]  # can raise StoreError and NotKept


class DeviceKeeper(Opened):
    """Keeps the device registered and receives its messages while the context is open.

    Run only one per data folder, because Home Assistant keeps only one push channel per
    registration. Messages must be handled quickly, because they are confirmed only afterwards.
    """

    def __init__(
        self,
        device: HouseDevice,
        settings: Settings,
        home: HomeAssistant,
        take: Take,
        clock: Clock,
        register: Register = mobile_app.register,
        registered: Callable[[str], None] | None = None,
    ) -> None:
        """`take` handles a message (see `Inbox.take`). If it raises, the message isn't confirmed.
        `registered` is called with the webhook id when a new channel opens. It must not block."""
        self._device = device
        self._settings = settings
        self._home = home
        self._take = take
        self._clock = clock
        self._register = register
        self._registered = registered
        self._record: DeviceRecord | None = None
        self._leave: Callable[[], None] = lambda: None  # closes the current channel
        self._pushes: asyncio.Queue[Push] = asyncio.Queue(_MESSAGES_WAITING)
        self._came: deque[str] = deque(maxlen=_REMEMBERED)
        self._doubtful = True  # there is no channel, or it may be closed
        self._said = ""  # the last problem that was logged
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)
        stack.callback(self._close)
        self._owner.start(self._stay(), "device")
        self._owner.start(self._take_in(), "device-messages")

    async def _stay(self) -> None:
        pause_s = _PAUSE_S[0]
        while True:
            while not self._home.connected:
                await self._clock.sleep(_WATCH_S)
            try:
                await self._begin()
            except (IntegrationError, ConfigError) as error:
                self._say(error)
                longest = _SOON_S if isinstance(error, Unavailable) else _PAUSE_S[1]
                pause_s = min(pause_s, longest)
                await self._clock.sleep(pause_s)
                pause_s *= 2
                continue
            pause_s = _PAUSE_S[0]
            self._said = ""
            await self._until_in_doubt()

    async def _begin(self) -> None:
        before = self._record
        self._record = record = await ensure_registered(
            self._device.file,
            self._home,
            address_of(self._settings),
            appearance(self._settings),
            self._register,
        )
        self._device.registered_as(record.device_id)
        if before is not None and before.webhook_id == record.webhook_id and not self._doubtful:
            return
        self._close()
        self._doubtful = False
        self._leave = self._home.follow(
            self._on_push, CHANNEL, webhook_id=record.webhook_id, support_confirm=True
        )
        if self._registered is not None:
            self._registered(record.webhook_id)

    async def _until_in_doubt(self) -> None:
        until = self._clock.monotonic() + _RENEW_S
        while self._clock.monotonic() < until and not self._doubtful:
            await self._clock.sleep(_WATCH_S)
            if not self._home.connected:
                # A starting Home Assistant refuses channels, so open a new one when it is ready.
                self._close()

    def _close(self) -> None:
        self._doubtful = True
        leave, self._leave = self._leave, lambda: None
        leave()

    def _say(self, problem: Exception) -> None:
        if str(problem) != self._said:
            level = logging.INFO if isinstance(problem, Unavailable) else logging.WARNING
            _log.log(level, "no device in Home Assistant for now: %s", problem)
        self._said = str(problem)

    def _on_push(self, event: Mapping[str, Any]) -> None:
        try:
            self._pushes.put_nowait(read_push(event))
        except asyncio.QueueFull:
            # Home Assistant closes the channel of an unconfirmed message, so reopen it.
            self._doubtful = True
            _log.warning("too many messages at once from Home Assistant; one was dropped")

    async def _take_in(self) -> None:
        while True:
            push = await self._pushes.get()
            if not push.confirm_id or push.confirm_id not in self._came:
                try:
                    await self._take(push)
                except (NotKept, StoreError) as error:
                    self._doubtful = True  # the message stays unconfirmed
                    _log.error("a message from Home Assistant could not be saved: %s", error)
                    continue
                self._came.append(push.confirm_id)
            await self._confirm(push)

    async def _confirm(self, push: Push) -> None:
        if not push.confirm_id or self._record is None:
            return
        try:
            await confirm(self._home, self._record.webhook_id, push.confirm_id)
        except IntegrationError as error:
            self._doubtful = True  # too late, or disconnected
            _log.info("a message could not be confirmed: %s", error)


@dataclass(frozen=True, slots=True)
class Reach:
    """The daemon's components that device messages use."""

    box: Box
    desk: AnnouncementService
    announcements: Announcements
    catalogue: Catalogue
    store: SmallValues
    register: Register = field(default=mobile_app.register)


class DeviceInterface(Opened):
    """Runs the device in Home Assistant while the context is open.

    If an MQTT broker is configured (`mqtt.host`), the sensors and most events are published through
    the broker instead.
    """

    def __init__(
        self,
        settings: Settings,
        device: HouseDevice,
        home: HomeAssistant,
        sources: StatusSources,
        bus: EventBus,
        keeps_words: Callable[[], bool],
        reach: Reach,
        clock: Clock,
    ) -> None:
        """`keeps_words` returns False in guest mode, when transcripts are not stored."""
        self._sources = sources
        self._bus = bus
        self._broker = bool(settings.mqtt.host)
        languages = settings.assistant.languages
        shares = settings.privacy.share_heard
        self.events = DeviceEvents(
            home,
            lambda: device.device_id,
            appearance(settings).name,
            clock,
            lambda: shares and keeps_words(),
        )
        self.sensors = DeviceSensors(
            home,
            reach.catalogue,
            languages[0],
            clock,
            sources.snapshot,
            words=shares,
            shown=not self._broker,
        )
        self._inbox = Inbox(
            reach.desk,
            reach.announcements,
            reach.box,
            Commander(reach.box, bus, reach.store, clock),
            self.events,
            reach.catalogue,
            clock,
            languages,
        )
        self._keeper = DeviceKeeper(
            device, settings, home, self._inbox.take, clock, reach.register, self._registered
        )

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self.events)
        await stack.enter_async_context(self.sensors)
        stack.callback(self._sources.follow(self.sensors.changed))
        if not self._broker:
            stack.callback(self._bus.follow(self.events.happened))
        await stack.enter_async_context(self._inbox)
        await stack.enter_async_context(self._keeper)

    def _registered(self, webhook_id: str) -> None:
        self.events.registered(webhook_id)
        self.sensors.registered(webhook_id)
