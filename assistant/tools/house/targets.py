"""The entities that a call would reach, matched as in Home Assistant 2026.11.

Source: `helpers/intent.py`, `async_match_targets`, and the handlers of `components/*/intent.py`.
The filters run in Home Assistant's order, because Home Assistant reports the first filter that
leaves no entities.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from assistant.tools.house.intents import NEEDS, SERVED, Action, Intent
from integrations.home_assistant.house import Area, Entity, Floor, House

WILDCARD = "all"
KEPT_NAMES = 32_768  # cached forms for comparison; enough for 5,000 entities with two names each


class Miss(StrEnum):
    """The reason why a call would reach nothing."""

    NONE = ""
    ARGUMENTS = "arguments"  # a domain, class or name that the tool rejects
    EVERYTHING = "everything"  # nothing is selected, which Home Assistant rejects
    DOMAIN = "domain"
    STATE = "state"
    NAME = "name"
    FEATURE = "feature"
    DEVICE_CLASS = "device_class"
    NO_FLOOR = "no_floor"  # no floor has that name
    FLOOR = "floor"  # no matching entity is on the floor
    NO_AREA = "no_area"
    AREA = "area"
    NOT_EXPOSED = "not_exposed"
    SEVERAL = "several"  # several entities share the name, or only one may match
    UNSUPPORTED = "unsupported"  # entities match, but none of them can do this


@dataclass(frozen=True, slots=True)
class Reach:
    """The ids of the entities that a call would reach, in the house's order."""

    touched: tuple[str, ...] = ()  # exactly the entities that Home Assistant would act on
    # Exposed entities in doubt, which the call would not reach: they share the name, have a name
    # that looks the same, or probably can't do it.
    candidates: tuple[str, ...] = ()
    reason: Miss = Miss.NONE


@dataclass(frozen=True, slots=True)
class Selection:
    """The arguments that select entities, as Home Assistant interprets them."""

    name: str | None = None
    area: str | None = None
    floor: str | None = None
    domains: frozenset[str] | None = None
    classes: frozenset[str] = frozenset()
    valid: bool = True

    @property
    def everything(self) -> bool:
        return not (self.name or self.area or self.floor or self.domains or self.classes)


def reach(
    intent: Intent, arguments: Mapping[str, Any], house: House, device_area: str | None = None
) -> Reach:
    """Return the entities that a call would reach. `device_area` is the area id of the device that
    the person is talking to."""
    chosen = selection(intent, arguments)
    if not chosen.valid:
        return Reach(reason=Miss.ARGUMENTS)
    if chosen.everything and not (intent.features or intent.states or intent.single):
        return Reach((), _ids(house.exposed()), Miss.EVERYTHING)
    near = house.areas.get(device_area or "")
    if intent.action is Action.START and not intent.places:  # cleaning: the area is what to clean
        rooms = find_areas(house, str(arguments.get("area") or ""))
        if not rooms:
            return Reach(reason=Miss.NO_AREA)
        near = rooms[0]
    found, reason = matches(intent, chosen, house)
    alike = _alike(intent, chosen, house)
    if reason is Miss.NONE and chosen.name:
        settled = _settled(found, house, near)
        if len(settled) != 1:
            return Reach((), _ids(found, alike), Miss.SEVERAL)
        alike = [*found, *alike]
        found = settled
    if reason is Miss.NONE and intent.single and len(found) > 1:
        here = [one for one in found if near is not None and one.area_id == near.area_id]
        if len(here) != 1:
            return Reach((), _ids(found), Miss.SEVERAL)
        found, alike = here, [*found, *alike]
    if reason is Miss.NONE and intent.many_states and len(found) > 1:
        found = [one for one in found if one.state in intent.many_states]
        reason = Miss.NONE if found else Miss.STATE
    if reason is not Miss.NONE:
        return Reach((), _ids(alike), reason)
    return _acted_on(intent, chosen, found, alike)


def matches(intent: Intent, chosen: Selection, house: House) -> tuple[list[Entity], Miss]:
    """Return the exposed entities that pass all filters, or [] and the filter that left no
    entities."""
    areas = {area.area_id for area in find_areas(house, chosen.area or "")}
    floors = {floor.floor_id for floor in find_floors(house, chosen.floor or "")}
    on_floor = {area.area_id for area in house.areas.values() if area.floor_id in floors}
    steps: list[tuple[Miss, bool, Callable[[Entity], bool]]] = [
        (Miss.DOMAIN, chosen.domains is not None, lambda one: one.domain in (chosen.domains or ())),
        (Miss.STATE, bool(intent.states), lambda one: one.state in intent.states),
        (Miss.NAME, bool(chosen.name), lambda one: is_called(one, chosen.name or "")),
        (Miss.FEATURE, bool(intent.features), lambda one: has_features(one, intent.features)),
        (Miss.DEVICE_CLASS, bool(chosen.classes), lambda one: one.device_class in chosen.classes),
        (Miss.NO_FLOOR, bool(chosen.floor), lambda one: bool(floors)),
        (Miss.FLOOR, bool(chosen.floor), lambda one: one.area_id in on_floor),
        (Miss.NO_AREA, bool(chosen.area), lambda one: bool(areas)),
        (Miss.AREA, bool(chosen.area), lambda one: one.area_id in areas),
        (Miss.NOT_EXPOSED, True, lambda one: one.exposed),
    ]
    found = list(house.entities.values())
    for miss, asked, passes in steps:
        if asked:
            found = [one for one in found if passes(one)]
            if not found:
                return [], miss
    return found, Miss.NONE


def selection(intent: Intent, arguments: Mapping[str, Any]) -> Selection:
    """Read the arguments that select entities as Home Assistant does, ignoring null and blank
    values."""
    given = {key: value for key, value in arguments.items() if not _is_blank(value)}
    texts: dict[str, str | None] = dict.fromkeys(("name", "area", "floor"))
    for key in texts if intent.places else ("name",):
        value = given.get(key)
        if isinstance(value, list | dict):
            return Selection(valid=False)
        texts[key] = None if value is None else str(value)
    domains = intent.domains
    classes: frozenset[str] = frozenset()
    if intent.selective:
        if texts["name"] == WILDCARD:
            texts["name"] = None
        if "domain" in given:
            domains = _listed(given["domain"])
            if intent.domains is not None and not domains <= intent.domains:
                return Selection(valid=False)
        if "device_class" in given:
            classes = _listed(given["device_class"])
            if intent.classes and not classes <= intent.classes:
                return Selection(valid=False)
    return Selection(texts["name"], texts["area"], texts["floor"], domains, classes)


def has_features(entity: Entity, bits: int) -> bool:
    """Return True if the entity has all these features, or doesn't report its features."""
    return entity.features & bits == bits or "supported_features" not in entity.attributes


def is_wildcard(name: str) -> bool:
    """Return True for "all", which is a wildcard even if an entity has that name."""
    return name.strip() == WILDCARD


def is_called(entity: Entity, name: str) -> bool:
    """Return True if `name` is the entity's id or one of its names."""
    return entity.entity_id == name or same(name, entity.names)


def find_area(house: House, name: str) -> Area | None:
    return next(iter(find_areas(house, name)), None)


def find_areas(house: House, name: str) -> list[Area]:
    """Return all areas with this name, alias or id. Several areas can share an alias."""
    return [
        area
        for area in house.areas.values()
        if area.area_id == name or same(name, (area.name, *area.aliases))
    ]


def find_floors(house: House, name: str) -> list[Floor]:
    return [
        floor
        for floor in house.floors.values()
        if floor.floor_id == name or same(name, (floor.name, *floor.aliases))
    ]


def same(name: str, names: Iterable[str]) -> bool:
    """Return True if the name equals one of `names`, ignoring case and surrounding spaces."""
    wanted = name.strip().casefold()
    return any(wanted == other.strip().casefold() for other in names)


@lru_cache(KEPT_NAMES)
def visible(name: str) -> str:
    """Return a key for comparing names that ignores case, Unicode forms and invisible
    characters."""
    plain = unicodedata.normalize("NFKC", name)
    shown = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cf", "Cc", "Mn"))
    return " ".join(shown.split()).casefold()


def consequences(
    entity_ids: Iterable[str], action: Action, house: House
) -> list[tuple[str, Action]]:
    """Return every entity that is switched, with the direction of its change.

    Members of groups are switched in the same direction, and entities in a scene, script or
    automation in the configured direction, or TOGGLE if that is unknown.
    """
    reached: dict[tuple[str, Action], None] = {}
    level = [(entity_id, action) for entity_id in entity_ids]
    while level:
        fresh = list(dict.fromkeys(one for one in level if one not in reached))
        reached |= dict.fromkeys(fresh)
        level = [
            (member, _way_of(member, entity_id, way, house))
            for entity_id, way in fresh
            if not (way is Action.OFF and domain_of(entity_id) in NEVER_OFF)
            for member in members(entity_id, house)
        ]
    return list(reached)


def without_plans(entity_ids: Iterable[str], house: House) -> set[str]:
    """Return the entities and the members of groups, but not the entities in scenes or scripts."""
    reached: set[str] = set()
    level = list(entity_ids)
    while level:
        fresh = [name for name in level if name not in reached]
        reached.update(fresh)
        level = [
            member
            for name in fresh
            if domain_of(name) not in UNTOLD
            for member in members(name, house)
        ]
    return reached


NEVER_OFF = frozenset({"button", "input_button", "scene"})  # Home Assistant cannot undo these
# Domains whose absence from a room has its own sentence, such as `policy.none_here_light`.
NAMED_KINDS = frozenset({"climate", "cover", "fan", "light", "lock", "media_player", "switch"})
# Domains whose effect does not follow from switching them on or off.
UNTOLD = frozenset({"automation", "button", "input_button", "scene", "script"})
_WAYS = {"on": Action.ON, "off": Action.OFF, "either": Action.TOGGLE}


def members(entity_id: str, house: House) -> list[str]:
    """Return a group's or scene's members, or the entities that a script can act on."""
    partly = sorted(house.partly.get(entity_id, ()))
    return list(dict.fromkeys((*all_members(entity_id, house), *partly)))


def all_members(entity_id: str, house: House) -> list[str]:
    """Return the members if all of them are known, otherwise []."""
    entity = house.entities.get(entity_id)
    held = entity.attributes.get("entity_id") if entity is not None else None
    listed_ids = held if isinstance(held, list | tuple) else ()
    told = [item for item in listed_ids if isinstance(item, str)]
    return list(dict.fromkeys((*told, *sorted(house.touches.get(entity_id, ())))))


def _way_of(member: str, entity_id: str, way: Action, house: House) -> Action:
    if domain_of(entity_id) not in UNTOLD:
        return way
    return _WAYS[house.ways.get(entity_id, {}).get(member, "either")]


def domain_of(entity_id: str) -> str:
    return entity_id.partition(".")[0]


def listed(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, str) and item]


def _acted_on(intent: Intent, chosen: Selection, found: list[Entity], alike: list[Entity]) -> Reach:
    if intent.only and any(one.domain not in intent.only for one in found):
        # Home Assistant rejects the whole call if one entity is of another domain.
        kept = [one for one in found if one.domain in intent.only]
        return Reach((), _ids(kept, alike), Miss.UNSUPPORTED)
    able = _ids(one for one in found if can(one, intent.action))
    doubtful = [
        one for one in found if chosen.name or one.domain not in _KNOWN or one.domain == "lock"
    ]
    unsure = [name for name in _ids(doubtful, alike) if name not in able]
    return Reach(able, tuple(unsure), Miss.NONE if able else Miss.UNSUPPORTED)


# Domains that no switching tool acts on, so they don't put a call in doubt.
_KNOWN = SERVED[Action.ON] | {
    *("ai_task", "air_quality", "alarm_control_panel", "assist_satellite", "binary_sensor"),
    *("calendar", "conversation", "counter", "date", "datetime", "device_tracker", "event"),
    *("geo_location", "group", "image", "image_processing", "infrared", "input_datetime"),
    *("input_number", "input_select", "input_text", "lawn_mower", "notify", "number", "person"),
    *("plant", "proximity", "schedule", "select", "sensor", "stt", "sun", "tag", "text", "time"),
    *("timer", "todo", "tts", "update", "vacuum", "wake_word", "weather", "zone"),
}


def can(entity: Entity, action: Action) -> bool:
    """Return True if the action's service accepts the entity."""
    served = SERVED.get(action)
    if served is not None and entity.domain not in served:
        return False
    return has_features(entity, NEEDS.get(entity.domain, {}).get(action, 0))


def _settled(found: list[Entity], house: House, near: Area | None) -> list[Entity]:
    if len(found) < 2 or near is None:
        return found
    if near.floor_id is not None:
        found = [
            one
            for one in found
            if (own := house.areas.get(one.area_id or "")) and own.floor_id == near.floor_id
        ]
    if len(found) < 2:
        return found
    return [one for one in found if one.area_id == near.area_id]


def _alike(intent: Intent, chosen: Selection, house: House) -> list[Entity]:
    if not chosen.name:
        return []
    wanted = visible(chosen.name)
    return [
        one
        for one in house.exposed()
        # Checked first, because it excludes almost everything.
        if any(visible(name) == wanted for name in one.names)
        and (chosen.domains is None or one.domain in chosen.domains)
        and not is_called(one, chosen.name)
    ]


def _ids(*groups: Iterable[Entity]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.entity_id for group in groups for one in group))


def _listed(value: Any) -> frozenset[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return frozenset(str(item) for item in values)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
