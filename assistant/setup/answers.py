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


def read_numbers(line: str, most: int) -> frozenset[int]:
    """Numbers from 1 to `most` with commas or spaces between; none for an empty line. Raises
    Unclear."""
    told = line.replace(",", " ").split()
    found = frozenset(int(one) for one in told if one.isdecimal())
    if not all(one.isdecimal() for one in told) or not found <= frozenset(range(1, most + 1)):
        raise Unclear(f"Type numbers from 1 to {most}, such as 1 {most}.")
    return found


def read_languages(line: str) -> tuple[str, ...]:
    """Codes with commas or spaces between, e.g. "en, es". Raises Unclear."""
    codes = [code.strip() for code in line.replace(",", " ").split()]
    try:
        checked = [_LANGUAGE.validate_python(code) for code in codes]
    except ValidationError:
        raise Unclear("Type codes such as en or es-MX, with commas between.") from None
    if not checked:
        raise Unclear("Type at least one code, such as en.")
    return tuple(dict.fromkeys(checked))


def read_address(line: str) -> str:
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


def read_room(line: str, rooms: Sequence[str]) -> str:
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
    """The person's wish after the sound was tried."""

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


class Person(Protocol):
    """A person at a terminal. `ask` raises `Gone` where nobody answers any more."""

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
        """The number of questions that may still be asked."""
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
        """True if anything was answered at all."""
        return self != Answers()

    def values(self) -> dict[tuple[str, str], Any]:
        """The answers by section and key of the settings. Without secrets and voices, which
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
        """True if something was answered that Home Assistant has to be asked about."""
        told = (self.url, self.token, self.verify_tls, self.ca_file, self.name, self.area)
        return any(one is not None for one in told)
