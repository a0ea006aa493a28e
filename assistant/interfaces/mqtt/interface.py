"""The MQTT connection through which Home Assistant shows and controls Hearth."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from assistant.config.schema import Settings
from assistant.config.sections import Mqtt
from assistant.conversation.rules.state import FollowUp
from assistant.domain.clock import Clock
from assistant.domain.events import BusEvent
from assistant.interfaces.device.registration import DeviceFile, appearance, new_record
from assistant.interfaces.entities import ANSWERED, EVENTS
from assistant.interfaces.mqtt.commands import MqttParts, Orders
from assistant.interfaces.mqtt.discovery import (
    OFFLINE,
    ONLINE,
    Looks,
    discovery,
    offered,
    retained,
    states,
    topics_of,
)
from assistant.interfaces.status import Intents
from assistant.speech.catalogue import Catalogue
from integrations.errors import IntegrationError
from integrations.mqtt.client import MqttClient, publish_last
from integrations.mqtt.messages import Arrival, Broker, Publication
from integrations.owner import Opened, OwnedTasks
from integrations.web.requests import QuestionAnswer

AGAIN_S = 1.0  # seconds until a failed publication is retried
EVENT_S = 15.0  # seconds until an unsent event is dropped; automations must not react to old ones
FAREWELL_S = 2.0  # timeout in seconds for publishing that Hearth is offline
_MOST_EVENTS = 64  # queued events; beyond this, the oldest is dropped
_LARGEST = 8_000  # characters per event; Home Assistant stores attributes up to 16 KB

_log = logging.getLogger(__name__)


class MqttInterface(Opened):
    """Publishes Hearth's state and events, and receives commands, while the context is open. While
    the broker is unreachable, it keeps trying to connect."""

    def __init__(
        self,
        settings: Settings,
        identifier: str,
        parts: MqttParts,
        catalogue: Catalogue,
        clock: Clock,
        dial: Callable[..., MqttClient] = MqttClient,
    ) -> None:
        looks, language = appearance(settings), settings.assistant.languages[0]
        self._topics = topics = topics_of(settings.mqtt, identifier)
        self._looks = Looks(
            *(looks.name, looks.version, looks.manufacturer, looks.model, settings.assistant.area)
        )
        self._parts = parts
        self._say: Callable[[str], str] = lambda key: catalogue.say(key, language)
        self._clock = clock
        self._words = settings.privacy.share_heard
        self._offered = offered(parts.live, words=self._words)
        self._tasks = OwnedTasks()
        chosen = settings.assistant.follow_up
        usual: FollowUp = chosen if chosen != "never" else "question"
        self._orders = Orders(
            *(topics, parts, clock, self._tasks, usual, self._answered, self._stands),
            may_unmute=settings.mqtt.may_unmute,
            may_widen=settings.mqtt.may_widen,
        )
        will = Publication(topics.availability, OFFLINE, retain=True)
        self._changed = asyncio.Event()
        self._greeting = True  # everything must be published again
        self._told: dict[str, str] = {}  # states published over this connection, by key
        self._events: deque[tuple[float, Publication]] = deque(maxlen=_MOST_EVENTS)
        self._intents = Intents()
        self._client = dial(
            *(broker_of(settings.mqtt), topics.client, will, topics.subscriptions()),
            *(self._receive, self._greet),
        )

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._client)
        stack.push_async_callback(self._say_goodbye)
        await stack.enter_async_context(self._tasks)
        for source in (self._parts.sources, self._parts.live):
            stack.callback(source.follow(self._changed.set))
        stack.callback(self._parts.bus.follow(self._on_happening))
        self._tasks.start_on(self._changed, self._tell, "mqtt-states")

    @property
    def openings(self) -> int:
        return self._client.openings

    @property
    def connected(self) -> bool:
        return self._client.connected

    @property
    def problem(self) -> str:
        """Reason why Hearth isn't connected to the broker, or "" while it is connected."""
        return str(self._client.problem or "")

    # --- outgoing

    def _greet(self) -> None:
        self._greeting = True
        self._changed.set()

    async def _tell(self) -> None:
        if not self._client.connected:
            return
        try:
            await self._publish_all()
        except IntegrationError as error:
            _log.info("some states could not be sent to the broker: %s", error)
            self._greeting = True
            await self._clock.sleep(AGAIN_S)
            self._changed.set()

    async def _publish_all(self) -> None:
        greeting, self._greeting = self._greeting, False
        if greeting:
            self._told = {}
            whole = discovery(self._topics, self._looks, self._offered, self._say)
            await self._keep(self._topics.config, whole)
        for key, payload in self._states().items():
            if self._told.get(key) != payload:
                await self._keep(self._topics.state(key), payload)
                self._told[key] = payload
        if greeting:
            await self._keep(self._topics.availability, ONLINE)
        while self._events:
            until, message = self._events.popleft()
            if self._clock.monotonic() > until:
                continue
            try:
                await self._client.publish(message)
            except IntegrationError:
                self._events.appendleft((until, message))
                raise

    async def _keep(self, topic: str, payload: str) -> None:
        await self._client.publish(Publication(topic, payload, retain=True))

    def _states(self) -> dict[str, str]:
        return states(self._parts.sources.snapshot(), self._parts.live, self._offered)

    def _on_happening(self, happening: BusEvent) -> None:
        told = event(happening, self._intents.of(happening), words=self._words)
        if told is not None:
            self._queue(self._topics.events, told)

    def _answered(self, name: str, answer: QuestionAnswer | None) -> None:
        told = answered(name, answer, words=self._words)
        self._queue(self._topics.events, told)
        self._queue(self._topics.answer, told)

    def _stands(self, key: str) -> None:
        """Publish an unchanged state again, because Home Assistant may show the refused value."""
        self._told.pop(key, None)
        self._changed.set()

    def _queue(self, topic: str, payload: str) -> None:
        self._events.append((self._clock.monotonic() + EVENT_S, Publication(topic, payload)))
        self._changed.set()

    async def _say_goodbye(self) -> None:
        if not self._client.connected:
            return
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self._keep(self._topics.availability, OFFLINE)
        except (IntegrationError, TimeoutError) as error:
            _log.info(
                "the broker could not be told that Hearth is shutting down: %s",
                str(error) or "no answer in time",
            )

    # --- incoming

    async def _receive(self, message: Arrival) -> bool:
        if message.topic == self._topics.birth:
            if message.payload == ONLINE.encode():
                self._greet()
            return True
        return await self._orders.take(message)


def event(happening: BusEvent, intent: str | None, *, words: bool) -> str | None:
    """Return an event's payload, or None if events of this kind aren't published. With `words`, the
    payload can contain transcripts. Data that would be too large is left out."""
    if happening.kind not in EVENTS:
        return None
    told: dict[str, Any] = {"event_type": happening.kind, "turn_id": happening.turn_id}
    if intent is not None:
        told["intent"] = intent
    whole = _json({**happening.data, **(happening.words if words else {}), **told})
    return whole if len(whole) <= _LARGEST else _json(told)


def answered(name: str, answer: QuestionAnswer | None, *, words: bool) -> str:
    """Return the payload that reports the answer to a question asked over MQTT. `answer` is None if
    the question couldn't be asked. The spoken sentence is included only with `words`."""
    told: dict[str, Any] = {"event_type": ANSWERED, "id": name}
    if answer is None:
        nothing: dict[str, Any] = {"answer": None, "slots": {}, "turn_id": ""}
        return _json({**told, "result": "not_possible", **nothing})
    told |= {
        "result": answer.result,
        "answer": answer.id,
        "slots": answer.slots,
        "turn_id": answer.turn_id,
    }
    return _json({**told, "sentence": answer.sentence} if words else told)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def broker_of(mqtt: Mqtt) -> Broker:
    return Broker(
        mqtt.host,
        mqtt.port,
        mqtt.username,
        mqtt.password.get_secret_value(),
        mqtt.tls,
        mqtt.ca_file,
    )


async def own_identifier(file: DeviceFile) -> str:
    """Return this device's identifier, creating it if there is none. Raises ConfigError."""
    async with file.alone():
        record = await asyncio.to_thread(file.read)
        if record is None:
            record = new_record()
            await asyncio.to_thread(file.write, record)
        return record.identifier


async def take_away(mqtt: Mqtt, identifier: str) -> None:
    """Delete the device's retained messages, so that Home Assistant removes it. Raises
    IntegrationError."""
    topics = topics_of(mqtt, identifier)
    kept = (topics.config, *retained(topics), topics.availability)
    gone = [Publication(topic, "", retain=True) for topic in kept]
    await publish_last(broker_of(mqtt), topics.client, gone)
