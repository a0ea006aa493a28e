"""Checks of a box after any input: the same process, no error, no growth, and still working."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.chaos.daemon import Daemon, statuses

# How the log tells that something went a way that nobody has thought of.
_BROKEN = re.compile(
    r"Traceback \(most recent call last\)|\bbroke\b|could not be (dealt with|processed)|"
    r"failed with \w+ in |a Wyoming connection failed|was never (retrieved|awaited)|"
    r"Exception in callback|Unhandled"
)
SLACK_MB = 48  # caches, arenas of malloc, the recogniser's first words
SPOKEN_MB = SLACK_MB + 160  # with what the first spoken turn loads: recognisers, voice, models
_SLACK_FILES = 12


def resident_mb(pid: int) -> float:
    """Return the resident memory of that process."""
    told = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(told.split("VmRSS:")[1].split()[0]) / 1024


def open_files(pid: int) -> int:
    """Return the number of that process's open files, including sockets."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def broken(log: str) -> list[str]:
    """Return the lines that report errors, each with those around it."""
    lines = log.splitlines()
    return [
        "\n".join(lines[max(0, at - 3) : at + 40])
        for at, line in enumerate(lines)
        if _BROKEN.search(line)
    ]


@dataclass(frozen=True, slots=True)
class Before:
    """The state of a box before anything was sent to it."""

    pid: int
    memory_mb: float
    files: int

    @classmethod
    async def of(cls, box: Daemon) -> Self:
        """Return the state after a first command, which loads everything that is loaded once."""
        await commanded(box)
        return cls(box.pid, resident_mb(box.pid), open_files(box.pid))

    def assert_small(self, grown_mb: float) -> None:
        """Raise AssertionError if the memory has grown by more than `grown_mb`."""
        grown = resident_mb(self.pid) - self.memory_mb
        print(f"{grown:.0f} MB more are held")
        assert grown < grown_mb, f"{grown:.0f} MB more are held than before"

    async def assert_unharmed(self, box: Daemon, grown_mb: float) -> None:
        """Raise AssertionError if it is not as it was."""
        await commanded(box)
        assert box.pid == self.pid, "it was started anew"
        assert_nothing_broke(box)
        self.assert_small(grown_mb)
        more = open_files(box.pid) - self.files
        assert more < _SLACK_FILES, f"{more} more files are open than before"


@asynccontextmanager
async def unharmed(box: Daemon, grown_mb: float = SLACK_MB) -> AsyncIterator[Before]:
    """Start it, and check after the block that it is unharmed."""
    await box.up()
    before = await Before.of(box)
    yield before
    await before.assert_unharmed(box, grown_mb)


def assert_nothing_broke(box: Daemon) -> None:
    """Raise AssertionError with the lines of its log that report unexpected errors."""
    assert not broken(box.log), broken(box.log)[0]


async def commanded(box: Daemon) -> None:
    """Check that a typed command is done in the house once."""
    async with box.client() as client:
        settled = {"muted": False}, {"mode": "normal"}
        for path, wanted in zip(("/v1/mute", "/v1/mode"), settled, strict=True):
            answer = await client.post(path, json=wanted)
            assert answer.status_code in (200, 409), answer.text
    done = len(box.house.calls)
    turn = await box.ask("turn on the office lights")
    assert statuses(turn) == ["done"], turn
    reached = [name for name, _ in box.house.calls[done:] if name.endswith("HassTurnOn")]
    assert len(reached) == 1, box.house.calls[done:]


async def until_done(box: Daemon, within_s: float = 90.0) -> None:
    """Return once a typed command is done and observed: what was lost is back."""
    async with asyncio.timeout(within_s):
        while True:
            if statuses(await box.ask("turn off the office lights")) == ["done"]:
                return
            await asyncio.sleep(0.5)


async def silenced(box: Daemon, within_s: float = 60.0) -> None:
    """Return once nothing is spoken or waiting; each announcement is stopped as it begins."""
    rested = 0
    async with asyncio.timeout(within_s), box.client() as client:
        while rested < 4:
            await client.post("/v1/stop")
            await asyncio.sleep(0.25)
            rests = (await client.get("/v1/state")).json()["state"] == "idle"
            rested = rested + 1 if rests else 0
