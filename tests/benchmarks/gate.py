"""The quality gate: Hearth's costs as ratios to plain work, compared with the kept ratios.

    python -m tests.benchmarks.gate              measures and judges; under three minutes
    python -m tests.benchmarks.gate --write      keep what is measured now in gate.toml
    python -m tests.benchmarks.gate --spread 5   measure 5 times quietly and 5 times beside a busy
                                                 core; write the spread to docs/reports/gate.md

Times differ from machine to machine, so each figure is a ratio: our work by a plain piece of work
of the same kind, measured in turns in the same seconds (see `gate_works` and `gate_wires`; delays
in the sound's own time, which no machine changes, once: `gate_delays`). Of five
rounds the median counts; where the machine has so much else to do that five take too long, of three
or four. Exit 1 where one is more than 25 % above the one that is kept, each by its name; 2 where
nothing is kept for this Python, whose versions differ in what is quick; 3 where three rounds take
too long because the machine has too much else to do, so that nothing is judged. Where it has not,
something of ours hangs or has become much slower, which is 1.
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import platform
import ssl
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from statistics import median

import tomlkit

from tests.benchmarks import gate_page
from tests.benchmarks.figures import print_table, write_figures
from tests.benchmarks.gate_delays import delays
from tests.benchmarks.gate_endings import endings
from tests.benchmarks.gate_ratio import Round
from tests.benchmarks.gate_wires import announcements, tool_calls, typed_turns, uploads
from tests.benchmarks.gate_works import ear, journal, speech, starts, tools, turn_machine
from tests.benchmarks.report.whole import here

FILE = Path(__file__).with_name("gate.toml")
MORE = 0.25  # above what is kept: fails
LESS = 0.2  # below it: what is won is lost again unseen if it is not kept
ROUNDS = 5
FEWEST = 3
MOST_S = 150.0  # for all rounds; with what comes before and after, three minutes
PATIENT_S = 900.0  # the same where nothing is judged
HEAD = """\
# What each costs by something plain, per version of Python: `python -m tests.benchmarks.gate`.
# Made by `--write`; docs/reports/gate.md says what they are and how steady.
"""
Stand = Callable[[Path], AbstractAsyncContextManager[Round]]  # given an empty folder
STANDS: Sequence[Stand] = (
    *(tool_calls, uploads, typed_turns, announcements),
    *(tools, ear, endings, delays, speech, turn_machine, journal, starts),
)
_ON = "on"  # the table that tells where each version's were measured


class TooLong(Exception):
    """Fewer than FEWEST rounds were done in time; `found` has their results."""

    def __init__(self, found: Mapping[str, Sequence[float]]) -> None:
        super().__init__(f"{FEWEST} rounds take too long")
        self.found = found


def judge(found: Mapping[str, float], kept: Mapping[str, float]) -> list[str]:
    """Return a sentence for each ratio that increased, or that is only kept or only measured."""
    said = []
    for name in sorted({*found, *kept}):
        if name not in kept:
            said.append(f"{name}: nothing is kept for it; run the gate with --write.")
        elif name not in found:
            said.append(f"{name}: it is kept but was not measured; run the gate with --write.")
        elif found[name] > kept[name] * (1 + MORE):
            more = found[name] / kept[name] - 1
            said.append(f"{name}: {found[name]:.3g}, {more:.0%} more than {kept[name]:.3g}.")
    return said


async def measure(
    stands: Sequence[Stand] = STANDS, rounds: int = ROUNDS, most_s: float = MOST_S
) -> dict[str, list[float]]:
    """Return the ratios of each round by name; each round measures all of them in turn.

    Raises TooLong if FEWEST rounds take longer than that.
    """
    found: dict[str, list[float]] = {}
    limit = asyncio.timeout(most_s)
    try:
        async with limit:
            await _rounds(stands, rounds, most_s, found)
    except TimeoutError:
        if not limit.expired():
            raise
        raise TooLong(found) from None
    return found


async def _rounds(
    stands: Sequence[Stand], rounds: int, most_s: float, found: dict[str, list[float]]
) -> None:
    """Add the ratios of `rounds` rounds, or of as many as there is time for."""
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=_quick_folder())))
        opened = []
        for number, stand in enumerate(stands):
            own = folder / str(number)
            own.mkdir()
            opened.append(await stack.enter_async_context(stand(own)))
        first = time.monotonic()
        for number in range(rounds):
            each = (time.monotonic() - first) / max(1, number)
            if number >= FEWEST and time.monotonic() + each > began + most_s:
                break
            for one in opened:
                with _no_collection():
                    ratios = await one()
                for name, ratio in ratios.items():
                    found.setdefault(name, []).append(ratio)


def kept(file: Path = FILE) -> dict[str, float]:
    """Return the ratios that are kept for this version of Python."""
    document = tomllib.loads(file.read_text("utf-8")) if file.exists() else {}
    return {name: float(ratio) for name, ratio in document.get(_section(), {}).items()}


def keep(found: Mapping[str, float], file: Path = FILE) -> None:
    """Write them for this version of Python; those of other versions stay."""
    text = file.read_text("utf-8") if file.exists() else HEAD
    document = tomlkit.parse(text)
    section = tomlkit.table()
    for name, ratio in found.items():
        section.add(name, float(f"{ratio:.3g}"))
    document[_section()] = section
    document.setdefault(_ON, tomlkit.table())[_section()] = measured_on()
    file.write_text(tomlkit.dumps(document), "utf-8")


def measured_on() -> str:
    """Describe this machine and the packages that the plain works use."""
    place = here()
    packages = (f"{name} {version}" for name, version in place.packages.items())
    return f"{place.cpu}, Python {place.python}, {ssl.OPENSSL_VERSION}, {', '.join(packages)}"


def medians(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: median(ratios) for name, ratios in found.items()}


def _section() -> str:
    return "python-" + ".".join(platform.python_version_tuple()[:2])


def _quick_folder() -> Path | None:
    """Return a folder in memory, which unlike a disk is equally fast every time, or None."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection, whose time would depend on how many objects others hold."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _print(found: Mapping[str, Sequence[float]], kept_ratios: Mapping[str, float]) -> None:
    rows = []
    for name, ratios in found.items():
        now, before = median(ratios), kept_ratios.get(name)
        change = "" if before is None else f"{now / before - 1:+.0%}"
        known = "" if before is None else f"{before:.3g}"
        rows.append((name, f"{now:.3g}", known, change, f"{min(ratios):.3g} to {max(ratios):.3g}"))
    print_table(("cost", "now", "kept", "change", "of the rounds"), rows)


def judged(file: Path = FILE) -> int:
    """Measure, print and judge; return the exit code."""
    known = kept(file)
    if not known:
        print(f"gate.toml keeps nothing for {_section()}: make it with --write on a quiet machine.")
        return 2
    began = time.monotonic()
    try:
        found = asyncio.run(measure())
    except TooLong as early:
        return _unfinished(early.found, known)
    _print(found, known)
    write_figures("gate", {"rounds": found, "kept": known})
    said = judge(medians(found), known)
    for sentence in (*said, *won(medians(found), known)):
        print(f"  {sentence}")
    if said:
        _tell_where(file)
    print(f"  {len(known)} ratios, {len(said)} failed, {time.monotonic() - began:.0f} s")
    return 1 if said else 0


def won(found: Mapping[str, float], kept: Mapping[str, float]) -> list[str]:
    """Return a sentence for each ratio that is much less than the kept one."""
    return [
        f"{name}: {ratio:.3g}, {1 - ratio / kept[name]:.0%} less than {kept[name]:.3g}: "
        "keep it with --write."
        for name, ratio in found.items()
        if name in kept and ratio < kept[name] * (1 - LESS)
    ]


def _unfinished(found: Mapping[str, Sequence[float]], known: Mapping[str, float]) -> int:
    """Return the exit code after too few rounds, judged by the best of them."""
    least = {name: min(ratios) for name, ratios in found.items() if name in known}
    said = judge(least, {name: known[name] for name in least})
    busy = os.getloadavg()[0] >= (os.cpu_count() or 1)
    why = (
        "the machine has too much else to do"
        if busy
        else "something hangs, or has become much slower; nothing else keeps the machine busy"
    )
    print(f"{FEWEST} rounds take more than {MOST_S:.0f} s: {why}.")
    for sentence in said:
        print(f"  {sentence}")
    return 3 if busy and not said else 1


def _tell_where(file: Path) -> None:
    """Print that other packages or another processor may be the reason."""
    document = tomllib.loads(file.read_text("utf-8"))
    before, now = document.get(_ON, {}).get(_section(), ""), measured_on()
    if before != now:
        print(f"  kept on: {before or 'nobody knows'}")
        print(f"  now on:  {now}")


def scatter(times: int, page: Path = gate_page.PAGE) -> None:
    """Measure `times` times, and as often beside other work; write the spread of the medians.

    Raises ValueError if the page has no place for the table.
    """
    quiet = _several(times, "quiet")
    with _other_work():
        busy = _several(times, "one core busy")
    write_figures("gate_spread", {"quiet": quiet, "busy": busy})
    print_table(("cost", "quiet", "one core busy"), gate_page.cells(quiet, busy))
    gate_page.write(quiet, busy, page)


def _several(times: int, where: str) -> list[dict[str, float]]:
    runs = []
    for number in range(times):
        began = time.monotonic()
        runs.append(medians(asyncio.run(measure(most_s=PATIENT_S))))
        took = time.monotonic() - began
        print(f"  {where}, {number + 1} of {times}: {took:.0f} s", flush=True)
    return runs


def _work_for_ever() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def _other_work() -> Iterator[None]:
    """Keep one core busy meanwhile."""
    process = multiprocessing.get_context("spawn").Process(target=_work_for_ever, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Judge. Raises AssertionError if the gate fails."""
    if code := judged():
        raise AssertionError(f"the gate is shut ({code})")


def command(arguments: Sequence[str]) -> int:
    """Run the command line of the module and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gate")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--write", action="store_true", help="keep what is measured now")
    other.add_argument(
        "--spread", type=_count, metavar="N", help="renew the table of docs/reports/gate.md"
    )
    wanted = parser.parse_args(arguments)
    try:
        if wanted.spread:
            scatter(wanted.spread)
        elif wanted.write:
            found = asyncio.run(measure(most_s=PATIENT_S))
            _print(found, kept())
            keep(medians(found))
        else:
            return judged()
    except TooLong as error:  # of what is not judged
        print(f"{error}: the machine has too much else to do.")
        return 3
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is no number of measurements")
    return int(text)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
