"""Matching of entities by name, area and floor, with the filters of Home Assistant 2026.11 in its
order. The reported reason is the first filter that leaves no entity."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from integrations.demo_home.house import DemoHouse, Snapshot
from integrations.home_assistant.house import Area, Floor


class Reason(Enum):
    """The reason why nothing matched, as worded in Home Assistant 2026.11.0."""

    NAME = "No entities matched the name"
    AREA = "No entities were in the area"
    FLOOR = "No entities were on the floor"
    DOMAIN = "No entities matched the domain"
    DEVICE_CLASS = "No entities matched the device class"
    FEATURE = "No entities supported the required features"
    STATE = "No entities were in the required state"
    ASSISTANT = "No matching entities are exposed to the assistant"
    INVALID_AREA = "The area does not exist"
    INVALID_FLOOR = "The floor does not exist"
    DUPLICATE_NAME = "Multiple entities share the name"
    MULTIPLE_TARGETS = "Multiple entities matched, but a single target is required"


@dataclass(frozen=True, slots=True)
class Target:
    """The constraints on the entities of a call. None or empty means unconstrained."""

    name: str | None = None
    area: str | None = None
    floor: str | None = None
    domains: Collection[str] = ()
    device_classes: Collection[str] = ()
    features: int = 0
    states: Collection[str] = ()
    single: bool = False
    near_area: str | None = None  # id of the area preferred among equal names
    near_floor: str | None = None  # id of the floor preferred among equal names
    duplicates: bool = False  # True if several entities of the same name can match

    @property
    def empty(self) -> bool:
        asked = (self.name, self.area, self.floor, self.domains, self.device_classes)
        return not any((*asked, self.features, self.states))


@dataclass(frozen=True, slots=True)
class Match:
    states: tuple[Snapshot, ...]
    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()


class MatchError(Exception):
    """Nothing matched. `str(error)` is Home Assistant's error message."""

    def __init__(self, reason: Reason, target: Target) -> None:
        self.reason = reason
        texts = (("name", target.name), ("area", target.area), ("floor", target.floor))
        given = [f"{word} {text!r}" for word, text in texts if text]
        given += [
            f"{word} {', '.join(sorted(values))}"
            for word, values in (
                ("domains", target.domains),
                ("device classes", target.device_classes),
                ("states", target.states),
            )
            if values
        ]
        if target.features:
            given.append(f"features {target.features}")
        details = f" (given {', '.join(given)})" if given else ""
        super().__init__(f"{reason.value}{details}")


def same_name(one: str, other: str) -> bool:
    """Compare names, ignoring case and surrounding spaces."""
    return one.strip().casefold() == other.strip().casefold()


def find_areas(house: DemoHouse, name: str) -> tuple[Area, ...]:
    return tuple(
        area
        for area in house.areas.values()
        if area.area_id == name or any(same_name(name, n) for n in (area.name, *area.aliases))
    )


def find_floors(house: DemoHouse, name: str) -> tuple[Floor, ...]:
    return tuple(
        floor
        for floor in house.floors.values()
        if floor.floor_id == name or any(same_name(name, n) for n in (floor.name, *floor.aliases))
    )


def match(house: DemoHouse, target: Target, among: list[Snapshot] | None = None) -> Match:
    """Return the exposed entities that match `target`, among the given states or in the whole
    house. Raises MatchError."""

    def kept(
        states: list[Snapshot], keep: Callable[[Snapshot], bool], reason: Reason
    ) -> list[Snapshot]:
        left = [state for state in states if keep(state)]
        if not left:
            raise MatchError(reason, target)
        return left

    states = house.all() if among is None else among
    if target.domains:
        states = kept(states, lambda s: domain_of(s) in target.domains, Reason.DOMAIN)
    if target.states:
        states = kept(states, lambda s: s.state in target.states, Reason.STATE)
    name = target.name
    if name is not None:
        states = kept(states, lambda s: _has_name(house, s, name), Reason.NAME)
    if target.features:
        states = kept(states, lambda s: _has_features(s, target.features), Reason.FEATURE)
    if target.device_classes:
        classes = target.device_classes
        states = kept(
            states, lambda s: s.attributes.get("device_class") in classes, Reason.DEVICE_CLASS
        )
    areas, floors = _places(house, target)
    if floors:
        on_floor = {floor.floor_id for floor in floors}
        states = kept(states, lambda s: _floor_id(house, s) in on_floor, Reason.FLOOR)
    if areas:
        in_area = {area.area_id for area in areas}
        states = kept(states, lambda s: _area_id(house, s) in in_area, Reason.AREA)
    states = kept(states, lambda s: house.things[s.entity_id].exposed, Reason.ASSISTANT)
    if name is not None and not target.duplicates:
        states = _settle(house, states, target)
    if target.single and len(states) > 1:
        states = _single(house, states, target)
    return Match(tuple(states), areas, floors)


def _places(house: DemoHouse, target: Target) -> tuple[tuple[Area, ...], tuple[Floor, ...]]:
    floors = find_floors(house, target.floor) if target.floor else ()
    if target.floor and not floors:
        raise MatchError(Reason.INVALID_FLOOR, target)
    areas = find_areas(house, target.area) if target.area else ()
    if target.area and not areas:
        raise MatchError(Reason.INVALID_AREA, target)
    return areas, floors


def _settle(house: DemoHouse, states: list[Snapshot], target: Target) -> list[Snapshot]:
    for wanted, place in ((target.near_floor, _floor_id), (target.near_area, _area_id)):
        if len(states) > 1 and wanted:
            states = [state for state in states if place(house, state) == wanted]
    if len(states) > 1:
        raise MatchError(Reason.DUPLICATE_NAME, target)
    if not states:
        # None of them is in the preferred area or floor. Home Assistant reports "name" here too.
        raise MatchError(Reason.NAME, target)
    return states


def _single(house: DemoHouse, states: list[Snapshot], target: Target) -> list[Snapshot]:
    left = states
    if target.near_area:
        left = [state for state in states if _area_id(house, state) == target.near_area]
    if len(left) > 1 and target.near_floor:
        left = [state for state in states if _floor_id(house, state) == target.near_floor]
    if len(left) != 1:
        raise MatchError(Reason.MULTIPLE_TARGETS, target)
    return left


def domain_of(state: Snapshot) -> str:
    return state.entity_id.partition(".")[0]


def _has_name(house: DemoHouse, state: Snapshot, name: str) -> bool:
    names = house.things[state.entity_id].names
    return state.entity_id == name or any(same_name(name, known) for known in names)


def _has_features(state: Snapshot, features: int) -> bool:
    supported = state.attributes.get("supported_features", 0)
    return isinstance(supported, int) and supported & features == features


def _area_id(house: DemoHouse, state: Snapshot) -> str | None:
    return house.things[state.entity_id].area_id


def _floor_id(house: DemoHouse, state: Snapshot) -> str | None:
    area = house.area_of(state.entity_id)
    return area.floor_id if area is not None else None
