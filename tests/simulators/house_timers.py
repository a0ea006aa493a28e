"""Timers of registered devices, and the tools that only such a device gets.

The timer that a call means is found as in Home Assistant 2026.11 (`components/intent/timers.py`).
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from integrations.demo_home import arguments
from integrations.demo_home.arguments import TEXT, Schema
from integrations.demo_home.house import CallerPlace, DemoHouse
from integrations.demo_home.intents import AGAIN, ONCE, Hints, IntentError, Tool, Values, done
from integrations.demo_home.matching import same_name
from integrations.demo_home.surroundings import Spawn, SystemClock

PARTS = ("hours", "minutes", "seconds")
_LENGTHS = {"hours": 3600, "minutes": 60, "seconds": 1}


@dataclass(slots=True)
class Timer:
    """A timer of a device."""

    name: str
    device_id: str
    area_id: str | None
    floor_id: str | None
    asked: Mapping[str, int | None]  # hours, minutes and seconds as given
    left_s: int  # at `since`
    since: datetime
    running: bool = True
    longest_s: int = 0  # the longest time that it ever had to run
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:26].upper())

    def left_at(self, now: datetime) -> int:
        """Return the whole seconds that are left at `now`."""
        if not self.running:
            return self.left_s
        return max(0, self.left_s - int((now - self.since).total_seconds()))

    def count_from(self, now: datetime, more_s: int = 0, *, running: bool) -> None:
        """Continue or pause from this moment with the time left, plus `more_s`."""
        self.left_s = max(0, self.left_at(now) + more_s)
        self.longest_s = max(self.longest_s, self.left_s)
        self.since, self.running = now, running


Finished = Callable[[Timer], None]


class HouseTimers:
    """All timers of the house. `finished` is called for each that was not cancelled."""

    def __init__(self, clock: SystemClock, spawn: Spawn, finished: Finished) -> None:
        self._clock = clock
        self._spawn = spawn
        self._finished = finished
        self._timers: dict[str, Timer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(
        self,
        name: str,
        asked: Mapping[str, int | None],
        device_id: str,
        area_id: str | None,
        floor_id: str | None,
    ) -> None:
        """Start a timer."""
        seconds = duration_s(asked)
        timer = Timer(
            name, device_id, area_id, floor_id, asked, seconds, self._clock.now(), longest_s=seconds
        )
        self._timers[timer.id] = timer
        self._run(timer)

    def left_s(self, timer: Timer) -> int:
        """Return the whole seconds that are left."""
        return timer.left_at(self._clock.now())

    def add(self, timer: Timer, seconds: int) -> None:
        """Add time, or remove it with a negative number."""
        timer.count_from(self._clock.now(), seconds, running=timer.running)
        if timer.running:
            self._run(timer)

    def pause(self, timer: Timer) -> None:
        """Pause a timer; no effect if it is paused."""
        timer.count_from(self._clock.now(), running=False)
        self._halt(timer)

    def resume(self, timer: Timer) -> None:
        """Resume a timer; no effect if it runs."""
        if not timer.running:
            timer.count_from(self._clock.now(), running=True)
            self._run(timer)

    def cancel(self, timer: Timer) -> None:
        """Cancel a timer silently."""
        self._halt(timer)
        del self._timers[timer.id]

    def stop(self) -> None:
        """Cancel all timers, at shutdown."""
        for timer in tuple(self._timers.values()):
            self.cancel(timer)

    def all(self) -> list[Timer]:
        """Return every timer, in the order of their start."""
        return list(self._timers.values())

    def _run(self, timer: Timer) -> None:
        self._halt(timer)
        self._tasks[timer.id] = self._spawn(self._wait(timer))

    def _halt(self, timer: Timer) -> None:
        task = self._tasks.pop(timer.id, None)
        if task is not None:
            task.cancel()

    async def _wait(self, timer: Timer) -> None:
        await self._clock.sleep(timer.left_s)
        del self._tasks[timer.id]
        del self._timers[timer.id]
        self._finished(timer)


def duration_s(parts: Mapping[str, Any]) -> int:
    """Return the seconds of hours, minutes and seconds, of which some are missing or None."""
    return sum((parts.get(part) or 0) * _LENGTHS[part] for part in PARTS)


class TimerHouse(DemoHouse):
    timers: HouseTimers


_COUNT: Schema = {"type": "integer", "minimum": 0}
_START = tuple(f"start_{part}" for part in PARTS)


def _timers(house: DemoHouse) -> HouseTimers:
    assert isinstance(house, TimerHouse)
    return house.timers


def timer_tools(cancel_all_only: bool) -> list[Tool]:
    """Return the tools in Home Assistant's order; without timers, only the one that always
    exists."""
    return [_CANCEL_ALL] if cancel_all_only else [_START_TIMER, _CANCEL, _CANCEL_ALL, *_OTHERS]


def _start(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    if place.device_id is None or all(part not in values for part in PARTS):
        raise arguments.SlotError
    if "conversation_command" in values:
        # The simulated house understands no sentences.
        raise IntentError(f"Intent not recognized: {values['conversation_command'].strip()}")
    asked = {part: values.get(part) for part in PARTS}
    _timers(house).start(
        values.get("name", ""), asked, place.device_id, place.area_id, place.floor_id
    )
    return done([], [])


def _cancel(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    _timers(house).cancel(_find(house, values, place))
    return done([], [])


def _increase(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    _timers(house).add(_find(house, values, place), duration_s(values))
    return done([], [])


def _decrease(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    _timers(house).add(_find(house, values, place), -duration_s(values))
    return done([], [])


def _pause(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    _timers(house).pause(_find(house, values, place, running=True))
    return done([], [])


def _resume(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    _timers(house).resume(_find(house, values, place, running=False))
    return done([], [])


def _cancel_all(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    meant = _in_area(house, _timers(house).all(), values)
    for timer in meant:
        _timers(house).cancel(timer)
    area = {"area": values["area"]} if "area" in values else {}
    return done([], []) | {"speech_slots": {"canceled": len(meant), **area}}


def _status(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    meant = _named(_in_area(house, _timers(house).all(), values), values)
    rows = [_row(timer, _timers(house).left_s(timer)) for timer in _begun(meant, values)]
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
    """Find the timer meant: the first filter that leaves exactly one. Raises IntentError.

    So "pause the tea" pauses the only running timer, whatever its name is: Home Assistant checks
    which timers run before it checks names.
    """
    meant = _timers(house).all()
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
    """Filter by the area's name; aliases and ids are not supported here."""
    if "area" not in values:
        return timers
    return [
        timer
        for timer in timers
        if timer.area_id and same_name(house.areas[timer.area_id].name, values["area"])
    ]


def _begun(timers: list[Timer], values: Values) -> list[Timer]:
    """Filter by the hours, minutes and seconds that were requested."""
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
    checks: dict[str, arguments.Check] = {
        key: arguments.integer(0, None) if schema is _COUNT else arguments.text
        for key, schema in properties.items()
    }
    return Tool(
        f"intent__{name}",
        title,
        description,
        arguments.input_schema(properties),
        hints,
        arguments.Slots(checks),
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
