"""The time as the simulated house needs it."""

import asyncio
import secrets
import struct
import uuid
import zlib
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

# Starts something that waits, in the owner's task group.
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class HouseClock(Protocol):
    """What the house reads and waits by."""

    def now(self) -> datetime:
        """The wall clock, with a time zone."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The wall clock in the machine's zone."""
        return datetime.now().astimezone()

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        await asyncio.sleep(seconds)


# Who may talk to the simulated house: an administrator, and a person who is none.


@dataclass(frozen=True, slots=True)
class Person:
    """One user with a long-lived token."""

    name: str
    is_admin: bool
    token: str = field(repr=False)

    @property
    def user_id(self) -> str:
        """The id that Home Assistant would give."""
        return uuid.uuid5(uuid.NAMESPACE_DNS, self.name).hex


def whose(people: Iterable[Person], token: object) -> Person | None:
    """The person of that token; None for anything else."""
    if not isinstance(token, str):
        return None
    given = token.encode()
    for person in people:
        if secrets.compare_digest(given, person.token.encode()):
            return person
    return None


# The picture of the simulated camera: a front door, drawn in code.


WIDTH, HEIGHT = 96, 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_WALL, _DOOR, _HANDLE, _STEP = (203, 197, 186), (122, 62, 38), (224, 190, 90), (120, 120, 120)


def picture() -> bytes:
    """A PNG of WIDTH by HEIGHT, 8 bits of red, green and blue (W3C PNG, section 11)."""
    rows = b"".join(
        b"\x00" + bytes(part for x in range(WIDTH) for part in _colour(x, y)) for y in range(HEIGHT)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows))
        + _chunk(b"IEND", b"")
    )


def _colour(x: int, y: int) -> tuple[int, int, int]:
    """A wall with a door in it and a step before it."""
    if y >= HEIGHT - 8:
        return _STEP
    if 52 <= x < 55 and 34 <= y < 38:
        return _HANDLE
    return _DOOR if 36 <= x < 60 and y >= 12 else _WALL


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


# The forecasts of the simulated weather: the same weather in each run, from now on.


# Condition, high and low in degrees Celsius, rain in millimetres, its probability in percent.
_DAYS = (
    ("rainy", 14.0, 8.0, 4.2, 80),
    ("cloudy", 15.0, 9.0, 0.0, 20),
    ("sunny", 18.0, 9.5, 0.0, 5),
    ("sunny", 20.0, 11.0, 0.0, 0),
    ("partlycloudy", 19.0, 12.0, 0.0, 10),
    ("pouring", 13.0, 10.0, 11.5, 95),
    ("fog", 12.0, 7.0, 0.2, 30),
)
# `WeatherEntityFeature` bit of each type of forecast.
FEATURES = {"daily": 1, "hourly": 2, "twice_daily": 4}


def forecast(kind: str, now: datetime) -> list[dict[str, Any]]:
    """The rows of `weather.get_forecasts` for "daily" or "hourly"."""
    if kind == "hourly":
        start = now.replace(minute=0, second=0, microsecond=0)
        return [_hour(start + timedelta(hours=hour)) for hour in range(24)]
    day = now.replace(hour=12, minute=0, second=0, microsecond=0)
    return [_day(day + timedelta(days=number), *row) for number, row in enumerate(_DAYS)]


def _day(
    when: datetime, condition: str, high: float, low: float, rain: float, chance: int
) -> dict[str, Any]:
    return {
        "datetime": when.isoformat(),
        "condition": condition,
        "precipitation": rain,
        "temperature": high,
        "templow": low,
        "precipitation_probability": chance,
    }


def _hour(when: datetime) -> dict[str, Any]:
    """Warmest at three in the afternoon."""
    return {
        "datetime": when.isoformat(),
        "condition": "rainy" if when.hour < 12 else "cloudy",
        "temperature": 14.0 - abs(when.hour - 15) / 2,
        "precipitation_probability": 80 if when.hour < 12 else 20,
    }


# Timers of a device, as Home Assistant 2026.11 keeps them (`components/intent/timers.py`).


PARTS = ("hours", "minutes", "seconds")
_LENGTHS = {"hours": 3600, "minutes": 60, "seconds": 1}


@dataclass(slots=True)
class Timer:
    """One timer of one device."""

    name: str
    device_id: str
    area_id: str | None
    floor_id: str | None
    asked: Mapping[str, int | None]  # hours, minutes and seconds, as they were given
    left_s: int  # at `since`
    since: datetime
    running: bool = True
    longest_s: int = 0  # the most that it ever had to run
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:26].upper())


Finished = Callable[[Timer], None]


class HouseTimers:
    """All timers of the house. `finished` is told of each that was not cancelled before."""

    def __init__(self, clock: HouseClock, spawn: Spawn, finished: Finished) -> None:
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
        """Let a timer run from now on."""
        seconds = duration_s(asked)
        timer = Timer(
            name, device_id, area_id, floor_id, asked, seconds, self._clock.now(), longest_s=seconds
        )
        self._timers[timer.id] = timer
        self._run(timer)

    def left_s(self, timer: Timer) -> int:
        """Whole seconds that it still has."""
        if not timer.running:
            return timer.left_s
        return max(0, timer.left_s - int((self._clock.now() - timer.since).total_seconds()))

    def add(self, timer: Timer, seconds: int) -> None:
        """More time, or with a negative number less."""
        timer.left_s = max(0, self.left_s(timer) + seconds)
        timer.longest_s = max(timer.longest_s, timer.left_s)
        timer.since = self._clock.now()
        if timer.running:
            self._run(timer)

    def pause(self, timer: Timer) -> None:
        """Stop the count; nothing happens if it stands already."""
        if timer.running:
            timer.left_s = self.left_s(timer)
            timer.running = False
            self._halt(timer)

    def resume(self, timer: Timer) -> None:
        """Count on; nothing happens if it runs already."""
        if not timer.running:
            timer.running = True
            timer.since = self._clock.now()
            self._run(timer)

    def cancel(self, timer: Timer) -> None:
        """End it without a word."""
        self._halt(timer)
        del self._timers[timer.id]

    def stop(self) -> None:
        """End all, at shutdown."""
        for timer in tuple(self._timers.values()):
            self.cancel(timer)

    def all(self) -> list[Timer]:
        """Every timer, in the order of their start."""
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
    """Seconds from hours, minutes and seconds, of which some are missing or None."""
    return sum((parts.get(part) or 0) * _LENGTHS[part] for part in PARTS)
