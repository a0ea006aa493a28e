"""Timer tools, which only a device sees that registered for timers.

Which timer is meant is found as Home Assistant 2026.11 finds it (`components/intent/timers.py`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.demo_home import actions as slots
from integrations.demo_home import schemas
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.intents import CallerPlace, IntentError, Values, done
from integrations.demo_home.matching import same_name
from integrations.demo_home.schemas import TEXT, Schema
from integrations.demo_home.surroundings import PARTS, Timer, duration_s
from integrations.demo_home.tool import AGAIN, ONCE, Hints, Tool

_COUNT: Schema = {"type": "integer", "minimum": 0}
_START = tuple(f"start_{part}" for part in PARTS)


def timer_tools(cancel_all_only: bool) -> list[Tool]:
    """The tools in Home Assistant's order; without timers only the one that is always there."""
    return [_CANCEL_ALL] if cancel_all_only else [_START_TIMER, _CANCEL, _CANCEL_ALL, *_OTHERS]


def _start(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    if place.device_id is None or all(part not in values for part in PARTS):
        raise slots.SlotError
    if "conversation_command" in values:
        # The simulated house understands no sentences.
        raise IntentError(f"Intent not recognized: {values['conversation_command'].strip()}")
    asked = {part: values.get(part) for part in PARTS}
    house.timers.start(
        values.get("name", ""), asked, place.device_id, place.area_id, place.floor_id
    )
    return done([], [])


def _cancel(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    house.timers.cancel(_find(house, values, place))
    return done([], [])


def _increase(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    house.timers.add(_find(house, values, place), duration_s(values))
    return done([], [])


def _decrease(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    house.timers.add(_find(house, values, place), -duration_s(values))
    return done([], [])


def _pause(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    house.timers.pause(_find(house, values, place, running=True))
    return done([], [])


def _resume(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    house.timers.resume(_find(house, values, place, running=False))
    return done([], [])


def _cancel_all(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    meant = _in_area(house, house.timers.all(), values)
    for timer in meant:
        house.timers.cancel(timer)
    area = {"area": values["area"]} if "area" in values else {}
    return done([], []) | {"speech_slots": {"canceled": len(meant), **area}}


def _status(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    meant = _named(_in_area(house, house.timers.all(), values), values)
    rows = [_row(timer, house.timers.left_s(timer)) for timer in _begun(meant, values)]
    return done([], []) | {"speech_slots": {"timers": rows}}


def _row(timer: Timer, left_s: int) -> dict[str, Any]:
    return {
        "id": timer.id,
        "name": timer.name,
        "device_id": timer.device_id,
        "language": "*",
        **{f"start_{part}": timer.asked.get(part) or 0 for part in PARTS},
        "is_active": timer.running,
        "hours_left": left_s // 3600,
        "minutes_left": left_s // 60 % 60,
        "seconds_left": left_s % 60,
        "total_seconds_left": left_s,
    }


def _find(
    house: DemoHouse, values: Values, place: CallerPlace, running: bool | None = None
) -> Timer:
    """The timer meant: the first narrowing that leaves exactly one. Raises IntentError.

    So "pause the tea" pauses the only running timer, whatever its name is: Home Assistant looks at
    who runs before it looks at names.
    """
    meant = house.timers.all()
    if running is not None:
        meant = [timer for timer in meant if timer.running is running]
        if len(meant) == 1:
            return meant[0]
    for given, narrow in (
        (("name",), _named),
        (("area",), lambda left, said: _in_area(house, left, said)),
        (_START, _begun),
    ):
        if any(key in values for key in given):
            meant = narrow(meant, values)
            if len(meant) == 1:
                return meant[0]
    if running is None and len(meant) == 1 and not any(key in values for key in _WHICH):
        return meant[0]
    near: tuple[Callable[[Timer], bool], ...] = (
        lambda timer: timer.device_id == place.device_id,
        lambda timer: place.area_id is not None and timer.area_id == place.area_id,
        lambda timer: place.area_id is not None and timer.floor_id == place.floor_id,
    )
    for here in near:
        left = [timer for timer in meant if here(timer)]
        if len(left) == 1:
            return left[0]
    raise IntentError("Multiple timers matched" if meant else "Timer not found")


def _named(timers: list[Timer], values: Values) -> list[Timer]:
    if "name" not in values:
        return timers
    return [timer for timer in timers if same_name(timer.name, values["name"])]


def _in_area(house: DemoHouse, timers: list[Timer], values: Values) -> list[Timer]:
    """By the area's name; its aliases and its id are not known here."""
    if "area" not in values:
        return timers
    return [
        timer
        for timer in timers
        if timer.area_id and same_name(house.areas[timer.area_id].name, values["area"])
    ]


def _begun(timers: list[Timer], values: Values) -> list[Timer]:
    """Those that were asked for with exactly these hours, minutes and seconds."""
    if not any(key in values for key in _START):
        return timers
    return [
        timer
        for timer in timers
        if all(timer.asked.get(part) == values.get(f"start_{part}") for part in PARTS)
    ]


_WHICH: Schema = {**dict.fromkeys(_START, _COUNT), "name": TEXT, "area": TEXT}
_HOW_LONG: Schema = dict.fromkeys(PARTS, _COUNT)


def _tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    run: Callable[[DemoHouse, Mapping[str, Any], CallerPlace], dict[str, Any]],
    properties: Schema,
) -> Tool:
    checks: dict[str, slots.Check] = {
        key: slots.integer(0, None) if schema is _COUNT else slots.text
        for key, schema in properties.items()
    }
    return Tool(
        f"intent__{name}",
        title,
        description,
        schemas.input_schema(properties),
        hints,
        slots.Slots(checks),
        run,
    )


_START_TIMER = _tool(
    "HassStartTimer",
    "Start timer",
    "Lets a new timer run",
    ONCE,
    _start,
    {**_HOW_LONG, "name": TEXT, "conversation_command": TEXT},
)
_CANCEL = _tool("HassCancelTimer", "Cancel timer", "Ends one timer", AGAIN, _cancel, _WHICH)
_CANCEL_ALL = _tool(
    "HassCancelAllTimers",
    "Cancel all timers",
    "Ends every timer, or those of one area",
    AGAIN,
    _cancel_all,
    {"area": TEXT},
)
_OTHERS = (
    _tool(
        "HassIncreaseTimer",
        "Add time to timer",
        "Gives a timer more time",
        Hints(destructive=False),
        _increase,
        {**_HOW_LONG, **_WHICH},
    ),
    _tool(
        "HassDecreaseTimer",
        "Remove time from timer",
        "Takes time from a timer",
        ONCE,
        _decrease,
        {**_HOW_LONG, **_WHICH},
    ),
    _tool("HassPauseTimer", "Pause timer", "Lets a timer stand", AGAIN, _pause, _WHICH),
    _tool("HassUnpauseTimer", "Resume timer", "Lets a timer run on", AGAIN, _resume, _WHICH),
    _tool(
        "HassTimerStatus",
        "Get timer status",
        "Tells which timers there are and how long they still run",
        Hints(read_only=True),
        _status,
        _WHICH,
    ),
)
