"""Tests of a wall clock that is set back or ahead by a day while Hearth runs."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from tests.chaos.daemon import Daemon, listener, until
from tests.chaos.faults import fault
from tests.chaos.served import announced, heard, served

pytestmark = pytest.mark.faults

DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Wall:
    """A box that serves and has a timer of ten minutes, and its wall clock."""

    box: Daemon
    _ahead: Path

    def set(self, seconds: int) -> None:
        """Set it `seconds` ahead of the right time."""
        self._ahead.write_text(str(seconds), encoding="ascii")


@asynccontextmanager
async def wall(folder: Path, timer: Path) -> AsyncIterator[Wall]:
    """Yield a wall clock that is right at first."""
    ahead = folder / "ahead"
    async with listener(folder) as box:
        on = Wall(box, ahead)
        on.set(0)
        box.program = (sys.executable, "-m", "tests.chaos.run_set_back", str(ahead))
        await box.up()
        await heard(box, timer)
        yield on


@fault(
    "the clock is set back by a day",
    hears=(
        "nothing; a timer counts elapsed time. Reported problem: “The machine's "
        "clock was set back by 24 hours and is not synchronised: alarms follow the "
        "new time. …”, until the clock is right or synchronised"
    ),
    retried="nothing",
    kept="everything",
)
@pytest.mark.timeout(240)
async def test_the_clock_is_set_back_by_a_day(tmp_path: Path, office: Path, timer: Path) -> None:
    async with wall(tmp_path, timer) as on:
        on.set(-DAY_S)
        assert await on.box.trouble("clock") == (
            "The machine's clock was set back by 24 hours and is not synchronised: alarms follow "
            "the new time. Synchronise it over the network: timedatectl set-ntp true"
        )
        assert "hearth: the machine's clock was set back by 24 hours" in on.box.log
        await served(on.box, office)
        assert 400 < (await on.box.timer())["left_s"] <= 600, "it counts the time that passes"
        on.set(0)
        await on.box.sound("clock")


@fault(
    "the clock is set ahead by a day, past the time of an alarm",
    hears="the alarm rings once, and Hearth says when it was due; a timer counts elapsed time",
    retried="nothing; the alarm rings until somebody reacts",
    kept="everything",
)
@pytest.mark.timeout(300)
async def test_the_clock_is_set_ahead_by_a_day(tmp_path: Path, office: Path, timer: Path) -> None:
    now = datetime.now().astimezone()
    # Before seven it is due today, which is then over.
    day = "" if now.hour >= 7 else f" on {now:%A}"
    async with wall(tmp_path, timer) as on:
        await on.box.ask("set an alarm for 7 am")
        on.set(DAY_S)
        await on.box.logged("hearth: the machine's clock was set ahead by 24 hours")
        await until(lambda: announced(on.box) == [f"Your alarm was due at 07:00{day}."])
        await served(on.box, office)  # which ends the ringing
        assert 200 < (await on.box.timer())["left_s"] <= 600, "it counts the time that passes"
        assert await on.box.end() == 0
        assert len(announced(on.box)) == 1, "it rings once"
