"""How memory, heat and clock are judged."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.doctor import machine
from assistant.doctor.finding import examine
from assistant.doctor.machine import Heat
from tests.unit.assistant.doctor.scenes import scene, settings

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
    found = machine.judge_memory(machine.parse_meminfo(MEMINFO.format(available)))
    assert found.status == status
    assert found.detail == f"{available // 1024} of 926 MB available, 50 MB swapped out"
    assert bool(found.mend) == (status != "ok")


def test_a_system_that_tells_nothing_of_its_memory() -> None:
    assert machine.judge_memory({}).status == "ok"


@pytest.mark.parametrize(
    ("heat", "status", "words"),
    [
        (Heat(None, None), "ok", "no sensor"),
        (Heat(48.3, 0), "ok", "48 °C, never slowed down"),
        (Heat(81.0, None), "warn", "81 °C"),
        (Heat(50.0, 0x1), "warn", "voltage is too low (now)"),
        (Heat(50.0, 0x50000), "warn", "voltage is too low (since its start)"),
        (Heat(82.0, 0x4), "warn", "slows itself down (now)"),
        (Heat(60.0, 0x80000), "warn", "slows itself down (since its start)"),
    ],
)
def test_heat(heat: Heat, status: str, words: str) -> None:
    found = machine.judge_heat(heat)
    assert found.status == status
    assert words in found.detail
    assert bool(found.mend) == (status != "ok")


@pytest.mark.parametrize(
    ("text", "bits"),
    [("throttled=0x50005\n", 0x50005), ("50005", 0x50005), ("", None), ("?", None)],
)
def test_what_the_firmware_says(text: str, bits: int | None) -> None:
    assert machine.parse_throttled(text) == bits


def test_the_processors_own_sensor_counts(tmp_path: Path) -> None:
    assert machine.hottest(tmp_path) is None
    for number, kind, heat in ((0, "acpitz", "90000"), (1, "cpu-thermal", "51200")):
        zone = tmp_path / f"thermal_zone{number}"
        zone.mkdir()
        (zone / "type").write_text(f"{kind}\n")
        (zone / "temp").write_text(f"{heat}\n")
    assert machine.hottest(tmp_path) == 51.2
    (tmp_path / "thermal_zone1" / "temp").write_text("broken\n")
    assert machine.hottest(tmp_path) == 90.0


@pytest.mark.parametrize(
    ("year", "state", "status", "words"),
    [
        (2026, 0, "ok", "kept right"),
        (2026, 1, "ok", "leap second"),
        (2026, 5, "warn", "nobody keeps it right"),
        (2026, -1, "warn", "nobody keeps it right"),
        (1970, 0, "fail", "cannot be right"),
    ],
)
def test_the_clock(year: int, state: int, status: str, words: str) -> None:
    found = machine.judge_clock(datetime(year, 3, 1, 12, tzinfo=UTC), state, "set-ntp")
    assert found.status == status
    assert words in found.detail
    assert ("set-ntp" in found.mend) == (status != "ok")


async def test_the_machine_that_this_runs_on(tmp_path: Path) -> None:
    findings = await examine(machine.CHECKS, scene(settings(tmp_path)))
    assert [finding.check for finding in findings] == ["memory", "processor", "clock"]
    assert "MB available" in findings[0].detail
    assert "fail" not in {finding.status for finding in findings}
