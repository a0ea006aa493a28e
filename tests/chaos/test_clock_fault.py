"""The clock on the wall is set back or ahead by a day while Hearth runs."""

import sys
from pathlib import Path

import pytest

from tests.chaos.daemon import daemon, until
from tests.chaos.faults import fault
from tests.chaos.room import Room
from tests.chaos.served import announced, heard, served

pytestmark = pytest.mark.faults

DAY_S = 86_400


@fault(
    "the clock is set back by a day",
    hears="nothing; a timer counts the time that passes. Told: “The machine's clock was set back "
    "by "
    "24 hours, and nobody keeps it right: alarms come by the new time; …”, until it is right again "
    "or the network keeps it",
    retried="nothing",
    kept="everything",
)
@pytest.mark.timeout(240)
async def test_the_clock_is_set_back_by_a_day(tmp_path: Path, office: Path, timer: Path) -> None:
    room, ahead = Room(tmp_path / "room.wav"), tmp_path / "ahead"
    ahead.write_text("0", encoding="ascii")
    async with daemon(tmp_path / "box", AUDIO__INPUT=room.source) as box:
        box.program = (sys.executable, "-m", "tests.chaos.run_set_back", str(ahead))
        await box.start()
        await box.serves()
        await heard(box, room, timer)
        ahead.write_text(str(-DAY_S), encoding="ascii")
        assert await box.trouble("clock") == (
            "The machine's clock was set back by 24 hours, and nobody keeps it right: alarms come "
            "by the new time; set it by the network (timedatectl set-ntp true)."
        )
        assert "hearth: the machine's clock was set back by 24 hours" in box.log
        await served(box, room, office)
        async with box.client() as client:
            [running] = (await client.get("/v1/timers")).json()
        assert 400 < running["left_s"] <= 600, "it counts the time that passes"
        ahead.write_text("0", encoding="ascii")
        await box.sound("clock")
        assert await box.end() == 0


@fault(
    "the clock is set ahead by a day, over an alarm",
    hears="the alarm, once, and since when it is due; a timer counts the time that passes",
    retried="nothing; it rings until somebody speaks to it",
    kept="everything",
)
@pytest.mark.timeout(300)
async def test_the_clock_is_set_ahead_by_a_day(tmp_path: Path, office: Path, timer: Path) -> None:
    room, ahead = Room(tmp_path / "room.wav"), tmp_path / "ahead"
    ahead.write_text("0", encoding="ascii")
    async with daemon(tmp_path / "box", AUDIO__INPUT=room.source) as box:
        box.program = (sys.executable, "-m", "tests.chaos.run_set_back", str(ahead))
        await box.start()
        await box.serves()
        await heard(box, room, timer)
        await box.ask("set an alarm for 7 am")
        ahead.write_text(str(DAY_S), encoding="ascii")
        await box.logged("hearth: the machine's clock was set ahead by 24 hours")
        await until(lambda: announced(box) == ["Your alarm was due at 07:00."])
        await served(box, room, office)  # which ends the ringing
        async with box.client() as client:
            [running] = (await client.get("/v1/timers")).json()
        assert 200 < running["left_s"] <= 600, "it counts the time that passes"
        assert await box.end() == 0
        assert len(announced(box)) == 1, "it rings once"
