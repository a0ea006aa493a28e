"""Does what was to be done later: commands and requests that are due, each once."""

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self

from assistant.domain.clock import Clock
from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.complaints import Complaints
from assistant.timers.unheard import Unheard
from assistant.timers.watch import Due
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
COMMAND_LATE_S = 600.0  # after which a command would come as a surprise
REQUEST_LATE_S = 3600.0  # after which its answer is no use any more

Ask = Callable[[str, str, str], Awaitable[str]]  # text, language and caller -> what to say, or ""


class Shelf(Protocol):
    """What is needed of the store. Each may raise StoreError."""

    async def begin_timer(self, timer_id: str) -> bool:
        """Its work is about to begin; False: it has before."""
        ...

    async def begun_timers(self) -> list[TimerRecord]:
        """Those whose work has begun and not ended."""
        ...

    async def finish_timer(self, timer_id: str, *, known: bool = True) -> bool:
        """Its work has ended; `known`: and how."""
        ...


class Calls(Protocol):
    """Who makes commands' calls (`assistant.timers.calls.FrozenCalls`)."""

    def ready(self, timer: TimerRecord) -> bool:
        """Whether it can be made now."""
        ...

    async def make(self, timer: TimerRecord) -> str:
        """Make it; what a person must be told."""
        ...


class Later:
    """Enter it to have `take` do what is due.

    What was begun is never begun again: where the process died in the middle, that is told. What
    is too late is not done, and that is told once somebody is there.
    """

    def __init__(
        self,
        store: Shelf,
        calls: Calls,
        ask: Ask,
        say: Callable[[str, str], None],
        unheard: Unheard,
        catalogue: Catalogue,
        clock: Clock,
        complaints: Complaints,
    ) -> None:
        """`say`: aloud, soon, in that language; it must not block."""
        self._store = store
        self._calls = calls
        self._ask = ask
        self._say = say
        self._unheard = unheard
        self._catalogue = catalogue
        self._clock = clock
        self._complaints = complaints
        self._busy: set[str] = set()  # ids of those that are being done
        self._settled = False  # what an earlier process left under way
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    async def settle(self) -> None:
        """Tell what an earlier process began and did not end. Raises StoreError."""
        if self._settled:
            return
        for timer in await self._store.begun_timers():
            if timer.id not in self._busy and await self._store.finish_timer(timer.id, known=False):
                self._tell("later.unknown", timer)
        self._settled = True

    def take(self, due: Due) -> None:
        """It is due; to be given again until it has ended."""
        timer = due.timer
        if timer.id in self._busy:
            return
        command = timer.kind == "command"
        late = due.late_s > (COMMAND_LATE_S if command else REQUEST_LATE_S)
        if command and not late and not self._calls.ready(timer):
            return
        self._busy.add(timer.id)
        self._owner.start(self._do(timer, late), f"later {timer.id}")

    async def _do(self, timer: TimerRecord, late: bool) -> None:
        try:
            await self._complaints.safely(self._missed(timer) if late else self._done(timer))
        finally:
            self._busy.discard(timer.id)

    async def _missed(self, timer: TimerRecord) -> None:
        await self._unheard.add(timer, rang=False)
        await self._store.begin_timer(timer.id)
        await self._store.finish_timer(timer.id)

    async def _done(self, timer: TimerRecord) -> None:
        if not await self._store.begin_timer(timer.id):
            return
        known = True
        try:
            await self._carry_out(timer)
        except Exception:
            known = False
            _log.exception("what was to be done later broke")
            self._tell("later.unknown", timer)
        # Cut off by the end of the process it stays as begun: the next one tells it.
        await self._store.finish_timer(timer.id, known=known)

    async def _carry_out(self, timer: TimerRecord) -> None:
        if timer.kind == "command":
            told = await self._calls.make(timer)
        else:
            told = await self._ask(timer.text, timer.language, timer.caller)
        if told:
            self._say(told, self._catalogue.own(timer.language))

    def _tell(self, key: str, timer: TimerRecord) -> None:
        told = self._catalogue.say(key, timer.language, what=timer.text)
        self._say(told, self._catalogue.own(timer.language))
