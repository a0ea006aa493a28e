"""How the end of a turn is told: by the words where English is spoken first, else by pauses alone.

The recogniser on this machine knows no other language, and a cloud's transcript comes too late.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Protocol

from assistant.turn.ending import Endings, FixedEndings, PlainEndings
from assistant.turn.house_ending import HouseEndings
from audio.endpoint import HANG_OVER_MS
from audio.recognize.sphinx_live import SphinxLive
from integrations.home_assistant.house import House
from integrations.owner import OwnedTasks

LOOK_S = 5.0  # between two looks at the house: nothing tells that a name has changed


class KnowsNames(Protocol):
    """What is told of the house."""

    def use(self, house: House) -> None:
        """Know this house's names."""
        ...


@asynccontextmanager
async def open_endings(
    languages: Sequence[str], house: Callable[[], House]
) -> AsyncIterator[Endings]:
    """For an ear that ends before. `languages`: those spoken, the usual one first.

    English first: by the words, where they are a command or half of one. Another first: the pause
    is longer for who has said little. None: the same for every pause, and nothing else decides.
    `house`: the newest picture. A name that changes is known within seconds.
    """
    if not languages:
        yield FixedEndings(HANG_OVER_MS)
        return
    usual = languages[0]
    if usual.partition("-")[0] != "en":  # the recogniser's only language
        yield PlainEndings()
        return
    worker = ThreadPoolExecutor(1, "ending")
    try:
        recognizer = await asyncio.get_running_loop().run_in_executor(worker, SphinxLive)
        endings = HouseEndings(recognizer, worker, usual)
        async with OwnedTasks() as tasks:
            tasks.start(keep_names(endings, house), "names for the end of turn")
            yield endings
    finally:
        worker.shutdown(wait=False, cancel_futures=True)


async def keep_names(endings: KnowsNames, house: Callable[[], House]) -> None:
    """Tell of each new picture of the house; never ends."""
    told: House | None = None
    while True:
        newest = house()
        if newest is not told:
            told = newest
            endings.use(newest)
        await asyncio.sleep(LOOK_S)
