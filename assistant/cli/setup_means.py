"""What `hearth setup` does beside asking: the network, voices, sound devices, Google."""

import asyncio
from collections.abc import Callable, Sequence

from assistant.cli.models_download import fetch_entries
from assistant.cli.paper import Terminal
from assistant.config.schema import Settings
from assistant.models.manifest import read_manifest
from assistant.models.shelf import State, shelve, wanted_names
from assistant.setup import sound_check
from assistant.setup.sound_check import Reading
from assistant.setup.typed import Check, HouseFacts, visit
from assistant.sound.devices import models_folder
from audio.devices import DeviceInfo, list_devices
from integrations.errors import IntegrationError
from integrations.gemini.access import Access
from integrations.gemini.key import try_key
from integrations.home_assistant.discovery import FoundHome, find_homes

_LACKS = (State.MISSING, State.PARTIAL, State.BROKEN)


class RealMeans:
    """Implements `assistant.setup.answers.Means`."""

    def __init__(self, console: Terminal, check: Check, verify_tls: bool, ca_file: str) -> None:
        self._console = console
        self._check = check
        self._verify_tls = verify_tls
        self._ca_file = ca_file

    async def find_homes(self) -> Sequence[FoundHome]:
        """See `Means`."""
        return await find_homes()

    async def visit(self, url: str, token: str) -> HouseFacts:
        """See `Means`."""
        return await visit(url, token, self._verify_tls, self._ca_file, self._check)

    async def fetch_voices(self, settings: Settings) -> str:
        """See `Means`. A bar shows how far it is."""
        known = read_manifest()
        wanted = wanted_names(settings)
        states = await asyncio.to_thread(_states, settings)
        entries = [known[name] for name in wanted if name in known and states.get(name) in _LACKS]
        if not entries:
            return ""
        try:
            await fetch_entries(entries, models_folder(settings), {}, self._console)
        except IntegrationError as error:
            return str(error)
        return ""

    async def devices(self) -> Sequence[DeviceInfo]:
        """See `Means`."""
        return await asyncio.to_thread(list_devices)

    async def greet(self, settings: Settings) -> None:
        """See `Means`. Without a voice of its own, by espeak-ng and without a word of it."""
        states = await asyncio.to_thread(_states, settings)
        if any(states.get(name) in _LACKS for name in wanted_names(settings)):
            voice = settings.voice.model_copy(update={"engine": "espeak"})
            settings = settings.model_copy(update={"voice": voice})
        await sound_check.greet(settings)

    async def listen(self, settings: Settings, show: Callable[[Reading], None]) -> Reading:
        """See `Means`."""
        return await sound_check.listen(settings, show)

    async def try_key(self, settings: Settings) -> None:
        """See `Means`."""
        gemini = settings.gemini
        access = Access(
            gemini.api_key.get_secret_value(),
            gemini.base_url,
            gemini.ca_file,
            gemini.api_version,
        )
        await try_key(access, gemini.model)


def _states(settings: Settings) -> dict[str, State]:
    """How each model stands here, by its name. Blocking."""
    return {one.name: one.state for one in shelve(settings, read_manifest())}
