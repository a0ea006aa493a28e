"""What a person answered, on the terminal or by flags."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

from assistant.config.schema import Settings
from assistant.setup.sound_check import Reading
from assistant.setup.typed import HouseFacts, Unclear
from audio.devices import DeviceInfo
from integrations.home_assistant.discovery import FoundHome

# How setup goes about it, by what is there and what was said. Pure.


class Way(Enum):
    """One of four."""

    TALK = "talk"  # ask whatever the flags do not answer
    CHANGE = "change"  # put the flags' answers into the configuration that is there
    ANEW = "anew"  # a configuration from the flags alone
    REFUSE = "refuse"  # nothing was said, and there is a configuration already


def way_of(*, exists: bool, given: bool, person: bool) -> Way:
    """`exists`: a configuration that is to stay; `given`: some flag answers something; `person`:
    somebody is there to ask."""
    if exists and given:
        return Way.CHANGE
    if person:
        return Way.TALK
    return Way.REFUSE if exists else Way.ANEW


# What the conversation needs of others: a person at a terminal, a network, sound devices.


class Person(Protocol):
    """Who is asked. `ask` raises `Gone` where nobody answers any more."""

    def tell(self, text: str, style: str = "") -> None:
        """A line, or several; `style` as rich names it."""
        ...

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        """Their line without spaces around it; `default` (shown) where it is empty."""
        ...

    def watch(self) -> AbstractContextManager[Callable[[Reading], None]]:
        """A meter on the screen while the block lasts; the function moves it."""
        ...


class Gone(Exception):
    """The terminal is closed, or the person ended its input."""


class SetupServices(Protocol):
    """What setup does beside asking."""

    async def find_homes(self) -> Sequence[FoundHome]:
        """Home Assistants of this network; takes some seconds."""
        ...

    async def visit(self, url: str, token: str) -> HouseFacts:
        """Try them. Raises IntegrationError."""
        ...

    async def fetch_voices(self, settings: Settings) -> str:
        """Get the voices that the settings lack; one sentence where that failed, else ""."""
        ...

    async def devices(self) -> Sequence[DeviceInfo]:
        """Microphones and speakers. Raises AudioError."""
        ...

    async def greet(self, settings: Settings) -> None:
        """Speak through the speaker of these settings. Raises AudioError."""
        ...

    async def listen(self, settings: Settings, show: Callable[[Reading], None]) -> Reading:
        """Listen at the microphone of these settings. Raises AudioError."""
        ...

    async def try_key(self, settings: Settings) -> None:
        """Ask Google about the key of these settings. Raises IntegrationError."""
        ...


# Asks a person, one question after the other, and counts what was asked.


MOST = 8  # questions of one walk

T = TypeVar("T")


class SetupQuestions:
    """A question may take several lines until it is answered; it counts once."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.asked: list[str] = []  # the titles, in order

    def begin(self, title: str) -> None:
        """A new question."""
        self.asked.append(title)
        self.person.tell("")
        self.person.tell(f"{len(self.asked)}  {title}", "bold")

    async def ask(
        self, prompt: str, read: Callable[[str], T], default: str = "", *, hidden: bool = False
    ) -> T:
        """The line as `read` understands it; asked again where that raises Unclear."""
        while True:
            line = await self.person.ask(prompt, default, hidden=hidden)
            try:
                return read(line)
            except Unclear as unclear:
                self.person.tell(str(unclear), "yellow")

    @property
    def left(self) -> int:
        """How many more may be asked."""
        return MOST - len(self.asked)


LOOPBACK = "127.0.0.1"  # what the HTTP interface listens on: this machine alone
EVERYWHERE = "0.0.0.0"  # or the home network too


@dataclass(frozen=True, slots=True)
class Answers:
    """One value for each thing that can be answered; None: it was not, and stays as it is."""

    url: str | None = None  # Home Assistant's
    token: str | None = field(default=None, repr=False)
    verify_tls: bool | None = None
    ca_file: str | None = None  # absolute; "" takes the setting away
    name: str | None = None  # what Hearth calls itself
    area: str | None = None
    languages: tuple[str, ...] | None = None
    voice_engine: str | None = None
    voices: Mapping[str, str] | None = None  # language -> Piper's name, for those that had none
    wake_word: str | None = None
    input: str | None = None  # as `hearth devices` names it
    output: str | None = None
    accept_cloud: bool | None = None
    gemini_key: str | None = field(default=None, repr=False)
    console_host: str | None = None  # what the HTTP interface listens on

    @property
    def given(self) -> bool:
        """Whether anything was answered at all."""
        return self != Answers()

    def values(self) -> dict[tuple[str, str], Any]:
        """What was answered, by section and key of the settings. Without secrets and voices, which
        come into the file in another way."""
        told = {
            ("home_assistant", "url"): self.url,
            ("home_assistant", "verify_tls"): self.verify_tls,
            ("home_assistant", "ca_file"): self.ca_file,
            ("assistant", "name"): self.name,
            ("assistant", "area"): self.area,
            ("assistant", "languages"): None if self.languages is None else [*self.languages],
            ("voice", "engine"): self.voice_engine,
            ("wake", "words"): None if self.wake_word is None else [self.wake_word],
            ("audio", "input"): self.input,
            ("audio", "output"): self.output,
            ("privacy", "accept_cloud"): self.accept_cloud,
            ("http", "host"): self.console_host,
        }
        return {place: value for place, value in told.items() if value is not None}

    @property
    def of_the_house(self) -> bool:
        """Whether something was answered that Home Assistant has to be asked about."""
        told = (self.url, self.token, self.verify_tls, self.ca_file, self.name, self.area)
        return any(one is not None for one in told)
