"""Endpointing: how long a pause may last before the turn is over, by what was said so far.

Pure, but for the times that come in. A complete command needs no more than a breath; whoever stops
at "and" or "the" goes on; of all else nothing is known.
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
    """Judgement of a pause."""

    COMPLETE = "complete"  # the sentence before it is a command of the house
    UNFINISHED = "unfinished"  # the sentence before it must go on
    UNKNOWN = "unknown"


PAUSE_MS = {
    PauseVerdict.COMPLETE: 300,
    PauseVerdict.UNFINISHED: 1150,
    PauseVerdict.UNKNOWN: 860,
}

# Whoever has said little goes on, more often than not. Measured on open questions: 2 % are cut off
# and the others wait 0.95 s.
_SHORT_MS = 1500
_SHORT_HANG_OVER_MS = 1050

# Of a command that a grammar heard: other speech is taken for a shorter one too easily.
LEAST_WORDS = 3

# What is said behind a whole command by somebody who has more to say.
GOES_ON = ("and", "and then", "um", "uh")
LAST_WORDS = frozenset(words.split()[-1] for words in GOES_ON)

IsCommand = Callable[[str], bool]


def hang_over(verdict: PauseVerdict, said_ms: float) -> int:
    """Return how long the pause may last, in ms. `said_ms`: from the first word to the last."""
    if verdict is PauseVerdict.UNKNOWN and said_ms < _SHORT_MS:
        return _SHORT_HANG_OVER_MS
    return PAUSE_MS[verdict]


class Endings:
    """Say how long the pause under way may last: by itself, the same for every pause.

    One worker thread calls it; nothing blocks.
    """

    def __init__(self, hang_over_ms: int = PAUSE_MS[PauseVerdict.UNKNOWN]) -> None:
        self._hang_over_ms = hang_over_ms

    def begin(self, after: int) -> None:
        """Expect somebody to speak; speech counts from sample `after` on."""

    def hear(self, pcm: bytes, end: int) -> None:
        """Take the turn's next frame, which ends at sample `end`."""

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """Judge a chunk that ends at sample `now`; `last_voiced` as the endpointer has it."""
        return self._hang_over_ms

    def end(self) -> None:
        """Expect nobody to speak any more."""


class PlainEndings(Endings):
    """Go by how much was said: where nobody here knows the words of the language."""

    _speech_at: int | None = None  # end of the first chunk that was told of as speech

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
    """Words that a grammar of commands heard, as far as it came; () where it heard none of its."""
    if not words:
        return PauseVerdict.UNKNOWN
    if words[-1] in LAST_WORDS or not is_command(" ".join(words)):
        return PauseVerdict.UNFINISHED
    return PauseVerdict.COMPLETE if len(words) >= LEAST_WORDS else PauseVerdict.UNKNOWN


MOST = 2_000  # things it may have missed, 20 s; beyond, that sentence goes without

_Missed = Callable[[Endings], object]


class LateEndings(Endings):
    """Go by how much was said, until the endings that know more are there.

    Those that go by words bring a recogniser and a language's sentences with them, a third of what
    an idle process may hold. They are made when a wake word is heard for the first time, and are
    then told what they have missed of that sentence.
    """

    def __init__(self, make: Callable[[], None]) -> None:
        """`make` begins to make the others; called once, on the ear's thread; must not block."""
        self._make: Callable[[], None] | None = make
        self._now: Endings = PlainEndings()
        self._next: Endings | None = None  # set by any thread
        self._missed: list[_Missed] = []  # of the sentence under way
        self._goes = False  # one is under way

    def become(self, endings: Endings) -> None:
        """These judge from now on; from any thread."""
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
        """Let those that have come take up the sentence where they can know all of it."""
        coming, self._next = self._next, None
        if coming is None:
            return
        if self._goes and len(self._missed) <= MOST:
            for missed in self._missed:
                missed(coming)
        self._missed.clear()
        self._now.end()
        self._now = coming


LOOK_S = 5.0  # between two looks at the house: nothing tells that a name has changed

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_endings(
    languages: Sequence[str], house: Callable[[], "House"], area: str = ""
) -> AsyncIterator[Endings]:
    """For an ear that ends before. `languages`: those spoken, the usual one first.

    The recogniser on this machine knows English alone, and a cloud's transcript comes too late.
    English first: by the words, where they are a command or half of one, from the first sentence
    on. Another first: the pause is longer for who has said little. None: the same for every pause,
    and nothing else decides. `house`: the newest picture; `area`: the room of this box. A name that
    changes is known within seconds.
    """
    if not languages:
        yield Endings(HANG_OVER_MS)
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


async def keep_names(use: Callable[["House"], None], house: Callable[[], "House"]) -> None:
    """Give `use` each new picture of the house; never ends."""
    told: House | None = None
    while True:
        newest = house()
        if newest is not told:
            told = newest
            use(newest)
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
    await keep_names(known.use, house)


def _make(worker: Executor, language: str, area: str) -> "GrammarEndpointer":
    """Imports the recogniser and loads its model, 0.1 s and 5 MB; its grammar takes that too."""
    from assistant.conversation.grammar_endpointer import GrammarEndpointer
    from audio.recognize.sphinx import SphinxLive

    return GrammarEndpointer(SphinxLive(), worker, language, area)
