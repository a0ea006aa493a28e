"""Tests of odd data from Home Assistant: websocket, tools and messages to the device."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.chaos.daemon import Daemon, daemon, listener, until
from tests.chaos.faults import fault
from tests.chaos.odd import as_json, changed, garbled, odd, so_many
from tests.chaos.relay import Message, Relay, relay
from tests.chaos.served import served
from tests.chaos.unharmed import unharmed, until_done

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

TORN = "[" * 20_000  # no reader takes it
BACK_S = (
    30.0  # after the last odd word; the longest pause is 5 s, the longest wait for an answer 15
)
_EVENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "state_changed",
        {
            "entity_id": "light.kitchen",
            "old_state": None,
            "new_state": {
                "entity_id": "light.kitchen",
                "state": "on",
                "attributes": {"friendly_name": "Kitchen light", "supported_features": 1},
                "last_updated": "2026-01-01T00:00:00+00:00",
                "context": {"id": "1", "parent_id": None, "user_id": None},
            },
        },
    ),
    ("entity_registry_updated", {"action": "update", "entity_id": "light.kitchen", "changes": {}}),
    ("area_registry_updated", {"action": "update", "area_id": "kitchen"}),
    ("device_registry_updated", {"action": "update", "device_id": "d1"}),
)


class OddHouse:
    """Adds odd messages to those of the house."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.answers = 0.0  # the share of the house's answers that are changed
        self.told: Counter[str] = Counter()

    def messages(self, message: Message) -> Iterable[Message]:
        """Return what is sent in place of one of the house's messages."""
        if self._chance.random() < self.answers and isinstance(message, str):
            self.told["answers"] += 1
            if self._chance.random() < 0.3:
                return (garbled(message.encode(), self._chance).decode("latin-1"),)
            return (as_json(changed(json.loads(message), self._chance)),)
        return (message,)

    def event(self) -> str:
        """Return an invented event, of a subscription that may exist."""
        kind, data = self._chance.choice(_EVENTS)
        event = {"event_type": kind, "data": data, "origin": "LOCAL", "time_fired": "2026-01-01"}
        number = self._chance.randrange(1, 40)
        whole: Any = {"id": number, "type": "event", "event": changed(event, self._chance)}
        if self._chance.random() < 0.02:
            whole = changed(whole, self._chance)
        self.told["events"] += 1
        return as_json(whole)


@fault(
    ("Home Assistant's websocket sends invalid events and responses, or truncated frames"),
    hears="commands work; answers use the last known states",
    retried="the connection, immediately and then at least every 5 s",
    kept="the last valid states of the house",
)
async def test_an_odd_websocket_of_the_house(tmp_path: Path, office: Path) -> None:
    chance = Random(11)
    said = OddHouse(chance)
    async with listener(tmp_path) as box, between(box) as line:
        async with unharmed(box):
            line.messages = said.messages
            for _ in range(so_many(1_500, 40_000)):
                await line.say(said.event())
            said.answers = 0.15
            for _ in range(so_many(10, 300)):
                await _connected_anew(line)
                box.house.house.write("light.kitchen", chance.choice(("on", "off")))
                await box.ask("turn on the office lights")
            said.answers = 0.0
            await _connected_anew(line)
            await until_done(box, BACK_S)
        await served(box, office)
    print(dict(said.told), line.sockets)
    assert said.told["answers"] > 5
    assert "home_assistant.token" not in box.log, "no odd answer is taken for a refusal"


@fault(
    "Home Assistant's tools and REST API send invalid responses",
    hears="Hearth says that it can't tell if the command worked, or that the house is unreachable",
    retried="read-only requests, but no call that may have run",
    kept="everything; no call reaches the house twice",
)
async def test_odd_tools_of_the_house(tmp_path: Path) -> None:
    chance, told = Random(12), Counter[str]()

    def bodies(path: str, body: bytes) -> bytes:
        if chance.random() > 0.4 or not body:
            return body
        told[path] += 1
        if chance.random() < 0.4:
            return garbled(body, chance)
        try:
            return as_json(changed(json.loads(body), chance)).encode()
        except ValueError:  # a stream of events
            return body.replace(b'"jsonrpc"', as_json(odd(chance)).encode()[:200])

    count = so_many(40, 2_000)
    async with (
        daemon(tmp_path / "box", LIMITS__COMFORT_PER_MINUTE="100000") as box,
        between(box) as line,
        unharmed(box),
    ):
        line.bodies = bodies
        for number in range(count):
            await box.ask(f"add item {number} to the shopping list")
        line.bodies = lambda path, body: body
        await until_done(box)
    print(dict(told), len(box.added), "of", count)
    assert max(box.added.values()) == 1, "something was sent twice"
    assert told


@fault(
    "Home Assistant pushes invalid messages to the device",
    hears="the valid messages only",
    retried="nothing",
    kept="the message channel; the next message is spoken",
)
async def test_odd_messages_to_the_device(tmp_path: Path) -> None:
    chance, count = Random(13), so_many(120, 8_000)
    message: dict[str, Any] = {
        "message": "The washing is done.",
        "title": "Washing",
        "data": {
            "group": "timers",
            "expire_s": 1,
            "volume": 0.2,
            "preannounce": False,
            "media": None,
            "actions": [{"action": "YES", "title": "Yes"}],
            "tts_text": "Hello",
            "priority": "low",
            "instruction": "Be kind.",
        },
    }
    orders = ("command_volume_level", "TTS", "clear_notification", "command_mute", "0:05:00 timer")
    async with daemon(tmp_path / "box") as box, between(box), unharmed(box):
        phones = box.house.house.phones
        phone = await _channel(phones)
        for number in range(count):
            sent = {**message, "message": chance.choice((*orders, message["message"]))}
            mark = chance.choice((None, None, "stop", "volume"))  # None: no order
            given = {**message["data"], "hearth_command": mark}
            wrong = changed({**sent, "data": changed(given, chance)}, chance)
            if isinstance(wrong, dict) and phone.channel is not None:
                phones.push(phone, {**wrong, "hass_confirm_id": str(number)})
            if number % 8 == 7:
                await until(lambda: phone.channel is not None and not phone.channel.waiting, 20.0)
                async with box.client() as client:
                    await client.post("/v1/stop")
        phones.push(phone, {"message": "Dinner is ready.", "data": {"priority": "high"}})
        async with asyncio.timeout(60.0), box.client() as client:
            await client.post("/v1/stop")
            while "Dinner is ready." not in (await client.get("/v1/turns?limit=3")).text:  # noqa: ASYNC110
                await asyncio.sleep(0.2)


@asynccontextmanager
async def between(box: Daemon) -> AsyncIterator[Relay]:
    """Yield the relay between the house and a box that is not started yet."""
    async with relay(box.house.url) as line:
        line.answers_webhooks = True
        box.settings["HOME_ASSISTANT__URL"] = line.url
        yield line


async def _connected_anew(line: Relay) -> None:
    """Wait until the box has dropped the connection, and requested everything again."""
    sockets = line.sockets
    await line.say(TORN)
    await until(lambda: line.sockets > sockets)


async def _channel(phones: Any) -> Any:
    """Return the channel of the box's device, once it is open."""
    async with asyncio.timeout(30.0):
        while True:
            for phone in phones.all():
                if phone.channel is not None:
                    return phone
            await asyncio.sleep(0.05)
