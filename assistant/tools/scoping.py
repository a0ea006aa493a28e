"""A call that names no place: held against the words, and cut down to where they mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from assistant.tools.deciding import Case
from assistant.tools.heard import HeardWords, NamedPlace, Scope, Words, clauses, scope
from assistant.tools.kinds_heard import kinds_in
from assistant.tools.openers import is_opener
from assistant.tools.resolve import Reach, reach
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Area, Entity, House

# Kinds of which a house has few, so that one in another room may well be meant. A lamp elsewhere
# is not: "turn on the light" in a hall without one is no wish for the attic's.
_FEW = frozenset(
    {"climate", "fan", "humidifier", "lawn_mower", "lock", "vacuum", "valve", "water_heater"}
)
MOST_OFFERED = 5
_TOGETHER = timedelta(seconds=5)  # players that were paused by one sentence


@dataclass(frozen=True, slots=True)
class Scoped:
    """The call as far as the words mean it."""

    arguments: Mapping[str, Any]
    seen: Reach
    narrowed: bool = False
    several: bool = False  # in more places than the arguments can say
    denial: str = ""  # the rule by which it cannot be
    place: str = ""  # where nothing of it is
    offered: tuple[str, ...] = ()  # names of what there is elsewhere


def bounded(
    case: Case, arguments: Mapping[str, Any], seen: Reach, heard: HeardWords, own: Area | None
) -> Scoped:
    """The call, bounded by what was said."""
    words, house = heard.wanted, case.house
    judged = (*seen.touched, *seen.candidates)
    if words.lacking and case.live:
        called = [name for name in judged if is_of_room(house.entities[name], words.lacking)]
        if not called:
            return Scoped(arguments, seen, denial="which_room")
        cut = _kept(seen, called)
        return Scoped(arguments, cut, True, several=len(called) < len(judged))
    if case.live and len(judged) < 2:
        return Scoped(arguments, seen)
    where = scope(words, own)
    if where is None:
        return Scoped(arguments, seen, denial="which_room")
    scoped = _within(case, arguments, seen, where)
    if not scoped.denial or not words.everywhere:
        return scoped
    # "Turn off all the fans, and the lights in here": the room is said of the lights alone.
    if _is_everywhere(case, judged):
        return Scoped(arguments, seen)
    return scoped


def widened(case: Case, arguments: Mapping[str, Any], heard: HeardWords) -> Mapping[str, Any]:
    """The call without its room or floor, where the words say all of its kind and no place: "turn
    off all the lights" is no wish for one room's, which a model would tell as all."""
    rest = {key: value for key, value in arguments.items() if key not in ("area", "floor")}
    kind = arguments.get("domain") or arguments.get("device_class")
    if len(rest) == len(arguments) or not kind or heard.left is not None or heard.in_part:
        return arguments
    if not heard.wanted.everywhere:
        return arguments
    there = reach(case.intent, arguments, case.house)
    said = _is_everywhere(case, (*there.touched, *there.candidates))
    return rest if said else arguments


def resumed(
    house: House, arguments: Mapping[str, Any], heard: HeardWords | None, own: Area | None
) -> list[str]:
    """The players that were paused last, of this room if there are some here.

    Empty: the call or the words say where, or nothing is paused.
    """
    words = heard.wanted if heard is not None else Words("")
    if arguments.get("name") or arguments.get("floor") or words.places or words.everywhere:
        return []
    if (area := arguments.get("area")) and (own is None or area not in (own.name, own.area_id)):
        return []
    paused = [
        one for one in house.exposed() if one.domain == "media_player" and one.state == "paused"
    ]
    here = [one for one in paused if own is not None and one.area_id == own.area_id]
    last = max(here or paused, key=_when, default=None)
    if last is None or (area and not here and heard is None):
        return []
    together = [one for one in here if heard and _when(last) - _when(one) <= _TOGETHER]
    return [one.entity_id for one in together or [last]]


def _within(case: Case, arguments: Mapping[str, Any], seen: Reach, where: Scope) -> Scoped:
    """What of it is in these places."""
    house, places = case.house, where.places
    if not places:
        return Scoped(arguments, seen)
    if len(places) == 1:
        place = places[0]
        placed = {**arguments, place.kind: place.found.name}
        there = reach(case.intent, placed, house)
        if there.touched or there.candidates or not case.live:
            return Scoped(placed, there, True)
        offered = _offered(seen, house)
        return Scoped(placed, there, True, False, "none_here", place.found.name, offered)
    if not case.live:
        return Scoped(arguments, seen, denial="which_room")
    judged = (*seen.touched, *seen.candidates)
    there = _kept(seen, [name for name in judged if is_in(house.entities[name], places, house)])
    if there.touched or there.candidates:
        return Scoped(arguments, there, True, several=True)
    return Scoped(arguments, there, True, False, "none_here", places[0].found.name)


def _is_everywhere(case: Case, judged: Sequence[str]) -> bool:
    """Whether the part of the words that names this kind says "all", and no place."""
    things = [case.house.entities[name] for name in judged]
    for part in clauses(case.house, case.heard or ""):
        kinds = kinds_in(part.text)
        if any(kind.holds(one) for kind in kinds for one in things):
            return part.everywhere and not (part.places or part.here or part.lacking)
    return False


def _offered(seen: Reach, house: House) -> tuple[str, ...]:
    """What is elsewhere, where so few are that one of them may be meant."""
    things = [house.entities[name] for name in (*seen.touched, *seen.candidates)]
    if not all(one.domain in _FEW or (one.domain == "cover" and is_opener(one)) for one in things):
        return ()
    return tuple(dict.fromkeys(one.name for one in things))[:MOST_OFFERED]


def is_of_room(entity: Entity, topics: Sequence[str]) -> bool:
    """Whether the thing is called by such a room, as a lamp without an area may be."""
    return any(mentions(topic, entity.device_class or "", *entity.names) for topic in topics)


def is_in(entity: Entity, places: Sequence[NamedPlace], house: House) -> bool:
    return any(place.holds(entity, house) for place in places)


def _kept(seen: Reach, names: Sequence[str]) -> Reach:
    kept = frozenset(names)
    return replace(
        seen,
        touched=tuple(name for name in seen.touched if name in kept),
        candidates=tuple(name for name in seen.candidates if name in kept),
    )


def _when(entity: Entity) -> datetime:
    """When its state changed last; long ago where Home Assistant does not tell."""
    try:
        return datetime.fromisoformat(entity.last_changed)
    except ValueError:
        return datetime.fromisoformat("1970-01-01T00:00:00+00:00")


# An entity's state in short words, as the journal and the model see it.


UNKNOWN = frozenset({"unavailable", "unknown"})
# What a binary sensor of this device class says (`components/binary_sensor`, its states' names).
_OPEN, _SENSED = ("open", "closed"), ("detected", "clear")
ON_AND_OFF = {
    **dict.fromkeys(("door", "garage_door", "opening", "window"), _OPEN),
    **dict.fromkeys(("motion", "occupancy", "smoke", "gas", "carbon_monoxide", "sound"), _SENSED),
    "lock": ("unlocked", "locked"),
    "moisture": ("wet", "dry"),
    "presence": ("home", "away"),
    "battery": ("low", "normal"),
}


def plain_state(entity: Entity, state: str | None = None) -> str:
    """The state as people say it, that of the entity or another one of its kind: the "on" of a
    contact is "open"."""
    state = entity.state if state is None else state
    if entity.domain != "binary_sensor" or state not in ("on", "off"):
        return state
    on, off = ON_AND_OFF.get(entity.device_class or "", ("on", "off"))
    return on if state == "on" else off


def short_state(entity: Entity) -> str:
    """The state and the one attribute that people mean: "on 30 %", "heat 21 °C", "open 20 %"."""
    state, attributes = entity.state, entity.attributes
    if state in UNKNOWN:
        return state
    detail = ""
    if entity.domain == "light" and state == "on":
        detail = _percent(brightness_percent(entity))
    elif entity.domain in ("climate", "water_heater"):
        detail = _degrees(entity)
    elif entity.domain in ("cover", "valve") and attributes.get("current_position") not in (0, 100):
        detail = _percent(attributes.get("current_position"))
    elif entity.domain == "fan" and state == "on":
        detail = _percent(attributes.get("percentage"))
    elif entity.domain == "media_player":
        volume = attributes.get("volume_level")
        detail = _percent(round(volume * 100) if isinstance(volume, int | float) else None)
        if attributes.get("is_volume_muted"):
            detail = "muted"
    elif entity.domain == "humidifier":
        detail = _percent(attributes.get("humidity"))
    elif entity.domain == "sensor":
        detail = str(attributes.get("unit_of_measurement") or "")
    return f"{state} {detail}".strip()


def brightness_percent(entity: Entity) -> int | None:
    """A light's brightness in percent; Home Assistant keeps 0 to 255."""
    brightness = entity.attributes.get("brightness")
    return round(brightness * 100 / 255) if isinstance(brightness, int | float) else None


def _percent(value: Any) -> str:
    return f"{round(value)} %" if isinstance(value, int | float) else ""


def _degrees(entity: Entity) -> str:
    """The target temperature; a thermostat that goes above 45 counts in Fahrenheit."""
    value, highest = entity.attributes.get("temperature"), entity.attributes.get("max_temp")
    if not isinstance(value, int | float):
        return ""
    fahrenheit = isinstance(highest, int | float) and highest > 45 and entity.domain == "climate"
    return f"{value:g} °{'F' if fahrenheit else 'C'}"
