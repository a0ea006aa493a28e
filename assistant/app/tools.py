"""Hearth's own tools for timers, announcements, weather and the like, and the services for work
that outlasts a turn."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from assistant.announcements.tools import Announcer
from assistant.app.brains import BrainSet
from assistant.app.conversation import BoxConversation
from assistant.app.home import HomeContext
from assistant.app.model_access import may_use_cloud
from assistant.app.process import is_held
from assistant.config.schema import Settings
from assistant.conversation.loop import ConversationLoop
from assistant.domain.brain import PEOPLE, BrainFault, ConversationOwner, Spent, Thought
from assistant.domain.clock import Clock, SystemClock, synchronised
from assistant.domain.records import TurnRecord, new_id
from assistant.domain.tool_call import READ_ONLY, REQUEST
from assistant.interfaces.controls import Controls, TalkTools, VoiceTools
from assistant.jobs.jobs import PATIENCE_S, Jobs, LongWork, Patient
from assistant.jobs.thinking import Guidance, LongThinking, Looking, RunCall, Teller
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput
from assistant.timers.book import ProgramTimers, TimerBook
from assistant.timers.later import FrozenCalls, LaterTool
from assistant.timers.recurrence import Almanac, local_zone
from assistant.timers.service import TimerService
from assistant.timers.telling import TimerTelling
from assistant.timers.tools import AlarmTool, TimerTools
from assistant.tools.builtin.date_and_weather import Weather
from assistant.tools.builtin.find_tools import FindTools
from assistant.tools.builtin.outside import SendToPhone, fetch_page
from assistant.tools.builtin.protocol import BuiltIn
from assistant.tools.execution.toolbox import Toolbox
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import Picture
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from integrations.home_assistant.phones import Phones
from integrations.web.box import Busy
from integrations.web.fetch import Fetcher

_THINKING = "medium"  # thinking level of hard questions, unless the settings or the profile set one
_WORKS_KEPT = 32  # jobs whose costs are being added up; only a few run at once

Say = Callable[[str, str], None]  # queues a text to be spoken in a language; must not block


def _say_nothing(text: str, language: str) -> None:
    """Do nothing, because this process has no voice."""


class CloudThinking:
    """Asks the larger Gemini model on behalf of background work, and records the cost."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        brains: BrainSet | None,
        conversation: BoxConversation | None,
    ) -> None:
        """`brains` and `conversation` are None if the tools are only listed."""
        self.enabled = "gemini-once" in settings.brain.order and may_use_cloud(settings)
        self._clock = clock
        self._brains = brains
        self._conversation = conversation
        self._costs: dict[str, TurnRecord] = {}  # costs of the newest jobs, by id

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: Sequence[Declaration],
        call: RunCall,
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> Thought:
        """Ask `gemini.once_model` a question. If the model is unavailable or today's budget is
        spent, the Thought contains only a fault."""
        if self._brains is None or self._brains.thinker is None:
            return _no_thought("No brain is available for hard questions.")
        if await self._brains.budget.reached():
            return _no_thought("Today's budget is spent.")
        return await self._brains.thinker.think(
            question,
            instruction=instruction,
            declarations=tuple(declarations),
            call=call,
            rounds=rounds,
            thinking=thinking,
            spend=spend,
            picture=picture,
        )

    async def guide(self, recalls: bool) -> Guidance:
        """Return the instruction and the thinking level for background work. `recalls` is False if
        a program asked for the work and may not see what people have said."""
        assert self._brains is not None
        profile = self._conversation.runner.profile if self._conversation is not None else ""
        owner = PEOPLE if recalls else ConversationOwner("program", recalls=False)
        briefing = await self._brains.briefer.brief(profile, "", owner)
        return Guidance(briefing.instruction, briefing.thinking or _THINKING)

    async def spent(self, work_id: str, spent: Spent) -> None:
        """Count a cost towards today's budget, and store the job's total cost so far."""
        if self._brains is not None:
            self._brains.budget.spend(work_id, spent.cost_usd)
        record = self._costs.pop(work_id, None) or TurnRecord(
            work_id, self._clock.now(), "job", language="", brain="gemini-once"
        )
        usage = spent.usage if record.usage is None else record.usage + spent.usage
        cost_usd, model = record.cost_usd + spent.cost_usd, spent.model or record.model
        record = replace(record, usage=usage, cost_usd=cost_usd, model=model)
        self._costs[work_id] = record
        if len(self._costs) > _WORKS_KEPT:
            del self._costs[next(iter(self._costs))]
        if self._conversation is not None:
            await self._conversation.log.keep(record)


def _no_thought(message: str) -> Thought:
    return Thought("", BrainFault("budget", message, retryable=False))


class Timekeeping:
    """Connects timers, alarms, reminders and scheduled commands. All processes offer the tools;
    only the daemon uses `keeper` and `desk`."""

    def __init__(
        self,
        store: Store,
        tools: Toolbox,
        home: HomeAssistant,
        rings: Callable[[], bool],
        catalogue: Catalogue,
        clock: Clock,
    ) -> None:
        """`rings` returns True if a daemon is running, because only the daemon rings the timers."""
        self._store = store
        self._catalogue = catalogue
        self._clock = clock
        machine = local_zone()
        self._almanac = Almanac(
            lambda: (clock.zone if isinstance(clock, SystemClock) else None) or machine,
            lambda: home.house,
            store,
        )
        self._book = TimerBook(store, clock, self._almanac)
        self._calls = FrozenCalls(
            tools, lambda: home.connected, lambda: new_id(clock.now()), catalogue
        )
        self._telling = TimerTelling(rings, catalogue, clock, self._almanac)

    def tools(self) -> tuple[BuiltIn, ...]:
        return (
            *TimerTools(self._book, self._telling).tools(),
            AlarmTool(self._book, self._telling).tool(),
            LaterTool(self._book, self._calls, self._telling).tool(),
        )

    def keeper(
        self, runner: ConversationLoop, mouth: SpeechOutput, say: Callable[[str, str], None]
    ) -> TimerService:
        """Return the service that rings timers and runs scheduled commands when they are due. `say`
        takes a text and its language, and speaks it."""

        async def ask(text: str, language: str, caller: str) -> str:
            # A user's request continues the users' conversation; a program's request does not.
            rights = READ_ONLY if caller else replace(READ_ONLY, recalls=True)
            owner = None if caller else PEOPLE
            try:
                turn = await runner.ask_quietly(text, rights, caller or REQUEST, owner)
            except Busy:
                return self._catalogue.say("later.failed", language, what=text)
            error = turn.record.error
            told = turn.record.answer or (error.message if error else None)
            return told or self._catalogue.say("later.failed", language, what=text)

        return TimerService(
            self._store,
            runner,
            mouth.ring,
            mouth.hush,
            self._catalogue,
            self._clock,
            self._almanac,
            self._calls,
            ask,
            say,
            synchronised,
        )

    def desk(self, keeper: TimerService, language_of: Callable[[str], str]) -> ProgramTimers:
        return ProgramTimers(self._book, keeper, self._almanac, self._clock, language_of)


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """The services for work that outlasts a turn."""

    thinking: CloudThinking
    timers: Timekeeping
    calls: Patient  # runs every turn's calls; in the daemon, long calls become jobs


@asynccontextmanager
async def open_background_work(
    settings: Settings,
    home: HomeContext,
    clock: Clock,
    *,
    resident: bool = False,
    brains: BrainSet | None = None,
    conversation: BoxConversation | None = None,
    say: Say = _say_nothing,
) -> AsyncIterator[BackgroundWork]:
    """Offer the tools for background work, and run that work until exit.

    `resident` is True in the daemon, where timers ring. `brains` and `conversation` are None if the
    tools are only listed. `say` announces that a job has finished.
    """
    tools, catalogue, client = home.tools, home.catalogue, home.client
    area, own_voice = settings.assistant.area, settings.voice.engine != "gemini"
    if conversation is None:
        controls, here = Controls(settings.voice, home.store, clock), None
    else:
        controls = conversation.controls
        here = conversation.runner.announce if conversation.speaks else None

    def house() -> House:
        return client.house

    def rings() -> bool:
        return resident or is_held(settings.data_folder)

    async with AsyncExitStack() as stack:
        thinking = CloudThinking(settings, clock, brains, conversation)
        teller = Teller(catalogue, thinking if thinking.enabled else None, thinking.spent)
        jobs = await stack.enter_async_context(Jobs(catalogue, clock, say, teller.tell))
        announcer = await stack.enter_async_context(
            Announcer(client, catalogue, area, home.own_device, here)
        )
        tools.offer(*LongWork(jobs, catalogue).tools())
        tools.offer(*VoiceTools(controls, catalogue, own_voice=own_voice).tools())
        tools.offer(*TalkTools(controls, catalogue).tools())
        tools.offer(announcer.tool())
        tools.offer(SendToPhone(Phones(client, home.own_device), house, catalogue).tool())
        tools.offer(Weather(client, house, catalogue, clock).tool())
        timers = Timekeeping(home.store, tools, client, rings, catalogue, clock)
        tools.offer(*timers.tools())
        if settings.gemini.menu == "small":
            found = FindTools(lambda: tools.current_menu, tools.permits, catalogue)
            tools.offer(*found.tools())
        if settings.tools.web_fetch:
            tools.offer(fetch_page(Fetcher(), catalogue, home.memories.texts))
        if thinking.enabled:
            work = thinking.guide, thinking.spent, catalogue
            tools.offer(
                LongThinking(thinking, tools, jobs, *work).tool(),
                Looking(thinking, home.cameras.snapshot, house, *work).tool(),
            )
        after_s = PATIENCE_S if resident else None
        yield BackgroundWork(thinking, timers, Patient(tools, jobs, catalogue, clock, after_s))
