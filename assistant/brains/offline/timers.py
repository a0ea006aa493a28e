"""The call that a sentence about timers makes: all timers of a box are Hearth's own."""

from collections.abc import Mapping
from typing import Any

from assistant.brains.offline.parse import ParsedCommand
from assistant.timers.tools import (
    ADD,
    CANCEL_TIMER,
    CHANGE_TIMER,
    LIST_TIMERS,
    PAUSE,
    RESUME,
    START_TIMER,
    SUBTRACT,
)
from assistant.tools.house.intents import LATER

# Home Assistant's intent -> the tool of Hearth's own, and what it must be told besides the slots.
TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "HassStartTimer": (START_TIMER, {}),
    "HassCancelTimer": (CANCEL_TIMER, {}),
    "HassCancelAllTimers": (CANCEL_TIMER, {"all": True, "kind": "timer"}),
    "HassIncreaseTimer": (CHANGE_TIMER, {"action": ADD}),
    "HassDecreaseTimer": (CHANGE_TIMER, {"action": SUBTRACT}),
    "HassPauseTimer": (CHANGE_TIMER, {"action": PAUSE}),
    "HassUnpauseTimer": (CHANGE_TIMER, {"action": RESUME}),
    "HassTimerStatus": (LIST_TIMERS, {}),
}
_LENGTHS = ("hours", "minutes", "seconds", "start_hours", "start_minutes", "start_seconds")


def wants_command(command: ParsedCommand) -> bool:
    """Is it to do something when it ends, as in "turn off the light in five minutes"?"""
    return LATER in command.slots


def length_arguments(command: ParsedCommand) -> dict[str, int]:
    """After how long."""
    return {key: int(command.slots[key]) for key in _LENGTHS if key in command.slots}


def timer_arguments(command: ParsedCommand) -> dict[str, Any]:
    """The arguments of the tool that the command leads to.

    A room that was said is a timer's name here: all timers of this box are in one room.
    """
    arguments = dict(TOOLS[command.intent][1])
    arguments |= length_arguments(command)
    name = (command.name or (command.place if command.area_said else "")).strip()
    if name and not arguments.get("all"):
        arguments["name"] = name
    return arguments
