"""What programs show of the turns: the last one's words, brain and pace, and the day's cost."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from assistant.brains.slots import start_of_day
from assistant.conversation.record import FinishedTurn
from assistant.domain.clock import Clock
from assistant.domain.listeners import Listeners
from assistant.domain.records import UNASKED, StoreError, TurnRecord
from assistant.journal.trace import first_sound_ms
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.journal.store import Store


LOOK_S = 600.0  # between two looks at the day's cost where no turn ends: other processes spend too
_DAY_S = 24 * 3600.0
_log = logging.getLogger(__name__)


class Turns(Protocol):
    """Source of finished turns (`assistant.conversation.record.TurnLog`)."""

    def follow(self, follower: Callable[[FinishedTurn], None]) -> Callable[[], None]:
        """Have it told of whatever is written down, without words that are not kept."""
        ...


class TurnStats:
    """Of the last turn that a person began, and of today, which begins at local midnight.

    Words are those of the last turn, and None where they are not kept: those of guests, and what
    was to be forgotten. Wake word, brain and latency are the last ones that there were. Enter it.
    """

    def __init__(self, turns: Turns, journal: "Store", clock: Clock) -> None:
        self._turns = turns
        self._journal = journal
        self._clock = clock
        self.last_heard: str | None = None
        self.last_answer: str | None = None
        self.last_wake_word: str | None = None
        self.brain: str | None = None  # as in `brain.order`
        self.latency_ms: float | None = None  # from the last word to the answer's first sound
        self.turn_id: str | None = None
        self.cost_today_usd: float | None = None  # of all processes, as the journal has it
        self._day = start_of_day(clock.now())
        self._spent = asyncio.Event()
        self._problem = ""  # the last one that was logged
        self._followers: Listeners[[]] = Listeners("the figures")
        self._leave: Callable[[], None] = lambda: None
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._recall()
        await self._count()
        await self._owner.__aenter__()
        self._leave = self._turns.follow(self._ended)
        self._owner.start(self._keep_counting(), "figures")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        await self._owner.__aexit__(kind, error, trace)

    @property
    def day(self) -> datetime:
        """The midnight from which today's cost counts."""
        return self._day

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have it called at each change; what is returned ends that. It must not block."""
        return self._followers.add(tell)

    async def _recall(self) -> None:
        """The last turn of an earlier process."""
        try:
            for record in await self._journal.turns_of_people(1):
                self._take(record)
        except StoreError as error:
            self._say(error)

    def _ended(self, finished: FinishedTurn) -> None:
        record = finished.record
        self._spent.set()
        # What a program typed was heard by nobody, and nobody waited for its first sound.
        if record.source not in UNASKED and not (record.caller and record.source == "text"):
            self._take(record)
            self._followers.tell()

    def _take(self, record: TurnRecord) -> None:
        self.turn_id = record.turn_id
        self.last_heard, self.last_answer = record.heard, record.answer
        if record.wake is not None:
            self.last_wake_word = record.wake.word
        if record.brain is not None:
            self.brain = record.brain
        latency = first_sound_ms(record.timeline)
        if latency is not None:
            self.latency_ms = round(latency, 1)

    async def _keep_counting(self) -> None:
        while True:
            await self._until_more()
            self._spent.clear()
            if await self._count():
                self._followers.tell()

    async def _until_more(self) -> None:
        """Until a turn has ended, the day has, or it is time to look again."""
        now = self._clock.now()
        left_s = _DAY_S - (now - start_of_day(now)).total_seconds()
        async with asyncio.TaskGroup() as group:
            later = group.create_task(self._clock.sleep(min(LOOK_S, max(left_s, 1.0))))
            more = group.create_task(self._spent.wait())
            await asyncio.wait({later, more}, return_when=asyncio.FIRST_COMPLETED)
            later.cancel()
            more.cancel()

    async def _count(self) -> bool:
        """Ask what today has cost. Whether it is another sum or another day now."""
        before = (self._day, self.cost_today_usd)
        today = start_of_day(self._clock.now())
        if today.date() != self._day.date():  # not the instants: the clocks may have changed
            self._day, self.cost_today_usd = today, None
        try:
            self.cost_today_usd = await self._journal.spent_since(self._day)
            self._problem = ""
        except StoreError as error:
            self._say(error)
        return before != (self._day, self.cost_today_usd)

    def _say(self, problem: StoreError) -> None:
        """Log a problem once, not at every look."""
        if str(problem) != self._problem:
            _log.warning("the last turns are not known: %s", problem)
        self._problem = str(problem)
