"""How it stands with us, as Home Assistant sees it: the entities of our device, kept up to date."""

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from assistant.domain.clock import Clock
from assistant.interfaces.device.entities import WORDS, every_one, gone, name_keys, sensors_of
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from integrations.errors import IntegrationError, Stale, Unavailable
from integrations.home_assistant.commands import LiveLink
from integrations.home_assistant.mobile_app import Sensor, register_sensor, update_sensors
from integrations.owner import OwnedTasks

BURST_S = 0.05  # changes that come together are one update
SETTLE_S = 1.0  # for Home Assistant to make an entity
FAREWELL_S = 1.0  # to say that nobody tells any more
_PAUSE_S = (2.0, 60.0)  # after a failure: the least and the longest

_log = logging.getLogger(__name__)


class DeviceSensors:
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

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start_on(self._changed, self._tell, "device-sensors")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)
        if not self._begun or not self._home.connected:
            return
        try:
            async with asyncio.timeout(FAREWELL_S):
                await update_sensors(self._home, self._webhook_id, gone(every_one(), self._names))
        except (IntegrationError, TimeoutError) as error_:
            why = str(error_) or "no answer in time"
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
        """What was shown once and is not now. Those that never were there are passed over."""
        unshown = [
            name for name in every_one() if not self._shown or (name in WORDS and not self._words)
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
