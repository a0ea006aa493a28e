"""Bytes that a day with 200 turns writes to the disk, part by part.

Needs root: the data folder lies on an ext4 of its own, and what counts is what the kernel has sent
to its device, file system's journal and all. After each turn everything is brought to the device,
as it is in a real day in which minutes lie between two turns. Beside it stands what the kernel
counts for the process (`write_bytes` of /proc/PID/io: pages made dirty).

Rest is measured for a minute (LONG=1: ten) and taken times what makes a day; the hourly forgetting
falls into it once for each start, and is measured by itself.
"""

import asyncio
import ctypes
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from tests.benchmarks.figures import print_table, write_figures
from tests.chaos.daemon import Daemon, daemon
from tests.chaos.day import SENTENCES, announcement, timer
from tests.chaos.disks import failing_disk

MOST_MB = 20.0  # a day; more than that fails
LONG = os.environ.get("LONG") == "1"
TURNS, TIMERS, ANNOUNCEMENTS = 200, 20, 20  # a day
DONE = 1.0 if LONG else 0.1  # so much of it is done here, and counted up
REST_S = 600.0 if LONG else 60.0
DAY_S = 86_400.0
_SETTLE_S = 20.0
_SECTOR = 512  # bytes, whatever the device says (Documentation/block/stat.rst)


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes written between two moments."""

    device: int
    process: int


class Meter:
    """Counts the bytes that reach the disk from now on."""

    def __init__(self, folder: Path, device: str) -> None:
        self._folder = folder
        self._stat = Path(f"/sys/block/{Path(device).name}/stat")
        self._before = 0
        self._before = self._on_device()

    def now(self, process: int) -> Written:
        """Return the counts since the start; the process's since its own."""
        told = Path(f"/proc/{process}/io").read_text(encoding="ascii")
        by_process = dict(line.split(": ") for line in told.splitlines())["write_bytes"]
        return Written(self._on_device(), int(by_process))

    def _on_device(self) -> int:
        bring_to_device(self._folder)
        sectors = int(self._stat.read_text(encoding="ascii").split()[6])
        return sectors * _SECTOR - self._before


def bring_to_device(folder: Path) -> None:
    """Write everything that the kernel still holds of this file system. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle):
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the day."""

    what: str
    device_mb: float  # a day
    process_mb: float | None  # a day; None: another process did it


class Day:
    """Measures one part of the day after the other."""

    def __init__(self, meter: Meter, process: int) -> None:
        self._now = partial(meter.now, process)
        first = self._now()
        self.parts = [Part("start", first.device / 1e6, first.process / 1e6)]

    async def part(self, what: str, work: Callable[[int], Awaitable[object]], times: float) -> None:
        """Do the share of `times` that is done here, and scale the result to all of them."""
        done = max(1, round(times * DONE))
        await self._part(what, work, done, times / done)

    async def rest(self) -> None:
        """Measure a day of silence, without what directly follows the last word."""
        await asyncio.sleep(_SETTLE_S)
        await self._part("rest", lambda _: asyncio.sleep(REST_S), 1, DAY_S / REST_S)

    async def hourly(self, file: Path, turns: Callable[[], Awaitable[object]]) -> None:
        """Measure the hourly cleanup, with the log of the hour's turns.

        This process does it in the daemon's place.
        """
        async with Store(file, SystemClock()) as store:
            await _forget(store)
            await turns()
            before = self._now()
            await _forget(store)
            written = self._now().device - before.device
        self.parts.append(Part("forgetting, 24 times", written * 24 / 1e6, None))

    async def _part(
        self, what: str, work: Callable[[int], Awaitable[object]], done: int, factor: float
    ) -> None:
        before = after = self._now()
        for number in range(done):
            await work(number)
            after = self._now()
        device, process = after.device - before.device, after.process - before.process
        self.parts.append(Part(what, device * factor / 1e6, process * factor / 1e6))


async def _forget(store: Store) -> None:
    await store.erase_old(30, 24)
    await store.bound(200_000_000)


async def measure(folder: Path) -> list[Part]:
    """Play the day and return its parts."""
    with failing_disk(folder / "disk", folder / "image") as disk:
        data, meter = disk.folder / "data", Meter(disk.folder, disk.device)
        async with daemon(folder / "box", ASSISTANT__DATA=str(data)) as box:
            await box.start()
            await box.serves()
            await box.logged("hearth: started")
            day = Day(meter, box.pid)
            said = len(box.log)
            await day.part(f"{TURNS} turns", lambda number: _turn(box, number), TURNS)
            lines_mb = (len(box.log) - said) / max(1, round(TURNS * DONE)) * TURNS / 1e6
            async with box.client() as client:
                await day.part(f"{TIMERS} timers", lambda _: timer(client), TIMERS)
                await day.part(
                    f"{ANNOUNCEMENTS} announcements",
                    lambda number: announcement(client, number),
                    ANNOUNCEMENTS,
                )
            await day.rest()

            async def an_hour() -> None:
                for number in range(TURNS // 24):
                    await _turn(box, number)

            await day.hourly(data / "hearth.db", an_hour)
            assert await box.end() == 0
    # The system's journal stores them at least once; its further writes are not counted.
    return [*day.parts, Part("log lines of the turns", lines_mb, None)]


async def _turn(box: Daemon, number: int) -> None:
    answer = await box.ask(SENTENCES[number % len(SENTENCES)])
    assert answer["turn_id"]


def main() -> None:
    """Measure, print, and fail if it is more than the promise."""
    if os.geteuid() != 0:
        print("  skipped: only root can make a disk of its own")
        return
    with tempfile.TemporaryDirectory(prefix="hearth-disk-") as folder:
        parts = asyncio.run(measure(Path(folder)))
    total = sum(part.device_mb for part in parts)
    rows = [
        (
            part.what,
            f"{part.device_mb:.2f}",
            "" if part.process_mb is None else f"{part.process_mb:.2f}",
        )
        for part in parts
    ]
    print_table(
        ("a day", "MB on the device", "MB by /proc/PID/io"), [*rows, ("all", f"{total:.2f}", "")]
    )
    write_figures("disk_writes", {"parts": parts, "all_mb": total, "most_mb": MOST_MB})
    assert total <= MOST_MB, f"{total:.1f} MB a day are more than {MOST_MB:.0f} MB"


if __name__ == "__main__":
    main()
