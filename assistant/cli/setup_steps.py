"""Steps of `hearth setup` at the terminal: asking, checking given answers and rating openers."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.live import Live
from rich.text import Text

from assistant.cli.console import Terminal, read_line, silent
from assistant.cli.models import fetch_entries
from assistant.cli.terminal import Failed
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.records import StoreError
from assistant.domain.tool_call import Tier
from assistant.models.shelf import ModelEntry, read_manifest
from assistant.setup.answers import DEMO, STYLES, Answers, Gone, Person, Unclear, read_numbers
from assistant.setup.cloud import four_lines
from assistant.setup.document import draft
from assistant.setup.finishing import Openers, tiers_of, unrated_openers
from assistant.setup.services import SetupServices
from assistant.setup.sound_check import Reading, bar, lacking
from assistant.setup.steps import try_gemini
from assistant.sound.devices import wake_engine
from audio.errors import AudioError
from integrations.errors import SignInAgain
from integrations.gemini.key import doubtful, impossible
from integrations.home_assistant.rest import check


def setup_services(
    console: Terminal, *, verify_tls: bool = True, ca_file: str = ""
) -> SetupServices:
    """Return the services that setup uses. `console` shows the progress of downloads."""

    async def fetch(entries: Sequence[ModelEntry], folder: Path) -> None:
        await fetch_entries(entries, folder, {}, console)

    return SetupServices(fetch, try_live, verify_tls=verify_tls, ca_file=ca_file)


async def try_live(settings: Settings) -> Sequence[str]:
    """Open a session with Gemini Live as a turn does, and return its problems."""
    # Import this only if needed, because it loads everything that a turn needs.
    from assistant.doctor.cloud import probe_setup

    found = await probe_setup(settings, SystemClock())
    return [f"{one.check}: {one.detail} → {one.mend}" for one in found if one.status != "ok"]


async def settle_given(answers: Answers, present: Settings, console: Terminal) -> Answers:
    """Check answers that were given as options, and return them with voices for new languages
    added. Raises IntegrationError, ConfigError and Failed."""
    settings = draft(present, answers)
    home = settings.home_assistant
    if answers.of_the_house and home.url != DEMO:
        instance = await check(
            home.url, home.token.get_secret_value(), home.verify_tls, home.ca_file
        )
        told = "[green]Home Assistant {version}[/] answers ({name})."
        console.tell(told, version=instance.version, name=instance.name, fold=True)
    if answers.wake_word is not None:
        await _try_word(settings)
    if answers.languages is not None and settings.voice.engine != "espeak":
        known = await asyncio.to_thread(read_manifest)
        voices = lacking(settings, answers.languages, known.values())
        answers = replace(answers, voices=voices or None)
    if answers.accept_cloud:
        console.print("You are agreeing to the following:")
        for line in four_lines(settings):
            console.print(f"- {line}", soft_wrap=True)
    if answers.gemini_key is not None:
        await _try_key(settings, setup_services(console), console)
    return answers


async def _try_word(settings: Settings) -> None:
    try:
        engine = await asyncio.to_thread(wake_engine, settings)
    except AudioError as error:
        raise Failed(f"Nothing was written: {error}", 2) from error
    engine.close()


async def _try_key(settings: Settings, means: SetupServices, console: Terminal) -> None:
    """Check the key's format and, only if the user consents, try the key with Google."""
    key = settings.gemini.api_key.get_secret_value()
    problem = impossible(key)
    if problem:
        raise Failed(f"Nothing was written: {problem}", 2)
    if not settings.privacy.accept_cloud:
        if doubtful(key):
            console.print(doubtful(key), style="yellow", soft_wrap=True)
        console.print(
            "The key is saved. It isn't used until you agree: hearth setup --accept-cloud.",
            soft_wrap=True,
        )
        return
    async for found in try_gemini(means, settings):
        if found.tone == "bad":
            raise SignInAgain(found.text)
        console.print(found.text, style=STYLES[found.tone], soft_wrap=True)


_METER = 24  # width of the level meter in characters
_SCORE = 10  # width of the wake word score in characters
_A_SECOND = 12  # redraws of the meter per second


class TerminalPerson:
    """A `Person` who answers at the terminal."""

    def __init__(self, console: Terminal) -> None:
        """`console` writes to stderr, to keep stdout free for programs."""
        self._console = console

    def tell(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style or None, soft_wrap=True)

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        shown = f"   {prompt} [{default}]: " if default and not hidden else f"   {prompt}: "
        with silent(hidden):  # first, because users type as soon as they see the prompt
            self._console.print(Text(shown, style="cyan"), end="", soft_wrap=True)
            line = await read_line()
        if hidden or not line:
            self._console.print()
        if not line:
            raise Gone
        return line.strip() or default

    @contextmanager
    def watch(self) -> Iterator[Callable[[Reading], None]]:
        last: list[Reading] = []

        def drawn() -> Text:
            return _drawn(last[0]) if last else Text("   opening the microphone ...", style="dim")

        def show(reading: Reading) -> None:
            last[:] = [reading]

        with Live(
            get_renderable=drawn,
            console=self._console,
            refresh_per_second=_A_SECOND,
            transient=True,
        ):
            yield show


def _drawn(reading: Reading) -> Text:
    loud = reading.loudness
    line = Text("   level ")
    line.append(bar(loud.now, _METER), style="red" if loud.clipped else "green")
    line.append(f" {loud.now:4.0f} dB   wake word ")
    filled = round(_SCORE * reading.score)
    line.append("█" * filled + "░" * (_SCORE - filled), style="green" if reading.heard else "")
    line.append(f" {reading.score:.2f}")
    return line


async def confirm(person: TerminalPerson, question: str) -> bool:
    """Ask a yes-or-no question. Returns False for an empty line or a closed terminal."""
    try:
        said = await person.ask(f"{question} (yes or no)", "no")
    except Gone:
        return False
    return said.casefold() in ("y", "yes")


SHOWN = 30  # entities listed by setup; `hearth tools rate` lists all
_LATER = "hearth tools rate lists them"


async def rate_openers(settings: Settings, person: Person | None, console: Terminal) -> int:
    """Ask which of the possible openers are harmless, and return how many questions were asked.
    `person` is None if no question may be asked; then only the number of openers is printed."""
    try:
        async with unrated_openers(settings) as openers:
            things = openers.things
            if not things:
                return 0
            if person is None:
                told = (
                    "1 entity could open the house, so Hearth asks before using it: "
                    if len(things) == 1
                    else (
                        f"{len(things)} entities could open the house, so Hearth asks before "
                        "using them: "
                    )
                ) + f"{_LATER}."
                console.print(told, soft_wrap=True)
                return 0
            await openers.rate(await _asked(openers, person))
            return 1
    except (ConfigError, StoreError) as error:
        console.print(f"Nothing was rated: {error}", soft_wrap=True)
        return 0


async def _asked(openers: Openers, person: Person) -> dict[str, Tier]:
    things, shown = openers.things, openers.things[:SHOWN]
    person.tell("")
    person.tell("These could open the house or silence an alarm", "bold")
    person.tell("   Hearth asks you before using them. Which of them are harmless?")
    for number, one in enumerate(shown, 1):
        area = openers.area_of(one)
        place = f"  ({area})" if area else ""
        person.tell(f"   {number}  {one.name}{place}  {one.entity_id}")
    if len(things) > len(shown):
        person.tell(f"   and {len(things) - len(shown)} more; {_LATER}", "dim")
    while True:
        try:
            line = await person.ask(
                "Numbers, separated by spaces; Enter to be asked about all of them"
            )
        except Gone:
            return {}
        try:
            chosen = read_numbers(line, len(shown))
        except Unclear as unclear:
            person.tell(str(unclear), "yellow")
            continue
        harmless = {one.entity_id for number, one in enumerate(shown, 1) if number in chosen}
        return tiers_of(shown, harmless)
