"""The end of `hearth setup`: the file is written, the box becomes a device, and what comes next."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assistant.app.lock import is_held
from assistant.cli.paper import Terminal
from assistant.cli.setup_device import AskAdmin, become_device
from assistant.cli.setup_means import RealMeans
from assistant.cli.setup_openers import rate_openers
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.console_link import MINUTES, console_link
from assistant.setup.answers import LOOPBACK, Answers, Person
from assistant.setup.document import (
    PLAIN_MODE,
    NewFile,
    applied,
    secret_file,
    secrets_of,
    write_all,
)
from integrations.home_assistant.rest import check


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done."""

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
    means = RealMeans(console, check, True, "")
    problem = await means.fetch_voices(settings)
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
