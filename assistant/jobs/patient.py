"""A toolbox that does not keep a person waiting: what takes long goes on in the background."""

import asyncio
from functools import partial
from typing import Protocol

from assistant.domain.call import ToolCall
from assistant.domain.clock import Clock
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.domain.question import Question, Settlement
from assistant.domain.situation import CALM, Situation
from assistant.jobs.keeper import Job, Jobs, Work, ends_within
from assistant.speech.catalogue import Catalogue
from assistant.tools.menu import Menu

PATIENCE_S = 20.0  # a call that is not back by then becomes a job
MAX_LABEL = 80  # characters


class Tools(Protocol):
    """The calls' one way (`assistant.tools.toolbox.Toolbox`)."""

    @property
    def current_menu(self) -> Menu:
        """The menu as last listed."""
        ...

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None = None,
        language: str = "en",
        situation: Situation = CALM,
    ) -> ToolOutcome:
        """Judge, run, verify and journal one call."""
        ...

    def caller_of(self, turn_id: str) -> str:
        """The program whose own turn it is, "" for people's."""
        ...

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """What the person is to be asked for a call."""
        ...

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """The person has answered, or has not."""
        ...

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """What is asked next in this turn."""
        ...


class Patient:
    """Runs calls through the toolbox; one that takes long is answered as `running`, once.

    Its end is then announced by `Jobs`. A repeated call gets the same answer as the first.
    """

    def __init__(
        self,
        tools: Tools,
        jobs: Jobs,
        catalogue: Catalogue,
        clock: Clock,
        after_s: float | None = PATIENCE_S,
    ) -> None:
        """`after_s`: how long a call is waited for; None: to its end, as in a short process."""
        self._tools = tools
        self._jobs = jobs
        self._catalogue = catalogue
        self._clock = clock
        self._after_s = after_s

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: Situation = CALM,
    ) -> ToolOutcome:
        """The outcome, or that it is still running. Raises what the toolbox raises."""
        run = partial(self._tools.call, call, turn_id, heard, language, situation)
        if self._after_s is None:
            return await run()
        job = self._job(call, turn_id, heard, language)
        work = self._jobs.begin(job, run)
        try:
            ended = not work.kept and await ends_within(self._clock, self._after_s, work.task)
        except asyncio.CancelledError:
            if not work.kept:
                work.task.cancel()
            raise
        if not ended:
            self._jobs.keep(work)
            return self._unfinished(work, "tools.running", running=True)
        if work.task.cancelled():
            return self._unfinished(work, "tools.dropped", running=False)
        result = work.task.result()
        if isinstance(result, Exception):
            raise result
        return result

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """As the toolbox has it."""
        return self._tools.question(turn_id, call_id)

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """As the toolbox does: nobody is kept waiting longer than a server may take."""
        return await self._tools.settle(question, settlement)

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """As the toolbox has it."""
        return await self._tools.next_question(turn_id, settlement)

    def leave(self, turn_id: str) -> None:
        """The person cut this turn off: thinking for it ends, what was sent to a server goes on."""
        self._jobs.leave(turn_id)

    def _job(self, call: ToolCall, turn_id: str, heard: str | None, language: str) -> Job:
        entry = self._tools.current_menu.find(call.name)
        own = entry is not None and entry.built_in is not None
        texts = (value for value in call.arguments.values() if isinstance(value, str) and value)
        # The label is told to people, and to their model: a program's words stay out of it.
        about = "" if self._tools.caller_of(turn_id) else " ".join(next(texts, "").split())
        title = entry.tool.title or entry.tool.name if entry is not None else call.name
        name = title.rpartition("__")[2].replace("_", " ").strip()
        words = own or call.sentence is not None  # the way it goes is nothing for people
        label = about if words and about else f"{name}, {about}" if about else name
        return Job(turn_id, call, label[:MAX_LABEL], heard, language, self._clock.now(), own)

    def _unfinished(self, work: Work, key: str, *, running: bool) -> ToolOutcome:
        """The answer to a call whose end is not known to whoever made it."""
        job = work.job
        entry = self._tools.current_menu.find(job.call.name)
        return ToolOutcome(
            id=job.call.id,
            server=entry.server if entry else "",
            name=entry.tool.name if entry else job.call.name,
            arguments=dict(job.call.arguments),
            decision=Decision.ALLOWED,
            tier=entry.tier if entry else Tier.COMFORT,
            status=Status.UNKNOWN,
            observed=(),
            ms=round((self._clock.now() - job.started_at).total_seconds() * 1000, 1),
            sentence=self._catalogue.say(key, job.language),
            running=running,
        )
