"""Answers to questions about the house, worded from the facts of `questions`. An answer from old
states is in the past tense and says how old they are."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import isfinite

from assistant.speech.catalogue import Catalogue, Names, counted, is_plural, length_of
from assistant.tools.house.articles import Noun, agreeing, best_name, noun_of_all
from assistant.tools.house.names import UNKNOWN, capitalised, in_cases, named_thing, plain_state
from assistant.tools.house.questions import LOCKING, MOVING, Facts, Question, facts
from assistant.tools.vocabulary import fold, mentions
from integrations.home_assistant.house import Area, Entity, House

_LISTED = 5  # names in an answer; any others are counted
_WORDS = frozenset(
    "open closed opening closing locked unlocked locking unlocking jammed".split()
)  # used for doors and windows, as house_state.open_one and house_state.open_many
_SENSED = {"low": "state_low", "normal": "state_normal", "wet": "state_wet", "dry": "state_not_wet"}
_OTHERS = frozenset(
    "on off home not_home playing paused idle standby heat cool auto heat_cool "
    "dry fan_only docked cleaning returning error detected clear".split()
)
_PREDICATES = frozenset({"on", "off"})  # states that agree with a name: "encendida"
_MASCULINE = ("el ", "los ", "le ", "o ", "os ")  # articles in what the person said
_ONE = Names("1", "one", {"es": "una", "pt": "uma", "fr": "une", "de": "eins"})
_OF_ROOM = {"temperature": "degrees", "humidity": "percent"}
_NONE_OF_ROOM = {"temperature": "offline.no_temperature", "humidity": "house_state.no_humidity"}


class HouseAnswers:
    def __init__(self, say: Catalogue) -> None:
        self._say = say

    def answer(
        self,
        question: Question,
        house: House,
        language: str,
        age_s: float | None,
        what: str = "",
    ) -> str:
        """Answer a question about the states of entities.

        `age_s` is the age of the states in seconds: 0.0 if they are live, and None if there are
        none. `what` is the person's name for a single entity.
        """
        if age_s is None:
            return self._say.say("tools.not_live", language)
        found = facts(question, house)
        if not found.asked:
            return self._say.say("offline.none_there", language)
        telling = _Telling(self._say, language, age_s, what)
        return capitalised(telling.lost(found) if age_s != 0 else telling.live(found))

    def tell(self, things: Sequence[Entity], language: str, age_s: float | None) -> str:
        """Describe the states of the entities, for a question that is only partly understood."""
        known = tuple(one for one in things if one.state not in UNKNOWN)
        unknown = tuple(one for one in things if one.state in UNKNOWN)
        found = Facts("which", "", yes=known, unknown=unknown)
        telling = _Telling(self._say, language, age_s)
        return capitalised(telling.lost(found) if age_s != 0 else telling.live(found))

    def of_room(
        self,
        sensors: Sequence[Entity],
        device_class: str,
        place: str,
        language: str,
        age_s: float | None,
    ) -> str:
        """Return a sentence about a room's temperature or humidity. See `answer` for `age_s`."""
        if age_s is None:
            return self._say.say("tools.not_live", language)
        if not sensors:
            return self._say.say(_NONE_OF_ROOM[device_class], language)
        values = (reading(one, device_class) for one in sensors)
        value = next((one for one in values if one is not None), None)
        if value is None:
            if age_s != 0:
                return self._lost("lost_unknown", language, age_s)
            return self._say.say("house_state.unread", language, what=place)
        told = {_OF_ROOM[device_class]: f"{value:g}", "what": place}
        if age_s != 0:
            fact = self._say.say(f"house_state.{device_class}_then", language, **told)
            return self._lost("lost", language, age_s, fact=fact)
        if device_class == "temperature":
            return self._say.say("offline.temperature", language, **told)
        return self._say.say("house_state.humidity", language, **told)

    def word(self, entity: Entity, language: str) -> str:
        return _Telling(self._say, language, 0.0).word(entity)

    def _lost(self, key: str, language: str, age_s: float | None, **values: object) -> str:
        return _Telling(self._say, language, age_s).preface(key, **values)

    def notice(self, language: str, age_s: float) -> str:
        return self._say.say("tools.old", language, length=spoken_age(age_s, self._say, language))


def spoken_age(age_s: float, say: Catalogue, language: str) -> str:
    """Return an age in whole minutes, such as "4 minutes", or a phrase if it is less than one
    minute."""
    if age_s < 60:
        return say.say("house_state.short", language)
    return length_of(age_s // 60 * 60, say, language)


class _Telling:
    def __init__(self, say: Catalogue, language: str, age_s: float | None, what: str = "") -> None:
        self._catalogue = say
        self._language = language
        self._age_s = age_s
        self._what = what
        self._past = age_s != 0

    def live(self, found: Facts) -> str:
        alone = len(found.asked) == 1 and found.kind in ("any", "all") and not found.sensed
        if found.kind in ("one", "is") or alone:
            return self._of_one(found)
        told = found.yes or found.no or found.moving
        if found.mute and not told and found.wanted in LOCKING:
            return self._say("no_locks")
        if found.sensed:
            return self._of_sensors(found)
        return self._of_several(found)

    def lost(self, found: Facts) -> str:
        told = [*found.yes, *found.no, *found.moving, *found.ajar, *found.mute]
        if not told:
            return self.preface("lost_unknown")
        if found.kind in ("one", "is") or (len(found.asked) == 1 and not found.sensed):
            return self.preface("lost", fact=self._with_unknown(self._facts(told), found))
        fact = self._group_then(found)
        return self.preface("lost", fact=self._with_unknown(fact, found))

    def word(self, thing: Entity) -> str:
        return self._word(thing, plain_state(thing), 1, self._noun("", [thing]))

    def preface(self, key: str, **values: object) -> str:
        length = spoken_age(self._age_s or 0.0, self._catalogue, self._language)
        return self._say(key, length=length, **values)

    def _group_then(self, found: Facts) -> str:
        telling = (*found.yes, *found.moving)
        if found.kind == "all":
            telling = (*found.no, *found.moving)
        if telling and found.kind != "how_many":
            if found.sensed and found.kind != "all":
                return self._say("reported_then", names=self._names(telling))
            return self._facts(telling)
        if found.sensed and found.kind != "all":
            return self._say("quiet_then")
        if found.kind == "how_many":
            total, count = len(found.asked) - len(found.unknown), len(found.yes)
            state = self._word((found.yes or found.asked)[0], found.wanted, 1 if count == 1 else 2)
            key = "counted_then_one" if count == 1 else "counted_then_many"
            return self._say(key, count=count, total=total, state=state)
        if not (found.yes or found.no):
            return self._facts(found.mute)
        several = found.kind == "all"
        return self._say(
            "all_then" if several else "none_then",
            state=self._word(found.asked[0], found.wanted, 2 if several else 1),
        )

    def _of_one(self, found: Facts) -> str:
        if found.mute and not found.unknown:
            return self._say(
                "not_told",
                what=self._what or self._names(found.mute),
                state=self._word(None, found.wanted, 1),
                fact=self._facts(found.mute),
            )
        told = [*found.yes, *found.no, *found.moving]
        if not told:
            return self._say("not_known", other=self._unknown(found.unknown))
        fact = self._facts(told)
        if found.ajar:
            fact = self._say("but", fact=fact, other=self._facts(found.ajar, named=True))
        elif found.unknown:
            fact = self._with_unknown(fact, found)
        if found.kind == "one" or found.moving or (found.yes and found.no):
            return f"{fact}."
        return self._say("yes" if found.yes else "no", fact=fact)

    def _of_several(self, found: Facts) -> str:
        if found.kind == "how_many":
            return self._count(found)
        telling = (*found.yes, *found.moving) if found.kind != "all" else (*found.no, *found.moving)
        if telling:
            whole = not found.unknown and not found.moving
            if found.kind == "which" and whole and found.wanted:
                return capitalised(self._say_offline("which", names=self._names(telling)))
            fact = self._with_unknown(self._facts(telling), found)
            # While a door moves, it is neither open nor closed.
            if found.kind == "which" or not (found.no if found.kind == "all" else found.yes):
                return f"{fact}."
            return self._say("no" if found.kind == "all" else "yes", fact=fact)
        if not found.yes and not found.no:
            return self._say("not_known", other=self._unknown(found.unknown))
        several = found.kind == "all"
        state = self._word(found.asked[0], found.wanted, 2 if several else 1)
        if found.unknown:
            other = self._unknown(found.unknown)
            return self._say("all_seen" if several else "none_seen", state=state, other=other)
        return self._say("all" if several else "none", state=state)

    def _of_sensors(self, found: Facts) -> str:
        if found.kind == "all":  # "are all batteries fine?"
            return self._of_several(found)
        if found.yes:
            fact = self._names(found.yes)
            if found.kind != "which":
                fact = self._say("reports", names=fact)
            return f"{self._with_unknown(fact, found)}."
        if not found.unknown:
            return self._say("quiet")
        other = self._unknown(found.unknown)
        return self._say("quiet_seen" if found.no else "not_known", other=other)

    def _count(self, found: Facts) -> str:
        key = "count_one" if len(found.yes) == 1 else "count_many"
        count = len(found.yes)
        state = self._word(found.asked[0], found.wanted, count)
        text = capitalised(
            self._say_offline(key, count=counted(count) if count != 1 else _ONE, state=state)
        )
        telling = [self._facts(found.moving)] if found.moving else []
        if found.unknown:
            telling.append(self._unknown(found.unknown))
        for other in telling:
            text = f"{self._say('but', fact=text.rstrip('.'), other=other)}."
        return text

    def _with_unknown(self, fact: str, found: Facts) -> str:
        if not found.unknown:
            return fact
        return self._say("but", fact=fact, other=self._unknown(found.unknown))

    def _unknown(self, things: Sequence[Entity]) -> str:
        away = all(one.state == "unavailable" for one in things)
        names = self._what if self._what and len(things) == 1 else self._names(things)
        key = "unreachable" if away else "unreported"
        return self._say(f"{key}_then" if self._past else key, names=names)

    def _facts(self, things: Iterable[Entity], *, named: bool = False) -> str:
        by_state: dict[str, list[Entity]] = {}
        for one in things:
            by_state.setdefault(_full_state(one), []).append(one)
        alone = len(by_state) == 1 and not named
        told = [self._statement(some, alone=alone) for some in by_state.values()]
        return self._joined(told)

    def _statement(self, things: Sequence[Entity], *, alone: bool) -> str:
        one = self._what if alone and self._what else ""
        count = 1 if one else len(dict.fromkeys(thing.name for thing in things))
        if count == 1 and self._lowers and is_plural(one or things[0].name):
            count = 2  # "the kitchen lights are on"
        noun = self._noun(one, things)
        if noun is not None and noun.plural:
            count = 2  # "las luces están encendidas"
        state = plain_state(things[0])
        be = f"{'was' if self._past else 'is'}_{'one' if count == 1 else 'many'}"
        names, word = one or self._names(things), self._word(things[0], state, count, noun)
        if state in _WORDS or self._lowers or (noun and state in _PREDICATES):
            return self._say("statement", names=names, be=self._say(be), state=word)
        return self._say("other", names=names, state=word)  # these words don't agree with a noun

    def _noun(self, one: str, things: Iterable[Entity]) -> Noun | None:
        own = self._catalogue.own(self._language).partition("-")[0]
        every = {thing.name: thing.names for thing in things}.values()
        return noun_of_all([one] if one else [best_name(names, own) for names in every], own)

    def _word(self, entity: Entity | None, state: str, count: int, noun: Noun | None = None) -> str:
        """Return the word for a state, or a sensor's reading with its unit. Without a `noun`, the
        word is feminine, like the Spanish words for door, window and lamp."""
        if entity is not None:
            state = plain_state(entity, state)
        if state in _WORDS:
            own = self._catalogue.own(self._language).partition("-")[0]
            if state not in MOVING and (noun or self._what.startswith(_MASCULINE)):
                return agreeing(self._say_offline(f"state_{state}"), noun, own)
            return self._say(f"{state}_{'one' if count == 1 else 'many'}")
        if state in _PREDICATES:
            own = self._catalogue.own(self._language).partition("-")[0]
            word = self._say_offline(f"state_{state}")
            return agreeing(word, noun or Noun("feminine", plural=count > 1), own)
        if entity is not None and entity.domain == "binary_sensor":
            state = {"away": "not_home"}.get(state, state)
            if state in _SENSED:
                return self._say(_SENSED[state])
        elif state == "low":
            return self._say("state_low")
        if state in _OTHERS:
            return self._say_offline(f"state_{state}")
        if entity is None or entity.domain != "sensor":
            return state.replace("_", " ")
        return _reading(entity)

    def _names(self, things: Iterable[Entity]) -> str:
        names = [
            named_thing(names, self._catalogue, self._language)
            for names in {one.name: one.names for one in things}.values()
        ]
        return in_cases(names, self._listed)

    def _listed(self, names: Sequence[str]) -> str:
        if (rest := len(names) - _LISTED) > 0:
            return self._say("more", names=", ".join(names[:_LISTED]), count=rest)
        return self._joined(names)

    @property
    def _lowers(self) -> bool:
        return self._catalogue.own(self._language).partition("-")[0] == "en"

    def _joined(self, texts: Sequence[str]) -> str:
        if len(texts) < 2:
            return "".join(texts)
        return self._say("and", first=", ".join(texts[:-1]), last=texts[-1])

    def _say(self, key: str, **values: object) -> str:
        return self._catalogue.say(f"house_state.{key}", self._language, **values)

    def _say_offline(self, key: str, **values: object) -> str:
        return self._catalogue.say(f"offline.{key}", self._language, **values)


def _full_state(entity: Entity) -> str:
    unit = entity.attributes.get("unit_of_measurement")
    return f"{plain_state(entity)} {unit}" if unit else plain_state(entity)


def _reading(entity: Entity) -> str:
    shown = entity.state
    if entity.precision is not None:
        with suppress(ValueError):  # the state may be a word
            shown = f"{float(shown):.{entity.precision}f}"
    unit = entity.attributes.get("unit_of_measurement")
    return f"{shown} {unit}" if unit else shown


# Sensors of a room's temperature and humidity, and their readings.


# Devices that measure their own temperature, not the room's.
_DEVICES = frozenset({"camera", "light", "lock", "media_player", "switch", "vacuum"})


def room_sensors(house: House, area_id: str, device_class: str) -> list[Entity]:
    """Return the sensors for a room's temperature or humidity, the best one first.

    Sensors that don't measure the air, for example in a freezer, are left out, unless the area's
    settings in Home Assistant name them.
    """
    area = house.areas.get(area_id)
    if area is None:
        return []
    chosen = {"temperature": area.temperature_entity_id, "humidity": area.humidity_entity_id}
    first = house.entities.get(chosen.get(device_class) or "")
    there = [
        one
        for one in house.exposed()
        if one.area_id == area_id and one is not first and _measures_air(one, area, house)
    ]
    thermostats = [one for one in there if one.domain == "climate"]
    sensors = [one for one in there if one.domain == "sensor" and one.device_class == device_class]
    room = set(fold(area.name).split())
    # Prefers sensors with few words besides the room's name, such as "Kitchen temperature".
    sensors.sort(key=lambda one: len(set(fold(one.name).split()) - room))
    return [*([first] if first is not None else []), *thermostats, *sensors]


def reading(entity: Entity, device_class: str) -> float | None:
    """Return the temperature or humidity that a sensor or thermostat reports, or None."""
    if (entity.state in UNKNOWN and entity.domain != "climate") or entity.state == "unavailable":
        return None
    key = f"current_{device_class}"
    value = entity.attributes.get(key) if entity.domain == "climate" else entity.state
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _measures_air(entity: Entity, area: Area, house: House) -> bool:
    """Return False for sensors in a freezer, in water, outdoors, or inside a plug or lamp. Words in
    the room's own name don't count, because a sauna's sensor is named after the sauna."""
    room = area.name.casefold()
    names = [name.casefold().replace(room, " ") for name in entity.names]
    if mentions("not_room_air", *names):
        return False
    if mentions("outdoors", *names) and not mentions("outdoors", area.name):
        return False
    return entity.domain == "climate" or not any(
        one.device_id == entity.device_id and one.domain in _DEVICES
        for one in house.entities.values()
        if entity.device_id
    )
