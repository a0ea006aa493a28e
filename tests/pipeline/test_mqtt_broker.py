"""Tests with a real broker that is killed, comes back, and keeps what was sent meanwhile.

Needs mosquitto (`apt install mosquitto`), which is started on loopback only.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.announcements.service import AnnouncementService
from assistant.announcements.speaking import Announcements
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.mqtt.discovery import Topics, topics_of
from assistant.interfaces.mqtt.interface import MqttInterface, broker_of, take_away
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import PLAIN, Manner
from integrations.mqtt.client import MqttClient
from integrations.mqtt.connection import V311, Connection, open_connection
from integrations.mqtt.messages import Arrival, Publication, Subscription
from tests.pipeline.mosquitto import Mosquitto, mosquitto, needs_mosquitto, until
from tests.unit.assistant.interfaces.mqtt.doubles import House

pytestmark = needs_mosquitto

IDENTIFIER = "0123456789abcdef"
# A process that is there until it is killed.
_LOST = """
import asyncio
from integrations.mqtt.client import MqttClient
from integrations.mqtt.messages import Arrival, Broker, Publication, Subscription
from integrations.mqtt.connection import V5, open_connection

async def stay():
    will = Publication("{topic}", "offline", retain=True)
    async with open_connection(Broker("127.0.0.1", {port}), "lost", will, V5) as connection:
        await connection.publish(Publication("{topic}", "online", retain=True))
        await asyncio.sleep(60)

asyncio.run(stay())
"""


class Watcher:
    """Another client of the broker, such as Home Assistant."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}  # newest of each topic
        self.client: MqttClient | None = None

    @property
    def here(self) -> bool:
        return self.client is not None and self.client.connected

    async def receive(self, message: Arrival) -> bool:
        self.seen[message.topic] = message.payload.decode()
        return True

    async def send(self, topic: str, payload: str) -> None:
        assert self.client is not None
        await self.client.publish(Publication(topic, payload))


class Room:
    """Says announcements at once."""

    ending = False

    def __init__(self) -> None:
        self.said: list[str] = []
        self._ended: Callable[[str, bool], None] = lambda text, played: None

    def announce(self, text: str, language: str, manner: Manner = PLAIN) -> None:
        self.said.append(text)
        self._ended(text, True)

    async def rest(self) -> None:
        return

    def follow_announcements(self, ended: Callable[[str, bool], None]) -> None:
        self._ended = ended


class Hearth:
    """The MQTT interface of one box, with its real store and announcements."""

    def __init__(self, broker: Mosquitto, folder: Path) -> None:
        self.topics: Topics = topics_of(broker.settings, IDENTIFIER)
        self.room = Room()
        self.house = House()
        self.clients: list[MqttClient] = []
        self.sees: Callable[[Arrival], None] = lambda message: None
        self._broker = broker
        self._folder = folder

    @asynccontextmanager
    async def on(self) -> AsyncIterator[MqttClient]:
        """Run the interface while the block runs."""
        clock = SystemClock()
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(Store(self._folder / "hearth.db", clock))
            announcements = await stack.enter_async_context(
                Announcements(store, self.room, lambda text: "en")
            )
            desk = AnnouncementService(announcements, None, clock)
            parts = replace(self.house.parts, desk=desk, store=store)
            settings = Settings.model_validate(
                {
                    "assistant": {"data": str(self._folder)},
                    "mqtt": self._broker.settings.model_dump(),
                }
            )
            face = MqttInterface(settings, IDENTIFIER, parts, Catalogue(), clock, self._dial)
            await stack.enter_async_context(face)
            yield self.clients[-1]

    def _dial(
        self, broker: Any, name: str, will: Any, topics: Any, receive: Any, greet: Any
    ) -> MqttClient:
        async def seen(message: Arrival) -> bool:
            taken: bool = await receive(message)
            self.sees(message)
            return taken

        self.clients.append(MqttClient(broker, name, will, topics, seen, greet))
        return self.clients[-1]

    def announcement(self, text: str) -> tuple[str, str]:
        """Return the topic and the payload that Home Assistant's action sends."""
        return self.topics.order("announce"), json.dumps({"text": text, "id": text})


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Mosquitto]:
    async with mosquitto(tmp_path) as made:
        yield made


@pytest.fixture
async def watcher(broker: Mosquitto) -> AsyncIterator[Watcher]:
    made = Watcher()
    will = Publication("watcher/availability", "offline")
    everything = [Subscription("hearth/#", 1), Subscription("homeassistant/#", 1)]
    client = MqttClient(broker_of(broker.settings), "watcher", will, everything, made.receive)
    async with client:
        made.client = client
        await until(lambda: made.here)
        yield made


@pytest.fixture
def hearth(broker: Mosquitto, tmp_path: Path) -> Hearth:
    return Hearth(broker, tmp_path)


async def test_everything_is_back_after_the_broker_was_killed(
    broker: Mosquitto, watcher: Watcher, hearth: Hearth
) -> None:
    async with hearth.on():
        await until(lambda: watcher.seen.get(hearth.topics.availability) == "online")
        before = await retained(broker)
        await broker.kill()
        await until(lambda: not watcher.here)
        await broker.start()

        async def back() -> bool:
            return await retained(broker) == before

        await until(back)
        await until(lambda: watcher.here)
        await watcher.send(*hearth.announcement("Dinner is ready."))
        await until(lambda: hearth.room.said == ["Dinner is ready."])


async def test_a_broker_that_is_away_at_the_start_is_found(
    broker: Mosquitto, watcher: Watcher, hearth: Hearth
) -> None:
    await broker.kill()
    async with hearth.on() as client:
        await until(lambda: client.problem is not None)
        await broker.start()
        await until(lambda: watcher.seen.get(hearth.topics.availability) == "online")


async def test_what_was_sent_while_we_were_away_is_said_once(
    broker: Mosquitto, watcher: Watcher, hearth: Hearth
) -> None:
    async with hearth.on() as client:
        await until(lambda: client.connected)
    assert watcher.here
    await until(lambda: watcher.seen.get(hearth.topics.availability) == "offline")
    for text in ("One.", "Two.", "One."):  # the last is the first, delivered twice
        await watcher.send(*hearth.announcement(text))
    await watcher.send(hearth.topics.order("announce"), "Three.")
    await watcher.send(hearth.topics.order("listen"), "PRESS")
    for start in (1, 2):
        async with hearth.on() as client:
            await until(lambda: client.connected and len(hearth.room.said) >= 3)
            await watcher.send(hearth.topics.order("stop"), "PRESS")
            await until(lambda: len(hearth.house.box.done) == start)  # noqa: B023
    assert Counter(hearth.room.said) == Counter(["One.", "Two.", "Three."])
    # A button that was pressed while Hearth was away is not pressed later.
    assert hearth.house.box.done == [("stop", "mqtt"), ("stop", "mqtt")]


async def test_very_much_that_was_sent_meanwhile_comes_bit_by_bit(
    watcher: Watcher, hearth: Hearth
) -> None:
    async with hearth.on() as client:
        await until(lambda: client.connected)
    texts = [f"Number {number}." for number in range(60)]
    await watcher.send(hearth.topics.order("announce"), "x" * 70_000)
    for text in texts:
        await watcher.send(*hearth.announcement(text))
    async with hearth.on():
        await until(lambda: len(hearth.room.said) >= len(texts))
    assert sorted(hearth.room.said) == sorted(texts)


async def test_what_the_broker_sends_again_is_not_said_again(
    watcher: Watcher, hearth: Hearth, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ended after it had stored the announcement and before the broker knew of it."""
    topic = hearth.topics.order("announce")
    with monkeypatch.context() as mute:
        mute.setattr(Connection, "taken", lambda self, message: None)
        async with hearth.on() as client:
            await until(lambda: client.connected)
            await watcher.send(topic, "Dinner!")  # without an id
            await until(lambda: hearth.room.said == ["Dinner!"])
    again: list[bool] = []
    hearth.sees = lambda message: again.append(message.again)
    async with hearth.on():
        await until(lambda: again == [True])
        # The same words on purpose are said again.
        await watcher.send(topic, "Dinner!")
        await until(lambda: again == [True, False] and len(hearth.room.said) == 2)
    assert hearth.room.said == ["Dinner!"] * 2


async def test_whoever_watches_sees_that_we_were_lost(
    broker: Mosquitto, watcher: Watcher, hearth: Hearth
) -> None:
    availability = hearth.topics.availability
    program = _LOST.format(port=broker.port, topic=availability)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    try:
        await until(lambda: watcher.seen.get(availability) == "online")
    finally:
        process.kill()
        await process.wait()
    await until(lambda: watcher.seen.get(availability) == "offline")


async def test_nothing_stays_where_the_box_is_forgotten(
    broker: Mosquitto, watcher: Watcher, hearth: Hearth
) -> None:
    async with hearth.on():
        await until(lambda: watcher.seen.get(hearth.topics.availability) == "online")
    assert await retained(broker) == {topic: text for topic, text in watcher.seen.items() if text}
    await take_away(broker.settings, IDENTIFIER)
    assert await retained(broker) == {}


async def retained(broker: Mosquitto) -> dict[str, str]:
    """Return everything that the broker retains, by topic; a 3.1.1 client gets it at once."""
    place = broker_of(broker.settings)
    async with open_connection(place, "late", None, V311, keeps=False) as connection:
        await connection.subscribe([Subscription("#", 1)])
        await connection.publish(Publication("end", "here"))
        found: dict[str, str] = {}
        while (message := await connection.next()).topic != "end":
            found[message.topic] = message.payload.decode()
            connection.taken(message)
        return found
