"""A whole Hearth in the tests' own process, in a real house, with a person in its room."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from assistant.app.build import App, open_app
from assistant.app.interfaces import Interfaces, open_interfaces
from assistant.app.services import DaemonServices
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn
from assistant.domain.clock import SystemClock
from assistant.interfaces.device.registration import DeviceFile
from assistant.interfaces.mqtt.interface import take_away
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.conftest import Address, Broker
from tests.home_assistant.line import Failed
from tests.home_assistant.names import ACTION, TOPIC
from tests.home_assistant.room import Room
from tests.ports import free_port

TOKEN = "t0ken-of-the-test"  # of the HTTP interface
NAME, AREA = "Hearth", "Kitchen"  # the box of the documentation's examples


def settings_of(house: Address, folder: Path, **sections: dict[str, Any]) -> Settings:
    """Return settings of the examples' box in that house, without real playing times."""
    given: dict[str, dict[str, Any]] = {
        "assistant": {"name": NAME, "area": AREA, "data": str(folder / "data")},
        "home_assistant": {"url": house.url, "token": house.token},
        "brain": {"order": ["offline"]},
        "voice": {"engine": "espeak"},
        "media": {"during_turn": "leave"},
        "limits": {"comfort_per_minute": 10_000},
        "http": {"port": free_port(), "token": TOKEN},
    }
    return Settings.model_validate({**given, **sections})


def mqtt_of(broker: Broker) -> dict[str, Any]:
    """Return the settings' section, as in the documentation."""
    return {"host": "127.0.0.1", "port": broker.port, "topic": TOPIC, "may_unmute": True}


@dataclass(frozen=True)
class Devices(SoundState):
    """Sound devices that fail when a test says so."""

    broken: dict[str, str] = field(default_factory=dict)  # what has trouble -> a sentence

    @property
    def troubles(self) -> Mapping[str, str]:
        return self.broken


@dataclass
class OpenBox:
    """A running box, and what it has said and done so far."""

    app: App
    faces: Interfaces
    devices: Devices
    room: Room
    turns: list[FinishedTurn] = field(default_factory=list)

    @property
    def daemon(self) -> DaemonServices:
        """Return the services for programs."""
        assert self.app.daemon is not None
        return self.app.daemon

    @property
    def said(self) -> list[str]:
        """Return the announcements in order."""
        records = [turn.record for turn in self.turns]
        return [" ".join(one.clauses) for one in records if one.source == "announcement"]

    async def says(self, *words: str) -> None:
        """Wait until these are the newest announcements."""
        await until(lambda: tuple(self.said[-len(words) :]) == words)


@asynccontextmanager
async def open_box(settings: Settings, folder: Path) -> AsyncIterator[OpenBox]:
    """Run a box that listens, announces and serves its interfaces while the block runs.

    It runs in a separate task, so that a test's failure is not wrapped by the program's groups.
    """
    opened: asyncio.Future[OpenBox] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()
    running = asyncio.create_task(_run(settings, folder, opened, over))
    waited: set[asyncio.Future[Any]] = {opened, running}
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if opened.done():
            yield opened.result()
    finally:
        over.set()
        await running


async def _run(
    settings: Settings, folder: Path, opened: asyncio.Future[OpenBox], over: asyncio.Event
) -> None:
    player = NullPlayer(paced=False)
    devices = Devices(None, OneOutput(player))
    async with (
        open_app(settings, player, hears=True, resident=True) as app,
        open_interfaces(app, devices) as faces,
        asyncio.TaskGroup() as group,
    ):
        room = Room(folder)
        box = OpenBox(app, faces, devices, room)
        app.log.on_turn(box.turns.append)
        app.runner.observe(room.stand)
        box.daemon.mute.attach(room.pause)
        listening = group.create_task(app.runner.listen(room))
        opened.set_result(box)
        await over.wait()
        listening.cancel()


async def greets(admin: Admin, box: OpenBox) -> None:
    """Wait until Home Assistant can speak through it, and so has its registration."""
    words = f"Here we are, {len(box.turns)}."

    async def sent() -> bool:
        try:
            await admin.call(ACTION, message=words)
        except httpx.HTTPStatusError:
            return False
        return True

    await until(sent)
    await box.says(words)


async def forget(admin: Admin, settings: Settings) -> None:
    """Remove everything of it from the house, as `hearth setup --forget` does."""
    record = DeviceFile(settings.data_folder, SystemClock()).read()
    if record is None:
        return
    if settings.mqtt.host:
        await take_away(settings.mqtt, record.identifier)
    for row in await admin.ask("config/device_registry/list"):
        if ["mobile_app", record.identifier] in row["identifiers"]:
            await admin.delete(f"/api/config/config_entries/entry/{row['config_entries'][0]}")
        elif ["mqtt", f"hearth_{record.identifier}"] in row["identifiers"]:
            # Home Assistant does not listen for what is taken away until seconds after it has found
            # the broker again. Where it does, the device goes just now.
            with suppress(Failed):
                await admin.ask(
                    "config/device_registry/remove_config_entry",
                    device_id=row["id"],
                    config_entry_id=row["config_entries"][0],
                )
