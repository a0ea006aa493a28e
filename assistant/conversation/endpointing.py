"""Endpointing: decide how long a pause can be before the turn is over.

After a complete command, a short pause is enough. After "and" or "the", the person is about to
continue, so the limit is longer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from audio.endpoint import HANG_OVER_MS
from audio.errors import AudioError
from audio.frames import SAMPLES_PER_MS
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.conversation.grammar_endpointer import GrammarEndpointer
    from integrations.home_assistant.house import House


class PauseVerdict(Enum):
    """The verdict on the text before a pause."""

    COMPLETE = "complete"  # the text is a command of this house
    UNFINISHED = "unfinished"  # the text needs a continuation
    UNKNOWN = "unknown"


PAUSE_MS = {
    PauseVerdict.COMPLETE: 300,
    PauseVerdict.UNFINISHED: 1150,
    PauseVerdict.UNKNOWN: 860,
}

# A person who has said little usually continues. Measured on open questions, this limit cuts off
# 2 % of the answers and makes the others wait 0.95 s.
_SHORT_MS = 1500
_SHORT_HANG_OVER_MS = 1050

# A recognised command must have at least this many words, because the grammar easily mistakes other
# speech for a shorter one.
LEAST_WORDS = 3

# Words that show that the person will continue after a complete command.
GOES_ON = ("and", "and then", "um", "uh")
LAST_WORDS = frozenset(words.split()[-1] for words in GOES_ON)

IsCommand = Callable[[str], bool]


def hang_over(verdict: PauseVerdict, said_ms: float) -> int:
    """Return how long a pause can be, in ms, before the sentence counts as over. `said_ms` is the
    time from the first word to the last."""
    if verdict is PauseVerdict.UNKNOWN and said_ms < _SHORT_MS:
        return _SHORT_HANG_OVER_MS
    return PAUSE_MS[verdict]


class Endings:
    """Decides how long the current pause can be. In this base class, the limit is constant.

    All methods are called on a single worker thread and must not block.
    """

    def __init__(self, hang_over_ms: int = PAUSE_MS[PauseVerdict.UNKNOWN]) -> None:
        self._hang_over_ms = hang_over_ms

    def begin(self, after: int) -> None:
        """Start a sentence. Speech before sample `after` is ignored."""

    def hear(self, pcm: bytes, end: int) -> None:
        """Process the turn's next frame, which ends at sample `end`."""

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """Return the allowed pause in ms for a chunk that ends at sample `now`. `last_voiced` is
        the last voiced sample according to the endpointer."""
        return self._hang_over_ms

    def end(self) -> None:
        """End the sentence. No more speech is expected."""


class PlainEndings(Endings):
    """Decides only by how long the person has spoken."""

    _speech_at: int | None = None  # end of the first chunk reported as speech

    def begin(self, after: int) -> None:
        self._speech_at = None

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        if last_voiced is None:
            return hang_over(PauseVerdict.UNKNOWN, 0)
        if self._speech_at is None:
            self._speech_at = now
        said_ms = (last_voiced - self._speech_at) / SAMPLES_PER_MS
        return hang_over(PauseVerdict.UNKNOWN, said_ms)

    def end(self) -> None:
        self._speech_at = None


def judge_path(words: Sequence[str], is_command: IsCommand) -> PauseVerdict:
    """Return the verdict on words that were recognised with a grammar of commands. `words` is empty
    if the speech did not match the grammar."""
    if not words:
        return PauseVerdict.UNKNOWN
    if words[-1] in LAST_WORDS or not is_command(" ".join(words)):
        return PauseVerdict.UNFINISHED
    return PauseVerdict.COMPLETE if len(words) >= LEAST_WORDS else PauseVerdict.UNKNOWN


MOST = 2_000  # calls kept for replay, about 20 s; longer sentences are not replayed

_Missed = Callable[[Endings], object]


class LateEndings(Endings):
    """Uses PlainEndings until better endings, which need a lot of memory, have been loaded.

    They are loaded when the first sentence starts. The part of the sentence that they missed is
    then replayed to them.
    """

    def __init__(self, make: Callable[[], None]) -> None:
        """`make` starts loading the better endings. It is called once, on the audio front end's
        thread, and must not block."""
        self._make: Callable[[], None] | None = make
        self._now: Endings = PlainEndings()
        self._next: Endings | None = None  # set by any thread
        self._missed: list[_Missed] = []  # calls of the current sentence
        self._goes = False  # a sentence is in progress

    def become(self, endings: Endings) -> None:
        """Switch to these endings. Can be called from any thread."""
        self._next = endings

    def begin(self, after: int) -> None:
        self._take_over()
        make, self._make = self._make, None
        self._goes = True
        self._missed.clear()
        self._note(lambda endings: endings.begin(after))
        self._now.begin(after)
        if make is not None:
            make()

    def hear(self, pcm: bytes, end: int) -> None:
        self._take_over()
        self._note(lambda endings: endings.hear(pcm, end))
        self._now.hear(pcm, end)

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        self._take_over()
        self._note(lambda endings: endings.hang_over_ms(now, last_voiced))
        return self._now.hang_over_ms(now, last_voiced)

    def end(self) -> None:
        self._goes = False
        self._missed.clear()
        self._now.end()

    def _note(self, missed: _Missed) -> None:
        if isinstance(self._now, PlainEndings) and self._goes and len(self._missed) <= MOST:
            self._missed.append(missed)

    def _take_over(self) -> None:
        coming, self._next = self._next, None
        if coming is None:
            return
        if self._goes and len(self._missed) <= MOST:
            for missed in self._missed:
                missed(coming)
        self._missed.clear()
        self._now.end()
        self._now = coming


LOOK_S = 5.0  # seconds between polls, because no event reports a changed name

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_endings(
    languages: Sequence[str], house: Callable[[], "House"], area: str = ""
) -> AsyncIterator[Endings]:
    """Open the endings for an audio front end. Close the front end before exiting this context
    manager.

    `languages` lists the spoken languages, the usual one first. If that is not English, the words
    before a pause are ignored, because the local recogniser knows only English. `house` returns the
    newest snapshot, and `area` is this device's area.
    """
    if not languages:
        yield Endings(HANG_OVER_MS)
        return
    usual = languages[0]
    if usual.partition("-")[0] != "en":  # the recogniser knows only English
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


async def keep_names(use: Callable[["House"], None], house: Callable[[], "House"]) -> None:
    """Call `use` with the newest snapshot of the house whenever it has changed. Never returns."""
    told: House | None = None
    while True:
        newest = house()
        if newest is not told:
            told = newest
            use(newest)
        await asyncio.sleep(LOOK_S)


def _tell(loop: asyncio.AbstractEventLoop, wanted: asyncio.Event) -> None:
    loop.call_soon_threadsafe(wanted.set)


async def _know_words(
    late: LateEndings,
    wanted: asyncio.Event,
    worker: Executor,
    make: Callable[[], "GrammarEndpointer"],
    house: Callable[[], "House"],
) -> None:
    await wanted.wait()
    try:
        known = await asyncio.get_running_loop().run_in_executor(worker, make)
    except AudioError as error:
        _log.warning("The end of a command cannot be recognised by its words: %s", error)
        return
    known.use(house())
    late.become(known)
    await keep_names(known.use, house)


def _make(worker: Executor, language: str, area: str) -> "GrammarEndpointer":
    """Import the recogniser and load its model, which takes about 0.1 s and 5 MB."""
    from assistant.conversation.grammar_endpointer import GrammarEndpointer
    from audio.recognize.sphinx import SphinxLive

    return GrammarEndpointer(SphinxLive(), worker, language, area)
