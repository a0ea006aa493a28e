"""Many boxes in one house: `hearth run` processes with typed turns at one real Home Assistant.

Home Assistant and its broker are started for it and forgotten afterwards. The boxes have no
microphone; all else of a box is there: its device and entities over MQTT, its connections, its HTTP
server. They share the machine's cores with Home Assistant, so what is told of many boxes at once is
bounded by the machine; what a box costs Home Assistant is CPU time, which is not.
"""

import asyncio
import itertools
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from integrations.web.guard import CALLS_EVERY_S
from tests.benchmarks.figures import how_many
from tests.benchmarks.processes import cpu_s, family, pss_mb
from tests.benchmarks.scale.served import Box, Turn, hearth
from tests.home_assistant.admin import Admin
from tests.home_assistant.real import instances, process
from tests.home_assistant.real.places import HOST, Instance, Places
from tests.home_assistant.real.releases import NEWEST

NAME = "scale"
COUNTS = (0, 1, 5, 10, 20)
LIGHTS = ("kitchen lights", "bed light", "office rgbw lights")
_ROOMS = ("Kitchen", "Bedroom", "Attic", "Office")
_SETTLE_S = 5.0
_CHANGES, _PER_S = 300, 30.0

Figures = dict[str, list[float]]
Say = instances.Say


@dataclass(frozen=True, slots=True)
class Crowd:
    """A number of boxes. Each figure is a list of single values."""

    boxes: int
    figures: Mapping[str, list[float]]


@dataclass(frozen=True, slots=True)
class Server:
    """Home Assistant and its broker as the kernel sees them."""

    home: int  # process ids
    broker: int

    def cpu_s(self) -> tuple[float, float]:
        """Return the CPU time used so far by Home Assistant and by the broker."""
        return cpu_s(family(self.home)), cpu_s(family(self.broker))

    def pss_mb(self) -> tuple[float, float]:
        """Return the memory that Home Assistant and the broker hold now."""
        home, broker = (pss_mb(family(pid)) for pid in (self.home, self.broker))
        return home, broker


def at_hand(places: Places | None = None) -> bool:
    """Return whether a Home Assistant is installed, so that nothing has to be downloaded."""
    root = (places or Places.of_environment()).root
    return any(root.glob(f"debian-*/opt/home-assistant-{NEWEST}/hearth-complete"))


async def crowds(say: Say, counts: Sequence[int] = COUNTS) -> list[Crowd]:
    """Measure each number of boxes, rising. Raises Refused if there is no Home Assistant."""
    places = Places.of_environment()
    instances.reset(places, NAME, say)
    wanted = Instance(name=NAME, house="english", version=NEWEST, port=0, log="")
    try:
        instance = await instances.start(places, wanted, say, mqtt=True)
        pids = [process.running(places.folder(NAME) / file) for file in ("pid", "broker.pid")]
        home, broker = (pid for pid in pids if pid is not None)
        server = Server(home, broker)
        async with AsyncExitStack() as stack:
            admin = await stack.enter_async_context(Admin(instance.url, instance.admin_token))
            boxes: list[Box] = []
            found = []
            await asyncio.sleep(_SETTLE_S)
            for count in counts:
                while len(boxes) < count:
                    boxes.append(await _box(stack, instance, len(boxes)))
                say(f"{count} boxes stand")
                found.append(Crowd(count, await _measure(server, instance, admin, boxes)))
            return found
    finally:
        await asyncio.to_thread(instances.reset, places, NAME, say)


async def _box(stack: AsyncExitStack, instance: Instance, number: int) -> Box:
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return await stack.enter_async_context(
        hearth(
            Path(folder),
            instance.url,
            instance.token,
            ASSISTANT__NAME=f"Hearth {number + 1}",
            ASSISTANT__AREA=_ROOMS[number % len(_ROOMS)],
            MQTT__HOST=HOST,
            MQTT__PORT=str(instance.mqtt_port),
        )
    )


async def _measure(
    server: Server, instance: Instance, admin: Admin, boxes: Sequence[Box]
) -> Figures:
    for number, box in enumerate(boxes):  # what a first turn imports and builds is not the matter
        await box.ask(f"turn on the {_light(number)}")
    await asyncio.sleep(_SETTLE_S)
    figures = await _at_rest(server, boxes)
    rest = figures["Home Assistant at rest, % of a core"][0] / 100
    figures |= await _changes(server, admin, boxes, rest)
    if not boxes:
        return figures
    figures |= await _one_after_the_other(server, instance, boxes, rest)
    figures |= await _all_at_once(boxes)
    figures |= await _without_end(server, boxes)
    if len(boxes) == 1:
        figures |= await _scrapes(boxes[0])
    return figures


async def _at_rest(server: Server, boxes: Sequence[Box]) -> Figures:
    seconds = how_many(10, 60)
    before, own = server.cpu_s(), [box.cpu_s() for box in boxes]
    await asyncio.sleep(seconds)
    used = [
        (after - was) / seconds * 100 for was, after in zip(before, server.cpu_s(), strict=True)
    ]
    held = server.pss_mb()
    return {
        "Home Assistant at rest, % of a core": [used[0]],
        "broker at rest, % of a core": [used[1]],
        "Home Assistant holds, MB": [held[0]],
        "broker holds, MB": [held[1]],
        "a box at rest, % of a core": [
            (box.cpu_s() - was) / seconds * 100 for box, was in zip(boxes, own, strict=True)
        ],
        "a box holds, MB": [box.pss_mb() for box in boxes],
    }


async def _changes(server: Server, admin: Admin, boxes: Sequence[Box], rest: float) -> Figures:
    """Measure changing states; the request for a change is in Home Assistant's share."""
    before, own = server.cpu_s()[0], [box.cpu_s() for box in boxes]
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(_CHANGES):
        await admin.post(f"/api/states/sensor.scale_{number % 20}", {"state": str(number)})
        await asyncio.sleep(max(0.0, began + (number + 1) / _PER_S - loop.time()))
    took = loop.time() - began
    used = server.cpu_s()[0] - before - rest * took
    return {
        "a change, ms of Home Assistant's CPU": [used / _CHANGES * 1000],
        "a change, ms of a box's CPU": [
            (box.cpu_s() - was) / _CHANGES * 1000 for box, was in zip(boxes, own, strict=True)
        ],
    }


async def _one_after_the_other(
    server: Server, instance: Instance, boxes: Sequence[Box], rest: float
) -> Figures:
    loop = asyncio.get_running_loop()
    with _Overheard(instance) as overheard:
        before, began, turns = server.cpu_s(), loop.time(), list[Turn]()
        count, lights = how_many(10, 40), min(len(boxes), len(LIGHTS))
        for number in range(count):  # each light off, then each on, and so on
            box = boxes[number % len(boxes)]
            turns.append(await _switch(box, number // lights, number % lights))
            assert turns[-1].done(), turns[-1].told
        after, took = server.cpu_s(), loop.time() - began
        await asyncio.sleep(1.0)
    return {
        "a turn alone, ms": [turn.wall_ms for turn in turns],
        "a turn alone, ms of the box's CPU": [turn.cpu_ms for turn in turns],
        "a turn, ms of Home Assistant's CPU": [
            (after[0] - before[0] - rest * took) / count * 1000,
        ],
        "a turn, ms of the broker's CPU": [(after[1] - before[1]) / count * 1000],
        "a turn, MQTT messages": [overheard.messages / count],
        "a turn, MQTT bytes": [overheard.bytes / count],
    }


async def _all_at_once(boxes: Sequence[Box]) -> Figures:
    """Measure simultaneous turns in every room."""
    walls = list[float]()
    for number in range(how_many(3, 10)):
        turns = (_switch(box, number, place) for place, box in enumerate(boxes))
        walls += [turn.wall_ms for turn in await asyncio.gather(*turns)]
    return {"all at once, ms": walls}


async def _without_end(server: Server, boxes: Sequence[Box]) -> Figures:
    """Measure boxes that each begin a turn when the last is over, within a program's limit."""
    loop, seconds = asyncio.get_running_loop(), how_many(8, 30)
    until = loop.time() + seconds
    turns = list[Turn]()

    async def talk(place: int, box: Box) -> None:
        for number in itertools.count():
            asked = loop.time()
            if asked > until:
                return
            turns.append(await _switch(box, number, place))
            await asyncio.sleep(max(0.0, asked + CALLS_EVERY_S - loop.time()))

    before, began = server.cpu_s()[0], loop.time()
    await asyncio.gather(*(talk(place, box) for place, box in enumerate(boxes)))
    took = loop.time() - began
    return {
        "without end, turns a second": [len(turns) / took],
        "without end, ms": [turn.wall_ms for turn in turns],
        "without end, Home Assistant, % of a core": [(server.cpu_s()[0] - before) / took * 100],
    }


async def _scrapes(box: Box) -> Figures:
    sizes, series, cpu = list[float](), list[float](), list[float]()
    for _ in range(10):
        before = box.cpu_s()
        page = await box.scrape()
        cpu.append((box.cpu_s() - before) * 1000)
        sizes.append(len(page))
        series.append(sum(not line.startswith("#") for line in page.splitlines() if line))
    return {"a scrape, bytes": sizes, "a scrape, series": series, "a scrape, ms of CPU": cpu}


async def _switch(box: Box, number: int, place: int) -> Turn:
    """Run a turn that changes something. Raises AssertionError if the change did not happen."""
    turn = await box.ask(f"turn {'off' if number % 2 == 0 else 'on'} the {_light(place)}")
    calls = [call["status"] for call in turn.told["tool_calls"]]
    # Two boxes may have switched the same light at the same moment, and see each other's change.
    assert calls in (["done"], ["not_observed"]), turn.told
    return turn


def _light(place: int) -> str:
    return LIGHTS[place % len(LIGHTS)]


class _Overheard:
    """A context that records the boxes' messages at the broker."""

    def __init__(self, instance: Instance) -> None:
        self.messages = self.bytes = 0
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._heard
        self._port = instance.mqtt_port

    def __enter__(self) -> "_Overheard":
        self._client.connect(HOST, self._port)
        self._client.subscribe("hearth/#")
        self._client.loop_start()
        return self

    def __exit__(self, *error: object) -> None:
        self._client.loop_stop()
        self._client.disconnect()

    def _heard(self, client: paho.Client, data: object, message: paho.MQTTMessage) -> None:
        if not message.retain:  # what was kept from before
            self.messages += 1
            self.bytes += len(message.topic) + len(message.payload)
