"""A toolbox with one slow server, a patience limit before it, and all announcements."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import pytest

from assistant.domain.brain import Spent
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.jobs.jobs import PATIENCE_S, Jobs, LongWork, Patient
from assistant.jobs.thinking import Guidance, LongThinking, Teller
from assistant.speech.catalogue import Catalogue
from integrations.owner import OwnedTasks
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.jobs.doubles import Thinker
from tests.unit.assistant.tools.doubles import Hub, tool, toolbox


class Bench:
    """Everything that takes part in long work; only what the test allows happens."""

    def __init__(self, *, words: bool, after_s: float | None) -> None:
        self.clock = VirtualClock()
        self.hub = Hub(tool("change"), tool("look", reads=True))
        self.journal = FakeJournal()
        self.thinker = Thinker()
        self.announced: list[tuple[str, str]] = []
        self.spent: list[tuple[str, int, float]] = []
        self.recalls: bool | None = None  # the value in the latest call of `guide`
        catalogue = Catalogue()
        self.box = toolbox(self.hub, self.clock, self.journal)
        teller = Teller(catalogue, self.thinker if words else None, self.spend)
        self.jobs = Jobs(catalogue, self.clock, self._announce, teller.tell)
        self.patient = Patient(self.box, self.jobs, catalogue, self.clock, after_s)
        thinking = LongThinking(
            self.thinker, self.box, self.jobs, self.guide, self.spend, catalogue
        )
        self.box.offer(thinking.tool(), *LongWork(self.jobs, catalogue).tools())
        self._tasks = OwnedTasks()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Bench"]:
        await self.box.menu()
        async with self.jobs, self._tasks:
            yield self

    def begin(
        self, name: str, turn_id: str = "t", language: str = "en", **arguments: str
    ) -> asyncio.Task[ToolOutcome]:
        """Start a call as a turn does."""
        call = ToolCall("a", name, arguments)
        heard = f"the words of {turn_id}"
        return self._tasks.start(self.patient.call(call, turn_id, heard, language), name)

    async def job(
        self, name: str, turn_id: str = "t", language: str = "en", **arguments: str
    ) -> ToolOutcome:
        """Make a call and wait until it becomes a job."""
        task = self.begin(name, turn_id, language, **arguments)
        await self.clock.run(PATIENCE_S)
        return task.result()

    @asynccontextmanager
    async def running(
        self, call: Awaitable[ToolOutcome]
    ) -> AsyncIterator[asyncio.Future[ToolOutcome]]:
        """Keep a call under way in the body; it is ended afterwards."""
        future = asyncio.ensure_future(call)
        await self.settle()
        yield future
        await self.settle()
        assert future.done()

    async def settle(self) -> None:
        await self.clock.settle()

    async def guide(self, recalls: bool) -> Guidance:
        self.recalls = recalls
        return Guidance("You are the mind of the house.", "high")

    def _announce(self, text: str, language: str) -> None:
        self.announced.append((text, language))

    async def spend(self, work_id: str, spent: Spent) -> None:
        self.spent.append((work_id, spent.usage.input_tokens, spent.cost_usd))


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with Bench(words=False, after_s=PATIENCE_S).open() as opened:
        yield opened


@pytest.fixture
async def wordy() -> AsyncIterator[Bench]:
    """Yield a bench that phrases data as sentences."""
    async with Bench(words=True, after_s=PATIENCE_S).open() as opened:
        yield opened


@pytest.fixture
async def short() -> AsyncIterator[Bench]:
    """Yield a bench in a process that ends after its one turn."""
    async with Bench(words=False, after_s=None).open() as opened:
        yield opened
