"""Builds the system instruction: persona, then the protected rules, then what is so today."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from assistant.brains.briefing import rules
from assistant.brains.briefing.home_text import NOT_KNOWN, Around, fitted, tidied, without_place
from integrations.cleaning import visible

MAX_INSTRUCTION = 24_000  # characters; about 6,000 tokens, paid anew in every turn
MAX_PERSONA = 2_000
MAX_MEMORIES = 3_000
MAX_FOREIGN = 4_000_000  # of a text before it is made to fit; 5,000 entities take some 330,000

# What may begin one of our marks, or looks as if it did: any closing, and their own names.
_MARK = re.compile(r"(?i)[<＜﹤〈](?=\s*[/／]|\s*(?:home|remembered|conversation)\b)")

_LANGUAGES = dict(
    pair.split("=")
    for pair in """
ca=Catalan cs=Czech da=Danish de=German el=Greek en=English es=Spanish et=Estonian eu=Basque
fi=Finnish fr=French gl=Galician hi=Hindi hr=Croatian hu=Hungarian id=Indonesian it=Italian
ja=Japanese ko=Korean lt=Lithuanian lv=Latvian nb=Norwegian nl=Dutch pl=Polish pt=Portuguese
ro=Romanian ru=Russian sk=Slovak sl=Slovenian sv=Swedish tr=Turkish uk=Ukrainian vi=Vietnamese
zh=Chinese
""".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = (
    "January February March April May June July August September October November December".split()
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Everything that the instruction depends on."""

    name: str  # what it calls itself
    languages: tuple[str, ...]  # codes; the first counts where nothing else tells
    now: datetime  # with time zone
    home: str | None  # the home server's own prompt, "" for none; None: it cannot be reached
    silent_tool: str  # name of the declaration that ends a turn silently
    clock_tool: str = ""  # name of the tool that tells the time; "": there is none
    persona: str = ""  # the person's own words; "": ours
    place: str = ""  # where the house stands
    area: str = ""  # the room of this box
    around: Around = NOT_KNOWN  # the same, as the home's own text names it, with its floor
    find_tool: str = ""  # name of the tool that finds devices; "": there is none
    memories: tuple[str, ...] = ()  # facts that people asked to remember


def build_instruction(given: Circumstances) -> str:
    """The whole instruction, at most MAX_INSTRUCTION characters; only the home's text is cut.

    It names the day and not the hour, so that it stays equal from turn to turn: changing the
    instruction of a running session throws the service's prefix cache away (SDK documentation of
    `send_context_update`).
    """
    tools = [rules.TOOLS]
    if given.clock_tool:
        tools.append(rules.CLOCK.format(tool=given.clock_tool))
    parts = [
        _persona(given),
        rules.MANNER,
        _language(given.languages),
        rules.SPEECH,
        rules.HEARING.format(silent=given.silent_tool),
        "\n".join(tools),
        rules.GUARDRAILS,
        _today(given),
        *_memories(given.memories),
    ]
    room = MAX_INSTRUCTION - sum(len(part) + 2 for part in parts)
    return "\n\n".join([*parts, *_home(given, room)])


def fenced(text: str) -> str:
    """Foreign text that can neither open nor close a mark of ours, and in which nothing hides."""
    return _MARK.sub("‹", visible(text, MAX_FOREIGN)).strip()


def one_line(text: str) -> str:
    """The same without line breaks and double spaces, so that it cannot look like a heading."""
    return " ".join(fenced(text).split())


def cut(text: str, room: int, note: str) -> str:
    """At most `room` characters; cut at the end of a line, and the note says so."""
    if len(text) <= room:
        return text
    kept = text[: max(room - len(note) - 1, 0)]
    whole, line_end, _ = kept.rpartition("\n")
    return f"{whole if line_end else kept}\n{note}"


def _persona(given: Circumstances) -> str:
    """The person's own words, or ours."""
    if not given.persona:
        return rules.PERSONA.format(name=one_line(given.name))
    own = cut(fenced(given.persona), MAX_PERSONA, "")
    return f"Your name is {one_line(given.name)}.\n{own.rstrip()}"


def _language(languages: Sequence[str]) -> str:
    named = [_language_name(code) for code in languages]
    if len(named) == 1:
        return rules.LANGUAGE_ONE.format(languages=named[0])
    return rules.LANGUAGE_MANY.format(languages=", ".join(named), first=named[0])


def _language_name(code: str) -> str:
    name = _LANGUAGES.get(code.split("-")[0])
    return f"{name} ({code})" if name else f"the language with the code {code}"


def _today(given: Circumstances) -> str:
    """Day, time zone, place and room."""
    lines = ["# Today and here", f"It is {_day(given.now)}. {_zone(given.now)}"]
    if given.place:
        lines.append(f"The house stands in {one_line(given.place)}.")
    if given.area:
        lines.append(
            f"You stand in the area {one_line(given.area)}. A request that names no place means "
            "this area."
        )
    return "\n".join(lines)


def _day(now: datetime) -> str:
    """In English, whatever the machine's locale is."""
    return f"{_DAYS[now.weekday()]} {now.day} {_MONTHS[now.month - 1]} {now.year}"


def _zone(now: datetime) -> str:
    offset = now.utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"The local time is UTC{sign}{abs(minutes) // 60}:{abs(minutes) % 60:02d}."


def _memories(memories: Sequence[str]) -> list[str]:
    if not memories:
        return []
    text = "\n".join(one_line(memory) for memory in memories)
    return [rules.MEMORIES.format(text=cut(text, MAX_MEMORIES, "(There is more.)"))]


@lru_cache(maxsize=2)  # it seldom changes, and 5,000 things take 20 ms
def _readable(home: str, known: bool) -> str:
    return tidied(fenced(without_place(home, known=known)))


def _home(given: Circumstances, room: int) -> list[str]:
    """The home's own text in what room is left."""
    if given.home is None:
        return [rules.AWAY]
    text = _readable(given.home, bool(given.area))
    if not text:
        return []
    room -= len(rules.HOME.format(text=""))
    note = rules.HOME_COUNTED
    if given.find_tool:
        note += f" {rules.HOME_FIND.format(tool=given.find_tool)}"
    told = fitted(text, given.around, room, note)
    return [rules.HOME.format(text=cut(text, room, rules.HOME_CUT) if told is None else told)]
