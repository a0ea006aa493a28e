"""Which of the things that a call touches can be put back, and which never."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from assistant.domain.outcome import Tier
from assistant.tools.intents import Action, Move
from assistant.tools.resolve import domain_of, members
from assistant.tools.undo.players import actions
from assistant.tools.weighing import SECURE_RULES, weigh
from integrations.home_assistant.house import Entity, House

Tiers = Mapping[str, Tier]  # the owner's ratings by entity id
AskTiers = Callable[[], Tiers]  # as they are now
PLAYERS = "media_player"
# Home Assistant brings these back from a scene; each of these domains has a `reproduce_state`.
_BY_SCENE = frozenset(
    {
        *("climate", "cover", "fan", "humidifier", "input_boolean", "input_number"),
        *("input_select", "light", "number", "select", "switch"),
    }
)
# What a person would miss when it is not put back. Domains that only tell something are not here.
_NEVER = frozenset(
    {
        *("alarm_control_panel", "automation", "button", "camera", "cover", "input_button"),
        *("lawn_mower", "lock", "remote", "scene", "script", "siren", "todo", "update", "vacuum"),
        *("valve", "water_heater"),
    }
)
_CARRIERS = frozenset({"automation", "group", "scene", "script"})  # they act through others
_AWAY = ("unavailable", "unknown")


@dataclass(frozen=True, slots=True)
class ReversibleThings:
    """The things of one call, by entity id, each once."""

    by_scene: tuple[str, ...] = ()
    players: tuple[str, ...] = ()  # by their own actions: a scene would begin the music anew
    away: tuple[str, ...] = ()  # reversible, but nobody knows how they are now
    never: tuple[str, ...] = ()

    @property
    def all(self) -> frozenset[str]:
        """Every one of them."""
        return frozenset((*self.by_scene, *self.players, *self.away, *self.never))

    def without(self, known: Collection[str]) -> "ReversibleThings":
        """Those that are not among `known`."""

        def kept(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if name not in known)

        return ReversibleThings(
            kept(self.by_scene), kept(self.players), kept(self.away), kept(self.never)
        )


def choose(entity_ids: Iterable[str], house: House, tiers: Tiers) -> ReversibleThings:
    """Sort what a call touches; in the place of groups, scenes and scripts stand their members."""
    found: dict[str, list[str]] = {"scene": [], "player": [], "away": [], "never": []}
    for entity_id in _leaves(entity_ids, house):
        kind = _kind(entity_id, house, tiers)
        if kind:
            found[kind].append(entity_id)
    return ReversibleThings(*(tuple(found[kind]) for kind in ("scene", "player", "away", "never")))


def is_reversible(entity: Entity, house: House, tiers: Tiers) -> bool:
    """Return whether putting it back cannot unlock, open, disarm or set off anything, by what it is
    and by its owner's rating: the policy says so, as of a call."""
    if entity.domain not in _BY_SCENE:
        return entity.domain == PLAYERS
    stake = weigh(entity.entity_id, Action.TOGGLE, {}, house, tiers)
    return stake.rule not in SECURE_RULES


def way_back(was: Entity, now: Entity) -> tuple[Move, ...]:
    """Bringing it from `now` to what it `was`, as calls that the policy knows how to judge."""
    name = was.entity_id
    match was.domain:
        case "media_player":
            ways = {"turn_on": Action.ON, "turn_off": Action.OFF}
            return tuple(
                Move(name, ways.get(service, Action.SET), dict(data))
                for service, data in actions(was, now)
            )
        case "cover":
            position = was.attributes.get("current_position")
            if position is not None:
                return (Move(name, Action.POSITION, {"position": position}),)
            opens = was.state in ("open", "opening")
            return (Move(name, Action.ON if opens else Action.OFF),)
        case "climate":
            return _thermostat(was, now)
    if was.state == "off":
        return (Move(name, Action.OFF),)
    if was.state == "on" and now.state != "on":
        return (Move(name, Action.ON),)
    return (Move(name, Action.SET),)


def _thermostat(was: Entity, now: Entity) -> tuple[Move, ...]:
    """One that is turned on again heats as it did: that is to set its degrees."""
    name = was.entity_id
    if was.state == "off":
        return (Move(name, Action.OFF),)
    degrees = was.attributes.get("temperature") or was.attributes.get("target_temp_low")
    given = {"temperature": degrees} if degrees is not None else {}
    turned = (Move(name, Action.ON),) if now.state == "off" or is_away(now) else ()
    return (*turned, Move(name, Action.SET, given, state=was.state))


def is_away(entity: Entity | None) -> bool:
    """Whether nobody knows how it is."""
    return entity is None or entity.state in _AWAY


def _kind(entity_id: str, house: House, tiers: Tiers) -> str:
    entity = house.entities.get(entity_id)
    if entity is None:
        return ""
    if not is_reversible(entity, house, tiers):
        return "never" if entity.domain in _NEVER | _BY_SCENE else ""
    if is_away(entity):
        return "away"
    return "player" if entity.domain == PLAYERS else "scene"


def _leaves(entity_ids: Iterable[str], house: House) -> Iterator[str]:
    """The things themselves. A group that were put back beside its members would undo them."""
    seen: set[str] = set()
    waiting = list(reversed(list(entity_ids)))
    while waiting:
        entity_id = waiting.pop()
        if entity_id in seen:
            continue
        seen.add(entity_id)
        inside = members(entity_id, house) if _acts_through_others(entity_id, house) else []
        if inside:
            waiting += reversed(inside)
        else:
            yield entity_id


def _acts_through_others(entity_id: str, house: House) -> bool:
    """A carrier, or a light, cover and so on that is a group of such."""
    own = domain_of(entity_id)
    inside = members(entity_id, house)
    return own in _CARRIERS or any(member in house.entities for member in inside)
