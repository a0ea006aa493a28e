"""Complete a sentence that refers to the one before: "and outside?", "pause it", "no, pears".

A sentence is completed with words of the last command or question, and is then read like any other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from assistant.brains.offline.amounts import AMOUNTS
from assistant.brains.offline.frames import Ask, Reading
from assistant.brains.offline.lexicon import NameIndex, lexicon, pieces_of
from assistant.brains.offline.list_frames import begins_otherwise
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import (
    CALENDAR,
    CANCEL_ALARM,
    LIST_ITEMS,
    MISSING,
    READING,
    REMOVE_ITEM,
    SET_AN_ALARM,
    SUN,
)
from assistant.brains.offline.swap import exchanged, swapped, with_name
from assistant.brains.offline.talk import Talk
from assistant.brains.offline.wordings import shortened, wordings
from integrations.home_assistant.house import Entity, House

Kind = Literal["shorter", "named", "also", "instead", "only"]
_ADDED = frozenset({"HassListAddItem", "HassShoppingListAddItem"})
_TIMERS = (
    "HassStartTimer",
    "HassIncrease",
    "HassDecrease",
    "HassPause",
    "HassUnpause",
    "HassTimer",
)
_ALARMS = frozenset({SET_AN_ALARM, "HearthSnooze"})
_QUESTIONS = frozenset({"HassGetState", "HassClimateGetTemperature", READING, SUN, CALENDAR})
_ASKING = (*_QUESTIONS, "HassGetWeather", "HassGetCurrent", "HassTimerStatus", LIST_ITEMS)
_OWN_NAMES = {
    "en": {"timer": "the {name}timer", "alarm": "the alarm", "reminder": "the reminder"},
    "es": {"timer": "el temporizador", "alarm": "la alarma", "reminder": "el recordatorio"},
}
_RESUMING = frozenset({"play", "start", "again", "next", "filler"})
_MOST_THINGS = 4  # that a pronoun stands for


def about_a_device(last: ParsedCommand) -> bool:
    """Return True if the command changed devices."""
    return not (asks(last) or _own(last) or last.intent in _ADDED or last.intent == MISSING)


def asks(command: ParsedCommand) -> bool:
    return command.intent.startswith(_ASKING)


def completed(
    text: str, language: str, talk: Talk, house: House, index: NameIndex
) -> Iterator[tuple[Kind, str]]:
    """Yield the complete sentences that can be meant."""
    last = talk.commands[-1]
    names = _antecedent(last, talk.recent(house), language, house)
    if names and (further := _further(text, last, talk.recent(house), language, index)):
        yield "named", f"{further} {names}"
    for number, said in enumerate(shortened(text, language)):
        if last.intent == "HassPauseTimer" and _tags(said, language, index) <= _RESUMING:
            yield "named", f"{said} {names}"
        if names and (named := with_name(said, names, language)):
            yield "named", named
        if number:
            yield "shorter", said
    for key, groups in wordings("continued", text, language):
        what = _other(groups["what"], talk, house)
        kind: Kind = "also" if key == "also" else "instead" if key == "instead" else "only"
        if kind == ("also" if last.intent == MISSING else "only"):
            continue
        if last.intent == SET_AN_ALARM:  # it may contain any words
            if (moved := exchanged(last.text, what, language, index)) is not None:
                yield kind, moved
            continue
        for said in swapped(last.text, what, language, index, keeps=last.intent != MISSING):
            yield kind, said


# Words for more and for less of what a domain's devices do.
_WAYS = {
    "light": ("brighten", "dim"),
    "media_player": ("louder", "quieter"),
    "climate": ("warmer", "cooler"),
    "fan": ("faster", "slower"),
    "cover": ("open", "close"),
}
_UP = frozenset({"up", *(up for up, _ in _WAYS.values())})
_DOWN = frozenset({"down", *(down for _, down in _WAYS.values())})
_FURTHER = frozenset("more less bit lot filler article and also no".split())


def says_a_step(text: str, language: str, index: NameIndex) -> bool:
    """Return True if a sentence asks for more or less of something: "dim the light a bit", but not
    "dim the light to 20"."""
    tags = _tags(text, language, index)
    return bool(tags & (_UP | _DOWN)) and ("by" in tags or not tags & set(AMOUNTS))


def _further(
    text: str, last: ParsedCommand, recent: Sequence[str], language: str, index: NameIndex
) -> str:
    """Return the words for "a bit more" or "less" after the last command, or ""."""
    pieces = pieces_of(text, language, index) or []
    tags = {one.tag for some in pieces for one in some}
    ways = _WAYS.get(recent[0].partition(".")[0]) if recent else None
    every = all(any(one.tag in _FURTHER for one in some) for some in pieces)
    if ways is None or not tags & {"more", "less"} or not every:
        return ""
    down = bool(_tags(last.text, language, index) & _DOWN)
    if "less" in tags:
        down = not down
    size = next((tag for tag in ("bit", "lot") if tag in tags), "")
    said = (_phrase(tag, language) for tag in (size, ways[down]) if tag)
    return " ".join(said)


def _tags(text: str, language: str, index: NameIndex) -> set[str]:
    pieces = pieces_of(text, language, index) or []
    return {one.tag for some in pieces for one in some}


def _phrase(tag: str, language: str) -> str:
    phrases = lexicon(language).phrases
    return next(text for text, found in phrases.items() if any(one.tag == tag for one in found))


def fits(kind: Kind, found: Reading, talk: Talk, house: House) -> bool:
    """Return True if this can be what a completed sentence means."""
    commands, last = [one for one in found if isinstance(one, ParsedCommand)], talk.commands[-1]
    if not found or any(one.intent == MISSING for one in commands):
        return False
    if kind in ("shorter", "named") or last.intent == MISSING:
        return True
    if len(commands) != len(found) or last.intent in _ADDED:
        return False
    about = set(Talk(tuple(commands)).recent(house))
    if kind == "also" and len(commands) > 1 and about.intersection(talk.recent(house)):
        return False  # "and the hall one" doesn't change the first again
    if all(one.intent == last.intent or (asks(one) and asks(last)) for one in commands):
        return True
    recent = talk.recent(house)
    return kind == "instead" and bool(recent) and Talk(tuple(commands)).recent(house) == recent


def corrected(found: Reading, talk: Talk, house: House) -> Reading:
    """Return the commands that replace the last one, or [] if it can't be replaced."""
    last, new = talk.commands[-1], found[0]
    if len(found) != 1 or isinstance(new, Ask):
        return []
    if asks(last) or last.intent == MISSING:
        return found
    if last.intent == SET_AN_ALARM:
        kept = {key: last.slots[key] for key in ("kind",) if key in last.slots}
        return [ParsedCommand(CANCEL_ALARM, last.text, kept), new]
    if last.intent == "HassStartTimer" and last.later is None:
        lengths = {f"start_{key}": last.slots[key] for key in _LENGTHS if key in last.slots}
        return [ParsedCommand("HassCancelTimer", last.text, lengths), new]
    targets = Talk((new,)).recent(house)
    if targets and targets == talk.recent(house):
        return found
    if _values(new) != _values(last) or not (new.entity_ids or new.area_id):
        return []
    slots = {key: value for key, value in new.slots.items() if key == "domain"}
    return [replace(new, intent="HearthCorrect", text=last.text, slots=slots)]


_LENGTHS = ("hours", "minutes", "seconds")


def other_item(text: str, language: str, last: ParsedCommand) -> Reading:
    """Return the commands that replace the last item of a list: "no, pears"."""
    if last.intent not in _ADDED or "item" not in last.slots:
        return []
    for key, groups in wordings("continued", text, language):
        if key == "instead" and not begins_otherwise(groups["what"]):
            added = replace(last, slots={**last.slots, "item": groups["what"]})
            return [replace(last, intent=REMOVE_ITEM), added]
    return []


def _values(command: ParsedCommand) -> dict[str, object]:
    return {k: v for k, v in command.slots.items() if k not in ("domain", "device_class")}


def _own(command: ParsedCommand) -> str:
    """Return "timer", "alarm" or "reminder" if the command is about one."""
    if command.later is not None:
        return ""
    if command.intent.startswith(_TIMERS):
        return "timer"
    if command.intent in _ALARMS:
        return "reminder" if command.slots.get("kind") == "reminder" else "alarm"
    return ""


def _antecedent(last: ParsedCommand, recent: Sequence[str], language: str, house: House) -> str:
    """Return the words that a pronoun stands for after the last command."""
    if own := _own(last):
        name = str(last.slots.get("name", ""))
        return _OWN_NAMES[language][own].format(name=f"{name} " if name else "")
    things = [house.entities[one] for one in recent if one in house.entities]
    if not 0 < len(things) <= _MOST_THINGS:
        return ""
    joint = " y " if language == "es" else " and "
    return joint.join(_full_name(one, house) for one in things)


def _full_name(thing: Entity, house: House) -> str:
    alike = [one for one in house.exposed() if one.name.casefold() == thing.name.casefold()]
    area = house.areas.get(thing.area_id or "")
    return f"{area.name} {thing.name}" if len(alike) > 1 and area else thing.name


def _other(what: str, talk: Talk, house: House) -> str:
    """Return the name of "the other one", if a single other device is called like the last one."""
    if what.casefold() not in ("the other", "the other one", "la otra", "el otro"):
        return what
    recent = talk.recent(house)
    names = {house.entities[one].name.casefold() for one in recent if one in house.entities}
    others = [
        one
        for one in house.exposed()
        if one.name.casefold() in names and one.entity_id not in recent
    ]
    return _full_name(others[0], house) if len(others) == 1 else what
