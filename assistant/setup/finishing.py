"""The end of setup: write the files, register the device, and rate what could open the house."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Tier
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import (
    DeviceFile,
    DeviceRecord,
    address_of,
    appearance,
    ensure_registered,
)
from assistant.journal.store import Store
from assistant.setup.answers import Answers
from assistant.setup.document import (
    PLAIN_MODE,
    NewFile,
    applied,
    secret_file,
    secrets_of,
    write_all,
)
from assistant.tools.policy.ratings import Ratings, may_open
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.websocket import Commands


@dataclass(frozen=True, slots=True)
class Plan:
    """The answers, and what setup will do with them."""

    target: Path  # the configuration file
    before: str  # the file's current text
    present: Settings
    answers: Answers
    registers: bool  # register the device in Home Assistant
    fetches: bool  # download missing voices


async def write_plan(plan: Plan) -> Settings:
    """Write the configuration and the secrets, and return the settings as they are now. Raises
    ConfigError if the files can't be written."""
    text = applied(plan.before, plan.answers, plan.target, plan.present)
    await asyncio.to_thread(write_all, _files(plan, text))
    return await asyncio.to_thread(load_settings, plan.target, os.environ)


def _files(plan: Plan, text: str) -> list[NewFile]:
    target = plan.target.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else PLAIN_MODE
    return [
        *(
            NewFile(secret_file(plan.target, section, key), f"{secret}\n".encode())
            for (section, key), secret in secrets_of(plan.answers).items()
        ),
        NewFile(target, text.encode(), mode),
    ]


@dataclass(frozen=True, slots=True)
class Registered:
    name: str  # the device's name in Home Assistant
    todo: str = ""  # what a person still has to do


async def register(settings: Settings, ask_admin: Callable[[str], str]) -> Registered:
    """Register this device in Home Assistant and assign it to its area if possible. Raises
    IntegrationError if it isn't registered. `ask_admin` takes a purpose, and returns an
    administrator's token or ""; it may block."""
    address = address_of(settings)
    file = DeviceFile(settings.data_folder, SystemClock())
    async with _connected(address) as home:
        record = await ensure_registered(file, home, address, appearance(settings))
        try:
            todo = await _settle_area(home, record, address, settings.assistant.area, ask_admin)
        except IntegrationError as error:
            todo = str(error)
        return Registered(record.name, todo)


async def _settle_area(
    home: Commands,
    record: DeviceRecord,
    address: Address,
    area: str,
    ask_admin: Callable[[str], str],
) -> str:
    if not area:
        return "No room is set: add one with hearth setup --area ROOM."
    found = await place.look_up(home, record, area)
    if found.agrees:
        return ""
    if found.wanted is None:
        return place.no_such_area(area, found)
    if await place.is_admin(home):
        await place.move(home, record, found.wanted)
        return ""
    purpose = f"assign this box to {found.wanted.name} in Home Assistant"
    admin = await asyncio.to_thread(ask_admin, purpose)
    if admin:
        try:
            async with _connected(replace(address, token=admin)) as as_admin:
                await place.move(as_admin, record, found.wanted)
                return ""
        except IntegrationError as error:
            return f"{error} {place.move_by_hand(record, found.wanted.name)}"
    return place.move_by_hand(record, found.wanted.name)


def _connected(address: Address) -> HomeAssistant:
    return HomeAssistant(address.url, address.token, address.verify_tls, address.ca_file)


@dataclass(frozen=True, slots=True)
class Openers:
    """Entities that could open the house and that the owner hasn't rated."""

    house: House
    things: Sequence[Entity]
    rate: Callable[[Mapping[str, Tier]], Awaitable[None]]  # raises StoreError
    problem: IntegrationError | None  # why the house could not be read; then there are no things

    def area_of(self, thing: Entity) -> str:
        area = self.house.areas.get(thing.area_id or "")
        return area.name if area else ""


@asynccontextmanager
async def unrated_openers(settings: Settings) -> AsyncIterator[Openers]:
    """Read the house and the ratings. Raises ConfigError and StoreError."""
    async with (
        Store(settings.database, SystemClock()) as store,
        _connected(address_of(settings)) as home,
    ):
        home.learn_openings(await store.openings())
        ratings = Ratings(store)
        await ratings.load()
        things = [one for one in may_open(home.house) if one.entity_id not in ratings.tiers]
        silent = home.problem or Unavailable("Home Assistant doesn't answer in time.")
        yield Openers(home.house, things, ratings.rate, None if home.connected else silent)


def tiers_of(things: Sequence[Entity], harmless: Collection[str]) -> dict[str, Tier]:
    """Rate the things that a person has looked at: a choice of some also decides about the others.
    Without a choice, nothing is rated."""
    if not harmless:
        return {}
    return {
        one.entity_id: Tier.COMFORT if one.entity_id in harmless else Tier.SECURE for one in things
    }
