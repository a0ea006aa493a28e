"""Replies to commands and questions, in the words of the catalogue."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.brains.offline.calls import Problem
from assistant.brains.offline.frames import Ask
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.readings import OUTSIDE, list_items, outside, read_out
from assistant.brains.offline.sentences import (
    ALARM_TOOLS,
    DEFINITE,
    LIST_ITEMS,
    MEMORY_TOOLS,
    MISSING,
    OWN_TOOLS,
    PROFILE_INTENT,
    READING,
    ROOM,
    SUN,
    TIMER_TOOLS,
)
from assistant.domain.clock import Clock
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.speech.catalogue import Catalogue, Names, is_plural
from assistant.tools.house.answers import HouseAnswers, room_sensors
from assistant.tools.house.articles import agreeing, best_name, noun_of
from assistant.tools.house.names import UNKNOWN, named_thing, spoken_place, spoken_things
from assistant.tools.house.questions import Question
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
_MOST_CHOICES = 5  # devices that a question names
_PERCENT_SLOTS = ("position", "percentage", "volume_level", "brightness")


def answer_outcome(
    command: ParsedCommand, outcome: ToolOutcome, house: House, say: Catalogue, language: str
) -> str:
    if outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION):
        return outcome.sentence or say.say("offline.refused", language)
    if command.intent == LIST_ITEMS and outcome.status is Status.DONE:
        return list_items(outcome.data, say, language)
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
    """Return an answer to a sentence that wasn't understood: the room in it that the house doesn't
    have, or two sentences that work in this house. `here` is the id of this device's area."""
    for topic in read(house, text).wanted.lacking if house.areas else ():
        if (span := find(topic, text)) is not None:
            room = " ".join(fold(text, marks=True).split()[slice(*span)])
            return say.say("home_error.no_room", language, names=room)
    first, second = (say.say(key, language, **values) for key, values in _examples(house, here)[:2])
    return say.say("offline.not_understood", language, first=first, second=second)


def _examples(house: House, here: str) -> list[tuple[str, dict[str, Names]]]:
    """Return keys and values of sentences that name the house's own things, those here first."""
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
    return say.say(problem.key, language, **problem.values)


def answer_ask(asked: Ask, house: House, say: Catalogue, language: str) -> str:
    """Return the question which of several devices the person means."""
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
    if len(told) > _MOST_CHOICES:
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
        return _as_called(command.called)
    if command.entity_ids:
        return spoken_things([house.entities[command.entity_ids[0]].names])
    domain = command.slots.get("domain")
    place = house.areas.get(command.area_id) or house.floors.get(command.floor_id)
    key = _things_key(domain if isinstance(domain, str) else "", place)
    said = command.place or ("" if place is None else _own_name(place, say.own(language)))
    return say.say(key, language, place=_where(said, key))


def _where(place: str, key: str) -> Names:
    where = spoken_place(place)
    if "things" not in key:
        return where
    return Names(place, where.english.removeprefix("in "), where.others)


def _as_called(called: str) -> Names:
    return Names(called, called, spoken_things([called]).others)


def _own_name(place: Area | Floor, language: str) -> str:
    return best_name((place.name, *place.aliases), language.partition("-")[0]).lower()


_KINDS = {"light": "lights", "fan": "fans", "cover": "covers"}


def _things_key(domain: str, place: object) -> str:
    kind = _KINDS.get(domain, "things")
    return f"offline.{kind}_here" if place is not None else f"offline.{kind}_all"


_PLAIN_STATES = frozenset({"closed", "locked", "off", "on", "open", "unlocked"})


def _already(
    command: ParsedCommand, outcome: ToolOutcome, what: str, say: Catalogue, language: str
) -> str:
    """Return a sentence such as "The front door is already locked.", or "" if something changed, or
    if the language needs a gender that isn't known."""
    states = {seen.after for seen in outcome.observed}
    same = all(seen.before == seen.after for seen in outcome.observed)
    state = str(states.pop()) if len(states) == 1 else ""
    if command.intent not in ("HassTurnOn", "HassTurnOff") or not same:
        return ""
    if state not in _PLAIN_STATES:
        return ""
    base = say.own(language).partition("-")[0]
    noun = noun_of(str(what), base)
    if base in ("es", "fr", "pt") and noun is None:
        return ""
    kinds = not command.called and not command.entity_ids and command.slots.get("domain") in _KINDS
    several = kinds or (is_plural(what) if noun is None else noun.plural)
    be = say.say(f"house_state.is_{'many' if several else 'one'}", language)
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


# Questions that are answered without a tool call.


ABOUT_STATES = frozenset({"HassGetState", "HassClimateGetTemperature", READING})
_GREETINGS = {
    "hello": "offline.hello",
    "thanks": "offline.welcome",
    "fine": "offline.fine",
    "bye": "offline.bye",
    "drop": "offline.never_mind",
}


class StateAnswers:
    """Answers questions and small talk without a tool call."""

    def __init__(self, say: Catalogue, clock: Clock) -> None:
        self._say = say
        self._clock = clock
        self._states = HouseAnswers(say)
        self._answers: dict[str, Callable[[ParsedCommand, str], str]] = {
            "HassGetCurrentTime": self._time,
            "HassGetCurrentDate": self._date,
            "HassNevermind": self._never_mind,
            "HassRespond": self._greeting,
        }

    def answer(
        self, command: ParsedCommand, house: House, language: str, age_s: float | None = 0.0
    ) -> str | None:
        """Return a sentence that answers the command, or None if the command needs a tool call.

        `age_s` is the age of `house` in seconds: 0.0 if it is live, None if there is no snapshot.
        """
        if command.response == OUTSIDE and (told := outside(house, self._say, language)):
            return told
        if command.intent == MISSING:
            return self._missing(command, house, language)
        if command.intent == SUN:
            return self._sun(house, language)
        if command.intent == READING:
            return read_out(command, house, self._say, language)
        if command.intent in ABOUT_STATES:
            return answer_state(self._states, command, house, language, age_s)
        found = self._answers.get(command.intent)
        return None if found is None else found(command, language)

    def _time(self, command: ParsedCommand, language: str) -> str:
        return self._say.say("offline.time", language, time=f"{self._clock.now():%H:%M}")

    def _date(self, command: ParsedCommand, language: str) -> str:
        now = self._clock.now()
        return self._say.say(
            "offline.date",
            language,
            weekday=self._say.say(f"offline.weekday_{now.isoweekday()}", language),
            day=now.day,
            month=self._say.say(f"offline.month_{now.month}", language),
        )

    def _missing(self, command: ParsedCommand, house: House, language: str) -> str:
        area = house.areas.get(command.area_id)
        if area is not None:
            place = spoken_place((area.name, *area.aliases))
            return self._say.say("offline.missing_there", language, place=place)
        name = str(command.slots["name"])
        if command.response == "room":
            return self._say.say("home_error.no_room", language, names=name)
        return self._say.say("offline.missing", language, name=name)

    def _sun(self, house: House, language: str) -> str:
        sun = house.entities.get("sun.sun")
        zone = self._clock.now().tzinfo
        told = {}
        for key, attribute in (("rise", "next_rising"), ("set", "next_setting")):
            try:
                when = datetime.fromisoformat(str(sun.attributes[attribute])) if sun else None
            except (KeyError, ValueError):
                when = None
            if when is None or when.tzinfo is None:
                return self._say.say("offline.no_sun", language)
            told[key] = f"{when.astimezone(zone):%H:%M}"
        return self._say.say("offline.sun", language, **told)

    def _never_mind(self, command: ParsedCommand, language: str) -> str:
        return self._say.say("offline.never_mind", language)

    def _greeting(self, command: ParsedCommand, language: str) -> str:
        return self._say.say(_GREETINGS.get(command.response, "offline.what_i_can"), language)


@dataclass(frozen=True, slots=True)
class RoomQuestion:
    """A question about a room's temperature or humidity, or about one thermostat's reading."""

    measured: str  # "temperature" or "humidity"
    sensors: tuple[Entity, ...]  # sensors that can provide the value, best first
    place: str  # spoken name of the room or thermostat
    is_room: bool = True


def answer_state(
    answers: HouseAnswers, command: ParsedCommand, house: House, language: str, age_s: float | None
) -> str:
    """Answer a question about states, or about a room's temperature or humidity.

    `age_s` is the age of the snapshot in seconds: 0.0 if it is live, None if there is no snapshot.
    """
    room = room_of(command, house, language)
    if room is not None:
        return answers.of_room(room.sensors, room.measured, _measured_at(room), language, age_s)
    # German nouns must be capitalised, but recognised text is in lower case.
    called, base = _as_called(command.called), language.partition("-")[0]
    what = called.within(base, "nom") if command.called else ""
    if what and base == "de":
        what = Names(what, what, called.others)
    return answers.answer(question_of(command), house, language, age_s, what)


def _measured_at(question: RoomQuestion) -> Names:
    if question.is_room:
        return spoken_place(question.place)
    thing = spoken_things([question.place])
    return Names(thing, f"at {thing.english}", thing.others)


def room_of(command: ParsedCommand, house: House, language: str = "") -> RoomQuestion | None:
    """Return the room and its sensors, or None if the question is about something else."""
    if command.intent == "HassClimateGetTemperature":
        measured = "temperature"
    elif command.response == ROOM:
        measured = "humidity"
    else:
        return None
    if command.entity_ids:
        named = tuple(house.entities[one] for one in command.entity_ids)
        return RoomQuestion(measured, named, command.called, is_room=False)
    places = [
        area
        for area in house.areas.values()
        if area.area_id == command.area_id
        or (area.floor_id is not None and area.floor_id == command.floor_id)
    ]
    sensors = (one for area in places for one in room_sensors(house, area.area_id, measured))
    place = command.place or (_own_name(places[0], language) if places else "")
    return RoomQuestion(measured, tuple(sensors), place)


def question_of(command: ParsedCommand) -> Question:
    """Convert a `HassGetState` command to a question about states."""
    slots = command.slots
    state = str(slots.get("state") or "")
    domain = slots.get("domain")
    classes = frozenset(map(str, _as_tuple(slots.get("device_class") or ())))
    kind = command.response
    if command.entity_ids:
        kind = "is" if state else "one"
    elif kind == DEFINITE:  # "is the garage door open", "are the windows closed"
        kind = "all" if state in ("closed", "locked") else "any"
    elif kind not in ("any", "all", "which", "how_many"):
        kind = "which"
    if domain == "lock" and not command.entity_ids and not classes and _is_of_windows(command):
        classes = frozenset({"window"})
    return Question(
        kind,
        state,
        command.entity_ids,
        domain if isinstance(domain, str) else "",
        classes,
        command.area_id,
        command.floor_id,
    )


def _is_of_windows(command: ParsedCommand) -> bool:
    # Questions about windows use the same intent as those about locks and doors.
    return mentions("asked_windows", command.text) and not mentions("asked_doors", command.text)


def _as_tuple(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
