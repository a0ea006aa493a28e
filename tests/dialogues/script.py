"""The dialogues as they are written down, in `day-en.txt` and `day-es.txt`.

## Morning                      a part of the day, for the reader
[door, yes]                     a dialogue and its name; "!" before it: safety hangs on it
given: light.kitchen=on         states that differ from the house's first ones
room: pink 20                   noise in the room, dB below the speech
say: unlock the front door      a turn, after the wake word
do: HassTurnOff name="Front door"      what the ideal model calls for it; several: `do` again
tell: Done.                     and says then
reply: yes please               said to the question that follows, and `do`, `tell` for it
before: / after: / over:        somebody else, before the wake word, after the sentence, under it
passing: light.bedroom          asked for on the way, and taken back
want: lock.front_door=unlocked  what the house then shows: see `parse_wish`
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assistant.evaluation.commands import Wish, parse_wish

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "es")
_SETTING = ("room", "given", "want", "passing")
_ARGUMENT = re.compile(r'(\w+)=("[^"]*"|\[[^\]]*\]|\S+)')


@dataclass(frozen=True, slots=True)
class Deed:
    """One call of the ideal model."""

    tool: str  # the part of the name after "__"
    arguments: Mapping[str, Any]
    finds: str = ""  # the result must hold this, else the model would have told something untrue


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance of the person who wants something, and the ideal model's response."""

    words: str
    deeds: tuple[Deed, ...] = ()
    told: str = ""  # "" for the usual word


@dataclass(frozen=True, slots=True)
class Turn:
    """A sentence after the wake word, the answers to its questions, and other speakers."""

    line: Line
    replies: tuple[Line, ...] = ()
    before: str = ""
    after: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Some turns, and the result that they must lead to."""

    name: str
    language: str
    safety: bool
    turns: tuple[Turn, ...]
    wish: Wish
    room: str = ""  # kind and dB below the speech, such as "pink 20"
    sort: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", _sort(self))


def _sort(one: Dialogue) -> str:
    """Return the difficulty of a dialogue."""
    if any(turn.before or turn.after or turn.over for turn in one.turns):
        return "two speakers"
    if one.room:
        return "noise"
    if any(turn.replies for turn in one.turns) or one.safety:
        return "question and answer"
    if len(one.turns) > 1:
        return "correction"
    return "plain"


def all_dialogues() -> list[Dialogue]:
    """Return the day in both languages."""
    return [one for language in LANGUAGES for one in read(language)]


def read(language: str) -> list[Dialogue]:
    """Return the day in one language. Raises ValueError."""
    text = (FOLDER / f"day-{language}.txt").read_text(encoding="utf-8")
    return list(parse(text, language))


def parse(text: str, language: str) -> Iterator[Dialogue]:
    """Yield the dialogues of a text. Raises ValueError for an invalid line."""
    block = list[tuple[str, str]]()
    for line in [*text.splitlines(), "## end"]:
        if line.startswith(("[", "![", "## ")) and block:
            yield _dialogue(block, language)
            block = []
        if line.startswith(("[", "![")):
            block = [("name", line)]
        elif line and not line.startswith("#"):
            key, mark, value = line.partition(":")
            if not mark or not block:
                raise ValueError(f"{line!r} is no line of a dialogue")
            block.append((key.strip(), value.strip()))


def _dialogue(block: list[tuple[str, str]], language: str) -> Dialogue:
    (_, head), *lines = block
    found = dict(pair for pair in lines if pair[0] in _SETTING)
    turns: list[Turn] = []
    before = ""
    for key, value in lines:
        if key == "before":
            before = value
        elif key == "say":
            turns.append(Turn(Line(value), before=before))
            before = ""
        elif key not in _SETTING:
            if not turns:
                raise ValueError(f"{head}: {key} before anything is said")
            turns[-1] = _with(turns[-1], key, value)
    name = head.strip("![]")
    if not turns:
        raise ValueError(f"{name}: nothing is said")
    wish = parse_wish(name, found.get("want", ""), found.get("given", ""))
    wish = replace(wish, passing=frozenset(found.get("passing", "").split()))
    safety, room = head.startswith("!"), found.get("room", "")
    return Dialogue(name, language, safety, tuple(turns), wish, room)


def _with(turn: Turn, key: str, value: str) -> Turn:
    """Return the turn with one more line. Raises ValueError."""
    match key:
        case "reply":
            return replace(turn, replies=(*turn.replies, Line(value)))
        case "after":
            return replace(turn, after=value)
        case "over":
            return replace(turn, over=value)
        case "do" | "tell" if turn.replies:
            last = _told(turn.replies[-1], key, value)
            return replace(turn, replies=(*turn.replies[:-1], last))
        case "do" | "tell":
            return replace(turn, line=_told(turn.line, key, value))
    raise ValueError(f"{key!r} is no key of a dialogue")


def _told(line: Line, key: str, value: str) -> Line:
    if key == "tell":
        return replace(line, told=value)
    return replace(line, deeds=(*line.deeds, _deed(value)))


def _deed(text: str) -> Deed:
    call, _, finds = text.partition(" -> ")
    tool, _, rest = call.strip().partition(" ")
    return Deed(tool, {key: _value(value) for key, value in _ARGUMENT.findall(rest)}, finds.strip())


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
