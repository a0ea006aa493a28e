"""What must hold of a box after whatever was sent to it: it is the same process, nothing in it
broke, it holds no more than before, and it does what it is told."""

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
    r"Traceback \(most recent call last\)|\bbroke\b|could not be dealt with|"
    r"was never (retrieved|awaited)|Exception in callback|Unhandled"
)
SLACK_MB = 48  # caches, arenas of malloc, the recogniser's first words
SPOKEN_MB = SLACK_MB + 160  # with what the first spoken turn loads: recognisers, voice, models
_SLACK_FILES = 12


def resident_mb(pid: int) -> float:
    """What of that process lies in memory."""
    told = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(told.split("VmRSS:")[1].split()[0]) / 1024


def open_files(pid: int) -> int:
    """How many that process has open, sockets among them."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def broken(log: str) -> list[str]:
    """The lines that tell of what broke, each with those around it."""
    lines = log.splitlines()
    return [
        "\n".join(lines[max(0, at - 3) : at + 40])
        for at, line in enumerate(lines)
        if _BROKEN.search(line)
    ]


@dataclass(frozen=True, slots=True)
class Before:
    """How a box stood before anything was sent to it."""

    pid: int
    memory_mb: float
    files: int

    @classmethod
    async def of(cls, box: Daemon) -> Self:
        """After a first command, which loads what is loaded once."""
        await commanded(box)
        return cls(box.pid, resident_mb(box.pid), open_files(box.pid))

    def assert_small(self, grown_mb: float) -> None:
        """Raises AssertionError where so much more is held now than before."""
        grown = resident_mb(self.pid) - self.memory_mb
        print(f"{grown:.0f} MB more are held")
        assert grown < grown_mb, f"{grown:.0f} MB more are held than before"

    async def assert_unharmed(self, box: Daemon, grown_mb: float) -> None:
        """Raises AssertionError where it is not as it was."""
        await commanded(box)
        assert box.pid == self.pid, "it was started anew"
        assert_nothing_broke(box)
        self.assert_small(grown_mb)
        more = open_files(box.pid) - self.files
        assert more < _SLACK_FILES, f"{more} more files are open than before"


@asynccontextmanager
async def unharmed(box: Daemon, grown_mb: float = SLACK_MB) -> AsyncIterator[Before]:
    """Start it; whatever was sent to it in the block, afterwards it is as it was."""
    await box.up()
    before = await Before.of(box)
    yield before
    await before.assert_unharmed(box, grown_mb)


def assert_nothing_broke(box: Daemon) -> None:
    """Raises AssertionError with the lines of its log that tell of what nobody has thought of."""
    assert not broken(box.log), broken(box.log)[0]


async def commanded(box: Daemon) -> None:
    """A typed command is done in the house, once."""
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
    """Return once a typed command is done and is seen to be: whatever was lost is there again."""
    async with asyncio.timeout(within_s):
        while True:
            if statuses(await box.ask("turn off the office lights")) == ["done"]:
                return
            await asyncio.sleep(0.5)


async def silenced(box: Daemon, within_s: float = 60.0) -> None:
    """Return once it says nothing, and nothing waits to be said: each is stopped as it begins."""
    rested = 0
    async with asyncio.timeout(within_s), box.client() as client:
        while rested < 4:
            await client.post("/v1/stop")
            await asyncio.sleep(0.25)
            rests = (await client.get("/v1/state")).json()["state"] == "idle"
            rested = rested + 1 if rests else 0
