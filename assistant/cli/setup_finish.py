"""The last part of `hearth setup`: write the files, register the device, print the next steps."""

import asyncio
from collections.abc import Callable

from assistant.app.process import is_held
from assistant.cli.console import Terminal
from assistant.cli.secret_input import AskAdmin
from assistant.cli.setup_steps import rate_openers, setup_services
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import MINUTES, console_link
from assistant.setup.answers import DEMO, LOOPBACK, Person
from assistant.setup.finishing import Plan, register, write_plan
from integrations.errors import IntegrationError


async def become_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """Register this device in Home Assistant, assign it to its area if possible, and print the
    result."""
    try:
        registered = await register(settings, ask_admin)
    except IntegrationError as error:
        console.print(f"Not registered in Home Assistant: {error}", soft_wrap=True)
        return
    told = "Registered in Home Assistant as [green]{name}[/]."
    console.tell(told, name=registered.name, fold=True)
    if registered.todo:
        console.print(registered.todo, soft_wrap=True)


async def finish(
    plan: Plan, ask_admin: Callable[[int], AskAdmin], console: Terminal, person: Person | None
) -> None:
    """Carry out the plan. Raises ConfigError if the files can't be written. `person` is None if
    setup may ask no more questions. `ask_admin` takes the number of questions asked here, because
    the total is limited."""
    settings = await write_plan(plan)
    console.print(f"Written: {plan.target}", soft_wrap=True)
    home = settings.home_assistant
    if plan.registers and home.url != DEMO and home.token.get_secret_value():
        asked = await rate_openers(settings, person, console)
        await become_device(settings, ask_admin(asked), console)
    if plan.fetches:
        await _fetch(settings, console)
    if plan.answers.console_host not in (None, LOOPBACK):
        await _tell_of_the_page(settings, console)
    await _tell_what_is_next(settings, console)


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
