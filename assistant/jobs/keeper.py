"""Work that may outlast its turn: who is at it, how it is dropped, and that its end is told."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from assistant.domain.call import ToolCall
from assistant.domain.clock import Clock
from assistant.domain.outcome import ToolOutcome
from assistant.speech.catalogue import Catalogue, Line
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
MAX_JOBS = 3  # that may go on at once before Hearth starts no further thinking
JOB_LIMIT_S = 600.0  # a job that is not done by then is given up

Announce = Callable[[str, str], None]  # a text and its language


@dataclass(frozen=True, slots=True)
class Job:
    """One call that may become a job."""

    turn_id: str
    call: ToolCall
    label: str  # what it is, in a few words for a person
    heard: str | None  # the sentence that asked for it
    language: str
    started_at: datetime
    own: bool  # Hearth's own work, which may be ended at any moment


Tell = Callable[[Job, ToolOutcome], Awaitable[Line]]


@dataclass(slots=True, eq=False)
class Work:
    """A call while it runs."""

    job: Job
    task: asyncio.Task[ToolOutcome | Exception]
    kept: bool = False  # nobody waits for it any more: it is a job, its end is announced
    left: bool = False  # nobody wants it any more: nothing is announced


class Jobs:
    """Owns every call while it runs. Use it as an async context manager.

    A call is begun as plain work, which its turn waits for. Only work that is `keep`-ed becomes a
    job: then its end is announced, by `announce` with the text that `tell` makes of the outcome.
    Leaving the context cancels what is under way, without a word.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        clock: Clock,
        announce: Announce,
        tell: Tell,
        limit_s: float = JOB_LIMIT_S,
    ) -> None:
        """`announce` and `tell` are as in `Jobs`; `limit_s`: how long a job may go on."""
        self._catalogue = catalogue
        self._clock = clock
        self._announce = announce
        self._tell = tell
        self._limit_s = limit_s
        self._tasks = OwnedTasks()
        self._works: dict[asyncio.Task[ToolOutcome | Exception], Work] = {}  # the oldest first
        self._telling: list[Work] = []  # done, but its end is not announced yet

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel all that is under way and wait for its end."""
        await self._tasks.__aexit__(kind, error, trace)

    @property
    def full(self) -> bool:
        """Whether so many jobs go on that no further one should be begun."""
        return sum(work.kept for work in self._works.values()) >= MAX_JOBS

    def begin(self, job: Job, call: Callable[[], Awaitable[ToolOutcome]]) -> Work:
        """Run `call`, or join the same call of the same turn if it is under way."""
        for work in self._works.values():
            if (work.job.turn_id, work.job.call) == (job.turn_id, job.call):
                return work
        task = self._tasks.start(self._run(call), f"call-{job.call.name}")
        self._works[task] = Work(job, task)
        task.add_done_callback(self._works.pop)
        return self._works[task]

    def keep(self, work: Work) -> None:
        """Its turn waits no longer: from here on it is a job."""
        if work.kept:
            return
        work.kept = True
        if not work.left:
            self._tasks.start(self._follow(work), f"job-{work.job.call.name}")

    def leave(self, turn_id: str) -> None:
        """The person cut this turn off while it waited: Hearth's own work for it ends.

        What was sent to a server runs to its end, unannounced. Jobs go on as they are.
        """
        for work in list(self._works.values()):
            if work.job.turn_id == turn_id and not work.kept:
                work.left = True
                if work.job.own:
                    work.task.cancel()

    def under_way(self, other_than: str = "") -> tuple[Job, ...]:
        """What is being done for turns other than the one named, the oldest first."""
        jobs = (work.job for work in (*self._telling, *self._works.values()))
        return tuple(job for job in jobs if job.turn_id != other_than)

    def drop(self, jobs: Collection[Job]) -> None:
        """End these; nothing is announced."""
        for work in (*self._telling, *self._works.values()):
            if work.job in jobs:
                work.left = True
                work.task.cancel()

    async def _run(self, call: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome | Exception:
        try:
            return await call()
        except Exception as error:
            # Given to whoever waits: raised here it would end every other call.
            return error

    async def _follow(self, work: Work) -> None:
        """Wait for a job's end and announce it."""
        job = work.job
        if await ends_within(self._clock, self._limit_s, work.task):
            if not work.task.cancelled():
                await self._announce_end(work, work.task.result())
            return
        work.task.cancel()
        _log.error("%s was given up after %g s", job.call.name, self._limit_s)
        self._say(self._catalogue.line("jobs.too_long", job.language, what=job.label))

    async def _announce_end(self, work: Work, outcome: ToolOutcome | Exception) -> None:
        self._telling.append(work)  # a model may put it into words: it can still be dropped
        try:
            line = await self._told(work.job, outcome)
        finally:
            self._telling.remove(work)
        if not work.left:
            self._say(line)

    async def _told(self, job: Job, outcome: ToolOutcome | Exception) -> Line:
        """One sentence or two about the end. Never raises."""
        if not isinstance(outcome, Exception):
            try:
                return await self._tell(job, outcome)
            except Exception as error:
                # The work is done and somebody waits to hear of it, whatever went wrong in telling.
                outcome = error
        _log.error("%s failed", job.call.name, exc_info=outcome)
        return self._catalogue.line("jobs.failed", job.language, what=job.label)

    def _say(self, line: Line) -> None:
        self._announce(line.text, line.language)


async def ends_within(
    clock: Clock, seconds: float, task: asyncio.Task[ToolOutcome | Exception]
) -> bool:
    """Whether the task ends in so many seconds. It is left alone, whatever happens here."""
    async with asyncio.TaskGroup() as group:
        patience = group.create_task(clock.sleep(seconds))
        await asyncio.wait({task, patience}, return_when=asyncio.FIRST_COMPLETED)
        patience.cancel()
    return task.done()
