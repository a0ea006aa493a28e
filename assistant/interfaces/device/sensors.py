"""Sensors and events of our device in Home Assistant, told by its webhook."""

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

BURST_S = 0.05  # changes that come together are one update
SETTLE_S = 1.0  # for Home Assistant to make an entity
FAREWELL_S = 1.0  # to say that nobody tells any more
_PAUSE_S = (2.0, 60.0)  # after a failure: the least and the longest

PREFIX = "hearth_"  # of an event's type, before the happening's kind
FRESH_S = 5.0  # an event that Home Assistant has not taken by then is dropped
_WAITING = 64  # beyond that the oldest is dropped
_CUT = "…"

_log = logging.getLogger(__name__)


def name_keys() -> Mapping[str, str]:
    """Return the catalogue's key of each sensor's name, by unique id."""
    return {name: f"device.{one.name or name}" for name, one in MOBILE_APP.items()}


def sensors_of(facts: StatusSnapshot, names: Mapping[str, str], *, words: bool) -> list[Sensor]:
    """Return each sensor as it is now. `names`: by unique id; `words`: they may be shown."""
    return [
        _sensor(name, names[name], _state(one, facts), one.attributes(facts))
        for name, one in MOBILE_APP.items()
        if words or not one.words
    ]


def gone(unique_ids: Iterable[str], names: Mapping[str, str]) -> list[Sensor]:
    """Return these as unavailable: nothing of what they showed is left."""
    return [_sensor(name, names[name], UNAVAILABLE, {}) for name in unique_ids]


def _state(reading: Reading, facts: StatusSnapshot) -> Shown:
    """Return a state that Home Assistant takes; the whole of a text is beside it."""
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
    """Tells Home Assistant of every change, and all of it at every new connection. Enter it.

    It needs two callbacks: `changed` of whoever changes anything of the facts, `registered` of who
    keeps the registration. Neither waits. What is shown no more (words that are not shared; all of
    it where a broker shows it) is told to be unavailable at every new connection: the webhook can
    remove no sensor, and what it last showed must not stay.
    """

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
        """`language`: of the entities' names; `facts`: how all stands now; `words`: whether what
        was said may be shown; `shown`: whether there are any sensors at all."""
        self._home = home
        self._names = {name: catalogue.say(key, language) for name, key in name_keys().items()}
        self._clock = clock
        self._facts = facts
        self._words = words
        self._shown = shown
        self._webhook_id = ""  # a secret; "" until the registration is known
        self._told: list[Sensor] | None = None  # of this registration, at this connection
        self._connections = 0
        self._begun = False  # something was shown
        self._changed = asyncio.Event()
        self._pause_s = _PAUSE_S[0]  # after the next failure
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
            _log.info("Home Assistant was not told of the end: %s", why)

    def changed(self) -> None:
        """Something of the facts may stand otherwise now."""
        self._changed.set()

    def registered(self, webhook_id: str) -> None:
        """This registration lives, and the connection to it may be a new one."""
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
        except Stale as error:  # until it is registered again
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
        """Raises IntegrationError."""
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
            # Home Assistant makes an entity after it has answered, and takes no second one of that
            # id meanwhile: what changed since is told to the one that it has made.
            await self._clock.sleep(SETTLE_S)
            sensors = self._sensors()
            if await update_sensors(self._home, webhook_id, sensors):
                raise Unavailable("Home Assistant has not made the entities yet.")
        if self._connections == connection:  # not registered anew meanwhile
            self._told = sensors

    async def _clear(self, webhook_id: str) -> None:
        """Clear what was shown once and is not now; what never was there is passed over."""
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
        """Log a problem once, not at every try."""
        if str(problem) != self._said:
            _log.info("Home Assistant does not see how it stands for now: %s", problem)
        self._said = str(problem)


@dataclass(frozen=True, slots=True)
class _Event:
    kind: str
    data: Mapping[str, Any]
    at_s: float  # monotonic


class DeviceEvents(Opened):
    """Events of Home Assistant: `hearth_wake`, `hearth_answer` and the others, in order. Enter it.

    Nothing is told late: while Home Assistant is away, and where it does not answer within FRESH_S,
    events are dropped and counted. An automation must not act in the morning on the "good night" of
    the evening.

    Each holds `device_id` (Home Assistant's), `device_name` and `turn_id` ("" where no turn had
    part in it), and the happening's own data. Of what was said it holds `intent`, the first tool
    that the turn called, where that is known; the words only where they may be shared.
    """

    def __init__(
        self,
        home: LiveLink,
        device_id: Callable[[], str],
        device_name: str,
        clock: Clock,
        shares_words: Callable[[], bool],
    ) -> None:
        """`shares_words`: whether what is said now may go to Home Assistant."""
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
        self._away = False  # the last one was dropped
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)
        self._owner.start_on(self._more, self._tell_all, "device-events")

    def registered(self, webhook_id: str) -> None:
        self._webhook_id = webhook_id

    def happened(self, happening: BusEvent) -> None:
        """Tell of it (`Happenings.follow`)."""
        if happening.kind == "question" and happening.data.get("caller") == CALLER.name:
            return  # who asked tells of it, with the tag that it was asked with
        told: dict[str, Any] = {"turn_id": happening.turn_id, **happening.data}
        intent = self._intents.of(happening)
        if intent is not None:
            told["intent"] = intent
        if self.shares_words():
            told |= happening.words
        self.fire(PREFIX + happening.kind, told)

    def fire(self, kind: str, data: Mapping[str, Any]) -> None:
        """Have an event of this type happen soon, with the device's id and name in it."""
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

    def _drop(self, kind: str, problem: str = "Home Assistant is away.") -> None:
        """Count it, and log the first of a row."""
        self.dropped += 1
        if not self._away:
            _log.info("the event %s and what follows are not told: %s", kind, problem)
        self._away = True
