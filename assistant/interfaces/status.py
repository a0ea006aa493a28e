"""Hearth's status: turn statistics, current problems, and a snapshot for interfaces."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from assistant.brains.slots import start_of_day
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import FinishedTurn, TurnLog
from assistant.conversation.rules.state import Standing
from assistant.domain.clock import Clock
from assistant.domain.events import BusEvent, EventBus, Listeners
from assistant.domain.records import UNASKED, StoreError, TurnRecord
from assistant.journal.trace import first_sound_ms
from assistant.timers.book import ProgramTimers
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.journal.store import Store

COST_S = 600.0  # seconds between reads of today's cost, which other processes add to
HEALTH_S = 2.0  # seconds between checks for problems, which are cheap
_LASTS_S = 4.0  # problems that end sooner, such as a reconnection, are ignored
_INTENTS = 32  # number of turns whose intents are remembered
_DAY_S = 24 * 3600.0
_log = logging.getLogger(__name__)

Look = Callable[[], Mapping[str, str]]  # returns a sentence on each problem, by part


class TurnStats(Opened):
    """Statistics of the last user turn and of today (since local midnight), updated while the
    context is open. `last_heard` and `last_answer` are None if they weren't stored."""

    def __init__(self, turns: TurnLog, journal: "Store", clock: Clock) -> None:
        self._turns = turns
        self._journal = journal
        self._clock = clock
        self.last_heard: str | None = None
        self.last_answer: str | None = None
        self.last_wake_word: str | None = None
        self.brain: str | None = None  # name as in `brain.order`
        self.latency_ms: float | None = None  # from the last word to the answer's first sample
        self.turn_id: str | None = None
        self.cost_today_usd: float | None = None  # of all processes, according to the journal
        self._day = start_of_day(clock.now())
        self._spent = asyncio.Event()
        self._problem = ""  # the last problem logged
        self._followers: Listeners[[]] = Listeners("the figures")
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await self._recall()
        await self._count()
        await stack.enter_async_context(self._owner)
        stack.callback(self._turns.follow(self._ended))
        self._owner.start(self._keep_counting(), "figures")

    @property
    def day(self) -> datetime:
        return self._day

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for changes and return a function that unregisters it. The callback
        must not block."""
        return self._followers.add(tell)

    async def _recall(self) -> None:
        try:
            for record in await self._journal.turns_of_people(1):
                self._take(record)
        except StoreError as error:
            self._say(error)

    def _ended(self, finished: FinishedTurn) -> None:
        record = finished.record
        self._spent.set()
        # Skip turns that programs typed: nobody spoke them or waited for their first sound.
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
        now = self._clock.now()
        left_s = _DAY_S - (now - start_of_day(now)).total_seconds()
        async with asyncio.TaskGroup() as group:
            later = group.create_task(self._clock.sleep(min(COST_S, max(left_s, 1.0))))
            more = group.create_task(self._spent.wait())
            await asyncio.wait({later, more}, return_when=asyncio.FIRST_COMPLETED)
            later.cancel()
            more.cancel()

    async def _count(self) -> bool:
        before = (self._day, self.cost_today_usd)
        today = start_of_day(self._clock.now())
        if today.date() != self._day.date():  # not the instants: the time zone may have changed
            self._day, self.cost_today_usd = today, None
        try:
            self.cost_today_usd = await self._journal.spent_since(self._day)
            self._problem = ""
        except StoreError as error:
            self._say(error)
        return before != (self._day, self.cost_today_usd)

    def _say(self, problem: StoreError) -> None:
        if str(problem) != self._problem:
            _log.warning("the last turns cannot be read: %s", problem)
        self._problem = str(problem)


class HealthMonitor(Opened):
    """Checks for problems while the context is open, and publishes a `fault` event when one begins
    or ends. `what` names the problem, and `on` is True when it begins."""

    def __init__(self, look: Look, bus: EventBus, clock: Clock) -> None:
        self._look = look
        self._bus = bus
        self._clock = clock
        self._seen: dict[str, float] = {}  # when each problem was first seen, in monotonic seconds
        self._now: dict[str, str] = {}
        self._followers: Listeners[[]] = Listeners("troubles")
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)
        self._owner.start(self._watch(), "troubles")

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._now.values())

    @property
    def now(self) -> Mapping[str, str]:
        return dict(self._now)

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        return self._followers.add(tell)

    async def _watch(self) -> None:
        while True:
            self._take(dict(self._look()))
            await self._clock.sleep(HEALTH_S)

    def _take(self, found: dict[str, str]) -> None:
        now_s = self._clock.monotonic()
        self._seen = {what: self._seen.get(what, now_s) for what in found}
        lasting = {
            what: sentence
            for what, sentence in found.items()
            if what in self._now or now_s - self._seen[what] >= _LASTS_S
        }
        begun = {what: lasting[what] for what in lasting if what not in self._now}
        ended = [what for what in self._now if what not in lasting]
        changed = lasting != self._now
        self._now = lasting
        for what, sentence in begun.items():
            self._bus.publish("fault", what=what, on=True, problem=sentence)
        for what in ended:
            self._bus.publish("fault", what=what, on=False)
        if changed:
            self._followers.tell()


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """Hearth's status as interfaces show it, without the settings. None means unknown."""

    standing: Standing
    problems: tuple[str, ...] = ()  # sentences
    heard: str | None = None
    answer: str | None = None
    turn_id: str | None = None  # the turn of `heard` and `answer`
    wake_word: str | None = None
    brain: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    day: datetime | None = None  # local midnight from which the cost is counted
    next_timer: datetime | None = None
    timers: int = 0


@dataclass(frozen=True, slots=True)
class StatusSources:
    """The components from which a status snapshot is compiled."""

    conversation: ConversationLoop
    figures: TurnStats
    timers: ProgramTimers
    troubles: HealthMonitor

    def snapshot(self) -> StatusSnapshot:
        due, count = self.timers.next()
        return StatusSnapshot(
            standing=self.conversation.standing,
            problems=self.troubles.sentences,
            heard=self.figures.last_heard,
            answer=self.figures.last_answer,
            turn_id=self.figures.turn_id,
            wake_word=self.figures.last_wake_word,
            brain=self.figures.brain,
            latency_ms=self.figures.latency_ms,
            cost_usd=self.figures.cost_today_usd,
            day=self.figures.day,
            next_timer=due,
            timers=count,
        )

    def follow(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for changes to the snapshot and return a function that unregisters
        it."""
        with ExitStack() as stack:
            stack.callback(self.conversation.observe(lambda standing: changed()))
            for source in (self.figures, self.timers, self.troubles):
                stack.callback(source.follow(changed))
            return stack.pop_all().close


class Intents:
    """Intents of recent turns: the name of the first tool that each turn called. They show what a
    turn was about when its transcript can't be shared."""

    def __init__(self) -> None:
        self._intents: dict[str, str] = {}  # by turn id

    def of(self, happening: BusEvent) -> str | None:
        """Record the event and return its turn's intent (such as "HassTurnOn"), or None if the turn
        hasn't called a tool yet."""
        turn_id = happening.turn_id
        tool = str(happening.data.get("name") or "") if happening.kind == "tool_call" else ""
        if tool and turn_id:
            self._intents.setdefault(turn_id, tool.rpartition("__")[2])
            if len(self._intents) > _INTENTS:
                del self._intents[next(iter(self._intents))]
        return self._intents.get(turn_id)
