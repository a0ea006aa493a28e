"""What happens, as events of Home Assistant: `hearth_wake`, `hearth_answer` and the others."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from assistant.domain.clock import Clock
from assistant.domain.events import Happening
from assistant.interfaces.controls import Intents
from assistant.interfaces.device.commands import CALLER
from integrations.errors import IntegrationError
from integrations.home_assistant.commands import LiveLink
from integrations.home_assistant.mobile_app import fire_event
from integrations.owner import OwnedTasks

PREFIX = "hearth_"  # of an event's type, before the happening's kind
FRESH_S = 5.0  # an event that Home Assistant has not taken by then is dropped
_WAITING = 64  # beyond that the oldest is dropped

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Event:
    """One that waits to be told."""

    kind: str
    data: Mapping[str, Any]
    at_s: float  # monotonic


class DeviceEvents:
    """Fires them by the device's webhook, in their order. Enter it.

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

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start_on(self._more, self._tell_all, "device-events")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    def registered(self, webhook_id: str) -> None:
        """This registration lives."""
        self._webhook_id = webhook_id

    def happened(self, happening: Happening) -> None:
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
