"""How the end of a turn is told: by the words where English is spoken first, else by pauses alone.

The recogniser on this machine knows no other language, and a cloud's transcript comes too late.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol

from assistant.conversation.endpointing import Endings, FixedEndings, LateEndings, PlainEndings
from audio.endpoint import HANG_OVER_MS
from audio.errors import AudioError
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.conversation.grammar_endpointer import GrammarEndpointer
    from integrations.home_assistant.house import House

LOOK_S = 5.0  # between two looks at the house: nothing tells that a name has changed

_log = logging.getLogger(__name__)


class KnowsNames(Protocol):
    """What is told of the house."""

    def use(self, house: "House") -> None:
        """Know this house's names."""
        ...


@asynccontextmanager
async def open_endings(
    languages: Sequence[str], house: Callable[[], "House"], area: str = ""
) -> AsyncIterator[Endings]:
    """For an ear that ends before. `languages`: those spoken, the usual one first.

    English first: by the words, where they are a command or half of one, from the first sentence
    on. Another first: the pause is longer for who has said little. None: the same for every pause,
    and nothing else decides. `house`: the newest picture; `area`: the room of this box. A name that
    changes is known within seconds.
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
        loop = asyncio.get_running_loop()
        wanted = asyncio.Event()
        endings = LateEndings(lambda: _tell(loop, wanted))
        async with OwnedTasks() as tasks:
            make = partial(_make, worker, usual, area)
            knowing = _know_words(endings, wanted, worker, make, house)
            tasks.start(knowing, "words that end a turn")
            yield endings
    finally:
        worker.shutdown(wait=False, cancel_futures=True)


async def keep_names(endings: KnowsNames, house: Callable[[], "House"]) -> None:
    """Tell of each new picture of the house; never ends."""
    told: House | None = None
    while True:
        newest = house()
        if newest is not told:
            told = newest
            endings.use(newest)
        await asyncio.sleep(LOOK_S)


def _tell(loop: asyncio.AbstractEventLoop, wanted: asyncio.Event) -> None:
    """From the ear's thread."""
    loop.call_soon_threadsafe(wanted.set)


async def _know_words(
    late: LateEndings,
    wanted: asyncio.Event,
    worker: Executor,
    make: Callable[[], "GrammarEndpointer"],
    house: Callable[[], "House"],
) -> None:
    """Once somebody begins to speak, judge by the words; never ends."""
    await wanted.wait()
    try:
        known = await asyncio.get_running_loop().run_in_executor(worker, make)
    except AudioError as error:
        _log.warning("The end of a command cannot be told by its words: %s", error)
        return
    known.use(house())
    late.become(known)
    await keep_names(known, house)


def _make(worker: Executor, language: str, area: str) -> "GrammarEndpointer":
    """Imports the recogniser and loads its model, 0.1 s and 5 MB; its grammar takes that too."""
    from assistant.conversation.grammar_endpointer import GrammarEndpointer
    from audio.recognize.sphinx import SphinxLive

    return GrammarEndpointer(SphinxLive(), worker, language, area)
