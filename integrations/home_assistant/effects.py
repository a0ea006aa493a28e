"""Effects of scripts, automations and scenes: data classes, tables and pure parsers."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from integrations.home_assistant.house import Entity, Way, mapping, text
from integrations.home_assistant.registry import Registries, read_labels
from integrations.home_assistant.runs import LETS_IN


@dataclass(frozen=True, slots=True)
class Effects:
    touched: Mapping[str, Way]  # by entity id
    reasons: tuple[str, ...] = ()  # why there may be more; () if `touched` is complete
    # An automation's trigger sentences; None if its configuration was not read.
    sentences: tuple[str, ...] | None = None
    told: bool = True  # False: Home Assistant refuses to report the effects

    @property
    def complete(self) -> bool:
        return not self.reasons


_ARMING = ("arm_away", "arm_home", "arm_night", "arm_vacation", "disarm", "trigger")
_BRIGHTNESS = ("brightness_decrease", "brightness_increase")


def _each(domain: str, way: Way, *services: str) -> dict[str, Way]:
    return {f"{domain}.{service}": way for service in services}


def _switching(*domains: str) -> dict[str, Way]:
    found: dict[str, Way] = {}
    for domain in domains:
        found |= _each(domain, "on", "turn_on") | _each(domain, "off", "turn_off")
        found |= _each(domain, "either", "toggle")
    return found


# Actions that only switch or set the entities that they name (2026.11, `services.yaml` of each
# domain). Any other action could do anything: run a shell or REST command, publish to a broker,
# notify a phone, send a sentence to Assist or an infrared code. Stopping a cover or valve counts as
# not opening it.
WAYS: Mapping[str, Way] = {
    **_switching("automation", "camera", "climate", "fan", "homeassistant", "humidifier"),
    **_switching("input_boolean", "light", "media_player", "remote", "script", "siren", "switch"),
    **_switching("water_heater"),
    **_each("alarm_control_panel", "on", "alarm_arm_away", "alarm_arm_custom_bypass"),
    **_each("alarm_control_panel", "on", "alarm_arm_home", "alarm_arm_night", "alarm_arm_vacation"),
    **_each("alarm_control_panel", "off", "alarm_disarm"),
    **_each("alarm_control_panel", "either", "alarm_trigger"),
    **_each("automation", "on", "trigger"),
    **_each("button", "on", "press"),
    **_each("climate", "either", "set_fan_mode", "set_humidity", "set_hvac_mode"),
    **_each("climate", "either", "set_preset_mode", "set_swing_horizontal_mode", "set_swing_mode"),
    **_each("climate", "either", "set_temperature"),
    **_each("counter", "either", "decrement", "increment", "reset", "set_value"),
    **_each("cover", "on", "open_cover", "open_cover_tilt"),
    **_each("cover", "off", "close_cover", "close_cover_tilt", "stop_cover", "stop_cover_tilt"),
    **_each("cover", "either", "set_cover_position", "set_cover_tilt_position"),
    **_each("cover", "either", "toggle", "toggle_cover_tilt"),
    **_each("date", "either", "set_value"),
    **_each("datetime", "either", "set_value"),
    **_each("fan", "either", "decrease_speed", "increase_speed", "oscillate", "set_direction"),
    **_each("fan", "either", "set_percentage", "set_preset_mode"),
    **_each("humidifier", "either", "set_humidity", "set_mode"),
    **_each("input_button", "on", "press"),
    **_each("input_datetime", "either", "set_datetime"),
    **_each("input_number", "either", "decrement", "increment", "set_value"),
    **_each("input_select", "either", "select_first", "select_last", "select_next"),
    **_each("input_select", "either", "select_option", "select_previous"),
    **_each("input_text", "either", "set_value"),
    **_each("lawn_mower", "on", "start_mowing"),
    **_each("lawn_mower", "off", "dock", "pause"),
    **_each("lock", "on", "lock"),
    **_each("lock", "off", "open", "unlock"),
    **_each("media_player", "either", "clear_playlist", "join", "media_next_track", "media_pause"),
    **_each("media_player", "either", "media_play", "media_play_pause", "media_previous_track"),
    **_each("media_player", "either", "media_seek", "media_stop", "play_media", "repeat_set"),
    **_each("media_player", "either", "select_sound_mode", "select_source", "shuffle_set"),
    **_each("media_player", "either", "unjoin", "volume_down", "volume_mute", "volume_set"),
    **_each("media_player", "either", "volume_up"),
    **_each("number", "either", "set_value"),
    **_each("scene", "on", "turn_on"),
    **_each("select", "either", "select_first", "select_last", "select_next", "select_option"),
    **_each("select", "either", "select_previous"),
    **_each("text", "either", "set_value"),
    **_each("time", "either", "set_value"),
    **_each("timer", "either", "cancel", "change", "finish", "pause", "start"),
    **_each("todo", "either", "add_item", "get_items", "remove_completed_items", "remove_item"),
    **_each("todo", "either", "update_item"),
    **_each("tts", "either", "speak"),
    **_each("vacuum", "on", "clean_area", "clean_spot", "start"),
    **_each("vacuum", "off", "locate", "pause", "return_to_base", "stop"),
    **_each("vacuum", "either", "set_fan_speed"),
    **_each("valve", "on", "open_valve"),
    **_each("valve", "off", "close_valve", "stop_valve"),
    **_each("valve", "either", "set_valve_position", "toggle"),
}
# Actions that change no entity.
QUIET = frozenset(
    {
        *("calendar.get_events", "homeassistant.update_entity", "logbook.log"),
        *("persistent_notification.create", "persistent_notification.dismiss"),
        *("persistent_notification.dismiss_all", "scene.create", "scene.delete"),
        *("system_log.write", "weather.get_forecasts"),
    }
)
# Device action types (`device_action.py` of each domain) whose action has a different name.
_RENAMED: Mapping[str, str] = {
    **{f"alarm_control_panel.{one}": f"alarm_control_panel.alarm_{one}" for one in _ARMING},
    **{f"cover.{one}": f"cover.{one}_cover" for one in ("close", "open", "stop")},
    **{f"cover.{one}_tilt": f"cover.{one}_cover_tilt" for one in ("close", "open")},
    "cover.set_position": "cover.set_cover_position",
    "cover.set_tilt_position": "cover.set_cover_tilt_position",
    **{f"light.{one}": "light.turn_on" for one in ("flash", *_BRIGHTNESS)},
    "vacuum.clean": "vacuum.start",
    "vacuum.dock": "vacuum.return_to_base",
}


def way_on_device(domain: str, kind: str) -> Way | None:
    """Return the direction of a device action with this domain and type, or None if it is
    unknown."""
    action = f"{domain}.{kind}"
    return WAYS.get(_RENAMED.get(action, action))


class Places:
    """Looks up entities by device, area, floor, label or name.

    Registered entities without a state are included, because their integration may be about to
    load.
    """

    def __init__(self, registries: Registries, entities: Mapping[str, Entity]) -> None:
        self._registries = registries
        self._where = {name: (one.device_id, one.area_id) for name, one in entities.items()}
        for name, entry in registries.entities.items():
            if name not in entities and not entry.get("disabled_by"):
                device_id = text(entry.get("device_id"))
                device = registries.devices.get(device_id)
                area_id = text(entry.get("area_id")) or (device.area_id if device else None)
                self._where[name] = device_id or None, area_id

    @property
    def entity_ids(self) -> Collection[str]:
        return self._where.keys()

    def device(self, entity_id: str) -> str | None:
        """Return the entity's device id, or None if it has no device."""
        return self._where.get(entity_id, (None, None))[0]

    def area(self, entity_id: str) -> str | None:
        """Return the entity's area id, or None if it is in no area."""
        return self._where.get(entity_id, (None, None))[1]

    def inside(self, devices: Iterable[str], areas: Iterable[str]) -> set[str]:
        """Return the entities that belong to any of these devices or areas."""
        devices, areas = set(devices), set(areas)
        if not devices and not areas:
            return set()
        return {
            name
            for name, (device_id, area_id) in self._where.items()
            if device_id in devices or area_id in areas
        }

    def on_floors(self, floors: Collection[str]) -> set[str]:
        areas = self._registries.areas.values()
        return self.inside((), [area.area_id for area in areas if area.floor_id in floors])

    def labelled(self, labels: set[str]) -> set[str]:
        """Return the entities that have one of these labels, directly or through their device or
        area."""
        if not labels:
            return set()
        registries = self._registries
        devices = {name for name, one in registries.devices.items() if one.labels & labels}
        areas = {name for name, has in registries.area_labels.items() if has & labels}
        own = {name for name, entry in registries.entities.items() if read_labels(entry) & labels}
        return self.inside(devices, areas) | {name for name in own if name in self._where}

    def by_registry_id(self, entry_id: str) -> str | None:
        """Return the entity id for a registry id, or None. Device actions use registry ids."""
        entries = self._registries.entities.items()
        return next((name for name, entry in entries if entry.get("id") == entry_id), None)

    def named(self, name: str) -> set[str]:
        """Return the entities that a name can refer to. It can be the id of an entity or device, or
        the id or a name of an area, floor or label."""
        areas = {
            area.area_id
            for area in self._registries.areas.values()
            if name in (area.area_id, area.name, *area.aliases)
        }
        floors = {
            floor.floor_id
            for floor in self._registries.floors.values()
            if name in (floor.floor_id, floor.name, *floor.aliases)
        }
        known = self._registries.labels.items()
        labels = {label_id for label_id, called in known if name in (label_id, called)}
        found = self.inside((name,), areas) | self.on_floors(floors) | self.labelled(labels)
        return found | ({name.strip().lower()} & self._where.keys())


# Any user may call `search/related`, while configurations (`actions`) can be read only by
# administrators. The result is complete for a scene, but always partial for a script or automation.
# It mixes the affected entities with their surroundings: an affected entity is listed with its
# device, its area and that area's floor, and the script with its own area and labels (2026.11,
# `components/search`). So a device, area or floor counts as a target only if nothing else explains
# why it is listed. Locks and other entities that let people in count whenever their device or label
# is listed. The result misses an area or floor that is a target in a script that also targets an
# entity there, a script that is called as an action (`action: script.other`), a sentence for
# Assist, an event, and every target from a template. Therefore effects that were observed count too
# (`runs`).


SEARCHED = ("script", "automation", "scene")  # domains


def read_related(
    item_id: str, answer: Mapping[str, Any], registries: Registries, entities: Mapping[str, Entity]
) -> Effects:
    """Return the effects of a script, automation or scene from the result of `search/related`."""
    touched = touched_by(item_id, answer, registries, entities)
    # A scene only sets states. The scenes that a device provides list no entities.
    whole = item_id.startswith("scene.") and bool(touched)
    reasons = () if whole else ("its configuration is not known",)
    return Effects(dict.fromkeys(sorted(touched), "either"), reasons)


def touched_by(
    item_id: str, answer: Mapping[str, Any], registries: Registries, entities: Mapping[str, Entity]
) -> frozenset[str]:
    """Return the ids of the entities that a script, automation or scene can affect. `answer` is the
    result of `search/related`, with ids by type. Entities that are not in the house are left out.
    """
    named = _ids(answer, "entity") - {item_id}
    touched = {entity_id for entity_id in named if entity_id in entities}
    if item_id.startswith("scene."):
        return frozenset(touched)
    places = Places(registries, entities)
    # the script or automation itself and the scripts that it runs
    own = [item_id, *(one for one in named if one.startswith("script."))]
    around = [*named, *own]
    devices = _ids(answer, "device") - {places.device(one) for one in around}
    areas = _ids(answer, "area") - {places.area(one) for one in around}
    areas -= {registries.devices[one].area_id for one in devices if one in registries.devices}
    every_area = _ids(answer, "area")
    floors = _ids(answer, "floor") - {
        registries.areas[one].floor_id for one in every_area if one in registries.areas
    }
    every_label = _ids(answer, "label")
    labels = every_label - read_labels(registries.entities.get(item_id, {}))
    areas |= {area.area_id for area in registries.areas.values() if area.floor_id in floors}
    touched |= places.inside(devices, areas)
    touched |= places.labelled(labels)
    perhaps = places.inside(_ids(answer, "device"), ()) | places.labelled(every_label)
    touched |= {one for one in perhaps if one.partition(".")[0] in LETS_IN}
    return frozenset((touched & entities.keys()) - {item_id})


def _ids(answer: Mapping[str, Any], kind: str) -> set[str]:
    found = answer.get(kind)
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()


# Scenes. Any user may read which entities a scene contains (its attribute `entity_id`). An
# administrator may also read the states that it sets, over REST by the scene's own `id`, if it was
# made in Home Assistant's UI (2026.11, `components/config/scene.py`). The direction follows
# `reproduce_state.py` of each domain.

# States whose direction is certain: "on" means locked, armed or open.
_WAYS: Mapping[str, Mapping[str, Way]] = {
    "lock": {"locked": "on", "locking": "on", "unlocked": "off", "unlocking": "off", "open": "off"},
    "cover": {"open": "on", "opening": "on", "closed": "off", "closing": "off"},
    "valve": {"open": "on", "opening": "on", "closed": "off", "closing": "off"},
    "alarm_control_panel": {
        "armed_away": "on",
        "armed_custom_bypass": "on",
        "armed_home": "on",
        "armed_night": "on",
        "armed_vacation": "on",
        "disarmed": "off",
    },
    "siren": {"on": "on", "off": "off"},
}
_POSITIONS = ("current_position", "current_tilt_position", "tilt_position", "position")


def is_worth_reading(entity: Entity) -> bool:
    """Return True for a scene from Home Assistant's UI that contains an entity that lets people
    in."""
    held = entity.attributes.get("entity_id")
    opens = isinstance(held, list | tuple) and any(
        isinstance(one, str) and one.partition(".")[0] in LETS_IN for one in held
    )
    return entity.domain == "scene" and opens and bool(_id_of(entity))


def read_scene(config: Any, entity: Entity) -> Effects | None:
    """Return a scene's effects from its configuration, or None if Home Assistant has loaded a
    different configuration."""
    states = mapping(mapping(config).get("entities"))
    held = entity.attributes.get("entity_id")
    if not isinstance(held, list | tuple) or set(map(str, held)) != set(map(str, states)):
        return None
    return Effects({str(name): _way(str(name), state) for name, state in states.items()})


def _way(entity_id: str, wanted: Any) -> Way:
    state = wanted.get("state") if isinstance(wanted, Mapping) else wanted
    if isinstance(state, bool):  # YAML reads a plain `on` as True
        state = "on" if state else "off"
    way = _WAYS.get(entity_id.partition(".")[0], {}).get(str(state), "either")
    given = mapping(wanted)
    # A position takes precedence over the state.
    return "either" if way == "off" and any(given.get(key) for key in _POSITIONS) else way


def _id_of(entity: Entity) -> str:
    known = entity.attributes.get("id")
    return known if isinstance(known, str) else ""


# Automations have hassil's sentence templates (2026.11): `[optional]`, `(one|other)`, `{slot}`,
# `<rule>`. Case, punctuation and spaces are ignored. A slot matches any text, and so does all
# unknown syntax, so a template can match too often but never too rarely.


MAX_TEMPLATE = 2_000  # characters; a longer template matches anything
MAX_SLOTS = 8  # more slots could make matching slow
_ANYTHING = re.compile(".*")
_SLOT = re.compile("[{<]")
_PART = re.compile(r"\{[^{}]*\}|<[^<>]*>|[\[\]()|]|[^\[\](){}<>|]+|.")
_SIGNS = re.compile(r"[^\w\s]|_")


def may_answer(template: str, text: str) -> bool:
    """Return True if the text could trigger an automation with the sentence `template`."""
    return _pattern(template).fullmatch(_plain(text)) is not None


@lru_cache(maxsize=2_048)
def _pattern(template: str) -> re.Pattern[str]:
    # Permutations (";") are not parsed.
    if len(template) > MAX_TEMPLATE or ";" in template or len(_SLOT.findall(template)) > MAX_SLOTS:
        return _ANYTHING
    parts: list[str] = []
    for part in _PART.findall(template):
        if part in ("[", "("):
            parts.append("(?:")
        elif part == "]":
            parts.append("|)")
        elif part in (")", "|"):
            parts.append(part)
        elif part[0] in "{<":
            parts.append(".*")
        else:
            parts.append(re.escape(_plain(part)).replace(r"\ ", ""))
    try:
        return re.compile("".join(parts))
    except re.error:
        return _ANYTHING


def _plain(text: str) -> str:
    """Reduce the text to letters and digits, because a transcript may lack the other characters."""
    return re.sub(r"\s+", "", _SIGNS.sub("", text.casefold()))
