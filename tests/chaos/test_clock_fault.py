"""The clock on the wall is set back by a day while Hearth runs."""

import sys
from pathlib import Path

import pytest

from tests.chaos.daemon import daemon
from tests.chaos.room import Room
from tests.chaos.served import heard, served

pytestmark = pytest.mark.faults

DAY_S = 86_400


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
