"""The cost of the journal by what is in it: the file, a turn that is written, what people look at.

A month of turns by voice, each with a call to the house, written by the store of `hearth run`.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assistant.config.sections import Journal as Limits
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from tests.benchmarks.console_pages import fill, write_turn
from tests.benchmarks.figures import how_many

TURNS = (100, 1_000, 10_000)
_KEPT_DAYS = 30

Figures = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Kept:
    """A journal of a number of turns. Each figure is a list of single values."""

    turns: int
    figures: Mapping[str, list[float]]


def kept(turns: int) -> Kept:
    """Write the journal and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        return Kept(turns, asyncio.run(_measure(Path(folder) / "hearth.db", turns)))


async def _measure(path: Path, turns: int) -> Figures:
    await fill(path, turns)
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    times = how_many(10, 40)
    began = time.perf_counter()
    async with Store(path, SystemClock()) as store:
        opened = (time.perf_counter() - began) * 1000
        now = datetime.now(UTC)
        written = [await _took(write_turn(store, f"new{number}", now)) for number in range(times)]
        week, month = now - timedelta(days=7), now - timedelta(days=_KEPT_DAYS)
        looks: dict[str, Callable[[], Awaitable[object]]] = {
            "the last turn, ms": store.last_turn,
            "25 turns, ms": lambda: store.turns(25),
            "how a week has gone, ms": lambda: store.reports.shares(week),
            "costs of a month, ms": lambda: store.reports.costs(month),
            "forgetting by age and size, ms": lambda: _forget(store),
            "reading the whole file, ms": store.check,
        }
        found = {what: [await _took(look()) for _ in range(times)] for what, look in looks.items()}
    return {
        "file, MB": [size / 1e6],
        "a turn, bytes": [size / turns],
        "opening, ms": [opened],
        "a turn written, ms": written,
        **found,
    }


async def _forget(store: Store) -> None:
    """Run the hourly cleanup, which finds nothing old enough."""
    await store.erase_old(_KEPT_DAYS, _KEPT_DAYS * 24)
    await store.bound(Limits().max_mb * 1_000_000)


async def _took(work: Awaitable[object]) -> float:
    """Return the milliseconds."""
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1000
