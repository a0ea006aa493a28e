"""Many turns with Gemini in one process: memory, tasks, threads and sockets must not grow."""

import asyncio
import ctypes
import gc
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assistant.app.build import App
from audio.player import NullPlayer
from audio.sound_files import WavSource
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.service import GeminiProcess
from tests.benchmarks.sound import Clip, clips
from tests.benchmarks.stage import LIGHTS_ON, darken, hearth
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Drop, GoAway, Hear, Say, Sound, Step, Tokens

SPOKEN_EVERY = 4  # turns; the others are typed
CALLS_EVERY = 3
DROPS_EVERY = 37  # amid the answer
GOES_EVERY = 41
BREAKS_EVERY = 53  # the connection, between two turns
STATE = Call("GetLiveContext")
# Of a hundred turns, once what is bounded has filled, such as the ledger of calls. One turn's sound
# that is kept every time would be 6,400.
GROWTH_KB = 200.0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the process after a number of turns."""

    turns: int
    rss_kb: int
    tasks: int
    threads: int
    files: int  # open descriptors, sockets among them
    sockets: int
    objects: int  # that the collector knows
    served: int  # websockets open at the service
    connections: int  # so far


def respond(turn: HeardTurn) -> Sequence[Step]:
    """Return the service's steps for a turn; a repeated turn has the next index."""
    heard = [Hear("turn on the office lights")] if turn.kind == "audio" else []
    used = Tokens(prompt=900, response=40, prompt_details={"TEXT": 800, "AUDIO": 100})
    if turn.index % DROPS_EVERY == DROPS_EVERY - 1:
        return [*heard, Sound(0.2), Drop()]
    calls = [LIGHTS_ON, STATE] if turn.index % CALLS_EVERY == 0 else []
    leaving = [GoAway(30.0)] if turn.index % GOES_EVERY == 0 else []
    return [
        *heard,
        *leaving,
        *calls,
        Say("The office lights are on. It is dark."),
        Done(usage=used),
    ]


async def soak(
    app: App, service: GeminiProcess, spoken: Sequence[Clip], turns: int
) -> tuple[list[Size], list[str]]:
    """Run all turns; return the sizes at regular intervals, and the turns that failed."""
    sizes, failed = [], []
    for number in range(1, turns + 1):
        darken(app)
        if number % BREAKS_EVERY == 0:
            service.drop()
        before = app.log.count
        if number % SPOKEN_EVERY == 0:
            clip = spoken[number // SPOKEN_EVERY % len(spoken)]
            await app.runner.listen(WavSource(clip.path, realtime=False), turns=1)
        else:
            await app.runner.ask("Turn on the office lights.")
        assert app.log.count == before + 1, f"there was no turn {number}"
        error = app.log.turns[-1].record.error
        if error is not None:
            failed.append(f"{number}: {error}")
        if number == 1 or number % (turns // 10) == 0:
            await asyncio.sleep(0.1)  # what the turn left behind ends meanwhile
            sizes.append(_size(number, service))
    return sizes, failed


def _size(turns: int, service: GeminiProcess) -> Size:
    gc.collect()
    _trim()
    files = [_target(path) for path in Path("/proc/self/fd").iterdir()]
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    rss = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    served, connections = service.sockets()
    return Size(
        turns=turns,
        rss_kb=int(rss.split()[1]),
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        files=len(files),
        sockets=sum(target.startswith("socket:") for target in files),
        objects=len(gc.get_objects()),
        served=served,
        connections=connections,
    )


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except FileNotFoundError:  # the one that the folder was read through
        return ""


def _trim() -> None:
    """Return free memory of glibc to the system, so that it neither hides nor feigns growth."""
    ctypes.CDLL(None).malloc_trim(0)


def slope(sizes: Sequence[Size], figure: str) -> float:
    """Return the growth of a figure per hundred turns, fitted over the second half of the sizes."""
    later = [size for size in sizes if size.turns >= sizes[-1].turns // 2]
    turns = [size.turns / 100 for size in later]
    return float(np.polyfit(turns, [getattr(size, figure) for size in later], 1)[0])


async def measure(folder: Path, service: GeminiProcess, turns: int) -> tuple[list[Size], list[str]]:
    """Run all turns in one Hearth."""
    async with hearth(folder, service.address, NullPlayer(paced=False)) as app:
        return await soak(app, service, clips(folder, tight=True), turns)


def main() -> None:
    """Measure, and fail if something grows."""
    turns = how_many(200, 1_000)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, GeminiProcess(respond) as service:
        sizes, failed = asyncio.run(measure(Path(name), service, turns))
    fields = Size.__slots__
    print_table(fields, [[getattr(size, field) for field in fields] for size in sizes])
    growing = ("rss_kb", "tasks", "threads", "files", "sockets", "objects")
    slopes = {field: round(slope(sizes, field), 2) for field in growing}
    print("  growth in 100 turns: " + ", ".join(f"{key} {by:+g}" for key, by in slopes.items()))
    write_figures(
        "gemini_soak",
        {
            "sizes": sizes,
            "growth": slopes,
            "failed": failed,
            "seconds": round(time.monotonic() - began, 1),
        },
    )
    if failed:
        raise AssertionError(f"{len(failed)} turns had no answer: {'; '.join(failed[:5])}")
    limits = {"rss_kb": GROWTH_KB, "tasks": 0.5, "threads": 0.5, "files": 0.5, "sockets": 0.5}
    grown = [key for key, limit in limits.items() if slopes[key] > limit]
    if turns >= 1_000 and grown:
        raise AssertionError(f"grows with the turns: {', '.join(grown)}")
