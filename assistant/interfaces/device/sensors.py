"""Sensors and events of the device in Home Assistant, sent through its webhook."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.events import BusEvent
from assistant.interfaces.device.inbox import CALLER
from assistant.interfaces.entities import MOBILE_APP, Reading, Shown
from assistant.interfaces.status import Intents, StatusSnapshot
from assistant.speech.catalogue import Catalogue
from integrations.errors import IntegrationError, Stale, Unavailable
from integrations.home_assistant.mobile_app import (
    LONGEST_STATE,
    UNAVAILABLE,
    Sensor,
    fire_event,
    register_sensor,
    update_sensors,
)
from integrations.home_assistant.websocket import LiveLink
from integrations.owner import Opened, OwnedTasks

BURST_S = 0.05  # changes within this many seconds are sent together
SETTLE_S = 1.0  # seconds that Home Assistant needs to create an entity
FAREWELL_S = 1.0  # timeout in seconds for the final update
_PAUSE_S = (2.0, 60.0)  # shortest and longest delay in seconds after a failure

PREFIX = "hearth_"  # prefix of event types
FRESH_S = 5.0  # seconds until an unsent event is dropped
_WAITING = 64  # beyond this, the oldest event is dropped
_CUT = "…"

_log = logging.getLogger(__name__)


def name_keys() -> Mapping[str, str]:
    """Return the catalogue key of each sensor's display name, by unique id."""
    return {name: f"device.{one.name or name}" for name, one in MOBILE_APP.items()}


def sensors_of(facts: StatusSnapshot, names: Mapping[str, str], *, words: bool) -> list[Sensor]:
    """Return the sensors with their current state. `names` maps unique ids to display names.
    Sensors that contain transcripts are included only with `words`."""
    return [
        _sensor(name, names[name], _state(one, facts), one.attributes(facts))
        for name, one in MOBILE_APP.items()
        if words or not one.words
    ]


def gone(unique_ids: Iterable[str], names: Mapping[str, str]) -> list[Sensor]:
    """Return these sensors in the state "unavailable", without their last attributes."""
    return [_sensor(name, names[name], UNAVAILABLE, {}) for name in unique_ids]


def _state(reading: Reading, facts: StatusSnapshot) -> Shown:
    value = reading.value(facts)
    if isinstance(value, float) and reading.digits is not None:
        return round(value, reading.digits or None)
    if not reading.words or not isinstance(value, str):
        return value
    if len(value) <= LONGEST_STATE:
        return value or None
    return value[: LONGEST_STATE - len(_CUT)] + _CUT


def _sensor(unique_id: str, name: str, state: Shown, more: Mapping[str, Any]) -> Sensor:
    reading = MOBILE_APP[unique_id]
    closed = unique_id == "microphone_muted" and state is True
    options = {"options": list(reading.options)} if reading.options else {}
    return Sensor(
        reading.platform,
        unique_id,
        name,
        state,
        icon="mdi:microphone-off" if closed else f"mdi:{reading.icon}",
        category="diagnostic" if reading.diagnostic else None,
        device_class=reading.device_class,
        unit=reading.unit,
        state_class=reading.state_class,
        attributes={**options, **more},
    )


class DeviceSensors(Opened):
    """Sends sensor updates to Home Assistant while the context is open. Sensors that are not to be
    shown are sent as unavailable, because Home Assistant would keep showing their last state."""

    def __init__(
        self,
        home: LiveLink,
        catalogue: Catalogue,
        language: str,
        clock: Clock,
        facts: Callable[[], StatusSnapshot],
        *,
        words: bool,
        shown: bool = True,
    ) -> None:
        """`language` is the language of the sensors' names. `facts` returns the current state. With
        `words`, sensors can contain transcripts. Without `shown`, no sensors are shown."""
        self._home = home
        self._names = {name: catalogue.say(key, language) for name, key in name_keys().items()}
        self._clock = clock
        self._facts = facts
        self._words = words
        self._shown = shown
        self._webhook_id = ""  # a secret; "" until the registration is known
        # Sensors sent through this channel; None before the first update.
        self._told: list[Sensor] | None = None
        self._connections = 0
        self._begun = False  # a sensor has been sent
        self._changed = asyncio.Event()
        self._pause_s = _PAUSE_S[0]  # delay after the next failure
        self._said = ""  # the last problem that was logged
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        stack.push_async_callback(self._say_goodbye)
        await stack.enter_async_context(self._owner)
        self._owner.start_on(self._changed, self._tell, "device-sensors")

    async def _say_goodbye(self) -> None:
        if not self._begun or not self._home.connected:
            return
        try:
            async with asyncio.timeout(FAREWELL_S):
                await update_sensors(self._home, self._webhook_id, gone(MOBILE_APP, self._names))
        except (IntegrationError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            _log.info("Home Assistant could not be told that Hearth is shutting down: %s", why)

    def changed(self) -> None:
        """Schedule an update, which is sent if at least one sensor has changed."""
        self._changed.set()

    def registered(self, webhook_id: str) -> None:
        """Schedule an update of all sensors through this webhook, whose push channel is new."""
        self._webhook_id = webhook_id
        self._told = None
        self._connections += 1
        self._changed.set()

    async def _tell(self) -> None:
        await self._clock.sleep(BURST_S)
        self._changed.clear()
        if not self._webhook_id:
            return
        try:
            await self._send(self._webhook_id)
        except Stale as error:  # wait until the device registers again
            self._webhook_id = ""
            self._say(error)
        except IntegrationError as error:
            self._say(error)
            await self._clock.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, _PAUSE_S[1])
            self._changed.set()
        else:
            self._pause_s, self._said = _PAUSE_S[0], ""

    async def _send(self, webhook_id: str) -> None:
        told, sensors, connection = self._told, self._sensors(), self._connections
        if sensors == told:
            return
        if told is None:
            await self._clear(webhook_id)
        missing = {one.unique_id for one in sensors}
        if told:
            missing = set(await update_sensors(self._home, webhook_id, sensors))
        for sensor in sensors:
            self._begun = True
            if sensor.unique_id in missing:
                await register_sensor(self._home, webhook_id, sensor)
        if missing:
            # Home Assistant answers before it creates the entity, and rejects another one with
            # the same id. So wait, then send the changes made since as an update.
            await self._clock.sleep(SETTLE_S)
            sensors = self._sensors()
            if await update_sensors(self._home, webhook_id, sensors):
                raise Unavailable("Home Assistant has not created the entities yet.")
        if self._connections == connection:  # the channel hasn't changed meanwhile
            self._told = sensors

    async def _clear(self, webhook_id: str) -> None:
        unshown = [
            name
            for name, one in MOBILE_APP.items()
            if not self._shown or (one.words and not self._words)
        ]
        if unshown:
            await update_sensors(self._home, webhook_id, gone(unshown, self._names))

    def _sensors(self) -> list[Sensor]:
        return sensors_of(self._facts(), self._names, words=self._words) if self._shown else []

    def _say(self, problem: Exception) -> None:
        if str(problem) != self._said:
            _log.info("the current state cannot be sent to Home Assistant for now: %s", problem)
        self._said = str(problem)


@dataclass(frozen=True, slots=True)
class _Event:
    kind: str
    data: Mapping[str, Any]
    at_s: float  # monotonic seconds


class DeviceEvents(Opened):
    """Fires Home Assistant events such as `hearth_wake` and `hearth_answer`, in order, while the
    context is open. Events that can't be sent within FRESH_S seconds are dropped, so that
    automations don't react to old events."""

    def __init__(
        self,
        home: LiveLink,
        device_id: Callable[[], str],
        device_name: str,
        clock: Clock,
        shares_words: Callable[[], bool],
    ) -> None:
        """`shares_words` returns True if transcripts can currently be sent to Home Assistant."""
        self._home = home
        self._device_id = device_id
        self._device_name = device_name
        self._clock = clock
        self.shares_words = shares_words
        self._webhook_id = ""  # a secret; "" until the registration is known
        self._waiting: deque[_Event] = deque()
        self._more = asyncio.Event()
        self._intents = Intents()
        self.dropped = 0
        self._away = False  # the last event was dropped
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)
        self._owner.start_on(self._more, self._tell_all, "device-events")

    def registered(self, webhook_id: str) -> None:
        self._webhook_id = webhook_id

    def happened(self, happening: BusEvent) -> None:
        """Forward an event from the event bus to Home Assistant, unless the inbox reports it."""
        if happening.kind == "question" and happening.data.get("caller") == CALLER.name:
            return  # the inbox reports it, with the question's tag
        told: dict[str, Any] = {"turn_id": happening.turn_id, **happening.data}
        intent = self._intents.of(happening)
        if intent is not None:
            told["intent"] = intent
        if self.shares_words():
            told |= happening.words
        self.fire(PREFIX + happening.kind, told)

    def fire(self, kind: str, data: Mapping[str, Any]) -> None:
        """Queue an event of this type, adding the device's id and name. It is dropped while Home
        Assistant is unreachable."""
        if not self._webhook_id or not self._home.connected:
            self._drop(kind)
            return
        if len(self._waiting) >= _WAITING:
            self._drop(self._waiting.popleft().kind)
        told = {"device_id": self._device_id(), "device_name": self._device_name, **data}
        self._waiting.append(_Event(kind, told, self._clock.monotonic()))
        self._more.set()

    async def _tell_all(self) -> None:
        while self._waiting:
            await self._tell(self._waiting.popleft())

    async def _tell(self, event: _Event) -> None:
        if self._clock.monotonic() - event.at_s > FRESH_S:
            self._drop(event.kind)
            return
        try:
            await fire_event(self._home, self._webhook_id, event.kind, event.data)
        except IntegrationError as error:
            self._drop(event.kind, str(error))
        else:
            self._away = False

    def _drop(self, kind: str, problem: str = "Home Assistant is unreachable.") -> None:
        self.dropped += 1
        if not self._away:
            _log.info("the event %s and later ones are not sent: %s", kind, problem)
        self._away = True
