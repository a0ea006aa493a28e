"""How the microphone stands, as Home Assistant sees it: two entities of our device."""

import asyncio
import logging
from types import TracebackType
from typing import Self

from assistant.clock import Clock
from assistant.speech.catalogue import Catalogue
from assistant.turn.standing import Standing
from integrations.errors import IntegrationError, Stale, Unavailable
from integrations.home_assistant.commands import Live
from integrations.home_assistant.mobile_app import (
    UNAVAILABLE,
    Sensor,
    register_sensor,
    update_sensors,
)
from integrations.owner import OwnedTasks

MUTED, MICROPHONE = "microphone_muted", "microphone"  # unique ids
SETTLE_S = 1.0  # for Home Assistant to make an entity
FAREWELL_S = 1.0  # to say that nobody tells any more
_PAUSE_S = (2.0, 60.0)  # after a failure: the least and the longest

_log = logging.getLogger(__name__)


class DeviceSensors:
    """Tells Home Assistant of every change, and all of it at every new connection. Enter it.

    It needs two callbacks: `stand` of who knows how the microphone stands, `registered` of who
    keeps the registration. Neither waits.
    """

    def __init__(
        self, home: Live, catalogue: Catalogue, language: str, clock: Clock, standing: Standing
    ) -> None:
        """`language`: of the entities' names; `standing`: how it stands now."""
        self._home = home
        self._names = {
            MUTED: catalogue.say("device.muted", language),
            MICROPHONE: catalogue.say("device.microphone", language),
        }
        self._clock = clock
        self._standing = standing
        self._webhook_id = ""  # a secret; "" until the registration is known
        self._told: list[Sensor] = []  # of this registration, at this connection
        self._changed = asyncio.Event()
        self._said = ""  # the last problem that was logged
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._tell(), "device-sensors")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)
        if not self._told or not self._home.connected:
            return
        gone = [Sensor(one.kind, one.unique_id, one.name, UNAVAILABLE) for one in self._told]
        try:
            async with asyncio.timeout(FAREWELL_S):
                await update_sensors(self._home, self._webhook_id, gone)
        except (IntegrationError, TimeoutError) as error_:
            _log.info("Home Assistant was not told of the end: %s", error_ or "no answer in time")

    def stand(self, standing: Standing) -> None:
        """It stands so now (`observe` of the runner)."""
        self._standing = standing
        self._changed.set()

    def registered(self, webhook_id: str) -> None:
        """This registration lives, and the connection to it may be a new one."""
        self._webhook_id = webhook_id
        self._told = []
        self._changed.set()

    async def _tell(self) -> None:
        pause_s = _PAUSE_S[0]
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not self._webhook_id:
                continue
            try:
                await self._send(self._webhook_id, self._sensors())
            except Stale as error:  # until it is registered again
                self._webhook_id = ""
                self._say(error)
            except IntegrationError as error:
                self._say(error)
                await self._clock.sleep(pause_s)
                pause_s = min(2 * pause_s, _PAUSE_S[1])
                self._changed.set()
            else:
                pause_s, self._said = _PAUSE_S[0], ""

    async def _send(self, webhook_id: str, sensors: list[Sensor]) -> None:
        """Raises IntegrationError."""
        told = self._told
        if sensors == told:
            return
        missing = {one.unique_id for one in sensors}
        if told:
            missing = set(await update_sensors(self._home, webhook_id, sensors))
        for sensor in sensors:
            if sensor.unique_id in missing:
                await register_sensor(self._home, webhook_id, sensor)
        if missing:
            # Home Assistant makes an entity after it has answered, and takes no second one of that
            # id meanwhile: what changed since is told to the one that it has made.
            await self._clock.sleep(SETTLE_S)
            sensors = self._sensors()
            if await update_sensors(self._home, webhook_id, sensors):
                raise Unavailable("Home Assistant has not made the entities yet.")
        if self._told is told:  # not registered anew meanwhile
            self._told = sensors

    def _sensors(self) -> list[Sensor]:
        muted = self._standing.muted
        return [
            Sensor(
                "binary_sensor",
                MUTED,
                self._names[MUTED],
                muted,
                icon="mdi:microphone-off" if muted else "mdi:microphone",
            ),
            Sensor(
                "sensor",
                MICROPHONE,
                self._names[MICROPHONE],
                self._standing.microphone.name.lower(),
                icon="mdi:microphone-message",
                category="diagnostic",
            ),
        ]

    def _say(self, problem: Exception) -> None:
        """Log a problem once, not at every try."""
        if str(problem) != self._said:
            _log.info("Home Assistant does not see the microphone for now: %s", problem)
        self._said = str(problem)
