"""The last part of `hearth setup`: write the files, register the device, print the next steps."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.app.process import is_held
from assistant.cli.console import Terminal
from assistant.cli.secret_input import AskAdmin
from assistant.cli.setup_steps import rate_openers, setup_services
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import (
    DeviceFile,
    DeviceRecord,
    address_of,
    appearance,
    ensure_registered,
)
from assistant.interfaces.http import MINUTES, console_link
from assistant.setup.answers import DEMO, LOOPBACK, Answers, Person
from assistant.setup.document import (
    PLAIN_MODE,
    NewFile,
    applied,
    secret_file,
    secrets_of,
    write_all,
)
from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.websocket import Commands


async def become_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """Register this device in Home Assistant, assign it to its area if possible, and print the
    result."""
    address = address_of(settings)
    file = DeviceFile(settings.data_folder, SystemClock())
    try:
        async with _connected(address) as home:
            record = await ensure_registered(file, home, address, appearance(settings))
            registered = "Registered in Home Assistant as [green]{name}[/]."
            console.tell(registered, name=record.name, fold=True)
            told = await _settle_area(home, record, address, settings.assistant.area, ask_admin)
            if told:
                console.print(told, soft_wrap=True)
    except IntegrationError as error:
        console.print(f"Not registered in Home Assistant: {error}", soft_wrap=True)


async def _settle_area(
    home: Commands, record: DeviceRecord, address: Address, area: str, ask_admin: AskAdmin
) -> str:
    """Assign the device to its area. Returns what the user still has to do, or "". Raises
    IntegrationError."""
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
class Plan:
    """The answers, and what setup will do with them."""

    target: Path  # the configuration file
    before: str  # the file's current text
    present: Settings
    answers: Answers
    registers: bool  # register the device in Home Assistant
    fetches: bool  # download missing voices


async def finish(
    plan: Plan, ask_admin: Callable[[int], AskAdmin], console: Terminal, person: Person | None
) -> None:
    """Carry out the plan. Raises ConfigError if the files can't be written. `person` is None if
    setup may ask no more questions. `ask_admin` takes the number of questions asked here, because
    the total is limited."""
    target = plan.target
    text = applied(plan.before, plan.answers, target, plan.present)
    await asyncio.to_thread(write_all, _files(plan, text))
    console.print(f"Written: {target}", soft_wrap=True)
    settings = await asyncio.to_thread(load_settings, target, os.environ)
    home = settings.home_assistant
    if plan.registers and home.url != DEMO and home.token.get_secret_value():
        asked = await rate_openers(settings, person, console)
        await become_device(settings, ask_admin(asked), console)
    if plan.fetches:
        await _fetch(settings, console)
    if plan.answers.console_host not in (None, LOOPBACK):
        await _tell_of_the_page(settings, console)
    await _tell_what_is_next(settings, console)


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


async def _fetch(settings: Settings, console: Terminal) -> None:
    problem = await setup_services(console).fetch_voices(settings)
    if problem:
        console.print(f"{problem} Until then, Hearth speaks with espeak-ng.", style="yellow")


async def _tell_of_the_page(settings: Settings, console: Terminal) -> None:
    try:
        link = await asyncio.to_thread(console_link, settings, SystemClock().now(), MINUTES)
    except ConfigError as error:  # the settings are complete without the link
        console.print(f"Cannot create a link to the console: {error}", style="yellow")
        return
    console.print(
        f"Open the console with this link within {MINUTES} min, once Hearth is running with these "
        "settings. It works once and signs you in as an administrator (hearth link prints "
        "another):",
        soft_wrap=True,
    )
    console.print(f"  {link}", style="bold", soft_wrap=True)


async def _tell_what_is_next(settings: Settings, console: Terminal) -> None:
    if await asyncio.to_thread(is_held, settings.data_folder):
        console.tell(
            "To apply this to the running Hearth: [bold]sudo systemctl reload hearth[/], or "
            "restart it.",
            fold=True,
        )
    console.tell("Next: [bold]hearth doctor[/], then [bold]hearth run[/]")
