"""CPU time of `hearth run` by thread and function: waiting, and in turns.

Everything is as in a home (see `_household`), with the model's own voice. What each thread took is
the kernel's. py-spy, which comes from PyPI into an environment of its own, tells what they are
called, and looks from outside a hundred times a second who holds the interpreter: a sample counts
for the innermost function that is Python's. docs/reports/hot-spots.md has what was found.
"""

import asyncio
import json
import re
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks._household import household
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.peers.environment import Environment, python_of
from tests.benchmarks.processes import cpu_s, family
from tests.devices.pulse import sound_server

ENVIRONMENT = Environment("py-spy-0.4.3", ("py-spy==0.4.3",))
LEAST = 0.02  # of all: a thread or function that has less is not shown
_SETTLE_S = 8.0
_UNTIL_WATCHED_S = 2.0
_LINE = re.compile(r":\d+\)")


@dataclass(frozen=True, slots=True)
class Spent:
    """The time used in one stretch."""

    cpu_s: float  # of all threads and children
    seconds: float
    threads: dict[str, float]  # ms of CPU of each that is still there, by name, most first
    functions: dict[str, int]  # samples of each, most first


def main() -> None:
    """Print the shares; write out/benchmarks/hot_spots.json. Raises PeerMissing."""
    spy = python_of(ENVIRONMENT, print).with_name("py-spy")
    with sound_server() as sound, tempfile.TemporaryDirectory() as folder:
        found, turns = asyncio.run(measure(Path(folder), sound, spy))
    waiting, talking = found["waiting"], found["turns"]
    print(f"  waiting: {waiting.cpu_s / waiting.seconds:.2%} of a core, {waiting.seconds:.0f} s")
    _print(waiting, "% of a core", 0.1 / waiting.seconds)
    print(f"  a turn: {talking.cpu_s / turns:.2f} s of CPU, {talking.seconds / turns:.1f} s long")
    _print(talking, "ms of a turn", 1 / turns)
    write_figures("hot_spots", {"turns": turns, **found})


def read(text: str) -> Counter[str]:
    """Parse py-spy's raw format: a line for each stack, outermost first, with its count."""
    found = Counter[str]()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        found[_LINE.sub(")", stack.rpartition(";")[2])] += int(count)
    return found


async def measure(
    folder: Path, sound: Mapping[str, str], spy: Path
) -> tuple[dict[str, Spent], int]:
    """Measure a warm box in a silent room, then its turns.

    Returns each stretch by name, and the number of turns.
    """
    turns = how_many(5, 30)
    found = dict[str, Spent]()
    async with household(folder, sound, VOICE__ENGINE="gemini") as home:
        async with home.hearth() as box:  # compiles, and learns the echo of the room
            await box.started()
        async with home.hearth() as box:
            await box.started()
            await home.turn(box)
            await asyncio.sleep(_SETTLE_S)
            async with _watched("waiting", box.pid, folder, spy, found):
                await asyncio.sleep(how_many(30, 120))
            async with _watched("turns", box.pid, folder, spy, found):
                for _ in range(turns):
                    await home.turn(box)
    return found, turns


@asynccontextmanager
async def _watched(
    name: str, pid: int, folder: Path, spy: Path, found: dict[str, Spent]
) -> AsyncIterator[None]:
    """Record the process's work in this block under the name."""
    file, loop = folder / f"{name}.txt", asyncio.get_running_loop()
    looking = await asyncio.create_subprocess_exec(
        *(str(spy), "record", "--pid", str(pid), "--rate", "100", "--gil"),
        *("--format", "raw", "--output", str(file)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await asyncio.sleep(_UNTIL_WATCHED_S)
        before, threads, began = cpu_s(family(pid)), _threads_ms(pid), loop.time()
        yield
        spent, seconds = cpu_s(family(pid)) - before, loop.time() - began
        took = {tid: ms - threads.get(tid, 0.0) for tid, ms in _threads_ms(pid).items()}
    finally:
        looking.send_signal(signal.SIGINT)  # then it writes
        await looking.wait()
    names, by_name = await _names(pid, spy), dict[str, float]()
    for tid, ms in took.items():
        called = names.get(tid, "a library's own")
        by_name[called] = by_name.get(called, 0.0) + ms
    threads_of = dict(sorted(by_name.items(), key=lambda one: -one[1]))
    functions = dict(read(file.read_text("utf-8")).most_common())
    found[name] = Spent(spent, seconds, threads_of, functions)


def _threads_ms(pid: int) -> dict[int, float]:
    """Return the CPU time of each thread, from the kernel's scheduler."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has just ended
            found[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e6
    return found


async def _names(pid: int, spy: Path) -> dict[int, str]:
    """Return Python's thread names by the kernel's thread number."""
    asking = await asyncio.create_subprocess_exec(
        *(str(spy), "dump", "--pid", str(pid), "--json"), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await asking.communicate()
    return {
        one["os_thread_id"]: one["thread_name"] or "a callback of a library"
        for one in json.loads(told)
    }


def _print(spent: Spent, unit: str, scale: float) -> None:
    """Print the threads and the functions that held the interpreter; `scale` multiplies a ms."""
    most = LEAST * 1000 * spent.cpu_s
    rows = [(name, f"{ms * scale:.3g}") for name, ms in spent.threads.items() if ms >= most]
    print_table(("thread", unit), rows)
    whole = sum(spent.functions.values())
    shares = [
        (name, f"{count / whole:.0%}")
        for name, count in spent.functions.items()
        if count >= LEAST * whole
    ]
    print_table(("function that held the interpreter", "of the samples"), shares)
