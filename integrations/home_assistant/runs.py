"""Observe what scripts and switches open.

Home Assistant gives a script run and all its actions the same context, and every state change
carries its context (2026.11, `core.Context`). Once a script has been seen to open a door, directly
or through an automation, the door therefore counts as one of its effects.

A switch that opens a door through a template or an automation is recognised in the same way. A
relay that is wired to the door leaves no such trace. If a lock opens without a known cause within a
second after a switch was used, this is therefore attributed to the switch.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from integrations.home_assistant.house import mapping, text

MAX_RUNS = 256  # contexts or changes to remember; the oldest are dropped
LETS_IN = frozenset({"alarm_control_panel", "cover", "lock", "siren", "valve"})
_RUNNING = ("script", "automation")
AT_ONCE_S = 1.0  # from the switch to the entity that it opens, if no context links them
# Domains of entities that could be the relay of a door.
SWITCHED = frozenset(
    {
        *("button", "fan", "input_boolean", "input_button", "input_number", "input_select"),
        *("light", "number", "remote", "select", "switch"),
    }
)
_BUTTONS = frozenset({"button", "input_button"})
_LAMPS = frozenset({"fan", "light"})  # not suspected if other entities were switched too
_CARRIERS = frozenset({"automation", "scene", "script"})  # they act on several entities at once
_OPEN = {
    "lock": frozenset({"open", "opening", "unlocked", "unlocking"}),
    "cover": frozenset({"open", "opening"}),
    "valve": frozenset({"open", "opening"}),
    "alarm_control_panel": frozenset({"disarmed", "disarming"}),
}
_AWAY = frozenset({"", "unavailable", "unknown"})
_DEEP = 8  # contexts to follow from a lock up to its cause


class Runs:
    """Remembers which script caused each of the most recent contexts."""

    def __init__(self) -> None:
        self._begun_by: dict[str, str] = {}  # context id -> its first script; "" for an automation

    def see(self, entity_id: str, state: Mapping[str, Any]) -> str:
        """Record a new state, and return the id of the script that caused it. Returns "" if no
        script caused it, or if the entity's domain is not in LETS_IN."""
        context = mapping(state.get("context"))
        own, parent = text(context.get("id")), text(context.get("parent_id"))
        if not own:
            return ""
        domain = entity_id.partition(".")[0]
        if domain in LETS_IN:
            return self._begun_by.get(own) or self._begun_by.get(parent, "")
        if domain in _RUNNING and own not in self._begun_by:
            script = entity_id if domain == "script" and state.get("state") == "on" else ""
            self._begun_by[own] = self._begun_by.get(parent) or script
            if len(self._begun_by) > MAX_RUNS:
                del self._begun_by[next(iter(self._begun_by))]
        return ""


@dataclass(slots=True)
class _Happening:
    parent: str = ""
    carried: bool = False  # True: caused by a script, an automation or a scene
    switched: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)


class Switches:
    """Observations of what each switch, light or button opens, unlocks or disarms."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = {}
        self._fresh: dict[str, frozenset[str]] = {}
        self._contexts: dict[str, _Happening] = {}
        self._lately: deque[tuple[float, str]] = deque(maxlen=MAX_RUNS)  # time and entity id
        self._asked: frozenset[str] = frozenset()

    @property
    def known(self) -> Mapping[str, frozenset[str]]:
        """The ids of all entities that each switch was seen to open, by the switch's id."""
        return self._known

    def recall(self, known: Mapping[str, frozenset[str]]) -> None:
        for entity_id, opened in known.items():
            self._known[entity_id] = self._known.get(entity_id, frozenset()) | opened

    def take_fresh(self) -> Mapping[str, frozenset[str]]:
        fresh, self._fresh = self._fresh, {}
        return fresh

    def expect(self, entity_ids: Iterable[str]) -> None:
        """Announce a call to these entities, so that the changes it causes are not attributed to a
        switch."""
        self._asked = frozenset(entity_ids)

    def see(self, entity_id: str, before: str, state: Mapping[str, Any]) -> None:
        """Record a new state; `before` is the previous one, or "" if there was none."""
        context = mapping(state.get("context"))
        own, domain, now = text(context.get("id")), entity_id.partition(".")[0], _state(state)
        if not own or domain not in _CARRIERS | SWITCHED | _OPEN.keys():
            return
        happening = self._happening(own, text(context.get("parent_id")))
        # A change with a user or a parent context has a known cause, so its time does not matter.
        by_itself = not (happening.parent or text(context.get("user_id")))
        if domain in _CARRIERS:
            happening.carried = True
        elif domain in SWITCHED and _is_switched(domain, before, now, by_itself=by_itself):
            self._lately.append((_at(state), entity_id))
            happening.switched.append(entity_id)
            if not happening.carried:
                self._learn(happening.switched, happening.opened)
        elif now in _OPEN.get(domain, ()) and not _stood_open(domain, before, by_itself=by_itself):
            if entity_id in self._asked:
                return
            happening.opened.append(entity_id)
            self._learn(self._suspects(happening, by_itself, _at(state)), (entity_id,))

    def _suspects(self, happening: _Happening, by_itself: bool, at: float) -> list[str]:
        """Return the entities whose switching may have caused a change in this context."""
        found = [] if happening.carried else list(happening.switched)
        above = happening.parent
        for _ in range(_DEEP):
            if (one := self._contexts.get(above)) is None:
                break
            found += one.switched
            above = one.parent
        if found or not by_itself or happening.carried:
            return found
        return [name for when, name in self._lately if 0 <= at - when <= AT_ONCE_S]

    def _learn(self, suspects: Iterable[str], opened: Iterable[str]) -> None:
        names = list(dict.fromkeys(suspects))
        if len(names) > 1:
            names = [name for name in names if name.partition(".")[0] not in _LAMPS]
        for name in names:
            fresh = frozenset(opened) - self._known.get(name, frozenset())
            if fresh:
                self._known[name] = self._known.get(name, frozenset()) | fresh
                self._fresh[name] = self._fresh.get(name, frozenset()) | fresh

    def _happening(self, own: str, parent: str) -> _Happening:
        if own not in self._contexts:
            self._contexts[own] = _Happening(parent)
            if len(self._contexts) > MAX_RUNS:
                del self._contexts[next(iter(self._contexts))]
        return self._contexts[own]


def _is_switched(domain: str, before: str, now: str, *, by_itself: bool) -> bool:
    """Return True if the state change means that somebody or something switched the entity.

    A first state without a known cause does not count, except that of a button, because Home
    Assistant may just be starting.
    """
    away = {"unavailable"} if domain in _BUTTONS or not by_itself else _AWAY
    return before not in away and now not in _AWAY and now != before


def _stood_open(domain: str, before: str, *, by_itself: bool) -> bool:
    away = _AWAY if by_itself else {"unavailable"}
    return before in away or before in _OPEN[domain]


def _state(state: Mapping[str, Any]) -> str:
    return text(state.get("state"))


def _at(state: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(text(state.get("last_changed"))).timestamp()
    except ValueError:
        return 0.0
