"""The clock, users, camera image and weather forecast of the simulated house."""

import asyncio
import secrets
import struct
import uuid
import zlib
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

# Starts a coroutine as a task in the owner's task group.
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class SystemClock:
    def now(self) -> datetime:
        return datetime.now().astimezone()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


# Users of the simulated house: an administrator, and a user without administrator rights.


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    is_admin: bool
    token: str = field(repr=False)

    @property
    def user_id(self) -> str:
        return uuid.uuid5(uuid.NAMESPACE_DNS, self.name).hex


def whose(people: Iterable[Person], token: object) -> Person | None:
    if not isinstance(token, str):
        return None
    given = token.encode()
    for person in people:
        if secrets.compare_digest(given, person.token.encode()):
            return person
    return None


# Image of the simulated camera: a front door, drawn in code.


WIDTH, HEIGHT = 96, 64
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_WALL, _DOOR, _HANDLE, _STEP = (203, 197, 186), (122, 62, 38), (224, 190, 90), (120, 120, 120)


def picture() -> bytes:
    """Return the camera image as an 8-bit RGB PNG of WIDTH by HEIGHT pixels (W3C PNG,
    section 11)."""
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
    if y >= HEIGHT - 8:
        return _STEP
    if 52 <= x < 55 and 34 <= y < 38:
        return _HANDLE
    return _DOOR if 36 <= x < 60 and y >= 12 else _WALL


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


# Weather forecasts, the same in every run.


# Condition, high and low in degrees Celsius, rain in millimetres, probability of rain in percent.
_DAYS = (
    ("rainy", 14.0, 8.0, 4.2, 80),
    ("cloudy", 15.0, 9.0, 0.0, 20),
    ("sunny", 18.0, 9.5, 0.0, 5),
    ("sunny", 20.0, 11.0, 0.0, 0),
    ("partlycloudy", 19.0, 12.0, 0.0, 10),
    ("pouring", 13.0, 10.0, 11.5, 95),
    ("fog", 12.0, 7.0, 0.2, 30),
)
# The `WeatherEntityFeature` bit of each forecast type.
FEATURES = {"daily": 1, "hourly": 2, "twice_daily": 4}


def forecast(kind: str, now: datetime) -> list[dict[str, Any]]:
    """Return the forecast of `weather.get_forecasts` for "daily" or "hourly"."""
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
    return {
        "datetime": when.isoformat(),
        "condition": "rainy" if when.hour < 12 else "cloudy",
        "temperature": 14.0 - abs(when.hour - 15) / 2,
        "precipitation_probability": 80 if when.hour < 12 else 20,
    }
