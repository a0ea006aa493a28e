"""An MQTT client that stays connected to one broker while its context is open."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from paho.mqtt.enums import MQTTProtocolVersion

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.mqtt.connection import V5, V311, Connection, open_connection
from integrations.mqtt.messages import Arrival, Broker, OtherVersion, Publication, Subscription
from integrations.owner import Opened, OwnedTasks

_log = logging.getLogger(__name__)

Receive = Callable[[Arrival], Awaitable[bool]]

# Shortest and longest pause after a failure. They are short, because the broker is local.
PAUSE_S = (1.0, 4.0)
PERSON_S = 30.0  # pause if a person has to fix the problem, because brokers log every attempt


class MqttClient(Opened):
    """An MQTT client. Entering the context never waits and succeeds even if the broker is
    unreachable.

    On each connection, the client subscribes and then calls `on_connected`. `publish` fails while
    there is no connection, so publish everything again on the next connection.
    """

    def __init__(
        self,
        broker: Broker,
        name: str,
        will: Publication,
        subscriptions: Sequence[Subscription],
        receive: Receive,
        on_connected: Callable[[], None] = lambda: None,
        *,
        pause_s: tuple[float, float] = PAUSE_S,
    ) -> None:
        """`name` is the client id, which must be permanent and unique. The broker publishes `will`
        if the connection is lost. `receive` handles one message at a time. It must not raise; it
        returns False if it could not store the message, so that the broker sends it again.
        `on_connected` must not block."""
        self._broker = broker
        self._name = name
        self._will = will
        self._subscriptions = tuple(subscriptions)
        self._receive = receive
        self._pause_s = pause_s
        self._version = V5
        self.openings = 0  # connections opened since the start
        self._connection: Connection | None = None
        self._problem: IntegrationError | None = None
        self._on_connected = on_connected
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        stack.callback(self._forget_connection)
        await stack.enter_async_context(self._owner)
        self._owner.start(self._stay(), "mqtt")

    def _forget_connection(self) -> None:
        self._connection = None

    @property
    def connected(self) -> bool:
        return self._connection is not None

    @property
    def problem(self) -> IntegrationError | None:
        return self._problem

    async def publish(self, message: Publication) -> None:
        """Publish and wait until the broker has the message. Raises Unavailable or another
        IntegrationError."""
        if self._connection is None:
            raise self._problem or Unavailable("Not connected to the broker yet.")
        await self._connection.publish(message)

    async def _stay(self) -> None:
        pause_s = self._pause_s[0]
        while True:
            try:
                await self._serve()
            except IntegrationError as error:
                stood = self._connection is not None
                self._connection = None
                self._note(error)
                # A broker that supports only MQTT 3.1.1 says so. By the next attempt it may have
                # been replaced.
                other = isinstance(error, OtherVersion) and self._version is V5
                self._version = V311 if other or (stood and self._version is V311) else V5
            if stood:
                pause_s = self._pause_s[0]
            by_person = isinstance(self._problem, SignInAgain | Misconfigured)
            await asyncio.sleep(PERSON_S if by_person else pause_s)
            pause_s = min(2 * pause_s, self._pause_s[1])

    async def _serve(self) -> None:
        opening = open_connection(self._broker, self._name, self._will, self._version)
        async with opening as connection:
            await connection.subscribe(self._subscriptions)
            self._connection = connection
            self.openings += 1
            if self._problem is not None:
                _log.info("the broker is back")
            self._problem = None
            self._on_connected()
            await self._read(connection)

    async def _read(self, connection: Connection) -> None:
        while True:
            message = await connection.next()
            if not await self._receive(message):
                raise Unavailable(
                    "A message from the broker could not be saved; the broker will send it again."
                )
            connection.taken(message)

    def _note(self, problem: IntegrationError) -> None:
        if str(problem) != str(self._problem or ""):
            _log.warning("%s", problem)
        self._problem = problem


async def publish_last(broker: Broker, name: str, messages: Sequence[Publication]) -> None:
    """Publish the last messages of a client that is being removed, and end its session on the
    broker. Raises IntegrationError."""
    try:
        await _publish_last(broker, name, messages, V5)
    except OtherVersion:
        await _publish_last(broker, name, messages, V311)


async def _publish_last(
    broker: Broker, name: str, messages: Sequence[Publication], version: MQTTProtocolVersion
) -> None:
    async with open_connection(broker, name, None, version, keeps=False) as connection:
        for message in messages:
            await connection.publish(message)
