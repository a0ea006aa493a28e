"""Replies to commands and questions, in the words of the catalogue."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from assistant.brains.offline.attribute_answers import list_items
from assistant.brains.offline.calendar_answers import told_events
from assistant.brains.offline.frames import MOST_CHOICES, Ask
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.parts import plain
from assistant.brains.offline.sentences import (
    ALARM_TOOLS,
    CALENDAR,
    LIST_ITEMS,
    MEMORY_TOOLS,
    OWN_TOOLS,
    PROFILE_INTENT,
    TIMER_TOOLS,
    WHEN,
)
from assistant.brains.offline.settle import Problem
from assistant.brains.offline.targets import Target, members
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.speech.catalogue import Catalogue, Names, is_plural
from assistant.tools.house.articles import agreeing, best_name, noun_of
from assistant.tools.house.names import UNKNOWN, named_thing, spoken_place, spoken_things
from assistant.tools.policy.openers import is_opener
from assistant.tools.policy.words import read
from assistant.tools.vocabulary import find, fold, mentions
from integrations.home_assistant.house import Area, Entity, Floor, House

ON_THE_WAY = ("opening", "closing", "locking", "unlocking")

# Ending of the catalogue key (offline.done_<ending>) by intent and domain; "" is any domain.
_DONE = {
    ("HassTurnOn", "cover"): "open",
    ("HassTurnOff", "cover"): "closed",
    ("HassTurnOn", "valve"): "open",
    ("HassTurnOff", "valve"): "closed",
    ("HassTurnOn", "lock"): "locked",
    ("HassTurnOff", "lock"): "unlocked",
    ("HassTurnOn", "scene"): "scene",
    ("HassTurnOn", "script"): "started",
    ("HassTurnOn", ""): "on",
    ("HassTurnOff", ""): "off",
    ("HassLightSet", ""): "set",
    ("HassClimateSetTemperature", ""): "temperature",
    ("HassSetPosition", ""): "percent",
    ("HassFanSetSpeed", ""): "percent",
    ("HassSetVolume", ""): "volume",
    ("HassListAddItem", ""): "added",
    ("HassShoppingListAddItem", ""): "added",
}
# For these, the outcome's own sentence is used as the answer.
_TELLING = frozenset((*TIMER_TOOLS, *ALARM_TOOLS, *MEMORY_TOOLS, *OWN_TOOLS, PROFILE_INTENT))

_PERCENT_SLOTS = ("position", "percentage", "volume_level", "brightness")


def answer_outcome(
    command: ParsedCommand,
    outcome: ToolOutcome,
    house: House,
    say: Catalogue,
    language: str,
    now: datetime | None = None,
) -> str:
    """Return the reply to a command's outcome. `now` is needed for questions about appointments."""
    if outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION):
        return outcome.sentence or say.say("offline.refused", language)
    if command.intent == LIST_ITEMS and outcome.status is Status.DONE:
        item = str(command.slots.get("item", ""))
        return list_items(outcome.data, say, language, item)
    if command.intent == CALENDAR and outcome.status is Status.DONE and now is not None:
        return told_events(outcome.data, str(command.slots[WHEN]), now, say, language)
    asked = outcome.tier is Tier.READ or command.intent in _TELLING
    if asked and outcome.sentence:
        return outcome.sentence  # it contains the requested information
    changed = None if command.called else _list_of(outcome, house)
    what = changed or target_words(command, house, say, language)
    if outcome.status is Status.DONE:
        done = _already(command, outcome, what, say, language)
        done = done or _done(command, outcome, what, say, language)
        left = spoken_things(outcome.left_on)
        return f"{done} {say.say('tools.left_on', language, names=left)}" if left else done
    if outcome.status in (Status.FAILED, Status.NOT_OBSERVED) and outcome.sentence:
        return outcome.sentence
    key = {
        Status.NOT_OBSERVED: "offline.not_observed",
        Status.TIMEOUT: "offline.timeout",
        Status.UNKNOWN: "offline.unknown",
    }.get(outcome.status, "offline.failed")
    return say.say(key, language, what=what)


def not_understood(text: str, house: House, here: str, say: Catalogue, language: str) -> str:
    """Return an answer to a sentence that wasn't understood. It names a room in the sentence that
    the house doesn't have, or gives two example sentences that work in this house. `here` is the id
    of this device's area."""
    for topic in read(house, text).wanted.lacking if house.areas else ():
        if (span := find(topic, text)) is not None:
            room = " ".join(fold(text, marks=True).split()[slice(*span)])
            return say.say("home_error.no_room", language, names=room)
    first, second = (say.say(key, language, **values) for key, values in _examples(house, here)[:2])
    return say.say("offline.not_understood", language, first=first, second=second)


def _examples(house: House, here: str) -> list[tuple[str, dict[str, Names]]]:
    """Return catalogue keys and values of example sentences about the house's own devices. Devices
    in this area come first."""
    things = [one for one in house.exposed() if one.state not in UNKNOWN]
    named = Counter(name.casefold() for one in things for name in one.names)
    clear = [one for one in things if named[one.name.casefold()] == 1]
    clear.sort(key=lambda one: (one.area_id or "") != here)
    found: list[tuple[str, dict[str, Names]]] = []
    for kind in ("light", "cover", "lock"):
        fits = (one for one in clear if one.domain == kind)
        one = next((one for one in fits if kind != "cover" or not is_opener(one)), None)
        if one is not None:
            found.append((f"offline.try_{kind}", {"what": spoken_things([one.names])}))
    return [*found, ("offline.try_timer", {}), ("offline.try_time", {})]


def answer_problem(problem: Problem, say: Catalogue, language: str) -> str:
    return _sentence(say.say(problem.key, language, **problem.values))


def answer_ask(asked: Ask, house: House, say: Catalogue, language: str) -> str:
    """Return a question: which of several devices is meant, or whether to change the list."""
    things = [entity for entity, _ in asked.choices]
    if len(things) == 1:
        item = asked.choices[0][1].slots.get("item", "")
        key = "offline.shall_add" if item else "offline.shall_clear"
        return say.say(key, language, item=item, what=spoken_things([things[0].names]))
    alike = len({one.name for one in things}) < len(things)
    told = []
    for one in things:
        area = house.areas.get(one.area_id or "")
        name = named_thing(one.names, say, language)
        if alike and area is not None:
            place = spoken_place((area.name, *area.aliases))
            name = say.say("offline.one_in", language, what=name, place=place)
        told.append(str(name))
    if len(told) > MOST_CHOICES:
        return say.say("offline.which_of_many", language)
    first, last = ", ".join(told[:-1]), told[-1]
    return _sentence(say.say("offline.which_of", language, first=first, last=last))


def _list_of(outcome: ToolOutcome, house: House) -> Names | None:
    """Return the name of the list that the call changed, or None if it changed no list."""
    changed = (house.entities.get(seen.entity_id) for seen in outcome.observed)
    found = next((one for one in changed if one is not None and one.domain == "todo"), None)
    return None if found is None else spoken_things([found.names])


def target_words(command: ParsedCommand, house: House, say: Catalogue, language: str) -> str:
    """Return a phrase for the command's target, in the person's words if they named it."""
    if command.called:
        return as_called(command.called)
    if command.entity_ids:
        return spoken_things([house.entities[command.entity_ids[0]].names])
    domain = command.slots.get("domain")
    place = house.areas.get(command.area_id) or house.floors.get(command.floor_id)
    only = _only_there(command, house) if domain in ("climate", "media_player") else None
    if only is not None:
        return spoken_things([only.names])
    key = _things_key(domain if isinstance(domain, str) else "", place)
    said = command.place or ("" if place is None else own_name(place, say.own(language)))
    what = say.say(key, language, place=_where(said, key))
    cut = find("except", command.text)
    left = fold(command.text, marks=True).split()[cut[1] :] if cut else []
    if not left or mentions("the_rest", " ".join(left)):
        return what
    names = plain(" ".join(left), language.partition("-")[0])
    return say.say("offline.all_except", language, what=what, names=names)


def _only_there(command: ParsedCommand, house: House) -> Entity | None:
    target = Target((), str(command.slots["domain"]), command.area_id, command.floor_id)
    there = members(target, house) if target.placed else []
    return there[0] if len(there) == 1 else None


def _where(place: str, key: str) -> Names:
    where = spoken_place(place)
    if "things" not in key:
        return where
    return Names(place, where.english.removeprefix("in "), where.others)


def as_called(called: str) -> Names:
    return Names(called, called, spoken_things([called]).others)


def own_name(place: Area | Floor, language: str) -> str:
    return best_name((place.name, *place.aliases), language.partition("-")[0]).lower()


_KINDS = {
    "light": "lights",
    "fan": "fans",
    "cover": "covers",
    "media_player": "players",
    "climate": "heating",
}


def _things_key(domain: str, place: object) -> str:
    kind = _KINDS.get(domain, "things")
    return f"offline.{kind}_here" if place is not None else f"offline.{kind}_all"


_PLAIN_STATES = frozenset({"closed", "docked", "locked", "off", "on", "open", "unlocked"})
_SWITCHING = frozenset({"HassTurnOn", "HassTurnOff", "HassVacuumReturnToBase", "HassLawnMowerDock"})
# What these leave as it is, and the state that is then already there.
_PLAYBACK: Mapping[str, tuple[str, Callable[[Entity], bool]]] = {
    "HassMediaUnpause": ("playing", lambda one: one.state == "playing"),
    "HassMediaPause": ("paused", lambda one: one.state == "paused"),
    "HassMediaPlayerMute": ("", lambda one: one.attributes.get("is_volume_muted") is True),
    "HassMediaPlayerUnmute": ("", lambda one: one.attributes.get("is_volume_muted") is False),
}


def answer_playback(command: ParsedCommand, house: House, say: Catalogue, language: str) -> str:
    """Return a sentence if the players that a command names are as it wants them, otherwise "".
    Home Assistant finds no players for such a command."""
    state, fits = _PLAYBACK.get(command.intent, ("", lambda _: False))
    if not command.entity_ids or not all(fits(house.entities[one]) for one in command.entity_ids):
        return ""
    return already_in(state, command, target_words(command, house, say, language), say, language)


def _already(
    command: ParsedCommand, outcome: ToolOutcome, what: str, say: Catalogue, language: str
) -> str:
    """Return a sentence such as "The front door is already locked.", or "" if something changed or
    if the language needs a grammatical gender that isn't known."""
    if not outcome.observed or any(seen.before != seen.after for seen in outcome.observed):
        return ""
    states = {str(seen.after).partition(" ")[0] for seen in outcome.observed}
    state = states.pop() if len(states) == 1 else ""
    plain = command.intent in _SWITCHING and state in _PLAIN_STATES
    return already_in(state, command, what, say, language) if plain else ""


def already_in(state: str, command: ParsedCommand, what: str, say: Catalogue, language: str) -> str:
    """Return "The front door is already locked.", or "The speaker is already like that." without a
    state. Returns "" if the language needs a grammatical gender that isn't known."""
    base = say.own(language).partition("-")[0]
    noun = noun_of(str(what), base)
    if state and base in ("es", "fr", "pt") and noun is None:
        return ""
    kind = _KINDS.get(str(command.slots.get("domain")), "heating")
    kinds = not command.called and not command.entity_ids and kind != "heating"
    several = kinds or (is_plural(what) if noun is None else noun.plural)
    be = say.say(f"house_state.is_{'many' if several else 'one'}", language)
    if not state:
        return _sentence(say.say("offline.already_so", language, what=what, be=be))
    state = agreeing(say.say(f"states.{state}", language), noun, base)
    return _sentence(say.say("offline.already", language, what=what, be=be, state=state))


def _done(
    command: ParsedCommand, outcome: ToolOutcome, what: str, say: Catalogue, language: str
) -> str:
    domain = command.slots.get("domain", "")
    end = _DONE.get((command.intent, domain)) or _DONE.get((command.intent, ""), "")
    # "closing", or "closing 70 %" if it has a position
    states = {(seen.after or "").partition(" ")[0] for seen in outcome.observed}
    moving = states.intersection(ON_THE_WAY)
    if len(moving) == 1 and end not in ("scene", "started"):
        return say.say(f"offline.now_{moving.pop()}", language, what=what)
    values: dict[str, object] = {"what": what, "item": command.slots.get("item", "")}
    if end == "set":
        end, values = _light_done(command, values)
    elif end == "temperature":
        values["degrees"] = f"{command.slots['temperature']:g}"
    elif end in ("percent", "volume"):
        values["percent"] = _percent(command)
    return _sentence(say.say(f"offline.done_{end}" if end else "offline.done", language, **values))


def _light_done(command: ParsedCommand, values: dict[str, object]) -> tuple[str, dict[str, object]]:
    if "color" in command.slots:
        return "colour", values | {"colour": command.colour or command.slots["color"]}
    if "brightness" in command.slots:
        return "percent", values | {"percent": _percent(command)}
    return "", values


def _percent(command: ParsedCommand) -> str:
    value = next(command.slots[key] for key in _PERCENT_SLOTS if key in command.slots)
    return f"{float(value):g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
