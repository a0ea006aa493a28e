"""Strict doubles: a person who answers by a script, and means that only record."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from assistant.config.schema import Settings
from assistant.setup.answers import Gone
from assistant.setup.services import HouseFacts, SetupServices
from assistant.setup.sound_check import Loudness, Reading
from audio.devices.portaudio import DeviceInfo
from audio.errors import AudioError
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.discovery import FoundHome

TOKEN = "the-right-token"
KEY = "AIza" + "k" * 35
HOME = FoundHome("Casa", "http://192.168.1.5:8123", "2026.11.0")
FACTS = HouseFacts("Casa", "2026.11.0", "es", ("Kitchen", "Salón"))
WELL = Reading(Loudness(-60.0, -20.0, -60.0, 0.0), 0.97, "okay_nabu")
DEVICES = (
    DeviceInfo("mic-1", "input", 1, 48_000, True, 0, "Built-in"),
    DeviceInfo("mic-2", "input", 1, 48_000, False, 1, "Array"),
    DeviceInfo("out-1", "output", 2, 48_000, True, 2, "Built-in"),
)


class Scripted:
    """Answers each prompt with the next line of its script, and checks a part of the prompt."""

    def __init__(self, *script: tuple[str, str]) -> None:
        """`script` holds pairs: a part of the prompt, and what is typed."""
        self._script = list(script)
        self.told: list[str] = []
        self.defaults: dict[str, str] = {}  # what was offered, by the part of the prompt
        self.readings: list[Reading] = []

    def tell(self, text: str, style: str = "") -> None:
        self.told.append(text)

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        assert self._script, f"one question too many: {prompt}"
        part, line = self._script.pop(0)
        assert part in prompt, f"asked {prompt!r}, not {part!r}"
        assert not (hidden and default)
        self.defaults[part] = default
        if line == "EOF":
            raise Gone
        return line or default

    @contextmanager
    def watch(self) -> Iterator[Callable[[Reading], None]]:
        yield self.readings.append

    def done(self) -> None:
        """Check that the whole script was used."""
        assert not self._script, f"never asked: {self._script}"

    def heard(self, part: str) -> bool:
        """Return whether a printed text contains `part`."""
        return any(part in line for line in self.told)


@dataclass
class Remembering(SetupServices):
    """Means without a network; each list holds what was requested, in order."""

    homes: Sequence[FoundHome] = (HOME,)
    facts: HouseFacts = FACTS
    found: Sequence[DeviceInfo] = DEVICES
    no_voice: str = ""
    silent: AudioError | None = None  # of every microphone
    house: Callable[[str, str], IntegrationError | None] = lambda url, token: None
    google: Callable[[str], IntegrationError | None] = lambda key: None
    live: Sequence[str] = ()  # problems of Gemini Live
    away: Collection[str] = ()  # addresses at which nothing answers
    reached: list[str] = field(default_factory=list)
    visited: list[tuple[str, str]] = field(default_factory=list)
    fetched: list[Settings] = field(default_factory=list)
    greeted: list[tuple[str, str]] = field(default_factory=list)  # input, output
    keys: list[str] = field(default_factory=list)

    async def find_homes(self) -> Sequence[FoundHome]:
        return self.homes

    async def reach(self, url: str) -> None:
        self.reached.append(url)
        if url in self.away:
            raise Unavailable("Home Assistant does not answer.")

    async def visit(self, url: str, token: str) -> HouseFacts:
        self.visited.append((url, token))
        error = self.house(url, token)
        if error is not None:
            raise error
        return self.facts

    async def fetch_voices(self, settings: Settings) -> str:
        self.fetched.append(settings)
        return self.no_voice

    async def devices(self) -> Sequence[DeviceInfo]:
        return self.found

    async def greet(self, settings: Settings) -> None:
        self.greeted.append((settings.audio.input, settings.audio.output))

    async def listen(self, settings: Settings, show: Callable[[Reading], None]) -> Reading:
        if self.silent is not None:
            raise self.silent
        show(WELL)
        return WELL

    async def try_key(self, settings: Settings) -> None:
        key = settings.gemini.api_key.get_secret_value()
        self.keys.append(key)
        error = self.google(key)
        if error is not None:
            raise error

    async def try_live(self, settings: Settings) -> Sequence[str]:
        return self.live
