"""Rules for undo: what can be restored, how to restore it, and whether that succeeded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.domain.tool_call import Tier
from assistant.tools.execution.verification import UNDER_WAY
from assistant.tools.house.intents import Action, Move
from assistant.tools.house.targets import domain_of, has_features, members
from assistant.tools.policy.risk import SECURE_RULES, weigh
from integrations.home_assistant.house import Entity, House

# Restoring media players. Home Assistant's scenes (2026.11,
# `components/media_player/reproduce_state.py`) would always restart playback, so undoing
# "louder" would start the song again. A previous track or channel isn't restored.


PlayerAction = tuple[str, Mapping[str, Any]]  # action of the domain media_player, and its data

# Bits of `supported_features` (2026.11, `components/media_player/const.py`).
_PAUSE, _VOLUME_SET, _VOLUME_MUTE = 1, 4, 8
_TURN_ON, _TURN_OFF, _SELECT_SOURCE, _STOP = 128, 256, 2048, 4096
_PLAY, _SELECT_SOUND_MODE = 16384, 65536
_OFF = ("off", "standby")
_PLAYING = ("playing", "buffering")
# Attribute, feature and action. The order matters, because a source can have its own volume.
_SETTINGS = (
    ("source", _SELECT_SOURCE, "select_source"),
    ("sound_mode", _SELECT_SOUND_MODE, "select_sound_mode"),
    ("volume_level", _VOLUME_SET, "volume_set"),
    ("is_volume_muted", _VOLUME_MUTE, "volume_mute"),
)


def actions(was: Entity, now: Entity) -> list[PlayerAction]:
    """Return the actions that bring a media player from state `now` back to `was`, in order."""
    if was.state in _OFF:
        turns = now.state not in _OFF and has_features(now, _TURN_OFF)
        return [("turn_off", {})] if turns else []
    asked: list[PlayerAction] = []
    if now.state in _OFF and has_features(now, _TURN_ON):
        asked.append(("turn_on", {}))
    for name, feature, action in _SETTINGS:
        value = was.attributes.get(name)
        # A player that is off doesn't report the attribute, and may support it only when on.
        differs = value is not None and value != now.attributes.get(name)
        if differs and has_features(was, feature):
            asked.append((action, {name: value}))
    return asked + _playing(was, now)


def _playing(was: Entity, now: Entity) -> list[PlayerAction]:
    if was.state in _PLAYING:
        plays = now.state not in _PLAYING and has_features(was, _PLAY)
        return [("media_play", {})] if plays else []
    # A player that is turned on again may resume by itself.
    begins = now.state in (*_PLAYING, *_OFF)
    if was.state == "paused" and begins and has_features(was, _PAUSE):
        return [("media_pause", {})]
    if was.state == "idle" and now.state in _PLAYING and has_features(was, _STOP):
        return [("media_stop", {})]
    return []


Tiers = Mapping[str, Tier]  # the owner's ratings, by entity id
AskTiers = Callable[[], Tiers]  # returns the current ratings
PLAYERS = "media_player"
# Domains that a Home Assistant scene restores; each has a `reproduce_state`.
_BY_SCENE = frozenset(
    {
        *("climate", "cover", "fan", "humidifier", "input_boolean", "input_number"),
        *("input_select", "light", "number", "select", "switch"),
    }
)
# Domains in which a person would notice a change that isn't undone. Sensors aren't included.
_NEVER = frozenset(
    {
        *("alarm_control_panel", "automation", "button", "camera", "cover", "input_button"),
        *("lawn_mower", "lock", "remote", "scene", "script", "siren", "todo", "update", "vacuum"),
        *("valve", "water_heater"),
    }
)
_CARRIERS = frozenset({"automation", "group", "scene", "script"})  # they act through other entities
_AWAY = ("unavailable", "unknown")


@dataclass(frozen=True, slots=True)
class ReversibleThings:
    by_scene: tuple[str, ...] = ()
    # Restored by their own actions, because a scene would restart the music.
    players: tuple[str, ...] = ()
    away: tuple[str, ...] = ()  # reversible, but in an unknown state
    never: tuple[str, ...] = ()

    @property
    def all(self) -> frozenset[str]:
        return frozenset((*self.by_scene, *self.players, *self.away, *self.never))

    def without(self, known: Collection[str]) -> "ReversibleThings":
        def kept(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if name not in known)

        return ReversibleThings(
            kept(self.by_scene), kept(self.players), kept(self.away), kept(self.never)
        )


def choose(entity_ids: Iterable[str], house: House, tiers: Tiers) -> ReversibleThings:
    """Sort the entities that a call affects by how they can be restored. Groups, scenes and scripts
    are replaced by their members."""
    found: dict[str, list[str]] = {"scene": [], "player": [], "away": [], "never": []}
    for entity_id in _leaves(entity_ids, house):
        kind = _kind(entity_id, house, tiers)
        if kind:
            found[kind].append(entity_id)
    return ReversibleThings(*(tuple(found[kind]) for kind in ("scene", "player", "away", "never")))


def is_reversible(entity: Entity, house: House, tiers: Tiers) -> bool:
    """Return True if restoring the entity can't unlock, open, disarm or trigger anything."""
    if entity.domain not in _BY_SCENE:
        return entity.domain == PLAYERS
    stake = weigh(entity.entity_id, Action.TOGGLE, {}, house, tiers)
    return stake.rule not in SECURE_RULES


def way_back(was: Entity, now: Entity) -> tuple[Move, ...]:
    """Return the moves that bring an entity from state `now` back to `was`, for the policy to
    judge."""
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
    """Return the moves for a thermostat. One that is turned on again heats to its old target
    temperature, so the policy judges that temperature too."""
    name = was.entity_id
    if was.state == "off":
        return (Move(name, Action.OFF),)
    degrees = was.attributes.get("temperature") or was.attributes.get("target_temp_low")
    given = {"temperature": degrees} if degrees is not None else {}
    turned = (Move(name, Action.ON),) if now.state == "off" or is_away(now) else ()
    return (*turned, Move(name, Action.SET, given, state=was.state))


def is_away(entity: Entity | None) -> bool:
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
    own = domain_of(entity_id)
    inside = members(entity_id, house)
    return own in _CARRIERS or any(member in house.entities for member in inside)


# Comparing states by attribute, as precisely as devices keep them.


# Attributes to compare besides the state, by domain. These are what Home Assistant's
# `reproduce_state` (2026.11) restores, and for media players what `actions` restores.
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
# Accepted differences, because devices round values and lamps convert to mireds.
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
_ON = ("playing", "buffering")  # these change into each other by themselves
_AT_REST = {"opening": "open", "closing": "closed"}


def differences(was: Entity, now: Entity) -> tuple[str, ...]:
    """Return the differences between two states of an entity: "state" and the names of attributes.
    If the entity was off, only its state is compared."""
    found = [] if _same_state(was, now) else ["state"]
    if was.state != "off":
        found += [name for name in _compared(was) if not _same(name, was, now)]
    return tuple(found)


def is_on_the_way(was: Entity, now: Entity | None) -> bool:
    """Return True while a cover is still moving back."""
    return now is not None and was.domain == "cover" and now.state in UNDER_WAY


def _compared(was: Entity) -> list[str]:
    names = list(_ATTRIBUTES.get(was.domain, ()))
    if was.domain == "light":
        names += filter(None, [_COLOURS.get(str(was.attributes.get("color_mode")))])
    return [name for name in names if was.attributes.get(name) is not None]


def _same_state(was: Entity, now: Entity) -> bool:
    if was.domain == "cover":
        # A moving cover is restored to the position it had. A half-open cover is "open" too.
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
