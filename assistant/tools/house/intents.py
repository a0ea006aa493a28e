"""Effects of Home Assistant's own tools, by tool name without the prefix.

The names are those of Home Assistant 2025.4 to 2026.11; since 2026.9, they have a prefix such as
`intent__`. Slots, required features and states are from `components/*/intent.py` in Home Assistant
2026.11.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    """The effect of a tool on the entities that it reaches."""

    ON = "on"  # on, open, lock, start, press, run
    OFF = "off"  # off, close, unlock, stop
    TOGGLE = "toggle"
    POSITION = "position"  # of a cover or valve
    STOP = "stop"  # ends a movement
    SET = "set"  # brightness, temperature, volume, speed, mode
    START = "start"  # starts something that then runs unattended
    HALT = "halt"  # sends a vacuum or mower home
    NOTE = "note"  # lists, timers, messages: nothing moves
    READ = "read"  # a query


@dataclass(frozen=True, slots=True)
class Intent:
    action: Action
    domains: frozenset[str] | None = None  # None: any domain
    by_target: bool = True  # acts on the entities that name, area, floor and so on select
    states: frozenset[str] = frozenset()  # only entities in these states match
    features: int = 0  # bits of `supported_features` that an entity must have
    classes: frozenset[str] = frozenset()  # accepted device classes; others are rejected
    selective: bool = True  # accepts `domain`, `device_class` and the wildcard "all"
    places: bool = True  # an area or floor can select entities
    single: bool = False  # rejected if more than one entity matches
    # If several entities match without a name, only those in these states.
    many_states: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()  # rejected if an entity of another domain matches
    resumes: bool = False  # resumes something that was paused


_COVERS = frozenset(
    {
        *("awning", "blind", "curtain", "damper", "door", "garage", "gate", "shade", "shutter"),
        "window",
    }
)
_VALVES = frozenset({"gas", "water"})
_PLAYERS = frozenset({"projector", "receiver", "speaker", "tv"})
_SWITCHED = _COVERS | _VALVES | _PLAYERS | {"identify", "outlet", "restart", "switch", "update"}
_PLAYING = frozenset({"playing"})


def _of(action: Action, domain: str, features: int = 0) -> Intent:
    return Intent(action, frozenset({domain}), features=features)


def _player(features: int, states: frozenset[str] = frozenset()) -> Intent:
    domains = frozenset({"media_player"})
    return Intent(Action.SET, domains, features=features, states=states, classes=_PLAYERS)


def _cover(action: Action) -> Intent:
    return Intent(action, frozenset({"cover"}), classes=_COVERS)


def _moving(action: Action) -> Intent:
    return Intent(action, classes=_COVERS | _VALVES, only=frozenset({"cover", "valve"}))


def _one(domain: str, features: int = 0, *, places: bool = True) -> Intent:
    domains = frozenset({domain})
    return Intent(
        Action.SET, domains, features=features, selective=False, places=places, single=True
    )


_NOTE = Intent(Action.NOTE, by_target=False)
_READ = Intent(Action.READ, by_target=False)
_LIST = Intent(Action.NOTE, frozenset({"todo"}), selective=False, places=False, single=True)
BROADCAST = "HassBroadcast"  # it succeeds even if no speaker receives it
# Home Assistant tools that only read exposed entities, from 2025.4 (without prefix, with the domain
# in the name) to 2026.11.
READINGS = frozenset(
    {
        *("GetDateTime", "GetLiveContext", "HassTimerStatus", "calendar_get_events", "get_events"),
        *("get_items", "todo_get_items"),
    }
)
INTENTS: dict[str, Intent] = {
    "HassTurnOn": Intent(Action.ON, classes=_SWITCHED),
    "HassTurnOff": Intent(Action.OFF, classes=_SWITCHED),
    "HassToggle": Intent(Action.TOGGLE, classes=_SWITCHED),
    "HassOpenCover": _cover(Action.ON),
    "HassCloseCover": _cover(Action.OFF),
    "HassSetPosition": _moving(Action.POSITION),
    "HassStopMoving": _moving(Action.STOP),
    "HassLightSet": _of(Action.SET, "light"),
    "HassClimateSetTemperature": _one("climate", 1),
    "HassClimateSetFanMode": _one("climate", 8),
    "HassFanSetSpeed": _of(Action.SET, "fan"),
    "HassHumidifierSetpoint": _one("humidifier", places=False),
    "HassHumidifierMode": _one("humidifier", places=False),
    "HassMediaPause": _player(1, _PLAYING),
    # Home Assistant resumes only the players that were last paused by voice, if they match.
    "HassMediaUnpause": replace(_player(0), resumes=True),
    "HassMediaNext": _player(32, _PLAYING),
    "HassMediaPrevious": _player(16, _PLAYING),
    "HassMediaSearchAndPlay": _one("media_player", 512 | 4194304),
    "HassMediaPlayerMute": _player(8),
    "HassMediaPlayerUnmute": _player(8),
    "HassSetVolume": _player(4),
    "HassSetVolumeRelative": Intent(
        Action.SET,
        frozenset({"media_player"}),
        features=4,
        selective=False,
        many_states=_PLAYING,
    ),
    "HassVacuumStart": _of(Action.START, "vacuum", 8192),
    "HassVacuumCleanArea": Intent(
        Action.START, frozenset({"vacuum"}), features=16384, selective=False, places=False
    ),
    "HassVacuumReturnToBase": _of(Action.HALT, "vacuum", 16),
    "HassLawnMowerStartMowing": _of(Action.START, "lawn_mower", 1),
    "HassLawnMowerDock": _of(Action.HALT, "lawn_mower", 4),
    "HassListAddItem": _LIST,
    "HassListCompleteItem": _LIST,
    "HassListRemoveItem": _LIST,
    "HassShoppingListAddItem": _NOTE,
    "HassShoppingListCompleteItem": _NOTE,
    "HassShoppingListLastItems": _READ,
    "HassBroadcast": _NOTE,
    "HassStartTimer": _NOTE,
    "HassCancelTimer": _NOTE,
    "HassCancelAllTimers": _NOTE,
    "HassIncreaseTimer": _NOTE,
    "HassDecreaseTimer": _NOTE,
    "HassPauseTimer": _NOTE,
    "HassUnpauseTimer": _NOTE,
    "HassTimerStatus": _READ,
    "HassGetState": _READ,
    "HassGetWeather": _READ,
    "HassGetCurrentDate": _READ,
    "HassGetCurrentTime": _READ,
    "HassClimateGetTemperature": _READ,
    "HassNevermind": _READ,
    "HassRespond": _READ,
}
# A timer can carry a sentence that Home Assistant runs when the timer ends.
LATER = "conversation_command"
# Domains with a service `turn_on`, and those for which HassTurnOn calls another service.
_TURNED = frozenset(
    {
        *("automation", "camera", "climate", "fan", "humidifier", "input_boolean", "light"),
        *("media_player", "remote", "script", "siren", "switch", "water_heater"),
        *("cover", "lock", "valve"),
    }
)
SERVED: Mapping[Action, frozenset[str]] = {
    Action.ON: _TURNED | {"scene", "button", "input_button"},
    Action.OFF: _TURNED,
    Action.TOGGLE: _TURNED - {"camera", "lock", "water_heater"},
}
# Features that an action's service requires; it fails for entities without them.
_COVER_NEEDS = {Action.ON: 1, Action.OFF: 2, Action.POSITION: 4, Action.STOP: 8}
NEEDS: Mapping[str, Mapping[Action, int]] = {
    "camera": {Action.ON: 1, Action.OFF: 1},
    "climate": {Action.ON: 256, Action.OFF: 128},
    "cover": _COVER_NEEDS,
    "fan": {Action.ON: 32, Action.OFF: 16, Action.SET: 32},
    "media_player": {Action.ON: 128, Action.OFF: 256},
    "siren": {Action.ON: 1, Action.OFF: 2},
    "valve": _COVER_NEEDS,
    "water_heater": {Action.ON: 8, Action.OFF: 8},
}


@dataclass(frozen=True, slots=True)
class Move:
    """A change to one entity, or the step that undoes a server's tool call."""

    entity_id: str
    action: Action
    arguments: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""  # state after the change, if it affects the risk; "" for the current one
    server: str = ""  # server whose `tool` is undone; there is then no entity
    tool: str = ""
    rated: bool = False  # the owner lets that tool run freely (`allow`)


def suffix(name: str) -> str:
    """Return a tool's name without its prefix: the part after the last `__`."""
    return name.rpartition("__")[2]


# Names for sentences that go to Home Assistant's conversation engine.
TRIGGER = "conversation.trigger"  # name of a sentence trigger in the owner's rules
PROCESS = "conversation.process"  # name of a sentence in the journal; not a tool in the menu
# Tools whose calls are split into one call per list item. Home Assistant would add "milk, eggs and
# bread" as a single item.
LISTING = frozenset({"HassListAddItem", "HassListCompleteItem", "HassListRemoveItem"})
MAX_ITEMS = 12  # in one call; a longer text is more likely one long item
ITEM = "item"
_COMMA = re.compile(r"\s*[,;]\s+")  # "1,5 l of milk" does not match
# Separators of a list's last two items, in the languages that Hearth speaks best. Used only after a
# comma, because "salt and pepper" may be one item.
_WORD = "(?:and|e|et|und|và|y)"
_AND = re.compile(rf"^{_WORD}\s+|\s+{_WORD}\s+", re.IGNORECASE)


def spread(suffix: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Split a call that adds, completes or removes several list items into one call per item, and
    return the arguments of each call. Other calls are not split."""
    item = arguments.get(ITEM)
    if suffix not in LISTING or not isinstance(item, str):
        return [dict(arguments)]
    items = items_in(item)
    if len(items) < 2:
        return [dict(arguments)]
    return [{**arguments, ITEM: one} for one in items]


def as_said(item: str, sentence: str) -> str:
    """Return `item` as it was said in the sentence, with the commas that the parser removed."""
    words = r"\W+".join(map(re.escape, item.split()))
    found = re.search(rf"(?<!\w){words}(?!\w)", sentence, re.IGNORECASE) if words else None
    return found[0] if found else item


def items_in(text: str) -> list[str]:
    """Return the items that a list tool's text names, or only the text if it is a single item."""
    *first, last = _COMMA.split(text.strip())
    if not first:
        return [text]
    items = [part.strip() for part in (*first, *_AND.split(last)) if part.strip()]
    return items if len(items) <= MAX_ITEMS else [text]
