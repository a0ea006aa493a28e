"""Which of the things that a call touches can be put back, and which never."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from assistant.domain.outcome import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.verification import UNDER_WAY
from assistant.tools.house.intents import Action, Move
from assistant.tools.house.targets import domain_of, members
from assistant.tools.policy.risk import SECURE_RULES, weigh
from assistant.tools.undo.players import actions
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


# Is a thing as it was? Compared attribute by attribute, as exactly as devices keep them.


# What is compared beside the state, by domain. These are what Home Assistant's `reproduce_state`
# of 2026.11 brings back; of media players what `players` does.
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "climate": (
        *("temperature", "target_temp_high", "target_temp_low", "humidity"),
        *("fan_mode", "preset_mode", "swing_mode", "swing_horizontal_mode"),
    ),
    "cover": ("current_position", "current_tilt_position"),
    "fan": ("percentage", "preset_mode", "oscillating", "direction"),
    "humidifier": ("humidity", "mode"),
    "light": ("brightness", "effect"),
    "media_player": ("volume_level", "is_volume_muted", "source", "sound_mode"),
}
_COLOURS: Mapping[str, str] = {  # by `color_mode`
    "color_temp": "color_temp_kelvin",
    "hs": "hs_color",
    "rgb": "rgb_color",
    "rgbw": "rgbw_color",
    "rgbww": "rgbww_color",
    "xy": "xy_color",
}
# How far two numbers may be apart: devices round, and lamps count in mireds.
_TOLERANCE: Mapping[str, float] = {
    "brightness": 2.0,  # of 255
    "current_position": 1.0,  # percent
    "current_tilt_position": 1.0,
    "hs_color": 3.0,  # degrees and percent
    "humidity": 1.0,
    "rgb_color": 5.0,  # of 255
    "rgbw_color": 5.0,
    "rgbww_color": 5.0,
    "temperature": 0.26,
    "target_temp_high": 0.26,
    "target_temp_low": 0.26,
    "volume_level": 0.011,
    "xy_color": 0.01,
}
_KELVIN = 0.02  # of the value
_ON = ("playing", "buffering")  # one goes over into the other by itself
_AT_REST = {"opening": "open", "closing": "closed"}


def differences(was: Entity, now: Entity) -> tuple[str, ...]:
    """What is not as it was: "state" and names of attributes; empty where all is.

    What a thing that is off says beside that does not count, since it says nothing.
    """
    found = [] if _same_state(was, now) else ["state"]
    if was.state != "off":
        found += [name for name in _compared(was) if not _same(name, was, now)]
    return tuple(found)


def is_on_the_way(was: Entity, now: Entity | None) -> bool:
    """Whether it is still moving, so that nobody can say."""
    return now is not None and was.domain == "cover" and now.state in UNDER_WAY


def _compared(was: Entity) -> list[str]:
    names = list(_ATTRIBUTES.get(was.domain, ()))
    if was.domain == "light":
        names += filter(None, [_COLOURS.get(str(was.attributes.get("color_mode")))])
    return [name for name in names if was.attributes.get(name) is not None]


def _same_state(was: Entity, now: Entity) -> bool:
    if was.domain == "cover":
        # One that was moving is put where it was just then; half open is "open" as well.
        if was.attributes.get("current_position") is not None:
            return now.state not in UNDER_WAY
        return now.state == _AT_REST.get(was.state, was.state)
    if was.domain == "media_player" and was.state in _ON:
        return now.state in _ON
    if was.domain in ("input_number", "number"):
        return _number(was.state) == _number(now.state)
    return now.state == was.state


def _same(name: str, was: Entity, now: Entity) -> bool:
    before, after = was.attributes.get(name), now.attributes.get(name)
    if name == "percentage":
        step = was.attributes.get("percentage_step")
        return _near(before, after, max(1.0, step / 2 if isinstance(step, int | float) else 0.0))
    if name == "color_temp_kelvin":
        return _near(before, after, before * _KELVIN if isinstance(before, int | float) else 0.0)
    return _near(before, after, _TOLERANCE.get(name, 0.0))


def _near(before: Any, after: Any, tolerance: float) -> bool:
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(_near(a, b, tolerance) for a, b in pairs)
    if _is_number(before) and _is_number(after):
        return abs(float(before) - float(after)) <= tolerance
    return bool(before == after)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


# One thing that can be undone, and what came of undoing it.


_log = logging.getLogger(__name__)

# Why something is not as it was: keys of the catalogue.
WHY_NOT_REACHED = "undo.why_not_reached"  # it cannot be reached now
WHY_WAS_AWAY = "undo.why_was_away"  # it could not be reached, so that nobody knows how it was
WHY_NEVER = "undo.why_never"  # a lock, an opener, an alarm and the like
WHY_NOT_KEPT = "undo.why_not_kept"  # the home did not keep it in time
WHY_OPENER = "undo.why_opener"  # meanwhile it has become something that opens
WHY_MEDIA = "undo.why_media"  # another track or channel
WHY_OTHERWISE = "undo.why_otherwise"  # it was asked, and does not show it
WHY_UNKNOWN = "undo.why_unknown"  # nobody knows how


@dataclass(frozen=True, slots=True)
class NotPutBack:
    """One thing that is not as it was."""

    name: str  # as people say it; "" where it has none to tell
    why: str = WHY_OTHERWISE  # key of the catalogue


@dataclass(frozen=True, slots=True)
class UndoneReport:
    """What came of it, by the things' names as people say them ("" where it has none to tell)."""

    put_back: tuple[str, ...] = ()  # seen to be as before
    on_the_way: tuple[str, ...] = ()  # still moving there
    unchanged: tuple[str, ...] = ()  # were as before all the time
    not_put_back: tuple[NotPutBack, ...] = ()

    def __add__(self, other: "UndoneReport") -> "UndoneReport":
        return UndoneReport(
            self.put_back + other.put_back,
            self.on_the_way + other.on_the_way,
            self.unchanged + other.unchanged,
            self.not_put_back + other.not_put_back,
        )


class UndoStep(Protocol):
    """One thing that can be undone once, within `stack.LIFE_S`."""

    async def run(self) -> UndoneReport:
        """Put it back. What cannot be is told in the report."""
        ...

    async def forget(self) -> None:
        """It was run, or never will be: let go of what is kept for it. Called once."""
        ...


UNKNOWN = UndoneReport(not_put_back=(NotPutBack("", WHY_UNKNOWN),))


async def ran(step: UndoStep) -> UndoneReport:
    """Run a step and return its report. One that is broken must not cost the others: never raises
    but for being cancelled."""
    try:
        return await step.run()
    except Exception:
        _log.exception("A change could not be undone")
        return UNKNOWN


async def forgotten(step: UndoStep) -> None:
    """Let go of what is kept for a step. Never raises but for being cancelled."""
    try:
        await step.forget()
    except Exception:
        _log.exception("What was kept for a change could not be let go")


# What is said about undoing.


MAX_NAMED = 4  # things told one by one


def tell(report: UndoneReport, catalogue: Catalogue, language: str) -> str:
    """What was put back and what could not be, in whole sentences; "" for an empty report."""

    def some(key: str, names: Sequence[str], **values: str) -> str:
        told = [name for name in dict.fromkeys(names) if name]
        if not names:
            return ""
        if not told:
            return catalogue.say(f"{key}_it", language, **values)
        if len(told) > MAX_NAMED:
            return catalogue.say(f"{key}_many", language, count=len(told), **values)
        return catalogue.say(key, language, names=", ".join(told), **values)

    sentences = [some("undo.done", report.put_back), some("undo.moving", report.on_the_way)]
    if not any((report.put_back, report.on_the_way, report.not_put_back)):
        sentences.append(some("undo.unchanged", report.unchanged))
    left = sorted(report.not_put_back, key=lambda one: one.why)
    for why, ones in groupby(left, key=lambda one: one.why):
        names = [one.name for one in ones]
        sentences.append(some("undo.left", names, why=catalogue.say(why, language)))
    return " ".join(filter(None, sentences))
