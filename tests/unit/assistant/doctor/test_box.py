"""Tests of the doctor's checks of the data folder, the journal and the disk."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.doctor import box
from assistant.doctor.box import Disk, Heat, judge_disk, judge_journal, worn, written_a_day
from assistant.doctor.finding import examine
from assistant.domain.clock import SystemClock
from assistant.interfaces.device import inbox as old_orders
from assistant.journal.store import Store
from tests.unit.assistant.doctor.scenes import look, scene, settings


async def test_a_box_that_is_well(tmp_path: Path) -> None:
    findings = await examine(box.CHECKS, scene(settings(tmp_path)))
    kept, machine = findings[:5], findings[5:]
    assert [finding.status for finding in kept] == ["ok"] * 5
    assert not any(finding.mend for finding in kept)
    assert "of at most 200 MB" in kept[1].detail
    assert "GB free" in kept[2].detail
    assert [finding.check for finding in machine] == ["memory", "processor", "clock"]
    assert "MB available" in machine[0].detail
    assert "fail" not in {finding.status for finding in machine}


@pytest.mark.parametrize("name", ["data folder", "journal"])
async def test_a_data_folder_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    found = await look(box.CHECKS, name, scene(settings(tmp_path / "file")))
    assert found.status == "fail"
    assert "assistant.data" in found.mend


async def test_the_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    found = await look(box.CHECKS, "disk", scene(settings(tmp_path / "a" / "b")))
    assert "GB free" in found.detail
    assert not (tmp_path / "a").exists()


async def test_orders_in_the_text_are_told_until_the_automation_is_mended(tmp_path: Path) -> None:
    at, now = scene(settings(tmp_path)), datetime.now(UTC)
    ago = timedelta(days=10)
    async with Store(at.settings.database, SystemClock()) as store:
        for what in ("command_mode", "command_mute", "command_mode"):
            await old_orders.note(store, what, now - ago)
        kept = await store.kept(old_orders.NAME)
    found = await look(box.CHECKS, "messages", at)
    assert found.status == "warn"
    assert "command_mode (2), command_mute (1)" in found.detail
    assert f"{(now - ago).astimezone():%Y-%m-%d at %H:%M}" in found.detail
    assert '"data: {hearth_command: mode}"' in found.mend
    assert old_orders.recent(kept, now + old_orders.RECENT - ago) == {}
    async with Store(at.settings.database, SystemClock()) as store:
        await store.keep(old_orders.NAME, ["damaged"])
    assert (await look(box.CHECKS, "messages", at)).status == "ok"


WELL = Disk(free_mb=20_000, whole_mb=30_000, read_only=False, files_left=1_000_000)


@pytest.mark.parametrize(
    ("disk", "status", "words"),
    [
        (WELL, "ok", "19.5 of 29.3 GB free"),
        (replace(WELL, card=True, gb_a_day=0.4), "ok", "on a card, 0.4 GB written per day"),
        (replace(WELL, card=True, gb_a_day=9.0), "warn", "9.0 GB written per day"),
        (replace(WELL, gb_a_day=90.0), "ok", "90.0 GB"),  # no card
        (replace(WELL, free_mb=499), "warn", "0.5 of"),
        (replace(WELL, free_mb=49), "fail", "0.0 of"),
        (replace(WELL, read_only=True), "fail", "read-only"),
        (replace(WELL, files_left=3), "warn", "3 more files"),
        (replace(WELL, files_left=None), "ok", "free"),
        (replace(WELL, card=True, life=9), "warn", "90 % of its service life"),
        (replace(WELL, card=True, life=3), "ok", "on a card"),
    ],
)
def test_a_disk(disk: Disk, status: str, words: str) -> None:
    found = judge_disk(disk)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


def test_a_journal_that_grows_too_large() -> None:
    assert judge_journal("hearth.db", 5 * 2**20, 200).detail == "hearth.db, 5.0 of at most 200 MB"
    assert judge_journal("hearth.db", 230 * 2**20, 200).status == "ok"
    assert judge_journal("hearth.db", 260 * 2**20, 200).status == "warn"


def test_what_was_written() -> None:
    stat = "5 0 40 1 9 0 8000000 7 0 3 8"
    assert written_a_day(stat, 86_400) == pytest.approx(4.096)
    assert written_a_day(stat, 2 * 86_400) == pytest.approx(2.048)
    assert written_a_day(stat, 60) is None
    assert written_a_day("", 86_400) is None


def test_how_worn_it_is() -> None:
    assert worn("0x02 0x0b") == 11
    assert worn("0x00 0x00") is None
    assert worn("") is None
    assert worn("none") is None


MEMINFO = """\
MemTotal:         948304 kB
MemFree:           50000 kB
MemAvailable:     {} kB
SwapTotal:        102396 kB
SwapFree:          51196 kB
HugePages_Total:       0
"""


@pytest.mark.parametrize(
    ("available", "status"), [(400_000, "ok"), (100_000, "warn"), (30_000, "fail")]
)
def test_memory(available: int, status: str) -> None:
    found = box.judge_memory(box.parse_meminfo(MEMINFO.format(available)))
    assert found.status == status
    assert found.detail == f"{available // 1024} of 926 MB available, 50 MB swapped out"
    assert bool(found.mend) == (status != "ok")


def test_a_system_that_tells_nothing_of_its_memory() -> None:
    assert box.judge_memory({}).status == "ok"


@pytest.mark.parametrize(
    ("heat", "status", "words"),
    [
        (Heat(None, None), "ok", "no sensor"),
        (Heat(48.3, 0), "ok", "48 °C, never throttled"),
        (Heat(81.0, None), "warn", "81 °C"),
        (Heat(50.0, 0x1), "warn", "voltage is too low (now)"),
        (Heat(50.0, 0x50000), "warn", "voltage is too low (since boot)"),
        (Heat(82.0, 0x4), "warn", "throttled (now)"),
        (Heat(60.0, 0x80000), "warn", "throttled (since boot)"),
    ],
)
def test_heat(heat: Heat, status: str, words: str) -> None:
    found = box.judge_heat(heat)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


@pytest.mark.parametrize(
    ("text", "bits"),
    [("throttled=0x50005\n", 0x50005), ("50005", 0x50005), ("", None), ("?", None)],
)
def test_what_the_firmware_says(text: str, bits: int | None) -> None:
    assert box.parse_throttled(text) == bits


def test_the_processors_own_sensor_counts(tmp_path: Path) -> None:
    assert box.hottest(tmp_path) is None
    for number, kind, heat in ((0, "acpitz", "90000"), (1, "cpu-thermal", "51200")):
        zone = tmp_path / f"thermal_zone{number}"
        zone.mkdir()
        (zone / "type").write_text(f"{kind}\n")
        (zone / "temp").write_text(f"{heat}\n")
    assert box.hottest(tmp_path) == 51.2
    (tmp_path / "thermal_zone1" / "temp").write_text("broken\n")
    assert box.hottest(tmp_path) == 90.0


@pytest.mark.parametrize(
    ("year", "state", "status", "words"),
    [
        (2026, 0, "ok", "synchronised"),
        (2026, 1, "ok", "leap second"),
        (2026, 5, "warn", "not synchronised"),
        (2026, -1, "warn", "not synchronised"),
        (1970, 0, "fail", "cannot be right"),
    ],
)
def test_the_clock(year: int, state: int, status: str, words: str) -> None:
    found = box.judge_clock(datetime(year, 3, 1, 12, tzinfo=UTC), state, "set-ntp")
    assert found.status == status
    assert words in found.detail
    assert ("set-ntp" in found.mend) == (status != "ok")
