"""Parses the answers to setup's questions, from the terminal or from options."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from assistant.config.kinds import HomeAddress, Language
from assistant.setup.sound_check import Reading
from assistant.tools.house.names import nearest

_YES = frozenset({"y", "yes", "s", "si", "sí", "sim", "j", "ja", "o", "oui", "co", "có"})
_NO = frozenset({"n", "no", "não", "nao", "nein", "non", "không", "khong"})
_ADDRESS: TypeAdapter[str] = TypeAdapter(HomeAddress)
_LANGUAGE: TypeAdapter[str] = TypeAdapter(Language)
_PORT = 8123  # Home Assistant's default port


class Unclear(Exception):
    """A line could not be parsed. `str(error)` says what to type instead."""


def yes_or_no(line: str, default: bool) -> bool:
    """Parse yes or no in any of Hearth's languages; an empty line is `default`. Raises Unclear."""
    said = line.strip().casefold().rstrip(".!")
    if not said:
        return default
    if said in _YES:
        return True
    if said in _NO:
        return False
    raise Unclear("Type yes or no.")


def read_numbers(line: str, most: int) -> frozenset[int]:
    """Parse numbers from 1 to `most`, separated by commas or spaces. An empty line yields an empty
    set. Raises Unclear."""
    told = line.replace(",", " ").split()
    found = frozenset(int(one) for one in told if one.isdecimal())
    if not all(one.isdecimal() for one in told) or not found <= frozenset(range(1, most + 1)):
        raise Unclear(f"Type numbers from 1 to {most}, such as 1 {most}.")
    return found


def read_languages(line: str) -> tuple[str, ...]:
    """Parse language codes separated by commas or spaces, such as "en, es". Raises Unclear."""
    codes = [code.strip() for code in line.replace(",", " ").split()]
    try:
        checked = [_LANGUAGE.validate_python(code) for code in codes]
    except ValidationError:
        raise Unclear("Type codes such as en or es-MX, separated by commas.") from None
    if not checked:
        raise Unclear("Type at least one code, such as en.")
    return tuple(dict.fromkeys(checked))


DEMO = "demo"  # the address of the simulated house
_SKIP = frozenset({"skip", "later"})


def is_skip(line: str) -> bool:
    return line.strip().casefold() in _SKIP


def read_address(line: str) -> str:
    """Parse a URL or "demo". A bare host name gets "http://" and port 8123. Raises Unclear."""
    url = line.strip()
    if url.casefold() == DEMO:
        return DEMO
    if "://" not in url:
        bare = url.rstrip("/")
        url = f"http://{bare}" if ":" in bare or "/" in bare else f"http://{bare}:{_PORT}"
    try:
        found = _ADDRESS.validate_python(url)
    except (ValidationError, ValueError):
        found = ""
    if not found or " " in found:
        raise Unclear("Type an address such as http://192.168.1.5:8123, or demo.")
    return found


def one_of_these(line: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that the line names, or None. The line can be the option's
    number, its name in any case, or an unambiguous prefix of the name."""
    said = line.strip()
    if said.isdecimal():
        number = int(said)
        return number - 1 if 1 <= number <= len(options) else None
    folded = [option.casefold() for option in options]
    if said.casefold() in folded:
        return folded.index(said.casefold())
    begin = [place for place, option in enumerate(folded) if option.startswith(said.casefold())]
    return begin[0] if said and len(begin) == 1 else None


def read_room(line: str, rooms: Sequence[str]) -> str:
    """Return the room with this number or name, or "" for "-". Raises Unclear."""
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
    """The user's choice after the sound check."""

    microphone: int | None = None  # another microphone, by its position in the list
    speaker: int | None = None
    again: bool = False
    settled: bool = False  # keep the current devices
    later: bool = False  # leave the sound settings unchanged


def sound_wish(line: str, microphones: int, speakers: int) -> SoundWish:
    """Parse the answer to the sound check, which can name other devices, such as "m2" or "s1".
    Raises Unclear."""
    said = line.strip().casefold()
    if not said or said in _YES:
        return SoundWish(settled=True)
    if said in ("r", "again"):
        return SoundWish(again=True)
    if said in _NO or said == "l" or is_skip(said):
        return SoundWish(later=True)
    chosen: dict[str, int] = {}
    for word in said.replace(",", " ").split():
        kind, number = word[:1], word[1:]
        most = {"m": microphones, "s": speakers}.get(kind, 0)
        if not number.isdecimal() or not 1 <= int(number) <= most:
            raise Unclear("Press Enter, or type r, skip, or a device such as m2 or s1.")
        chosen[kind] = int(number) - 1
    return SoundWish(microphone=chosen.get("m"), speaker=chosen.get("s"), again=True)


class Way(Enum):
    """The modes in which `hearth setup` can run."""

    TALK = "talk"  # ask all questions that no option answers
    CHANGE = "change"  # write the options' answers to the existing configuration
    FRESH = "fresh"  # create a configuration from the options alone
    REFUSE = "refuse"  # a configuration exists and no option changes it


def way_of(*, exists: bool, given: bool, person: bool) -> Way:
    """Choose the mode. `exists` is True if there is a configuration to keep, `given` if an option
    answers a question, and `person` if there is someone to ask."""
    if exists and given:
        return Way.CHANGE
    if person:
        return Way.TALK
    return Way.REFUSE if exists else Way.FRESH


class Person(Protocol):
    """The user at a terminal, to whom setup prints text and asks questions."""

    def tell(self, text: str, style: str = "") -> None:
        """Print one or more lines. `style` is a rich style."""
        ...

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        """Show the prompt and the default. Returns the user's line, or the default if it is empty.
        Raises Gone if the input was closed."""
        ...

    def watch(self) -> AbstractContextManager[Callable[[Reading], None]]:
        """Show a level meter while the context is open, and yield the function that updates it."""
        ...


# The rich style of a finding, by its tone.
STYLES: Mapping[str, str] = {"good": "green", "warn": "yellow", "bad": "red"}


class Gone(Exception):
    """The terminal was closed or the input has ended."""


MOST = 8  # questions in one setup

T = TypeVar("T")


class SetupQuestions:
    """Asks numbered questions. A question with several prompts counts once."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.asked: list[str] = []  # titles of the questions asked so far

    def begin(self, title: str) -> None:
        self.asked.append(title)
        self.person.tell("")
        self.person.tell(f"{len(self.asked)}  {title}", "bold")

    async def ask(
        self, prompt: str, read: Callable[[str], T], default: str = "", *, hidden: bool = False
    ) -> T:
        while True:
            line = await self.person.ask(prompt, default, hidden=hidden)
            try:
                return read(line)
            except Unclear as unclear:
                self.person.tell(str(unclear), "yellow")

    @property
    def left(self) -> int:
        return MOST - len(self.asked)


LOOPBACK = "127.0.0.1"  # the HTTP interface listens on this machine only
EVERYWHERE = "0.0.0.0"  # it also listens on the home network


@dataclass(frozen=True, slots=True)
class Answers:
    """The user's answers. A setting whose answer is None stays unchanged."""

    url: str | None = None  # Home Assistant's address
    token: str | None = field(default=None, repr=False)
    verify_tls: bool | None = None
    ca_file: str | None = None  # absolute path; "" removes the setting
    name: str | None = None  # the assistant's name
    area: str | None = None
    languages: tuple[str, ...] | None = None
    voice_engine: str | None = None
    voices: Mapping[str, str] | None = None  # language -> Piper voice, for languages without one
    wake_word: str | None = None
    wake_sensitivity: str | None = None
    input: str | None = None  # a name from `hearth devices`
    output: str | None = None
    accept_cloud: bool | None = None
    gemini_key: str | None = field(default=None, repr=False)
    console_host: str | None = None  # address that the HTTP interface listens on

    @property
    def given(self) -> bool:
        return self != Answers()

    def values(self) -> dict[tuple[str, str], Any]:
        """Return the answers by section and key, without secrets and voices."""
        told = {
            ("home_assistant", "url"): self.url,
            ("home_assistant", "verify_tls"): self.verify_tls,
            ("home_assistant", "ca_file"): self.ca_file,
            ("assistant", "name"): self.name,
            ("assistant", "area"): self.area,
            ("assistant", "languages"): None if self.languages is None else [*self.languages],
            ("voice", "engine"): self.voice_engine,
            ("wake", "words"): None if self.wake_word is None else [self.wake_word],
            ("wake", "sensitivity"): self.wake_sensitivity,
            ("audio", "input"): self.input,
            ("audio", "output"): self.output,
            ("privacy", "accept_cloud"): self.accept_cloud,
            ("http", "host"): self.console_host,
        }
        return {place: value for place, value in told.items() if value is not None}

    @property
    def of_the_house(self) -> bool:
        told = (self.url, self.token, self.verify_tls, self.ca_file, self.name, self.area)
        return any(one is not None for one in told)
