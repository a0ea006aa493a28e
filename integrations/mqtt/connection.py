"""A single connection to a broker, run by the event loop.

paho-mqtt implements the protocol. The event loop drives paho-mqtt as its documentation describes
under "Writing your own network loop". Only connecting, which waits for DNS, runs in a thread.
"""

import asyncio
import logging
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt import MQTTException
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from integrations.errors import IntegrationError
from integrations.mqtt import messages as faults
from integrations.mqtt.messages import LARGEST, Arrival, Broker, Publication, Subscription
from integrations.owner import OwnedTasks
from integrations.tls import tls_context

_log = logging.getLogger(__name__)

V5, V311 = MQTTProtocolVersion.MQTTv5, MQTTProtocolVersion.MQTTv311
OPEN_S = 5.0  # limit for connecting, and again for the broker's response
ANSWER_S = 5.0  # limit for the response to SUBSCRIBE and PUBLISH
KEEP_ALIVE_S = 8  # a broker that vanishes silently is noticed after twice this time
SESSION_S = 4 * 3600  # how long the broker keeps messages for us during an outage (MQTT 5)
MOST_UNTAKEN = 16  # unacknowledged messages that the broker may send at once (MQTT 5)
_MOST_WAITING = 64  # unread messages to keep
_HEADER = 1024  # bytes of a message in addition to its payload
_LOOK_S = 1.0  # interval between keep-alive checks


class _TlsSocket(ssl.SSLSocket):
    """A socket that closes itself if the TLS handshake fails, which paho-mqtt does not ensure."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except BaseException:
            self.close()
            raise


class Connection:
    """An open connection. Any task can publish, and one task calls `next`."""

    def __init__(self, client: paho.Client, broker: Broker, version: MQTTProtocolVersion) -> None:
        self._client = client
        self._broker = broker
        self._version = version
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[None] = self._loop.create_future()  # to CONNECT
        self._gone: asyncio.Future[IntegrationError] = self._loop.create_future()
        self._waiting: dict[int, asyncio.Future[None]] = {}  # by packet number: PUBACK, SUBACK
        # None marks the end; `_gone` then has the reason.
        self._arrived: asyncio.Queue[Arrival | None] = asyncio.Queue(_MOST_WAITING)
        client.connect_callback()(self._on_connect)
        client.disconnect_callback()(self._on_disconnect)
        client.message_callback()(self._on_message)
        client.publish_callback()(self._on_publish)
        client.subscribe_callback()(self._on_subscribe)

    async def publish(self, message: Publication) -> None:
        """Publish with QoS 1 and wait until the broker has the message. Raises IntegrationError."""
        if self._gone.done():
            raise self._gone.result()
        # JSON from outside can contain an unpaired surrogate, which UTF-8 cannot encode.
        payload = message.payload.encode("utf-8", "replace")
        told = self._client.publish(message.topic, payload, 1, message.retain)
        await self._answered(told.mid)

    async def subscribe(self, wanted: Sequence[Subscription]) -> None:
        """Subscribe to topics. With MQTT 5, the broker sends no retained messages. Raises
        IntegrationError."""
        topics: Any = [(one.topic, one.qos) for one in wanted]
        if self._version is V5:
            topics = [
                (one.topic, SubscribeOptions(qos=one.qos, retainHandling=2)) for one in wanted
            ]
        _, number = self._client.subscribe(topics)
        if number is None:
            raise faults.silent(self._broker)
        await self._answered(number)

    async def next(self) -> Arrival:
        """Return the next message. Raises Unavailable or Misconfigured once the connection has
        closed."""
        message = await self._arrived.get()
        if message is None:
            raise self._gone.result()
        return message

    def taken(self, message: Arrival) -> None:
        """Acknowledge a message (PUBACK), so that the broker does not send it again."""
        if message.number:
            self._client.ack(message.number, 1)

    # --- Opening and closing

    async def open(self, *, keeps: bool) -> None:
        """Connect. If `keeps` is set, the broker keeps the session. Raises IntegrationError."""
        opening = self._loop.run_in_executor(None, self._connect, keeps)
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._abandon)  # the thread runs on for OPEN_S at most
            raise
        except (OSError, ValueError) as error:
            raise faults.network(self._broker, error) from None
        self._begin_reading()

    async def answered(self) -> None:
        """Wait for the broker's response to CONNECT. Raises IntegrationError."""
        try:
            async with asyncio.timeout(OPEN_S):
                await self._answer
        except TimeoutError:
            raise faults.silent(self._broker) from None

    async def tend(self) -> None:
        """Send keep-alive messages until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self._client.loop_misc()

    async def close(self) -> None:
        """Disconnect cleanly, so that the broker does not publish the will."""
        if self._client.socket() is None:
            return
        self._client.disconnect()
        try:
            async with asyncio.timeout(ANSWER_S):
                await asyncio.shield(self._gone)  # set when the DISCONNECT has been written
        except TimeoutError:
            _log.info("the broker did not accept the disconnect message")
        finally:
            self._drop()

    def _connect(self, keeps: bool) -> None:
        broker = self._broker
        if broker.tls:
            context = tls_context(ca_file=broker.ca_file, setting="mqtt.ca_file")
            context.sslsocket_class = _TlsSocket
            self._client.tls_set_context(context)
        if self._version is V5:
            asked = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            asked.SessionExpiryInterval = SESSION_S if keeps else 0
            asked.ReceiveMaximum = MOST_UNTAKEN
            asked.MaximumPacketSize = LARGEST + _HEADER
            self._client.connect(
                broker.host, broker.port, KEEP_ALIVE_S, clean_start=not keeps, properties=asked
            )
        else:
            self._client.connect(broker.host, broker.port, KEEP_ALIVE_S)

    def _begin_reading(self) -> None:
        client, loop = self._client, self._loop
        opened = client.socket()
        if opened is None:
            raise faults.hung_up(self._broker)
        client.socket_close_callback()(lambda _, __, sock: _forget(loop, sock))
        client.socket_register_write_callback()(lambda _, __, sock: _write(loop, sock, client))
        client.socket_unregister_write_callback()(lambda _, __, sock: _written(loop, sock))
        loop.add_reader(opened, self._readable)
        if client.want_write():
            _write(loop, opened, client)

    def _abandon(self, opening: asyncio.Future[None]) -> None:
        if not opening.cancelled() and opening.exception() is None:
            self._drop()

    def _drop(self) -> None:
        opened = self._client.socket()
        if opened is not None:
            _forget(self._loop, opened)
            opened.close()

    # --- Incoming data

    def _readable(self) -> None:
        try:
            more = True
            while more and self._client.loop_read() is MQTTErrorCode.MQTT_ERR_SUCCESS:
                opened = self._client.socket()
                # TLS may have buffered more data than the socket shows.
                more = isinstance(opened, ssl.SSLSocket) and opened.pending() > 0
        except (MQTTException, ValueError, LookupError, struct.error) as error:
            _log.debug("invalid bytes ended the connection", exc_info=error)
            self._drop()
            self._end(faults.hung_up(self._broker))

    def _on_connect(
        self, client: object, data: object, flags: object, reason: ReasonCode, more: object
    ) -> None:
        if self._answer.done():
            return
        if reason.is_failure:
            self._answer.set_exception(faults.refused(self._broker, reason))
            self._answer.exception()  # marks the exception as retrieved, as below
        else:
            self._answer.set_result(None)

    def _on_disconnect(
        self, client: object, data: object, flags: object, reason: ReasonCode, more: object
    ) -> None:
        self._end(faults.ended(self._broker, reason))

    def _end(self, why: IntegrationError) -> None:
        if not self._answer.done():
            self._answer.set_exception(faults.hung_up(self._broker))
            self._answer.exception()  # marks the exception as retrieved: nobody may be waiting
        if not self._gone.done():
            self._gone.set_result(why)
            self._arrived.put_nowait(None)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(why)

    def _on_message(self, client: object, data: object, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            return
        if len(message.payload) > LARGEST:
            _log.warning("ignored a message of %d bytes: it is too large", len(message.payload))
            payload = b""  # acknowledged anyway, or it would be sent again and again
        else:
            payload = bytes(message.payload)
        left_s = getattr(message.properties, "MessageExpiryInterval", None)
        number = message.mid if message.qos else 0
        arrival = Arrival(topic, payload, number, message.dup, message.retain, left_s)
        if self._arrived.qsize() < _MOST_WAITING - 1:  # one slot is kept for the end marker
            self._arrived.put_nowait(arrival)
        else:  # a QoS 1 message is sent again on the next connection
            _log.warning("too many messages from the broker at once; one was dropped")

    def _on_publish(
        self, client: object, data: object, number: int, reason: ReasonCode, more: object
    ) -> None:
        self._settle(number, reason)

    def _on_subscribe(
        self, client: object, data: object, number: int, reasons: list[ReasonCode], more: object
    ) -> None:
        for reason in reasons:
            if reason.is_failure:
                _log.warning("the broker rejected a subscription: %s", reason.getName())
        self._settle(number, None)

    def _settle(self, number: int, reason: ReasonCode | None) -> None:
        if reason is not None and reason.is_failure:
            _log.warning("the broker rejected a message: %s", reason.getName())
        waiting = self._waiting.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def _answered(self, number: int) -> None:
        waiting = self._waiting[number] = self._loop.create_future()
        try:
            async with asyncio.timeout(ANSWER_S):
                await waiting
        except TimeoutError:
            raise faults.silent(self._broker) from None
        finally:
            del self._waiting[number]


@asynccontextmanager
async def open_connection(
    broker: Broker,
    name: str,
    will: Publication | None,
    version: MQTTProtocolVersion,
    *,
    keeps: bool = True,
) -> AsyncIterator[Connection]:
    """Connect with the client id `name`, under which the broker keeps the session unless `keeps` is
    False. Raises OtherVersion if the broker does not support this MQTT version, and otherwise
    Misconfigured, SignInAgain or Unavailable."""
    client = paho.Client(
        CallbackAPIVersion.VERSION2,
        client_id=name,
        clean_session=None if version is V5 else not keeps,
        protocol=version,
        reconnect_on_failure=False,
        manual_ack=True,
    )
    client.connect_timeout = OPEN_S
    if broker.username:
        client.username_pw_set(broker.username, broker.password or None)
    if will is not None:
        client.will_set(will.topic, will.payload, 1, will.retain)
    connection = Connection(client, broker, version)
    await connection.open(keeps=keeps)
    try:
        async with OwnedTasks() as tasks:
            tasks.start(connection.tend(), "mqtt-keep-alive")
            await connection.answered()
            yield connection
    finally:
        await connection.close()


def _write(loop: asyncio.AbstractEventLoop, opened: Any, client: paho.Client) -> None:
    loop.add_writer(opened, client.loop_write)


def _written(loop: asyncio.AbstractEventLoop, opened: Any) -> None:
    loop.remove_writer(opened)


def _forget(loop: asyncio.AbstractEventLoop, opened: Any) -> None:
    if isinstance(opened, socket.socket) and opened.fileno() >= 0:
        loop.remove_reader(opened)
        loop.remove_writer(opened)
