"""What the conversation needs of others: a person at a terminal, a network, sound devices."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from assistant.config.schema import Settings
from assistant.setup.house import HouseFacts
from assistant.setup.sound_check import Reading
from audio.devices import DeviceInfo
from integrations.home_assistant.discovery import FoundHome


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


class Means(Protocol):
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
