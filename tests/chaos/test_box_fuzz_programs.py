"""Tests of odd bytes by the other ways in: the broker, the Wyoming ports, tool server programs."""

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import aiomqtt
import pytest

from integrations.errors import IntegrationError
from integrations.mqtt.connection import V5, V311, open_connection
from integrations.mqtt.messages import Broker
from integrations.wyoming_face.server import ROOM
from tests.chaos.daemon import Daemon, daemon
from tests.chaos.faults import fault
from tests.chaos.odd import as_json, changed, garbled, so_many, wrong
from tests.chaos.unharmed import silenced, unharmed
from tests.pipeline.mosquitto import mosquitto, needs_mosquitto
from tests.ports import free_port
from tests.unit.integrations.mqtt.broker import accepted, fake_broker, message

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

TOPIC = "hearth/box"
_SAID = {"text": "The washing is done.", "volume": 0.2, "expire_s": 1, "preannounce": False}
_ASKED = {"question": "Close them?", "id": "blinds", "timeout_s": 1, "expire_s": 1, "answers": []}
PAYLOADS: tuple[tuple[str, Any], ...] = (
    ("announce", _SAID),
    ("announce", {**_SAID, "id": "washer-17", "sent": 1795392000.5, "language": "en"}),
    ("announce", {**_SAID, "text": None, "media": "doorbell.wav", "priority": "high"}),
    ("ask", {**_ASKED, "answers": [{"id": "yes", "sentences": ["(yes|go ahead)"]}]}),
    ("ask", {**_ASKED, "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}),
    ("volume/set", 50),
    ("speed/set", 1.5),
    ("quiet_hours/set", "22:30-07:00"),
    ("sensitivity/set", "normal"),
    ("wake_word/set", "okay_nabu"),
    ("profile/set", "default"),
    ("follow_up/set", "ON"),
    ("mute/set", "ON"),
    ("listen", "PRESS"),
)


@needs_mosquitto
@fault(
    "the broker delivers invalid messages",
    hears="nothing unusual; valid requests are carried out",
    retried="nothing; Hearth ignores the message and reports it as an event",
    kept="everything; valid messages are handled as usual",
)
async def test_odd_messages_of_the_broker(tmp_path: Path) -> None:
    chance = Random(31)
    async with mosquitto(tmp_path) as broker:
        mqtt = {"MQTT__HOST": "127.0.0.1", "MQTT__PORT": str(broker.port), "MQTT__TOPIC": TOPIC}
        async with (
            aiomqtt.Client("127.0.0.1", broker.port) as client,
            daemon(tmp_path / "box", **mqtt) as box,
            asyncio.TaskGroup() as group,
        ):
            await client.subscribe(f"{TOPIC}/#")
            listening = group.create_task(_listened(client))
            async with unharmed(box):
                for number in range(so_many(400, 20_000)):
                    topic, plain = PAYLOADS[number % len(PAYLOADS)]
                    sent = wrong(plain, chance, torn=number % 4 == 0)
                    if number % 50 == 0:
                        topic += chance.choice(("/x", "/set", "/\N{SNOWMAN}", "/a/b"))
                    await client.publish(f"{TOPIC}/{topic}", sent, qos=number % 2)
                    if number % 16 == 15:  # it takes so many at once, and leaves out the others
                        await asyncio.sleep(0.1)
                await silenced(box)
                await _takes_messages(box, client)
            listening.cancel()
    assert "a message from the broker could not be handled" not in box.log


async def _takes_messages(box: Daemon, client: aiomqtt.Client) -> None:
    """Wait until a volume that is sent takes effect."""
    async with asyncio.timeout(30.0), box.client() as http:
        while (await http.get("/v1/settings")).json()["volume"]["value"] != 0.37:
            await client.publish(f"{TOPIC}/volume/set", "37", qos=1)
            await asyncio.sleep(0.2)


async def _listened(client: aiomqtt.Client) -> None:
    async for _ in client.messages:
        pass


@fault(
    "a broker sends packets that are truncated, too long or unknown",
    hears="nothing",
    retried="the connection",
    kept="everything",
)
async def test_odd_packets_of_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("integrations.mqtt.connection.OPEN_S", 0.5)
    chance, ends = Random(32), Counter[str]()
    for number in range(so_many(100, 5_000)):
        version = (V5, V311)[number % 2]
        plain = message("hearth/box/announce", b'{"text": "Hello."}', int(version), number % 3)
        greeting = accepted(int(version))
        sent = garbled(greeting if number % 5 == 0 else greeting + plain * 3, chance)
        async with fake_broker(sent) as broker, asyncio.timeout(20.0):
            at = Broker("127.0.0.1", broker.port)
            try:
                async with open_connection(at, "box", None, version, keeps=False) as connection:
                    async with asyncio.timeout(0.05):
                        while True:
                            connection.taken(await connection.next())
                            ends["messages"] += 1
            except IntegrationError:
                ends["ended"] += 1
            except TimeoutError:
                ends["quiet"] += 1
    print(dict(ends))
    assert ends["messages"], "some was understood"
    assert ends["ended"], "some was not"


TOGETHER = 6  # connections at a time; a port takes more
_INFO = {"type": "describe", "version": "1.5.4", "data": {}}
_FORM = {"rate": 22_050, "width": 2, "channels": 1}


def _events(chance: Random) -> bytes:
    """Return Home Assistant's messages to a satellite or a voice, changed in one place."""
    payload = bytes(chance.randrange(2, 400))
    plain: tuple[tuple[dict[str, Any], bytes], ...] = (
        (_INFO, b""),
        ({"type": "ping", "data": {"text": "x"}}, b""),
        ({"type": "audio-start", "data": {**_FORM, "timestamp": 0}}, b""),
        ({"type": "audio-chunk", "data": _FORM, "payload_length": len(payload)}, payload),
        ({"type": "audio-stop", "data": {"timestamp": 1}}, b""),
        ({"type": "timer-started", "data": {"id": "1", "name": "tea", "total_seconds": 60}}, b""),
        ({"type": "timer-finished", "data": {"id": "1"}}, b""),
        ({"type": "synthesize", "data": {"text": "Hello.", "voice": {"name": "v"}}}, b""),
        ({"type": "run-satellite", "data": {}}, b""),
    )
    sent = b""
    for _ in range(chance.randrange(1, 6)):
        head, more = chance.choice(plain)
        head = changed(head, chance) if chance.random() < 0.6 else head
        event = as_json(head).encode() + b"\n" + more
        sent += garbled(event, chance) if chance.random() < 0.2 else event
    return sent


@fault(
    "the Wyoming ports receive invalid or too many events, or have clients that don't read the "
    "responses",
    hears="nothing unusual; valid audio and timers are played",
    retried="nothing; Hearth closes that connection",
    kept="the other connections, including Home Assistant's",
)
async def test_odd_events_at_the_wyoming_ports(tmp_path: Path) -> None:
    chance, ports = Random(33), (free_port(), free_port())
    wyoming = {
        "WYOMING__ENABLED": "true",
        "WYOMING__PORT": str(ports[0]),
        "WYOMING__TTS_PORT": str(ports[1]),
        "WYOMING__ZEROCONF": "false",
    }
    async with daemon(tmp_path / "box", **wyoming) as box, unharmed(box):
        for _ in range(so_many(300, 10_000) // TOGETHER):
            data = [_events(chance) for _ in range(TOGETHER)]
            sent = zip(itertools.cycle(ports), data, strict=False)
            await asyncio.gather(*(_sent(port, one) for port, one in sent))
        await silenced(box)
        everywhere = ports * ROOM.of_one
        deaf = [await asyncio.open_connection("127.0.0.1", port) for port in everywhere]
        await asyncio.gather(*(_flood(writer) for _, writer in deaf))
        async with asyncio.timeout(60.0):
            for port in ports:
                while not await _described(port):  # noqa: ASYNC110 (another process)
                    await asyncio.sleep(0.5)
        for _, writer in deaf:
            writer.transport.abort()


async def _sent(port: int, data: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        writer.write_eof()
        async with asyncio.timeout(0.1):
            await reader.read()
    except (TimeoutError, ConnectionError):
        return
    finally:
        writer.close()


async def _flood(writer: asyncio.StreamWriter) -> None:
    """Ask so much that the answers fill every buffer on the way, and read none."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    ask = (as_json(_INFO).encode() + b"\n") * 2_000
    try:
        async with asyncio.timeout(2.0):
            while True:
                writer.write(ask)
                await writer.drain()
    except (TimeoutError, ConnectionError):
        return


async def _described(port: int) -> bool:
    """Return whether a new connection is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(as_json(_INFO).encode() + b"\n")
        async with asyncio.timeout(2.0):
            return b"info" in await reader.readline()
    except (TimeoutError, ConnectionError):
        return False
    finally:
        writer.close()
