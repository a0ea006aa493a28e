"""Questions that the house's picture or the clock answers, without any call."""

from collections.abc import Callable
from dataclasses import dataclass

from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.state_sentences import DEFINITE, ROOM
from assistant.domain.clock import Clock
from assistant.speech.catalogue import Catalogue
from assistant.tools.house_answers import HouseAnswers, room_sensors
from assistant.tools.house_questions import Question
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House

ABOUT_STATES = frozenset({"HassGetState", "HassClimateGetTemperature"})


class StateAnswers:
    """Answers one question; None means that the intent is no question."""

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
        """One sentence, or None where the command is to be done and not answered.

        `age_s`: seconds since `house` was live, 0.0 where it is, None where nothing was ever seen.
        """
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

    def _never_mind(self, command: ParsedCommand, language: str) -> str:
        return self._say.say("offline.never_mind", language)

    def _greeting(self, command: ParsedCommand, language: str) -> str:
        key = "offline.hello" if command.response == "hello" else "offline.what_i_can"
        return self._say.say(key, language)


@dataclass(frozen=True, slots=True)
class RoomQuestion:
    """A question about the air of a room, or about what one thermostat measures."""

    measured: str  # "temperature" or "humidity"
    sensors: tuple[Entity, ...]  # that may tell it, the best first
    place: str  # as it is said


def answer_state(
    answers: HouseAnswers, command: ParsedCommand, house: House, language: str, age_s: float | None
) -> str:
    """Answer a question about states or a room's air.

    `age_s`: seconds since the picture was live, 0.0 for one that is, None where that is not known.
    """
    room = room_of(command, house)
    if room is not None:
        return answers.of_room(room.sensors, room.measured, room.place, language, age_s)
    # German writes its nouns with a capital letter, which what was said has lost.
    what = "" if language.startswith("de") else command.called
    return answers.answer(question_of(command), house, language, age_s, what)


def room_of(command: ParsedCommand, house: House) -> RoomQuestion | None:
    """The room and its sensors, or None where the question is about something else."""
    if command.intent == "HassClimateGetTemperature":
        measured = "temperature"
    elif command.response == ROOM:
        measured = "humidity"
    else:
        return None
    if command.entity_ids:
        named = tuple(house.entities[one] for one in command.entity_ids)
        return RoomQuestion(measured, named, command.called)
    places = [
        area
        for area in house.areas.values()
        if area.area_id == command.area_id
        or (area.floor_id is not None and area.floor_id == command.floor_id)
    ]
    sensors = (one for area in places for one in room_sensors(house, area.area_id, measured))
    place = command.place or (places[0].name.lower() if places else "")
    return RoomQuestion(measured, tuple(sensors), place)


def question_of(command: ParsedCommand) -> Question:
    """The question about states that a `HassGetState` is."""
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
    """Of locks it is not told whether doors or windows were asked about."""
    return mentions("asked_windows", command.text) and not mentions("asked_doors", command.text)


def _as_tuple(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
