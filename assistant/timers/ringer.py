"""Rings the timers that are due, in the one process that stays, until somebody hears them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from assistant.clock import Clock
from assistant.journal.records import StoreError, TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.speech.manner import Manner
from assistant.timers.book import Store
from assistant.timers.deadlines import Deadlines
from assistant.timers.unheard import Kept, Unheard
from assistant.timers.words import late_ring_of, ring_of
from audio.errors import AudioError
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
LOOK_S = 1.0  # between two looks whether something has changed; each is one `stat`
READ_S = 30.0  # between two readings at the latest: two writes may look like one
PAUSE_S = 3.0  # of silence between two rings
WORDS_S = 30.0  # between two times that the words are said
GIVE_UP_S = 600.0  # of ringing, after which nobody seems to be there
LATE_S = 60.0  # due for so long, it is said when it was due
TONE = "timer"
_ALARM = Manner(alarm=True)  # what was to wake somebody is loud at night too


class Speaker(Protocol):
    """Whoever says it, such as the turn's `Runner`."""

    def announce(self, text: str, language: str, manner: Manner = ...) -> None:
        """Say it once the conversation rests."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...


class Shelf(Store, Kept, Protocol):
    """What is needed of the store."""

    def stamp(self) -> object:
        """Something else than before once any process has written."""
        ...


@dataclass(slots=True)
class _Ringing:
    timer: TimerRecord
    late: bool
    began_s: float | None = None  # its first tone, by `since_boot`; None: nobody can have heard it
    said_s: float = 0.0  # when its words were said last


class Ringer:
    """Enter it to ring. Timers that other processes set are found within LOOK_S.

    It never sounds while a turn is under way. `heard` silences it: whoever begins a turn by voice,
    or asks for silence, has heard it. The timer is then kept until that turn is over, so that "five
    more minutes" still finds it.
    """

    def __init__(
        self,
        store: Shelf,
        speaker: Speaker,
        ring: Callable[[str], Awaitable[None]],
        hush: Callable[[], None],
        catalogue: Catalogue,
        clock: Clock,
    ) -> None:
        """`ring` plays a sound of `audio.earcons`; `hush` cuts short what sounds."""
        self._store = store
        self._speaker = speaker
        self._tone = ring
        self._hush = hush
        self._catalogue = catalogue
        self._clock = clock
        self._unheard = Unheard(store, speaker, catalogue, clock)
        self._deadlines = Deadlines()
        self._stamp: object = None
        self._read_s: float | None = None  # when the store was read last
        self._ringing: dict[str, _Ringing] = {}
        self._silenced: dict[str, TimerRecord] = {}  # heard, and not yet ended in the store
        self._some = asyncio.Event()  # something rings
        self._troubles: dict[str, str] = {}  # what does not work now, so that it is logged once
        self._ending = False  # the silenced ones are being ended
        self._open = False
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._open = True
        self._owner.start(self._watch(), "timers")
        self._owner.start(self._ring(), "timers-ringing")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        await self._owner.__aexit__(kind, error, trace)

    @property
    def ringing(self) -> bool:
        """Something sounds again and again, and waits for somebody to hear it."""
        return any(one.began_s is not None for one in self._ringing.values())

    def heard(self) -> None:
        """Somebody is there. What rings falls silent; what has only just come due rings later."""
        if not self._open:
            return
        sounded = {key: one for key, one in self._ringing.items() if one.began_s is not None}
        if sounded:
            self._hush()
        self._silence(sounded)
        self._owner.start(self._safely(self._unheard.tell()), "timers-unheard")

    # --- when

    async def _watch(self) -> None:
        while True:
            await self._safely(self._look())
            next_s = self._deadlines.next_s(self._clock.since_boot())
            await self._clock.sleep(LOOK_S if next_s is None else min(LOOK_S, next_s))

    async def _look(self) -> None:
        """Take in what has changed, and what has come due."""
        now, passed_s = self._clock.now(), self._clock.since_boot()
        moved = self._deadlines.set_right(now, passed_s)
        stamp = self._store.stamp()
        old = self._read_s is None or passed_s - self._read_s >= READ_S
        try:
            for timer in moved:
                await self._store.change_timer(timer)
            if old or stamp != self._stamp:
                await self._read()
                self._stamp = stamp  # from before the reading: a later write is seen next time
        finally:  # also while the store fails
            self._begin(self._deadlines.due(self._clock.since_boot()))

    async def _read(self) -> None:
        inherited = self._read_s is None
        records = await self._store.timers()
        self._troubles.pop("store", None)
        now, passed_s = self._clock.now(), self._clock.since_boot()
        self._read_s = passed_s
        self._deadlines.hold(records, now, passed_s, inherited=inherited)
        due = {timer.id: timer for timer in self._deadlines.due(passed_s)}
        # What has been ended or given more time elsewhere is silent.
        self._ringing = {key: one for key, one in self._ringing.items() if key in due}
        self._silenced = {key: one for key, one in self._silenced.items() if key in due}

    def _begin(self, due: Iterable[TimerRecord]) -> None:
        for timer in due:
            if timer.id not in self._ringing and timer.id not in self._silenced:
                late_s = self._deadlines.late_s(timer.id, self._clock.since_boot())
                self._ringing[timer.id] = _Ringing(timer, late_s >= LATE_S)
                self._some.set()

    # --- how

    async def _ring(self) -> None:
        while True:
            await self._some.wait()
            while self._ringing:
                await self._speaker.rest()
                if self._ringing:
                    await self._sound()
                    await self._speaker.rest()
                    await self._give_up()
                    await self._clock.sleep(PAUSE_S)
            self._some.clear()

    async def _sound(self) -> None:
        """One tone, and the words of those whose words are due.

        The first tone after some that could not be played brings all words with it: nobody can have
        heard them before.
        """
        back = await self._toned()
        now_s = self._clock.since_boot()
        texts: dict[str, list[str]] = {}
        for one in self._ringing.values():
            if back or one.began_s is None or now_s - one.said_s >= WORDS_S:
                texts.setdefault(one.timer.language, []).append(self._words(one))
                one.said_s = now_s
            if one.began_s is None:
                one.began_s = now_s
        for language, sentences in texts.items():
            own = self._catalogue.own(language)
            self._speaker.announce(" ".join(sentences), own, _ALARM)

    async def _toned(self) -> bool:
        """Play the tone; whether it can be played again."""
        try:
            await self._tone(TONE)
        except AudioError as error:
            self._log("tone", f"the {TONE} sound could not be played: {error}")
            return False
        return self._troubles.pop("tone", None) is not None

    def _words(self, one: _Ringing) -> str:
        if one.late:
            return late_ring_of(one.timer, self._clock.now(), self._catalogue)
        return ring_of(one.timer, self._catalogue)

    async def _give_up(self) -> None:
        """Nobody comes: it is told later."""
        now_s = self._clock.since_boot()
        over = {
            key: one
            for key, one in self._ringing.items()
            if one.began_s is not None and now_s - one.began_s >= GIVE_UP_S
        }
        for one in over.values():
            await self._safely(self._unheard.add(one.timer))
        self._silence(over)

    def _silence(self, some: Mapping[str, _Ringing]) -> None:
        for key, one in some.items():
            del self._ringing[key]
            self._silenced[key] = one.timer
        if some and not self._ending:
            self._ending = True
            self._owner.start(self._end_silenced(), "timers-ending")

    async def _end_silenced(self) -> None:
        """Once the turn is over that silenced them, unless it gave them more time."""
        while self._silenced:
            await self._speaker.rest()
            if not await self._safely(self._end_all()):
                await self._clock.sleep(READ_S)
        self._ending = False

    async def _end_all(self) -> None:
        await self._read()
        for key in tuple(self._silenced):
            await self._store.acknowledge_timer(key)
        await self._read()

    async def _safely(self, work: Awaitable[Any]) -> bool:
        """Whether it worked; a store that fails now may work later."""
        try:
            await work
        except StoreError as error:
            self._log("store", f"timers cannot be read or kept: {error}")
            return False
        return True

    def _log(self, kind: str, trouble: str) -> None:
        """Once, not at every look."""
        if self._troubles.get(kind) != trouble:
            _log.error("%s", trouble)
        self._troubles[kind] = trouble
