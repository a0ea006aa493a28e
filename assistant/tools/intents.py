"""What Home Assistant's own tools do, by the name after the prefix: which domains, and which way.

The names are those of Home Assistant 2025.4 to 2026.11; since 2026.9 they carry a prefix such as
`intent__` or `light__`.
"""

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a tool does to the things it reaches."""

    ON = "on"  # on, open, lock, start, press, run
    OFF = "off"  # off, close, unlock, stop
    TOGGLE = "toggle"
    POSITION = "position"  # of a cover or valve
    STOP = "stop"  # a movement
    SET = "set"  # brightness, temperature, volume, speed, mode
    START = "start"  # something that then runs on unattended
    HALT = "halt"  # such a thing goes home
    NOTE = "note"  # lists, timers, messages: nothing moves


@dataclass(frozen=True, slots=True)
class Intent:
    """One tool of Home Assistant."""

    action: Action
    domains: frozenset[str] | None = None  # None: any domain
    by_target: bool = True  # acts on whatever name, area, floor and so on select
    states: frozenset[str] = frozenset()  # without a target only things in these states are meant


def _of(action: Action, *domains: str) -> Intent:
    return Intent(action, frozenset(domains))


_PLAYER = frozenset({"media_player"})
_PLAYING = Intent(Action.SET, _PLAYER, states=frozenset({"playing"}))
_PAUSED = Intent(Action.SET, _PLAYER, states=frozenset({"paused"}))
_MOVING = ("cover", "valve")
_NOTE = Intent(Action.NOTE, by_target=False)

INTENTS: dict[str, Intent] = {
    "HassTurnOn": Intent(Action.ON),
    "HassTurnOff": Intent(Action.OFF),
    "HassToggle": Intent(Action.TOGGLE),
    "HassOpenCover": _of(Action.ON, *_MOVING),
    "HassCloseCover": _of(Action.OFF, *_MOVING),
    "HassSetPosition": _of(Action.POSITION, *_MOVING),
    "HassStopMoving": _of(Action.STOP, *_MOVING),
    "HassLightSet": _of(Action.SET, "light"),
    "HassClimateSetTemperature": _of(Action.SET, "climate"),
    "HassFanSetSpeed": _of(Action.SET, "fan"),
    "HassHumidifierSetpoint": _of(Action.SET, "humidifier"),
    "HassHumidifierMode": _of(Action.SET, "humidifier"),
    "HassMediaPause": _PLAYING,
    "HassMediaUnpause": _PAUSED,
    "HassMediaNext": _PLAYING,
    "HassMediaPrevious": _PLAYING,
    "HassMediaSearchAndPlay": _of(Action.SET, "media_player"),
    "HassMediaPlayerMute": _PLAYING,
    "HassMediaPlayerUnmute": _PLAYING,
    "HassSetVolume": _PLAYING,
    "HassSetVolumeRelative": _PLAYING,
    "HassVacuumStart": _of(Action.START, "vacuum"),
    "HassVacuumCleanArea": _of(Action.START, "vacuum"),
    "HassVacuumReturnToBase": _of(Action.HALT, "vacuum"),
    "HassLawnMowerStartMowing": _of(Action.START, "lawn_mower"),
    "HassLawnMowerDock": _of(Action.HALT, "lawn_mower"),
    "HassListAddItem": _of(Action.NOTE, "todo"),
    "HassListCompleteItem": _of(Action.NOTE, "todo"),
    "HassListRemoveItem": _of(Action.NOTE, "todo"),
    "HassShoppingListAddItem": _NOTE,
    "HassShoppingListCompleteItem": _NOTE,
    "HassBroadcast": _NOTE,
    "HassStartTimer": _NOTE,
    "HassCancelTimer": _NOTE,
    "HassCancelAllTimers": _NOTE,
    "HassIncreaseTimer": _NOTE,
    "HassDecreaseTimer": _NOTE,
    "HassPauseTimer": _NOTE,
    "HassUnpauseTimer": _NOTE,
}


def suffix(name: str) -> str:
    """The tool's own name: what follows the last `__`, or all of it."""
    return name.rpartition("__")[2]
