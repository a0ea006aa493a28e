"""Questions that the house's picture or the clock answers, without any call."""

from collections.abc import Callable, Iterator

from assistant.brains.offline.parse import Command
from assistant.clock import Clock
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.house import Entity, House

# Binary sensors say on and off; people say what the sensor looks at.
_OPENINGS = ("door", "window", "garage_door", "opening", "lock")
_SPOKEN_STATES = frozenset(
    "on off open closed opening closing locked unlocked locking unlocking jammed home not_home "
    "playing paused idle standby unavailable unknown heat cool auto heat_cool dry fan_only docked "
    "cleaning returning error detected clear".split()
)
_LISTED = 5  # names in one answer


class Questions:
    """Answers one question; None means that the intent is no question."""

    def __init__(self, say: Catalogue, clock: Clock) -> None:
        self._say = say
        self._clock = clock
        self._answers: dict[str, Callable[[Command, House, str], str]] = {
            "HassGetState": self._state,
            "HassClimateGetTemperature": self._temperature,
            "HassGetCurrentTime": self._time,
            "HassGetCurrentDate": self._date,
            "HassNevermind": self._never_mind,
            "HassRespond": self._greeting,
        }

    def answer(self, command: Command, house: House, language: str) -> str | None:
        """One sentence, or None where the command is to be done and not answered."""
        found = self._answers.get(command.intent)
        return None if found is None else found(command, house, language)

    def _time(self, command: Command, house: House, language: str) -> str:
        return self._say.say("offline.time", language, time=f"{self._clock.now():%H:%M}")

    def _date(self, command: Command, house: House, language: str) -> str:
        now = self._clock.now()
        return self._say.say(
            "offline.date",
            language,
            weekday=self._say.say(f"offline.weekday_{now.isoweekday()}", language),
            day=now.day,
            month=self._say.say(f"offline.month_{now.month}", language),
        )

    def _never_mind(self, command: Command, house: House, language: str) -> str:
        return self._say.say("offline.never_mind", language)

    def _greeting(self, command: Command, house: House, language: str) -> str:
        key = "offline.hello" if command.response == "hello" else "offline.what_i_can"
        return self._say.say(key, language)

    def _temperature(self, command: Command, house: House, language: str) -> str:
        entity = _thermometer(command, house)
        if entity is None:
            return self._say.say("offline.no_temperature", language)
        value = entity.attributes.get("current_temperature", entity.state)
        area = house.areas.get(entity.area_id or "")
        place = area.name.lower() if area is not None else entity.name
        what = command.place or place
        return self._say.say("offline.temperature", language, what=what, degrees=_number(value))

    def _state(self, command: Command, house: House, language: str) -> str:
        asked = _asked(command, house)
        if not asked:
            return self._say.say("offline.none_there", language)
        wanted = command.slots.get("state")
        if wanted is None or command.response in ("", "default", "one") or len(asked) == 1:
            return self._one(asked[0], wanted, command, language)
        return self._several(asked, str(wanted), command.response, language)

    def _one(self, entity: Entity, wanted: object, command: Command, language: str) -> str:
        state = self._state_words(entity, entity.state, language)
        what = command.called or entity.name
        key = "offline.is_state"
        if wanted is not None:
            key = "offline.yes_state" if _is(entity, str(wanted)) else "offline.no_state"
        text = self._say.say(key, language, what=what, state=state)
        return text[:1].upper() + text[1:]

    def _several(self, asked: list[Entity], wanted: str, kind: str, language: str) -> str:
        matching = [entity for entity in asked if _is(entity, wanted)]
        state = self._state_words(asked[0], wanted, language)
        if kind == "how_many":
            key = "offline.count_one" if len(matching) == 1 else "offline.count_many"
            return self._say.say(key, language, count=len(matching), state=state)
        if kind == "all":
            key = "offline.all_yes" if len(matching) == len(asked) else "offline.all_no"
            others = [entity for entity in asked if not _is(entity, wanted)]
            return self._say.say(key, language, state=state, names=_names(others))
        if not matching:
            return self._say.say("offline.any_no", language, state=state)
        key = "offline.any_yes" if kind == "any" else "offline.which"
        return self._say.say(key, language, state=state, names=_names(matching))

    def _state_words(self, entity: Entity, state: str, language: str) -> str:
        """A state as people say it, a reading with its unit."""
        if entity.domain == "binary_sensor" and state in ("on", "off"):
            if entity.device_class in _OPENINGS:
                state = "open" if state == "on" else "closed"
            elif entity.device_class in ("motion", "occupancy", "presence", "smoke", "moisture"):
                state = "detected" if state == "on" else "clear"
        if state in _SPOKEN_STATES:
            return self._say.say(f"offline.state_{state}", language)
        unit = entity.attributes.get("unit_of_measurement")
        return f"{state} {unit}" if unit else state


def _asked(command: Command, house: House) -> list[Entity]:
    """The entities that the question is about."""
    if command.entity_ids:
        return [house.entities[entity_id] for entity_id in command.entity_ids]
    domain = command.slots.get("domain")
    device_class = command.slots.get("device_class")
    if domain is None and device_class is None:
        return []
    return [
        entity
        for entity in house.exposed()
        if (domain is None or entity.domain == domain)
        and (device_class is None or entity.device_class in _as_tuple(device_class))
        and (not command.area_id or entity.area_id == command.area_id)
        and (not command.floor_id or _floor(entity, house) == command.floor_id)
    ]


def _as_tuple(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _floor(entity: Entity, house: House) -> str | None:
    area = house.areas.get(entity.area_id or "")
    return None if area is None else area.floor_id


def _is(entity: Entity, wanted: str) -> bool:
    return entity.state == wanted


def _thermometer(command: Command, house: House) -> Entity | None:
    """The named thermostat, else the room's, else the room's temperature sensor."""
    if command.entity_ids:
        return house.entities[command.entity_ids[0]]
    there = [
        entity
        for entity in house.exposed()
        if not command.area_id or entity.area_id == command.area_id
    ]
    return next(_with_temperature(there), None)


def _with_temperature(entities: list[Entity]) -> Iterator[Entity]:
    for entity in entities:
        if entity.domain == "climate" and entity.attributes.get("current_temperature") is not None:
            yield entity
    for entity in entities:
        if entity.device_class == "temperature" and entity.domain == "sensor":
            yield entity


def _number(value: object) -> str:
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value)


def _names(entities: list[Entity]) -> str:
    return ", ".join(entity.name for entity in entities[:_LISTED])
