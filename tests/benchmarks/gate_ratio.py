"""The gate's ratio: the least time of our work by the least time of the plain work.

Both are done in turns, some times over. What else the machine does only ever adds to either, so the
least of several is what differs least from one measurement to the next.
"""

import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

TIMES = 4  # that each is done in a round

Work = Callable[[], object]  # what is awaitable of what it returns is awaited
# One round: a measurement of one or more ratios, by name.
Round = Callable[[], Awaitable[Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Our work, and the plain work of its kind that it is divided by."""

    name: str
    ours: Work
    plain: Work

    async def ratio(self) -> float:
        """Measure the ratio now."""
        both = [(await cpu_s(self.plain), await cpu_s(self.ours)) for _ in range(TIMES)]
        return min(ours for _, ours in both) / min(plain for plain, _ in both)


def quickest(taken: Sequence[float], together: int) -> float:
    """Return the median of the quickest of each `together` in a row.

    The quickest of all would not show a delay of every second one.
    """
    batches = range(0, len(taken), together)
    return median(min(taken[at : at + together]) for at in batches)


async def cpu_s(work: Work) -> float:
    """Return the CPU time that this process uses for it, in all threads."""
    began = time.process_time()
    done = work()
    if inspect.isawaitable(done):
        await done
    return time.process_time() - began


def in_turns(*pairs: Pair) -> Round:
    """Return a round over these pairs."""

    async def one() -> Mapping[str, float]:
        return {pair.name: await pair.ratio() for pair in pairs}

    return one
