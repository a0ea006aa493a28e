"""The questions of setup and a person's answers, on the terminal or by flags."""

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
    """The answer was not understood. `str(error)` is one sentence that says what to type."""


def yes_or_no(line: str, default: bool) -> bool:
    """Return the answer, in any of Hearth's languages. Raises Unclear."""
    said = line.strip().casefold().rstrip(".!")
    if not said:
        return default
    if said in _YES:
        return True
    if said in _NO:
        return False
    raise Unclear("Type yes or no.")


def read_numbers(line: str, most: int) -> frozenset[int]:
    """Return numbers from 1 to `most`, separated by commas or spaces; none for an empty line.
    Raises Unclear."""
    told = line.replace(",", " ").split()
    found = frozenset(int(one) for one in told if one.isdecimal())
    if not all(one.isdecimal() for one in told) or not found <= frozenset(range(1, most + 1)):
        raise Unclear(f"Type numbers from 1 to {most}, such as 1 {most}.")
    return found


def read_languages(line: str) -> tuple[str, ...]:
    """Return language codes separated by commas or spaces, e.g. "en, es". Raises Unclear."""
    codes = [code.strip() for code in line.replace(",", " ").split()]
    try:
        checked = [_LANGUAGE.validate_python(code) for code in codes]
    except ValidationError:
        raise Unclear("Type codes such as en or es-MX, with commas between.") from None
    if not checked:
        raise Unclear("Type at least one code, such as en.")
    return tuple(dict.fromkeys(checked))


def read_address(line: str) -> str:
    """Return a URL; "http://" and Home Assistant's port are added to a bare name. Raises
    Unclear."""
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
    """Return the position of the option that a number or name means, None if neither matches.

    Names match in any case, and so does an unambiguous beginning of one.
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


def read_room(line: str, rooms: Sequence[str]) -> str:
    """Return one of the house's rooms by number or name; "-" gives "", no room. Raises Unclear."""
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
    """The person's choice after the sound was tried."""

    microphone: int | None = None  # another microphone, by its position in the list
    speaker: int | None = None
    again: bool = False
    settled: bool = False  # these two are right
    later: bool = False  # leave the sound settings as they were


def sound_wish(line: str, microphones: int, speakers: int) -> SoundWish:
    """Parse Enter or yes (right), "m2" and "s1" (another device), "r" (again) and "n" (later).
    Raises Unclear."""
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


class Way(Enum):
    """How setup proceeds."""

    TALK = "talk"  # ask what the flags do not answer
    CHANGE = "change"  # put the flags' answers into the existing configuration
    ANEW = "anew"  # make a configuration from the flags alone
    REFUSE = "refuse"  # nothing was given, and there is a configuration already


def way_of(*, exists: bool, given: bool, person: bool) -> Way:
    """Return how setup proceeds.

    `exists`: there is a configuration to keep. `given`: a flag answers something. `person`: a
    person can be asked.
    """
    if exists and given:
        return Way.CHANGE
    if person:
        return Way.TALK
    return Way.REFUSE if exists else Way.ANEW


class Person(Protocol):
    """A person at a terminal. `ask` raises `Gone` if they no longer answer."""

    def tell(self, text: str, style: str = "") -> None:
        """Show one or more lines, in one of rich's styles."""
        ...

    async def ask(self, prompt: str, default: str = "", *, hidden: bool = False) -> str:
        """Return their line without surrounding spaces, or `default` (which is shown) if it is
        empty."""
        ...

    def watch(self) -> AbstractContextManager[Callable[[Reading], None]]:
        """Show a meter for the duration of the block; the function updates it."""
        ...


class Gone(Exception):
    """The terminal is closed, or the person has ended the input."""


MOST = 8  # most questions asked

T = TypeVar("T")


class SetupQuestions:
    """Ask numbered questions. A question may take several lines until it is answered; it counts
    once."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.asked: list[str] = []  # the titles, in order

    def begin(self, title: str) -> None:
        self.asked.append(title)
        self.person.tell("")
        self.person.tell(f"{len(self.asked)}  {title}", "bold")

    async def ask(
        self, prompt: str, read: Callable[[str], T], default: str = "", *, hidden: bool = False
    ) -> T:
        """Return the line as `read` parses it, asking again while that raises Unclear."""
        while True:
            line = await self.person.ask(prompt, default, hidden=hidden)
            try:
                return read(line)
            except Unclear as unclear:
                self.person.tell(str(unclear), "yellow")

    @property
    def left(self) -> int:
        return MOST - len(self.asked)


LOOPBACK = "127.0.0.1"  # HTTP interface for this machine only
EVERYWHERE = "0.0.0.0"  # HTTP interface for the home network too


@dataclass(frozen=True, slots=True)
class Answers:
    """One value for each possible answer. None means not answered: the setting stays as it is."""

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
    input: str | None = None  # a name from `hearth devices`
    output: str | None = None
    accept_cloud: bool | None = None
    gemini_key: str | None = field(default=None, repr=False)
    console_host: str | None = None  # address that the HTTP interface listens on

    @property
    def given(self) -> bool:
        return self != Answers()

    def values(self) -> dict[tuple[str, str], Any]:
        """Return the answers by section and key of the settings.

        Secrets and voices are left out; they are written in another way.
        """
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
        """True if there is an answer that has to be checked with Home Assistant."""
        told = (self.url, self.token, self.verify_tls, self.ca_file, self.name, self.area)
        return any(one is not None for one in told)
