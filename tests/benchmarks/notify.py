"""Delay of an announcement: from its arrival to the first sample of its sound.

By three ways into the running app, with espeak-ng: `POST /v1/announce` over loopback, held and kept
(on the disk before it is said); a message of Home Assistant's to our device, and one of a broker,
which are always kept, from the moment at which their connections hand them over. Each with and
without the tone that goes before. No text comes twice, so all is synthesised. The output notes when
it is given what; `_notify_device` does the same with a PulseAudio null sink, whose delay counts.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np

from assistant.announcements.service import AnnouncementService
from assistant.app.build import open_app
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.events import BusEvent
from assistant.interfaces.device.inbox import Inbox
from assistant.interfaces.device.interface import DeviceKeeper
from assistant.interfaces.device.registration import HouseDevice
from assistant.interfaces.mqtt.commands import MqttParts, Orders
from assistant.interfaces.mqtt.discovery import Topics
from audio.earcons import earcon
from audio.player import Outputs, Player
from integrations.home_assistant.client import HomeAssistant
from integrations.mqtt.messages import Arrival
from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.box import Box, Caller
from integrations.web.guard import Guard
from integrations.web.requests import AnnounceRequest
from tests.benchmarks.figures import Spread, how_many, print_table, spread, write_figures
from tests.benchmarks.sound import AUDIBLE, NotingPlayer
from tests.unit.assistant.interfaces.device.doubles import TakesDevices

BUDGET_MS = 150.0  # p95, to the first sample, with and without the tone
GAPLESS_MS = 20.0  # words begin no later than this behind the end of the tone
TOKEN = "t" * 32
CALLER = Caller("http:bench", frozenset({"speak"}))
TEXTS = (
    "The washing machine has finished, load number {}.",
    "Somebody is at the front door for the {}. time today.",
    "It is {} degrees in the freezer. Please have a look.",
    "{} minutes until the bus leaves.",
)
TIMEOUT_S = 20.0
Send = Callable[[str, bool], Awaitable[None]]  # a text, and whether a tone goes before


class OnlyAnnounces:
    """A box for `POST /v1/announce` alone."""

    def __init__(self, desk: AnnouncementService) -> None:
        self._desk = desk

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        return await self._desk.announce(wanted, caller)


class Home(TakesDevices):
    """A home that reports when its channel is open."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = asyncio.Event()

    def follow(
        self, handler: Callable[[Mapping[str, Any]], None], kind: str, **fields: Any
    ) -> Callable[[], None]:
        leave = super().follow(handler, kind, **fields)
        self.is_open.set()
        return leave


class OneToken:
    """A token check that takes every caller for the same program."""

    def caller(self, given: str) -> Caller | None:
        return CALLER if given == TOKEN else None

    def holds(self, caller: Caller) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways into the app."""

    by_name: dict[str, Send]
    rest: Callable[[], Awaitable[None]]  # until what was sent is over


def settings(folder: Path) -> Settings:
    """Return settings with the embedded house and espeak-ng."""
    sections = {
        "assistant": {"data": str(folder / "data")},
        "home_assistant": {"url": "demo"},
        "brain": {"order": ["offline"]},
        "voice": {"engine": "espeak"},
    }
    return Settings.model_validate(sections)


def _doors(
    client: httpx.AsyncClient, home: Home, orders: Orders, topics: Topics
) -> dict[str, Send]:
    async def post(text: str, tone: bool, *, persist: bool) -> None:
        body = {"text": text, "preannounce": tone, "persist": persist}
        answer = await client.post("/v1/announce", json=body)
        assert answer.status_code == 202, answer.text

    async def hold(text: str, tone: bool) -> None:
        await post(text, tone, persist=False)

    async def keep(text: str, tone: bool) -> None:
        await post(text, tone, persist=True)

    async def push(text: str, tone: bool) -> None:
        assert home.send is not None
        data = {"preannounce": tone}
        home.send({"message": text, "hass_confirm_id": text, "data": data})

    async def arrive(text: str, tone: bool) -> None:
        payload = json.dumps({"text": text, "preannounce": tone}).encode()
        assert await orders.take(Arrival(topics.order("announce"), payload, number=1))

    return {"POST": hold, "POST with persist": keep, "push": push, "MQTT": arrive}


@asynccontextmanager
async def ways(folder: Path, outputs: Outputs | Player) -> AsyncIterator[Ways]:
    """Yield the app with all its ways open."""
    clock, given = SystemClock(), settings(folder)
    async with open_app(given, outputs, hears=False, resident=True) as app:
        assert app.daemon is not None
        desk, announcements = app.daemon.desk, app.daemon.announcements
        over, bus = asyncio.Event(), app.home.bus

        def follow(one: BusEvent) -> None:
            if one.kind == "announcement" and one.data["what"] != "waits":
                over.set()

        bus.follow(follow)
        guard = Guard(OneToken(), calls_at_once=100_000)
        routes = api_routes(cast(Box, OnlyAnnounces(desk)), guard)
        home = Home()
        unused: Any = None  # all these messages are plain words
        catalogue = app.home.catalogue
        inbox = Inbox(desk, announcements, unused, unused, unused, catalogue, clock, ["en"])
        needs = MqttParts(unused, desk, unused, unused, bus, app.home.store)
        topics = Topics("hearth/bench", "homeassistant", "bench")
        orders = Orders(
            topics,
            needs,
            clock,
            unused,
            "question",
            unused,
            unused,
            may_unmute=False,
            may_widen=False,
        )
        device = HouseDevice(given, clock)
        keeper = DeviceKeeper(
            device, given, cast(HomeAssistant, home), inbox.take, clock, home.register
        )
        async with (
            inbox,
            keeper,
            serving(web_app(routes), "127.0.0.1", 0) as port,
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {TOKEN}"}
            ) as client,
        ):
            await home.is_open.wait()

            async def rest() -> None:
                async with asyncio.timeout(TIMEOUT_S):
                    await over.wait()
                over.clear()
                await app.runner.rest()

            yield Ways(_doors(client, home, orders, topics), rest)


def text_of(number: int) -> str:
    """Return a text that differs for each number."""
    return TEXTS[number % len(TEXTS)].format(number + 2)


@dataclass(frozen=True, slots=True)
class Heard:
    """Milliseconds from the arrival of one announcement."""

    first: float  # until its first sample was handed over, of the tone or of words
    words: float  # until its first word's sample was; while a tone sounds that is ahead of time
    audible: float  # until the first audible sample of a word would leave a loudspeaker at once
    late: float  # of that: behind the end of the tone, or 0


def heard(player: NotingPlayer, sent: float, tone: bool) -> Heard:
    """Return the delays according to what the player was given."""
    pcm, rate = earcon("announce")
    left = len(pcm) // 2 if tone else 0  # samples of the tone
    begins = player.pieces[0].at
    tone_ends = begins + left / rate
    words = 0.0
    audible_s: float | None = None
    for piece in player.pieces:
        if left >= len(piece.samples):
            left -= len(piece.samples)
            continue
        words = words or piece.at
        level = np.abs(piece.samples[left:].astype(np.int32)) >= AUDIBLE
        if level.any():
            starts = max(tone_ends, piece.at)
            audible_s = starts + int(np.flatnonzero(level)[0]) / piece.rate
            break
        tone_ends += len(piece.samples) / piece.rate
    assert audible_s is not None, "no word was heard"
    late = max(0.0, words - (begins + len(pcm) / 2 / rate)) if tone else 0.0
    return Heard(*((at * 1000) for at in (begins - sent, words - sent, audible_s - sent, late)))


async def measure(count: int) -> dict[str, list[Heard]]:
    """Measure each way, with and without the tone."""
    player, figures, number = NotingPlayer(), dict[str, list[Heard]](), 0
    with tempfile.TemporaryDirectory() as name:
        async with ways(Path(name), player) as doors:
            for way, send in doors.by_name.items():
                for tone in (False, True):
                    told = figures[f"{way}{', tone' if tone else ''}"] = []
                    for attempt in range(count + 1):
                        player.clear()
                        sent = time.monotonic()
                        await send(text_of(number), tone)
                        await doors.rest()
                        number += 1
                        if attempt:  # the first loads what all others find loaded
                            told.append(heard(player, sent, tone))
    return figures


def _spreads(told: Sequence[Heard]) -> dict[str, Spread]:
    names = ("first", "words", "audible", "late")
    return {what: spread(getattr(one, what) for one in told) for what in names}


def with_a_device(count: int) -> dict[str, list[float]]:
    """Return the ms until the first sample has left the loudspeaker of a real sound server."""
    command = [sys.executable, "tests/devices/pulse.py", "--", sys.executable, "-m"]
    command += ["tests.benchmarks._notify_device", str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=280)
    told: dict[str, list[float]] = json.loads(done.stdout)
    return told


def main() -> None:
    """Measure and print; raise if the target is missed."""
    measured = asyncio.run(measure(how_many(40, 200)))
    figures = {way: _spreads(told) for way, told in measured.items()}
    rows = [(way, *(told[what] for what in told)) for way, told in figures.items()]
    print("  ms, p50 / p95 / most, at the output:")
    head = ("way", "first sample", "first sample of words", "audible word", "words behind tone")
    print_table(head, rows)
    device = {name: spread(taken) for name, taken in with_a_device(how_many(8, 40)).items()}
    print("  ms, p50 / p95 / most, out of a PulseAudio null sink:")
    print_table(("way", "first sample has left it"), device.items())
    write_figures("notify", {"output": figures, "device": device})
    missed = [
        f"{way}: {what} {told[what].p95} ms"
        for way, told in figures.items()
        for what, most in (("first", BUDGET_MS), ("words", BUDGET_MS), ("late", GAPLESS_MS))
        if told[what].p95 > most
    ]
    if missed:
        raise AssertionError(f"p95 beyond the budget: {'; '.join(missed)}")
