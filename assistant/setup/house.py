"""What setup has to know of the house: who answers, in which language, and its rooms."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.registry import read_areas
from integrations.home_assistant.rest import Instance

# url, token, verify_tls, ca_file; raises IntegrationError
Check = Callable[[str, str, bool, str], Awaitable[Instance]]


@dataclass(frozen=True, slots=True)
class HouseFacts:
    """The house as it answered."""

    name: str
    version: str
    language: str = ""  # Home Assistant's own, e.g. "en"; "" where it did not tell
    rooms: tuple[str, ...] = ()


async def visit(url: str, token: str, verify_tls: bool, ca_file: str, check: Check) -> HouseFacts:
    """Try address and token, then read language and rooms; without these it does as well.

    Raises IntegrationError: the address or the token will not do.
    """
    instance = await check(url, token, verify_tls, ca_file)
    language = ""
    rooms: tuple[str, ...] = ()
    try:
        async with HomeAssistant(url, token, verify_tls, ca_file) as home:
            config = await home.command("get_config")
            areas = read_areas(await home.command("config/area_registry/list"))
            rooms = tuple(sorted((area.name for area in areas.values()), key=str.casefold))
            told = config.get("language") if isinstance(config, dict) else ""
            language = told if isinstance(told, str) else ""
    except (IntegrationError, TypeError):
        pass  # `check` was content; that the rest is missing the doctor tells
    return HouseFacts(instance.name, instance.version, language, rooms)
