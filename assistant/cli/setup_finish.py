"""The end of `hearth setup`: the file is written, the box becomes a device, and what comes next."""

import argparse
import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from assistant.app.process import is_held, locked
from assistant.cli.console import Terminal
from assistant.cli.setup_steps import rate_openers, setup_services
from assistant.cli.terminal import Failed, say
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.config.sections import Mqtt
from assistant.domain.clock import Clock, SystemClock
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import (
    DeviceFile,
    DeviceRecord,
    address_of,
    appearance,
    ensure_registered,
)
from assistant.interfaces.http import MINUTES, console_link, sign_everybody_out
from assistant.interfaces.http_tokens import SCOPES, TokenFile, make_admin_token
from assistant.interfaces.mqtt.interface import take_away
from assistant.setup.answers import LOOPBACK, Answers, Person
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
from integrations.web.box import Scope
from integrations.web.pages import is_loopback


async def forget_entities(mqtt: Mqtt, identifier: str) -> str:
    """Remove the box's entities from the broker; return what a person still has to do, or ""."""
    if not mqtt.host:
        return ""
    try:
        await take_away(mqtt, identifier)
    except IntegrationError as error:
        return (
            f"{error} So its MQTT entities stay in Home Assistant: "
            "run hearth setup --forget again once the broker is there."
        )
    return ""


# The part of `hearth setup` that makes this box a device of Home Assistant, or ends that.


# Under which name they stand there was in the record.
_ENTITIES_STAY = (
    "Its MQTT entities stay in Home Assistant: delete the retained messages of its topics "
    "(docs/mqtt.md) at the broker."
)

# What for -> an administrator's token, "" for none. May wait for a person: it runs in a thread.
AskAdmin = Callable[[str], str]


async def become_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """Register, and put the device into its area if that may be done; say what came of it."""
    address = address_of(settings)
    file = DeviceFile(settings.data_folder, SystemClock())
    try:
        async with _connected(address) as home:
            record = await ensure_registered(file, home, address, appearance(settings))
            registered = "Registered in Home Assistant as the device [green]{name}[/]."
            console.tell(registered, name=record.name, fold=True)
            told = await _settle_area(home, record, address, settings.assistant.area, ask_admin)
            if told:
                console.print(told, soft_wrap=True)
    except IntegrationError as error:
        console.print(f"Not registered as a device: {error}", soft_wrap=True)


async def forget_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """End the registration: ours always, Home Assistant's entry where a token may.

    Raises ConfigError while `hearth run` holds the data folder: it would register again at once.
    """
    file = DeviceFile(settings.data_folder, SystemClock())
    with locked(settings.data_folder):
        try:
            record = file.read()
        except ConfigError as error:  # damaged; that it goes is all that can be done
            console.print(str(error), soft_wrap=True)
            if settings.mqtt.host:
                console.print(_ENTITIES_STAY, soft_wrap=True)
            file.forget()
            return
        if record is None:
            console.print("This box is not registered as a device.")
            return
        told = await _remove(address_of(settings), record, ask_admin)
        at_broker = await forget_entities(settings.mqtt, record.identifier)
        # What may live on is taken away, or its place taken, under the same name only.
        if told or at_broker:
            file.write(DeviceRecord(record.identifier, name=record.name))
        else:
            file.forget()
    console.print("The registration is forgotten here; the next hearth run makes a new one.")
    for still_to_do in filter(None, (told, at_broker)):
        console.print(still_to_do, soft_wrap=True)


async def _remove(address: Address, record: DeviceRecord, ask_admin: AskAdmin) -> str:
    """Remove the device from Home Assistant; return what a person still has to do, or ""."""
    async with _connected(address) as home:
        told = await place.remove(home, record, address)
        if told and home.connected:
            admin = await asyncio.to_thread(ask_admin, "remove the device from Home Assistant")
            if admin:
                told = await place.remove(home, record, replace(address, token=admin))
    return told


async def _settle_area(
    home: Commands, record: DeviceRecord, address: Address, area: str, ask_admin: AskAdmin
) -> str:
    """Put the device into its area; return what is left to do, or "". Raises IntegrationError."""
    if not area:
        return "No area is set; name the room this box stands in as assistant.area."
    found = await place.look_up(home, record, area)
    if found.agrees:
        return ""
    if found.wanted is None:
        return place.no_such_area(area, found)
    if await place.is_admin(home):
        await place.move(home, record, found.wanted)
        return ""
    purpose = f"put this box into {found.wanted.name} in Home Assistant"
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


# The part of `hearth setup` that lets programs and people into the HTTP interface: tokens, and one-
# time links to the console.


def token_arguments(parser: argparse.ArgumentParser) -> None:
    """`--token NAME --scopes …`, `--tokens`, `--revoke NAME`, `--console-link --minutes N`,
    `--sign-out`."""
    parser.add_argument(
        "--token",
        metavar="NAME",
        help="make a token of the HTTP interface for a program; admin: the administrator's own",
    )
    parser.add_argument(
        "--scopes",
        default="speak",
        metavar="A,B",
        help=f"what it may: any of {', '.join(SCOPES)} (default: speak)",
    )
    parser.add_argument("--tokens", action="store_true", help="list those tokens")
    parser.add_argument("--revoke", metavar="NAME", help="end one of them")
    parser.add_argument(
        "--console-link",
        action="store_true",
        help="print an address of the console that signs in whoever opens it first",
    )
    parser.add_argument(
        "--minutes",
        type=int,
        default=MINUTES,
        metavar="N",
        help=f"for how long that address holds (default: {MINUTES})",
    )
    parser.add_argument(
        "--sign-out", action="store_true", help="sign out every browser from the console"
    )


def wants_tokens(arguments: argparse.Namespace) -> bool:
    """Return True if something about tokens or links was asked for."""
    by_name = arguments.token is not None or arguments.revoke is not None
    return bool(by_name or arguments.tokens or arguments.console_link or arguments.sign_out)


def settle_tokens(
    arguments: argparse.Namespace, settings: Settings, clock: Clock, console: Terminal
) -> None:
    """Do it. A new token or link is all that goes to stdout. Blocking. Raises ConfigError and
    Failed."""
    file = TokenFile(settings.data_folder)
    if arguments.revoke is not None:
        file.revoke(arguments.revoke)
        console.print(f"The token {arguments.revoke} lets nobody in any more.")
    if arguments.token == "admin":
        token = make_admin_token(settings)
        console.print(
            "The administrator's token, which may do everything. It is shown this once, and the "
            "one before it lets nobody in any more:",
            soft_wrap=True,
        )
        say(token)
    elif arguments.token is not None:
        scopes = _scopes(arguments.scopes)
        token = file.make(arguments.token, scopes, clock.now())
        may = ", ".join(scopes)
        console.tell(
            "The token [green]{name}[/], which may {may}. It is shown this once; a hearth run that "
            "runs takes it already:",
            name=arguments.token,
            may=may,
        )
        say(token)
    if arguments.tokens:
        _list(file, console)
    if arguments.sign_out:
        ended = sign_everybody_out(settings.data_folder)
        console.print(f"Signed out from the console: {ended}.")
    if arguments.console_link:
        link = console_link(settings, clock.now(), arguments.minutes)
        if not (settings.http.tls_cert or is_loopback(settings.http.host)):
            console.print(
                "Without http.tls_cert whoever is in the home's network can read along.",
                style="yellow",
            )
        console.print(
            f"Open this within {arguments.minutes} min, while hearth run runs. It signs in whoever "
            "opens it first, once, as an administrator:",
            soft_wrap=True,
        )
        say(link)


def _scopes(text: str) -> Sequence[Scope]:
    wanted = {part.strip() for part in text.split(",") if part.strip()}
    if not wanted or not wanted.issubset(SCOPES):
        raise Failed(f"--scopes takes any of {', '.join(SCOPES)}, with commas between", 2)
    return [scope for scope in SCOPES if scope in wanted]


def _list(file: TokenFile, console: Terminal) -> None:
    table = Table("name", "scopes", "made", box=None)
    table.add_row("admin", "admin", "set by http.token, or by --token admin")
    for row in file.rows():
        table.add_row(row.name, ", ".join(row.scopes), f"{row.created:%Y-%m-%d}")
    console.print(table)


@dataclass(frozen=True, slots=True)
class Plan:
    """The answers, and what else setup has to do with them."""

    target: Path  # the configuration
    before: str  # its text
    present: Settings
    answers: Answers
    registers: bool  # whether the box is to be made a device of the house
    fetches: bool  # whether voices that are lacking are fetched


async def finish(
    plan: Plan, ask_admin: Callable[[int], AskAdmin], console: Terminal, person: Person | None
) -> None:
    """Do it. Raises ConfigError where nothing could be written.

    `person`: who may still be asked something, if anybody; `ask_admin` takes how much they were
    asked here.
    """
    target = plan.target
    text = applied(plan.before, plan.answers, target, plan.present)
    await asyncio.to_thread(write_all, _files(plan, text))
    console.print(f"Written: {target}", soft_wrap=True)
    settings = await asyncio.to_thread(load_settings, target, os.environ)
    if plan.registers:
        asked = await rate_openers(settings, person, console)
        await become_device(settings, ask_admin(asked), console)
    if plan.fetches:
        await _fetch(settings, console)
    if plan.answers.console_host not in (None, LOOPBACK):
        await _tell_of_the_page(settings, console)
    await _tell_what_is_next(settings, console)


def _files(plan: Plan, text: str) -> list[NewFile]:
    """Secrets first: a configuration that names them comes last."""
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
        console.print(f"{problem} Until then espeak-ng speaks.", style="yellow")


async def _tell_of_the_page(settings: Settings, console: Terminal) -> None:
    """A link for the browser that is at hand; it stands on the terminal, in no file."""
    try:
        link = await asyncio.to_thread(console_link, settings, SystemClock().now(), MINUTES)
    except ConfigError as error:  # what was written stays right without it
        console.print(f"There is no link to the page: {error}", style="yellow")
        return
    console.print(
        f"The page, once Hearth runs with this. Within {MINUTES} min this link signs in whoever "
        "opens it first, once, as an administrator (hearth setup --console-link makes another):",
        soft_wrap=True,
    )
    console.print(f"  {link}", style="bold", soft_wrap=True)


async def _tell_what_is_next(settings: Settings, console: Terminal) -> None:
    if await asyncio.to_thread(is_held, settings.data_folder):
        console.tell(
            "The Hearth that is running takes this up with [bold]sudo systemctl reload hearth[/], "
            "or at its next start.",
            fold=True,
        )
    console.tell("Next: [bold]hearth doctor[/], then [bold]hearth run[/]")
