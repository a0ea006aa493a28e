"""The timer service of `hearth run`: it watches the timers, rings them and runs
scheduled commands."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

from assistant.domain.clock import Clock
from assistant.domain.events import Listeners
from assistant.domain.records import TimerRecord
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import Speaker
from assistant.timers.book import RINGING, is_occurrence
from assistant.timers.later import Ask, FrozenCalls, Later
from assistant.timers.monitor import Complaints, Due, TimerMonitor
from assistant.timers.recurrence import Almanac
from assistant.timers.ringer import Ringer, Unheard
from integrations.owner import Opened, OwnedTasks

LOOK_S = 1.0  # between checks for changes, each of which costs one `stat`
STALE_S = 3600.0  # a later occurrence of a repeating timer is announced as missed instead of rung

Tell = Callable[[str, TimerRecord], None]  # "set", "changed", "rings", "heard" or "ended"


class TimerService(Opened):
    """Rings all timers and runs scheduled commands and requests. Use it as a context manager.

    Timers that other processes set are noticed within LOOK_S seconds.
    """

    def __init__(
        self,
        store: Store,
        speaker: Speaker,
        ring: Callable[[str], Awaitable[None]],
        hush: Callable[[], None],
        catalogue: Catalogue,
        clock: Clock,
        almanac: Almanac,
        calls: FrozenCalls,
        ask: Ask,
        say: Callable[[str, str], None],
        synchronised: Callable[[], bool],
    ) -> None:
        """`ring` plays an earcon of `audio.earcons` by name, and `hush` stops the current one.

        `ask` runs a scheduled request and returns the answer to announce. `say` queues a text to be
        spoken in a language.
        """
        complaints = Complaints()
        unheard = Unheard(store, speaker, catalogue, clock, almanac)
        self._store = store
        self._clock = clock
        self._complaints = complaints
        self._unheard = unheard
        self._monitor = TimerMonitor(store, clock, almanac, synchronised, complaints, self._tell)
        self._ringer = Ringer(
            store,
            self._monitor,
            unheard,
            speaker,
            ring,
            hush,
            catalogue,
            clock,
            almanac,
            complaints,
            self._tell,
        )
        self._later = Later(store, calls, ask, say, unheard, catalogue, clock, complaints)
        self._missed: set[str] = set()  # ids of occurrences that are being recorded as missed
        self._known: Sequence[TimerRecord] | None = None  # the timers last reported to watchers
        self._followers: Listeners[[str, TimerRecord]] = Listeners("timers")
        self._lookers: Listeners[[]] = Listeners("timers")
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._ringer)
        await stack.enter_async_context(self._later)
        await stack.enter_async_context(self._owner)
        self._owner.start(self._keep(), "timers")

    @property
    def ringing(self) -> bool:
        """True from a timer's first tone until it is silenced, cancelled or extended."""
        return self._ringer.ringing

    @property
    def timers(self) -> Sequence[TimerRecord]:
        """Running, paused and ringing timers as last read from the store, ordered by due time."""
        return self._monitor.timers

    def heard(self) -> None:
        """Silence the ringing timers, because somebody is there."""
        self._ringer.heard()

    def follow(self, tell: Tell) -> Callable[[], None]:
        """Call `tell` for every change to a timer. Returns a function that unregisters `tell`."""
        return self._followers.add(tell)

    def watch(self, look: Callable[[], None]) -> Callable[[], None]:
        """Call `look` whenever `timers` may have changed. Returns a function that unregisters
        `look`."""
        return self._lookers.add(look)

    async def _keep(self) -> None:
        while True:
            await self._complaints.safely(self._monitor.look())
            await self._complaints.safely(self._later.settle())
            self._serve(self._monitor.due())
            self._show()
            next_s = self._monitor.next_s()
            await self._clock.sleep(LOOK_S if next_s is None else min(LOOK_S, next_s))

    def _serve(self, due: Sequence[Due]) -> None:
        rings = []
        for one in due:
            if one.timer.kind not in RINGING:
                self._later.take(one)
            elif is_occurrence(one.timer) and one.late_s > STALE_S:
                self._put_by(one.timer)
            else:
                rings.append(one)
        self._ringer.take(rings)

    def _put_by(self, timer: TimerRecord) -> None:
        if timer.id not in self._missed:
            self._missed.add(timer.id)
            self._owner.start(self._complaints.safely(self._miss(timer)), "timers-missed")

    async def _miss(self, timer: TimerRecord) -> None:
        try:
            await self._unheard.add(timer, rang=False)
            await self._store.acknowledge_timer(timer.id)
        finally:
            self._missed.discard(timer.id)

    def _tell(self, what: str, timer: TimerRecord) -> None:
        self._followers.tell(what, timer)
        self._show(anew=True)

    def _show(self, *, anew: bool = False) -> None:
        if anew or self._known is not self._monitor.timers:
            self._known = self._monitor.timers
            self._lookers.tell()
