"""Answers to questions that need no tool call, in the words of the catalogue."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.brains.offline.answers import answer_playback, as_called, own_name
from assistant.brains.offline.attribute_answers import OUTSIDE, outside, read_out
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import (
    DEFINITE,
    IMPOSSIBLE,
    MISSING,
    PART,
    READING,
    ROOM,
    SUN,
)
from assistant.domain.clock import Clock
from assistant.speech.catalogue import Catalogue, Names
from assistant.tools.house.answers import HouseAnswers, room_sensors
from assistant.tools.house.names import spoken_place, spoken_things
from assistant.tools.house.questions import Question
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House

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
        if command.intent == IMPOSSIBLE:
            what = spoken_things([house.entities[command.entity_ids[0]].names])
            return self._say.say("offline.impossible", language, what=what)
        if command.intent == SUN:
            return self._sun(house, language)
        if command.intent == READING:
            return read_out(command, house, self._say, language)
        if command.intent in ABOUT_STATES:
            return answer_state(self._states, command, house, language, age_s)
        found = self._answers.get(command.intent)
        if found is not None:
            return found(command, language)
        return answer_playback(command, house, self._say, language) or None

    def _time(self, command: ParsedCommand, language: str) -> str:
        return self._say.say("offline.time", language, time=self._clock.now())

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
        if command.response == "percent":
            return self._say.say("offline.only_percent", language)
        area = house.areas.get(command.area_id)
        if area is not None:
            place = spoken_place((area.name, *area.aliases))
            return self._say.say("offline.missing_there", language, place=place)
        name = str(command.slots["name"])
        if command.response == PART:
            return self._say.say("offline.missing_part", language, part=name)
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
            told[key] = when.astimezone(zone)
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
    called, base = as_called(command.called), language.partition("-")[0]
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
    place = command.place or (own_name(places[0], language) if places else "")
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
    # "Are any lights on" is about the whole house, although a template adds this device's room.
    whole = kind in ("any", "which", "how_many") and not command.area_said
    return Question(
        kind,
        state,
        command.entity_ids,
        domain if isinstance(domain, str) else "",
        classes,
        "" if whole else command.area_id,
        command.floor_id,
    )


def _is_of_windows(command: ParsedCommand) -> bool:
    # Questions about windows use the same intent as those about locks and doors.
    return mentions("asked_windows", command.text) and not mentions("asked_doors", command.text)


def _as_tuple(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
