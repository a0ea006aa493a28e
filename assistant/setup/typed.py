"""What a person meant by a line that they typed. Pure; each answer is a value or a complaint."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from assistant.config.kinds import HomeAddress, Language
from assistant.tools.nearest import nearest
from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.registry import read_areas
from integrations.home_assistant.rest import Instance

# What setup has to know of the house: who answers, in which language, and its rooms.


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


_YES = frozenset({"y", "yes", "s", "si", "sí", "sim", "j", "ja", "o", "oui", "co", "có"})
_NO = frozenset({"n", "no", "não", "nao", "nein", "non", "không", "khong"})
_ADDRESS: TypeAdapter[str] = TypeAdapter(HomeAddress)
_LANGUAGE: TypeAdapter[str] = TypeAdapter(Language)
_PORT = 8123  # Home Assistant's own


class Unclear(Exception):
    """`str(error)` is one sentence that says what to type."""


def yes_or_no(line: str, default: bool) -> bool:
    """In any of Hearth's languages. Raises Unclear."""
    said = line.strip().casefold().rstrip(".!")
    if not said:
        return default
    if said in _YES:
        return True
    if said in _NO:
        return False
    raise Unclear("Type yes or no.")


def numbers(line: str, most: int) -> frozenset[int]:
    """Numbers from 1 to `most` with commas or spaces between; none for an empty line. Raises
    Unclear."""
    told = line.replace(",", " ").split()
    found = frozenset(int(one) for one in told if one.isdecimal())
    if not all(one.isdecimal() for one in told) or not found <= frozenset(range(1, most + 1)):
        raise Unclear(f"Type numbers from 1 to {most}, such as 1 {most}.")
    return found


def languages(line: str) -> tuple[str, ...]:
    """Codes with commas or spaces between, e.g. "en, es". Raises Unclear."""
    codes = [code.strip() for code in line.replace(",", " ").split()]
    try:
        checked = [_LANGUAGE.validate_python(code) for code in codes]
    except ValidationError:
        raise Unclear("Type codes such as en or es-MX, with commas between.") from None
    if not checked:
        raise Unclear("Type at least one code, such as en.")
    return tuple(dict.fromkeys(checked))


def address(line: str) -> str:
    """A URL; "http://" and Home Assistant's port are added to a bare name. Raises Unclear."""
    url = line.strip()
    if "://" not in url:
        bare = url.rstrip("/")
        url = f"http://{bare}" if ":" in bare or "/" in bare else f"http://{bare}:{_PORT}"
    try:
        found = _ADDRESS.validate_python(url)
    except (ValidationError, ValueError):
        found = "demo"
    if found == "demo" or " " in found:
        raise Unclear('Type an address such as "http://192.168.1.5:8123".')
    return found


def one_of_these(line: str, options: Sequence[str]) -> int | None:
    """The place of the option that a number or a name means; None: it is neither.

    A name counts in any case, and the beginning of one where only one begins so.
    """
    said = line.strip()
    if said.isdecimal():
        number = int(said)
        return number - 1 if 1 <= number <= len(options) else None
    folded = [option.casefold() for option in options]
    if said.casefold() in folded:
        return folded.index(said.casefold())
    begin = [place for place, option in enumerate(folded) if option.startswith(said.casefold())]
    return begin[0] if said and len(begin) == 1 else None


def room(line: str, rooms: Sequence[str]) -> str:
    """One of the house's rooms by number or name; "-" is "", none of them. Raises Unclear."""
    if line.strip() == "-":
        return ""
    place = one_of_these(line, rooms)
    if place is not None:
        return rooms[place]
    near = nearest(line.strip(), rooms)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise Unclear(
        f"Home Assistant has no such room{hint or '.'} Type a number or a name, or - for none."
    )


@dataclass(frozen=True, slots=True)
class SoundWish:
    """What to do after the sound was tried."""

    microphone: int | None = None  # another one, by its place in the list
    speaker: int | None = None
    again: bool = False
    settled: bool = False  # these two are right
    later: bool = False  # leave the sound as it was


def sound_wish(line: str, microphones: int, speakers: int) -> SoundWish:
    """Enter or yes: right; "m2" and "s1": another; "r": once more; "n": later. Raises Unclear."""
    said = line.strip().casefold()
    if not said or said in _YES:
        return SoundWish(settled=True)
    if said in ("r", "again"):
        return SoundWish(again=True)
    if said in _NO or said in ("l", "later"):
        return SoundWish(later=True)
    chosen: dict[str, int] = {}
    for word in said.replace(",", " ").split():
        kind, number = word[:1], word[1:]
        most = {"m": microphones, "s": speakers}.get(kind, 0)
        if not number.isdecimal() or not 1 <= int(number) <= most:
            raise Unclear("Type Enter, r, n, or a microphone and speaker such as m2 or s1.")
        chosen[kind] = int(number) - 1
    return SoundWish(microphone=chosen.get("m"), speaker=chosen.get("s"), again=True)
