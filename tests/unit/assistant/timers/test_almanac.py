"""The house's zone and sun, and whether the machine's clock is right."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assistant.domain.clock import synchronised
from assistant.timers.recurrence import DARK, LOCALTIME, Almanac, Sun, local_zone, sun_of
from integrations.home_assistant.house import Entity, House
from tests.unit.assistant.timers.conftest import Shelf

RISING = "2026-01-02T07:40:00+00:00"


def a_house(**attributes: Any) -> House:
    return House(entities={"sun.sun": Entity("sun.sun", "Sun", "x", attributes=attributes)})


@pytest.mark.parametrize(
    ("house", "sun"),
    [
        (House(), DARK),
        (a_house(), DARK),
        (a_house(next_rising=RISING), Sun(datetime(2026, 1, 2, 7, 40, tzinfo=UTC))),
        (a_house(next_rising="soon", next_setting=7), DARK),
        (a_house(next_rising="2026-01-02T07:40:00"), DARK),  # of which zone?
    ],
)
def test_the_sun_as_the_house_tells(house: House, sun: Sun) -> None:
    assert sun_of(house) == sun


async def test_the_sun_outlasts_a_house_that_is_away() -> None:
    shelf, house = Shelf(), a_house(next_rising=RISING)
    almanac = Almanac(UTC, lambda: house, shelf)
    assert await almanac.look() is True
    assert await almanac.look() is False
    writes, house = shelf.writes, House()
    assert await almanac.look() is False
    assert almanac.sun.sunrise is not None
    later = Almanac(UTC, lambda: house, shelf)
    assert await later.look() is True
    assert (later.sun, shelf.writes) == (almanac.sun, writes)


def test_the_zone_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", ":America/New_York")
    assert local_zone() == ZoneInfo("America/New_York")
    monkeypatch.setenv("TZ", "CET-1CEST")  # a rule, and no name: then as the machine is set up
    madrid = Path("/usr/share/zoneinfo/Europe/Madrid")
    summer = datetime(2027, 7, 1, tzinfo=UTC)
    if madrid.exists():
        assert summer.astimezone(local_zone(madrid)).hour == 2
    monkeypatch.delenv("TZ")
    assert local_zone(tmp_path / "nowhere") is UTC
    (tmp_path / "broken").write_bytes(b"no zone at all")
    assert local_zone(tmp_path / "broken") is UTC
    assert summer.astimezone(local_zone(LOCALTIME)) == summer


def test_the_kernel_tells_whether_its_clock_is_right() -> None:
    assert synchronised() in (True, False)
