"""Determine the effects of a script or automation from its configuration, without I/O.

The configuration comes from `script/config` or `automation/config` (2026.11), with blueprints
filled in but templates not rendered. Every branch counts, regardless of its conditions. Anything
that cannot be interpreted is recorded as a reason why more entities may be affected.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from integrations.home_assistant.effects import QUIET, WAYS, Effects, Places, way_on_device
from integrations.home_assistant.house import Way, mapping
from integrations.home_assistant.runs import LETS_IN

MAX_STEPS = 2_000
MAX_DEPTH = 40  # levels of nested steps

_TARGETS = ("entity_id", "device_id", "area_id", "floor_id", "label_id")
_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_ONE_FIELD = re.compile(r"\s*\{\{\s*([a-zA-Z_]\w*)\s*\}\}\s*")
# Selectors whose values are checked against the house before a script is started with them.
_CHECKED = frozenset({"area", "device", "entity", "floor", "target"})
_CALLS = ("action", "service", "service_template")
_INNER = ("sequence", "then", "else", "default", "parallel")
# Steps that change nothing: their templates and conditions only read states.
_LOOKS = frozenset(
    {
        *("and", "condition", "delay", "not", "or", "set_conversation_response", "stop"),
        *("variables", "wait_for_trigger", "wait_template"),
    }
)
_KINDS = _LOOKS | {*_CALLS, *_INNER, "choose", "device_id", "event", "if", "repeat", "scene"}


def read_script(config: Any, places: Places) -> Effects:
    """Return a script's effects from the result of `script/config`.

    If a target is the value of a field whose selector limits it to the house, such as an area
    selector, the caller has to check that value when it runs the script.
    """
    config = mapping(config)
    reader = _Reader(places, _fields(config))
    reader.sequence(config.get("sequence"))
    return reader.effects()


def read_automation(config: Any, places: Places) -> Effects:
    """Return an automation's effects and trigger sentences from `automation/config`."""
    config = mapping(config)
    reader = _Reader(places, frozenset())
    reader.sequence(config.get("actions", config.get("action")))
    return reader.effects(tuple(_sentences(config.get("triggers", config.get("trigger")))))


def is_template(text: str) -> bool:
    """Return True if the string is a template, which Home Assistant renders before using it."""
    return "{{" in text or "{%" in text or "{#" in text


class _Reader:
    def __init__(self, places: Places, fields: frozenset[str]) -> None:
        self._places = places
        self._fields = fields
        self._touched: dict[str, Way] = {}
        self._reasons: dict[str, None] = {}
        self._steps = 0

    def effects(self, sentences: tuple[str, ...] | None = None) -> Effects:
        return Effects(self._touched, tuple(self._reasons), sentences)

    def sequence(self, steps: Any, depth: int = 0) -> None:
        if isinstance(steps, Mapping | str):
            steps = [steps]
        if not isinstance(steps, list | tuple):
            return self._doubt("its actions cannot be read")
        for step in steps:
            self._steps += 1
            if self._steps > MAX_STEPS or depth > MAX_DEPTH:
                return self._doubt("it is too long to analyse")
            if isinstance(step, Mapping):
                if step.get("enabled") is not False:
                    self._step(step, depth)
            # any other valid step is a template condition in short form
            elif not (isinstance(step, str) and is_template(step)):
                self._doubt("a step has an unknown form")
        return None

    def _step(self, step: Mapping[str, Any], depth: int) -> None:
        if not _KINDS & step.keys():
            self._doubt("a step has an unknown form")
        for key in _CALLS:
            if key in step:
                self._call(step[key], step)
        if "event" in step:
            self._doubt("it fires an event")
        if "scene" in step:
            self._touch(self._entities(step["scene"], "scene"), "on")
        if "device_id" in step and not any(key in step for key in (*_CALLS, "condition")):
            self._act_on_device(step)
        for key in _INNER:
            if key in step:
                self.sequence(step[key], depth + 1)
        if "repeat" in step:
            self.sequence(mapping(step["repeat"]).get("sequence"), depth + 1)
        if "choose" in step:
            options = step["choose"]
            for option in options if isinstance(options, list | tuple) else [options]:
                self.sequence(mapping(option).get("sequence"), depth + 1)

    def _call(self, action: Any, step: Mapping[str, Any]) -> None:
        if not isinstance(action, str) or is_template(action):
            self._touch(self._targets(step, ""), "either")
            return self._doubt("a template chooses the action")
        action = action.strip().lower()
        domain = action.partition(".")[0]
        if action in QUIET:
            return None
        if domain == "script" and action not in WAYS:
            self._touch({action}, "on")
            return self._pass_on(_data(step))
        if action == "scene.apply":
            return self._apply(_data(step))
        by_domain = action in WAYS and domain != "homeassistant"
        targets = self._targets(step, domain if by_domain else "")
        if action not in WAYS:
            self._touch(targets, "either")
            return self._doubt(f"it calls {action}")
        if action == "script.turn_on":
            self._pass_on(mapping(_data(step).get("variables")))
        for entity_id in targets:
            # Home Assistant documents no effect of `homeassistant.turn_on` on a lock.
            unsure = domain == "homeassistant" and entity_id.partition(".")[0] in LETS_IN
            self._touch({entity_id}, "either" if unsure else WAYS[action])
        return None

    def _targets(self, step: Mapping[str, Any], domain: str) -> set[str]:
        found: set[str] = set()
        for holder in (step, step.get("target"), *_datas(step)):
            if isinstance(holder, str):
                if not self._is_field(holder):
                    self._doubt("a template chooses its target")
                continue
            for key in _TARGETS:
                value = mapping(holder).get(key)
                if value is not None:
                    found |= self._chosen(key, value, domain)
            player = mapping(holder).get("media_player_entity_id")
            if player is not None:
                found |= self._entities(player, "media_player")
        return found

    def _chosen(self, key: str, value: Any, domain: str) -> set[str]:
        if key == "entity_id":
            return self._entities(value, domain)
        places = self._places
        found: set[str] = set()
        for one in self._texts(value):
            if key == "device_id":
                found |= places.inside((one,), ())
            elif key == "area_id":
                found |= places.inside((), (one,))
            else:
                found |= places.on_floors({one}) if key == "floor_id" else places.labelled({one})
        return {name for name in found if not domain or name.partition(".")[0] == domain}

    def _entities(self, value: Any, domain: str) -> set[str]:
        """Return the entity ids in a list or a comma-separated string. Only "all" is limited to
        `domain`, because a group can contain entities of other domains."""
        found: set[str] = set()
        for one in self._texts(value):
            for name in (part.strip().lower() for part in one.split(",")):
                if name == "all":
                    known = self._places.entity_ids
                    found |= {n for n in known if not domain or n.partition(".")[0] == domain}
                elif _ENTITY_ID.fullmatch(name):
                    found.add(name)
                elif known_as := self._places.by_registry_id(name):
                    found.add(known_as)
                elif name not in ("none", ""):
                    self._doubt("a target cannot be read")
        return found

    def _texts(self, value: Any) -> list[str]:
        texts = value if isinstance(value, list | tuple) else [value]
        found = []
        for one in texts:
            if not isinstance(one, str):
                self._doubt("a target cannot be read")
            elif not is_template(one):
                found.append(one)
            elif not self._is_field(one):
                self._doubt("a template chooses its target")
        return found

    def _is_field(self, text: str) -> bool:
        field = _ONE_FIELD.fullmatch(text)
        return field is not None and field[1] in self._fields

    def _act_on_device(self, step: Mapping[str, Any]) -> None:
        named, domain = step.get("entity_id"), str(step.get("domain"))
        entity = named if isinstance(named, str) else ""
        if not _ENTITY_ID.fullmatch(entity):
            entity = self._places.by_registry_id(entity) or ""
        way = way_on_device(domain, str(step.get("type")))
        if way is not None and entity.partition(".")[0] == domain:
            return self._touch({entity}, way)
        self._touch(self._places.inside((str(step.get("device_id")),), ()), "either")
        return self._doubt("it acts on a device")

    def _pass_on(self, given: Mapping[str, Any]) -> None:
        """Record every entity that the arguments passed to another script can refer to."""
        for text in _all_texts(given):
            if is_template(text):
                self._doubt("it passes a template to a script")
            elif text.strip().lower() == "all":
                self._touch(set(self._places.entity_ids), "either")
            else:
                for part in text.split(","):
                    self._touch(self._places.named(part.strip()), "either")

    def _apply(self, data: Mapping[str, Any]) -> None:
        entities = data.get("entities")
        if not isinstance(entities, Mapping):
            return self._doubt("a template chooses its target")
        return self._touch(self._entities(list(entities), ""), "either")

    def _touch(self, entity_ids: set[str], way: Way) -> None:
        for entity_id in sorted(entity_ids):
            known = self._touched.get(entity_id, way)
            self._touched[entity_id] = way if known == way else "either"

    def _doubt(self, reason: str) -> None:
        self._reasons[reason] = None


def _datas(step: Mapping[str, Any]) -> list[Any]:
    return [step.get("data"), step.get("data_template")]


def _data(step: Mapping[str, Any]) -> Mapping[str, Any]:
    given: dict[str, Any] = {}
    for data in _datas(step):
        given |= {"": data} if isinstance(data, str) else mapping(data)
    return given


def _all_texts(given: Any) -> Iterator[str]:
    return (value for value in _within(given) if isinstance(value, str))


def _within(given: Any) -> Iterator[Any]:
    level = [given]
    while level:
        value = level.pop()
        yield value
        if isinstance(value, Mapping):
            level.extend(value.values())
        elif isinstance(value, list | tuple):
            level.extend(value)


def _fields(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the script's fields whose values the caller checks, except those that the script
    reassigns."""
    fields = {
        str(name)
        for name, one in mapping(config.get("fields")).items()
        if _CHECKED & mapping(mapping(one).get("selector")).keys()
    }
    return frozenset(fields - set(_assigned(config)))


def _assigned(config: Any) -> Iterator[str]:
    for value in _within(config):
        if isinstance(value, Mapping):
            yield from map(str, mapping(value.get("variables")))
            if isinstance(value.get("response_variable"), str):
                yield value["response_variable"]


def _sentences(triggers: Any) -> Iterator[str]:
    for value in _within(triggers):
        trigger = mapping(value)
        if trigger.get("trigger", trigger.get("platform")) == "conversation":
            commands = trigger.get("command")
            for command in commands if isinstance(commands, list | tuple) else [commands]:
                yield str(command)
