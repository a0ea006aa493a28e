"""Calls that outlast their turn and continue in the background, with tools to manage them."""

import asyncio
import logging
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.tool_call import (
    CALM,
    CallContext,
    Decision,
    Question,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue, Line
from assistant.tools.builtin.protocol import (
    NO_ARGUMENTS,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    schema,
    text,
)
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.tools.execution.toolbox import Toolbox

_log = logging.getLogger(__name__)
MAX_JOBS = 3  # running jobs; further requests are refused
JOB_LIMIT_S = 600.0  # a longer job is cancelled

Announce = Callable[[str, str], None]  # arguments: text and language


@dataclass(frozen=True, slots=True)
class Job:
    """A tool call that continues in the background if it takes too long."""

    turn_id: str
    call: ToolCall
    label: str  # short description for people
    heard: str | None  # sentence that requested it
    language: str
    started_at: datetime
    own: bool  # True for Hearth's own tools, whose calls can be cancelled safely


Tell = Callable[[Job, ToolOutcome], Awaitable[Line]]


@dataclass(slots=True, eq=False)
class Work:
    job: Job
    task: asyncio.Task[ToolOutcome | Exception]
    kept: bool = False  # it is a job, so its result is announced
    left: bool = False  # abandoned, so nothing is announced

    def keep(self) -> bool:
        """Turn the call into a job. Return False if it was already a job."""
        before, self.kept = self.kept, True
        return not before

    def abandon(self, *, cancel: bool) -> None:
        """Suppress the announcement of the result. With `cancel`, also cancel the call."""
        self.left = True
        if cancel:
            self.task.cancel()


class Jobs(Opened):
    """Owns all running calls. Use it as an async context manager, which cancels them at the end.

    A turn waits for its calls. If it stops waiting for one, `keep` turns the call into a job, whose
    result is announced. A job is cancelled after `limit_s` seconds. `announce` speaks a text, and
    `tell` composes the announcement of a job's outcome.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        clock: Clock,
        announce: Announce,
        tell: Tell,
        limit_s: float = JOB_LIMIT_S,
    ) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._announce = announce
        self._tell = tell
        self._limit_s = limit_s
        self._tasks = OwnedTasks()
        self._works: dict[asyncio.Task[ToolOutcome | Exception], Work] = {}  # oldest first
        self._telling: list[Work] = []  # finished, but not announced yet

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._tasks)

    @property
    def full(self) -> bool:
        return sum(work.kept for work in self._works.values()) >= MAX_JOBS

    def begin(self, job: Job, call: Callable[[], Awaitable[ToolOutcome]]) -> Work:
        """Run `call` in a task and return its work, or the existing work if the turn is already
        running the same call."""
        for work in self._works.values():
            if (work.job.turn_id, work.job.call) == (job.turn_id, job.call):
                return work
        task = self._tasks.start(self._run(call), f"call-{job.call.name}")
        self._works[task] = Work(job, task)
        task.add_done_callback(self._works.pop)
        return self._works[task]

    def keep(self, work: Work) -> None:
        if work.keep() and not work.left:
            self._tasks.start(self._follow(work), f"job-{work.job.call.name}")

    def leave(self, turn_id: str) -> None:
        """Abandon the calls of a turn that was interrupted. Its jobs are not affected, and calls to
        tool servers are not cancelled."""
        for work in list(self._works.values()):
            if work.job.turn_id == turn_id and not work.kept:
                work.abandon(cancel=work.job.own)

    def under_way(self, other_than: str = "") -> tuple[Job, ...]:
        """Return the jobs and running calls of all turns except `other_than`, oldest first."""
        jobs = (work.job for work in (*self._telling, *self._works.values()))
        return tuple(job for job in jobs if job.turn_id != other_than)

    def drop(self, jobs: Collection[Job]) -> None:
        """Cancel these jobs without an announcement."""
        for work in (*self._telling, *self._works.values()):
            if work.job in jobs:
                work.abandon(cancel=True)

    async def _run(self, call: Callable[[], Awaitable[ToolOutcome]]) -> ToolOutcome | Exception:
        try:
            return await call()
        except Exception as error:
            # Return it to the caller, because raising it here would cancel all other calls.
            return error

    async def _follow(self, work: Work) -> None:
        job = work.job
        if await ends_within(self._clock, self._limit_s, work.task):
            if not work.task.cancelled():
                await self._announce_end(work, work.task.result())
            return
        work.task.cancel()
        _log.error("%s was cancelled after %g s", job.call.name, self._limit_s)
        self._say(self._catalogue.line("jobs.too_long", job.language, what=job.label))

    async def _announce_end(self, work: Work, outcome: ToolOutcome | Exception) -> None:
        self._telling.append(work)  # so that it can still be dropped while a model words the result
        try:
            line = await self._told(work.job, outcome)
        finally:
            self._telling.remove(work)
        if not work.left:
            self._say(line)

    async def _told(self, job: Job, outcome: ToolOutcome | Exception) -> Line:
        if not isinstance(outcome, Exception):
            try:
                return await self._tell(job, outcome)
            except Exception as error:
                # The work has ended and people expect an announcement, even if wording it failed.
                outcome = error
        _log.error("%s failed", job.call.name, exc_info=outcome)
        return self._catalogue.line("jobs.failed", job.language, what=job.label)

    def _say(self, line: Line) -> None:
        self._announce(line.text, line.language)


async def ends_within(
    clock: Clock, seconds: float, task: asyncio.Task[ToolOutcome | Exception]
) -> bool:
    """Wait up to `seconds` for the task, without cancelling it. Return True if it has ended."""
    async with asyncio.TaskGroup() as group:
        patience = group.create_task(clock.sleep(seconds))
        await asyncio.wait({task, patience}, return_when=asyncio.FIRST_COMPLETED)
        patience.cancel()
    return task.done()


# Toolbox wrapper that moves slow calls to the background.


PATIENCE_S = 20.0  # a slower call becomes a job
MAX_LABEL = 80  # characters


@dataclass(eq=False)
class Patient:
    """A toolbox wrapper that turns a call into a job if it takes longer than `after_s` seconds.

    If `after_s` is None, every call is awaited to its end, which suits short-lived processes.
    """

    tools: "Toolbox"
    jobs: Jobs
    catalogue: Catalogue
    clock: Clock
    after_s: float | None = PATIENCE_S

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        """Return the call's outcome. If the call continues in the background, `running` is set.
        Raises the exceptions of `Toolbox.call`."""
        run = partial(self.tools.call, call, turn_id, heard, language, situation)
        if self.after_s is None:
            return await run()
        job = self._job(call, turn_id, heard, language)
        work = self.jobs.begin(job, run)
        try:
            ended = not work.kept and await ends_within(self.clock, self.after_s, work.task)
        except asyncio.CancelledError:
            if not work.kept:
                work.task.cancel()
            raise
        if not ended:
            self.jobs.keep(work)
            return self._unfinished(work, "tools.running", running=True)
        if work.task.cancelled():
            return self._unfinished(work, "tools.dropped", running=False)
        result = work.task.result()
        if isinstance(result, Exception):
            raise result
        return result

    def question(self, turn_id: str, call_id: str) -> Question | None:
        return self.tools.question(turn_id, call_id)

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        return await self.tools.settle(question, settlement)

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        return await self.tools.next_question(turn_id, settlement)

    def leave(self, turn_id: str) -> None:
        self.jobs.leave(turn_id)

    def _job(self, call: ToolCall, turn_id: str, heard: str | None, language: str) -> Job:
        entry = self.tools.current_menu.find(call.name)
        own = entry is not None and entry.built_in is not None
        texts = (value for value in call.arguments.values() if isinstance(value, str) and value)
        # The label is spoken and shown to the model, so it must not contain a program's text.
        about = "" if self.tools.caller_of(turn_id) else " ".join(next(texts, "").split())
        title = entry.tool.title or entry.tool.name if entry is not None else call.name
        name = title.rpartition("__")[2].replace("_", " ").strip()
        words = own or call.sentence is not None  # the tool's name means nothing to people
        label = about if words and about else f"{name}, {about}" if about else name
        return Job(turn_id, call, label[:MAX_LABEL], heard, language, self.clock.now(), own)

    def _unfinished(self, work: Work, key: str, *, running: bool) -> ToolOutcome:
        job = work.job
        entry = self.tools.current_menu.find(job.call.name)
        return ToolOutcome(
            id=job.call.id,
            server=entry.server if entry else "",
            name=entry.tool.name if entry else job.call.name,
            arguments=dict(job.call.arguments),
            decision=Decision.ALLOWED,
            tier=entry.tier if entry else Tier.COMFORT,
            status=Status.UNKNOWN,
            observed=(),
            ms=round((self.clock.now() - job.started_at).total_seconds() * 1000, 1),
            sentence=self.catalogue.say(key, job.language),
            running=running,
        )


# Tools to list (`what_are_you_doing`) and cancel (`drop_it`) background work.


WHAT_ARE_YOU_DOING = "what_are_you_doing"
DROP_IT = "drop_it"
LONG_WORD = 4  # letters


@dataclass(frozen=True, slots=True)
class LongWork:
    """Tools that list and cancel background work. They ignore work started by the calling turn."""

    works: "Jobs"
    catalogue: Catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        doing = BuiltIn(
            name=WHAT_ARE_YOU_DOING,
            description="What you are still working on in the background, and whether something is "
            "ready.",
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._tell,
            programs=False,
        )
        drop = BuiltIn(
            name=DROP_IT,
            description="Ends your background work. Not for a device or a timer.",
            schema=schema({"which": text("Words from what_are_you_doing; left out: all.")}),
            tier=Tier.COMFORT,
            run=self._drop,
            programs=False,
        )
        return doing, drop

    async def _tell(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        jobs = self.works.under_way(other_than=request.turn_id)
        if not jobs:
            return BuiltInResult(self.catalogue.say("jobs.nothing", request.language))
        items = (
            self.catalogue.say("jobs.item", request.language, what=job.label, time=job.started_at)
            for job in jobs
        )
        return BuiltInResult(
            self.catalogue.say("jobs.doing", request.language, what="; ".join(items))
        )

    async def _drop(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        jobs = self.works.under_way(other_than=request.turn_id)
        if not jobs:
            return BuiltInResult(self.catalogue.say("jobs.nothing", request.language))
        which = str(arguments.get("which", ""))
        meant = _named(which, jobs) if which else jobs
        if not meant or (which and len(meant) > 1):
            labels = tuple(job.label for job in meant or jobs)
            key = "jobs.which" if meant else "jobs.no_such"
            sentence = self.catalogue.say(key, request.language, what="; ".join(labels))
            return BuiltInResult(sentence, failed=True, valid_options=labels)
        self.works.drop(meant)
        what = "; ".join(job.label for job in meant)
        return BuiltInResult(self.catalogue.say("jobs.dropped", request.language, what=what))


def _named(which: str, jobs: Sequence[Job]) -> Sequence[Job]:
    said = _plain(which)
    whole = [job for job in jobs if said and said in _plain(job.label)]
    if whole:
        return whole
    shared = [len(_long_words(said) & _long_words(_plain(job.label))) for job in jobs]
    most = max(shared)
    return [job for job, number in zip(jobs, shared, strict=True) if most and number == most]


def _long_words(plain: str) -> frozenset[str]:
    return frozenset(word for word in plain.split() if len(word) >= LONG_WORD)


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.casefold())
    kept = (c if c.isalnum() else " " for c in letters if not unicodedata.combining(c))
    return " ".join("".join(kept).split())
