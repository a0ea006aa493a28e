"""The MQTT face: a device of Home Assistant that shows how Hearth stands, and can be used."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Protocol, Self

from assistant.conversation.rules.state import FollowUp as FollowUpChoice
from assistant.domain.clock import Clock
from assistant.domain.events import Happening
from assistant.interfaces.controls import Intents
from assistant.interfaces.mqtt.commands import Orders
from assistant.interfaces.mqtt.entities import Looks, Say, discovery, offered
from assistant.interfaces.mqtt.events import answered, event
from assistant.interfaces.mqtt.publishing import OFFLINE, ONLINE, BrokerConnection, Parts, Topics
from assistant.interfaces.mqtt.states import Settings, states
from assistant.interfaces.status import facts_of
from integrations.errors import IntegrationError
from integrations.mqtt.messages import Arrival, Broker, Publication, Subscription
from integrations.owner import OwnedTasks
from integrations.web.requests import QuestionAnswer

AGAIN_S = 1.0  # after the broker did not take something
EVENT_S = 15.0  # after which what happened is told to nobody: an automation would act on old news
FAREWELL_S = 2.0  # to say that nobody is there any more
_MOST_EVENTS = 64  # that wait for the broker; beyond that the oldest is left out

_log = logging.getLogger(__name__)


class Dial(Protocol):
    """Makes the client (`integrations.mqtt.MqttClient`)."""

    def __call__(
        self,
        broker: Broker,
        name: str,
        will: Publication,
        subscriptions: Sequence[Subscription],
        receive: Callable[[Arrival], Awaitable[bool]],
    ) -> "Entered": ...


class Entered(BrokerConnection, AbstractAsyncContextManager["Entered"], Protocol):
    """A client that is entered."""


class MqttInterface:
    """Enter it; it never fails because the broker is away, and tries again until it leaves.

    Everything is published anew at each connection and whenever Home Assistant has started. What
    happens while there is no broker is told once there is one, if that is soon.
    """

    def __init__(
        self,
        dial: Dial,
        broker: Broker,
        topics: Topics,
        looks: Looks,
        parts: Parts,
        say: Say,
        clock: Clock,
        *,
        follow_up: FollowUpChoice,
        words: bool,
        may_unmute: bool,
        may_widen: bool,
    ) -> None:
        """`say`: the catalogue in the language of the names; `follow_up`: what the switch
        turns on; `words`: what was said may go out; `may_unmute`: the broker may open a muted
        microphone; `may_widen`: and choose a profile that may do more."""
        self._topics = topics
        self._looks = looks
        self._parts = parts
        self._say = say
        self._clock = clock
        self._words = words
        self._offered = offered(parts.live, words=words)
        self._tasks = OwnedTasks()
        usual: FollowUpChoice = follow_up if follow_up != "never" else "question"
        self._orders = Orders(
            *(topics, parts, clock, self._tasks, usual, self._answered, self._stands),
            may_unmute=may_unmute,
            may_widen=may_widen,
        )
        will = Publication(topics.availability, OFFLINE, retain=True)
        self._client = dial(broker, topics.client, will, topics.subscriptions(), self._receive)
        self._client.on_connected = self._greet
        self._changed = asyncio.Event()
        self._greeting = True  # everything is to be published
        self._told: dict[str, str] = {}  # at this connection, by key
        self._events: deque[tuple[float, Publication]] = deque(maxlen=_MOST_EVENTS)
        self._intents = Intents()
        self._leave: list[Callable[[], None]] = []

    async def __aenter__(self) -> Self:
        parts = self._parts
        await self._client.__aenter__()
        await self._tasks.__aenter__()
        self._leave = [
            parts.conversation.observe(lambda standing: self._changed.set()),
            parts.live.follow(self._changed.set),
            parts.figures.follow(self._changed.set),
            parts.timers.follow(self._changed.set),
            parts.troubles.follow(self._changed.set),
            parts.happenings.follow(self._on_happening),
        ]
        self._tasks.start_on(self._changed, self._tell, "mqtt-states")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for leave in self._leave:
            leave()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        finally:
            await self._say_goodbye()
            await self._client.__aexit__(None, None, None)

    @property
    def openings(self) -> int:
        """How often the broker was reached since the start."""
        return self._client.openings

    @property
    def connected(self) -> bool:
        """Whether it is now."""
        return self._client.connected

    @property
    def problem(self) -> str:
        """Why nobody sees Hearth at the broker now, in a sentence; "": they do."""
        return str(self._client.problem or "")

    # --- what goes out

    def _greet(self) -> None:
        """A new connection, or a Home Assistant that has just started."""
        self._greeting = True
        self._changed.set()

    async def _tell(self) -> None:
        if not self._client.connected:
            return
        try:
            await self._publish_all()
        except IntegrationError as error:
            _log.info("the broker was not told everything: %s", error)
            self._greeting = True
            await self._clock.sleep(AGAIN_S)
            self._changed.set()

    async def _publish_all(self) -> None:
        """Raises IntegrationError."""
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
        parts, live = self._parts, self._parts.live
        facts = facts_of(parts.conversation, parts.figures, parts.timers, parts.troubles)
        settings = Settings(
            live.volume,
            live.speed,
            live.follow_up,
            live.sensitivity,
            live.wake_word,
            live.profile,
            live.quiet_hours,
        )
        return states(facts, settings, self._offered)

    def _on_happening(self, happening: Happening) -> None:
        told = event(happening, self._intents.of(happening), words=self._words)
        if told is not None:
            self._queue(self._topics.events, told)

    def _answered(self, name: str, answer: QuestionAnswer | None) -> None:
        told = answered(name, answer, words=self._words)
        self._queue(self._topics.events, told)
        self._queue(self._topics.answer, told)

    def _stands(self, key: str) -> None:
        """Tell its state again though it has not changed."""
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
            _log.info("the broker was not told of the end: %s", str(error) or "no answer in time")

    # --- what comes in

    async def _receive(self, message: Arrival) -> bool:
        if message.topic == self._topics.birth:
            if message.payload == ONLINE.encode():
                self._greet()
            return True
        return await self._orders.take(message)
