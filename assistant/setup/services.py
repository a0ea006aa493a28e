"""Services that setup uses: Home Assistant, voice downloads, sound devices and Google."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.app.model_access import access_of
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.records import StoreError
from assistant.models.shelf import ModelEntry, State, read_manifest, shelve, wanted_names
from assistant.setup import sound_check
from assistant.setup.answers import DEMO
from assistant.setup.sound_check import Reading
from assistant.sound.devices import models_folder
from audio.devices import list_devices
from audio.devices.portaudio import DeviceInfo
from audio.errors import AudioError
from audio.tts.piper import need_piper
from integrations.errors import IntegrationError
from integrations.gemini.key import try_key
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.discovery import FoundHome, find_homes
from integrations.home_assistant.registry import read_areas
from integrations.home_assistant.rest import check, reach
from integrations.home_assistant.sign_in import long_lived_token
from integrations.home_assistant.websocket import UNKNOWN_FORM

# Fetches models into a folder and shows its progress; raises IntegrationError.
Fetch = Callable[[Sequence[ModelEntry], Path], Awaitable[None]]
# Opens a session with Gemini Live. Returns a problem per line; raises ConfigError and StoreError.
TryLive = Callable[[Settings], Awaitable[Sequence[str]]]
_LACKS = (State.MISSING, State.PARTIAL, State.BROKEN)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HouseFacts:
    name: str
    version: str
    language: str = ""  # Home Assistant's language, such as "en"; "" if unknown
    rooms: tuple[str, ...] = ()
    unread: str = ""  # why the language and the rooms could not be read


class SetupServices:
    """The services that `hearth setup` uses."""

    def __init__(
        self, fetch: Fetch, try_live: TryLive, *, verify_tls: bool = True, ca_file: str = ""
    ) -> None:
        self._fetch = fetch
        self._try_live = try_live
        self._verify_tls = verify_tls
        self._ca_file = ca_file

    async def find_homes(self) -> Sequence[FoundHome]:
        """Search the network for Home Assistant installations for a few seconds."""
        return await find_homes()

    async def reach(self, url: str) -> None:
        """Check that Home Assistant responds at the URL. Raises IntegrationError."""
        await reach(url, self._verify_tls, self._ca_file)

    async def visit(self, url: str, token: str) -> HouseFacts:
        """Check the address and the token, and return facts about the house. If language and rooms
        can't be read, they are empty and `unread` says why. Raises IntegrationError if the address
        or the token is wrong."""
        if url == DEMO:
            # Import this only if needed: the MCP server package takes as long to import as the rest
            # of setup.
            from integrations.demo_home.rest import DemoHome

            async with DemoHome() as demo:
                return await self.visit(demo.url, demo.token)
        instance = await check(url, token, self._verify_tls, self._ca_file)
        facts = HouseFacts(instance.name, instance.version)
        try:
            async with HomeAssistant(url, token, self._verify_tls, self._ca_file) as home:
                config = await home.command("get_config")
                areas = read_areas(await home.command("config/area_registry/list"))
        except (IntegrationError, TypeError) as error:
            # The address and the token work, so setup can go on without the rooms.
            why = str(error) if isinstance(error, IntegrationError) else UNKNOWN_FORM
            _log.warning("Cannot read the rooms in Home Assistant: %s", why)
            return replace(facts, unread=why)
        rooms = tuple(sorted((area.name for area in areas.values()), key=str.casefold))
        language = config.get("language") if isinstance(config, dict) else ""
        return replace(facts, language=language if isinstance(language, str) else "", rooms=rooms)

    async def sign_in(self, url: str, code: str, page: str) -> str:
        """Return a long-lived token for a code from Home Assistant's own page. `page` is the
        address of the page that asked for the code. Raises IntegrationError."""
        return await long_lived_token(url, code, page, self._verify_tls, self._ca_file)

    async def fetch_voices(self, settings: Settings) -> str:
        """Download the missing voices. Returns a sentence about what failed, or ""."""
        try:
            await asyncio.to_thread(need_piper)
        except AudioError as error:
            return str(error)
        lacking = await asyncio.to_thread(_lacking, settings)
        known = read_manifest()
        entries = [known[name] for name in lacking if name in known]
        try:
            if entries:
                await self._fetch(entries, models_folder(settings))
        except IntegrationError as error:
            return str(error)
        return ""

    async def devices(self) -> Sequence[DeviceInfo]:
        return await asyncio.to_thread(list_devices)

    async def greet(self, settings: Settings) -> None:
        """Speak a greeting, with espeak-ng if a voice is missing. Raises AudioError."""
        if await asyncio.to_thread(_lacking, settings):
            voice = settings.voice.model_copy(update={"engine": "espeak"})
            settings = settings.model_copy(update={"voice": voice})
        await sound_check.greet(settings)

    async def listen(self, settings: Settings, show: Callable[[Reading], None]) -> Reading:
        return await sound_check.listen(settings, show)

    async def try_key(self, settings: Settings) -> None:
        """Try the configured key with Google. Raises IntegrationError."""
        await try_key(access_of(settings), settings.gemini.model)

    async def try_live(self, settings: Settings) -> Sequence[str]:
        """Open a session with Gemini Live as a turn does, which costs nothing. Returns a sentence
        about each problem."""
        try:
            return await self._try_live(settings)
        except (ConfigError, StoreError) as error:
            return [f"Could not test Gemini Live: {error}"]


def _lacking(settings: Settings) -> list[str]:
    states = {one.name: one.state for one in shelve(settings, read_manifest())}
    return [name for name in wanted_names(settings) if states.get(name) in _LACKS]
