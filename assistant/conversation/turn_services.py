"""Who does the work of a turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.domain.brain import Brain, BrainEvent, BrainTurn, Spent, TurnRequest, Usage
from assistant.domain.call import ToolCall
from assistant.domain.call_context import CALM, CallContext
from assistant.domain.outcome import ToolOutcome
from assistant.domain.question import Question, Settlement
from assistant.domain.rights import Rights
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput


class ToolRunner(Protocol):
    """The one path that every brain's every call takes."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        """Judge, run, verify and journal one call.

        Never raises for what the call itself does; raises when it cannot be journalled.
        """
        ...

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """What the person is to be asked for a call that needs a confirmation."""
        ...

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """The person has answered, or has not. None: too late, or nobody could be asked."""
        ...

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """What is asked next in this turn; an outcome where that call is not asked about."""
        ...

    def leave(self, turn_id: str) -> None:
        """The person cut this turn off: work that was begun only for its answer may end."""
        ...


class ProgramLimits(Protocol):
    """Keeps what the turns of programs may touch (`assistant.tools.execution.toolbox.Toolbox`)."""

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """From now on all calls of this turn stay within these rights."""
        ...

    def release(self, turn_id: str) -> None:
        """The turn is over."""
        ...


class Profiles(Protocol):
    """What a profile changes about a turn (`assistant.tools.policy.choices.Profiles`)."""

    def begin(self, turn_id: str, profile: str) -> str:
        """A turn begins with it, "" for none: its voice speaks, and its tools are all that the
        turn may use. Gives the language to assume, "" for the first configured one."""
        ...


@dataclass(slots=True)
class TurnServices:
    """Who does the work of a turn; whoever takes long to be made comes later (see `late.py`)."""

    brain: Brain
    tools: ToolRunner
    mouth: SpeechOutput
    catalogue: Catalogue
    asking: AskingServices | None = (
        None  # None: nobody can be asked, and what is gated stays undone
    )
    acknowledging: Acknowledging = IN_WORDS
    # Tells a brain, by its name and the turn's id, how much of its answer was heard.
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None
    profiles: Profiles | None = None  # None: there are none
    limits: ProgramLimits | None = None  # None: no program can have a sentence served


# What one turn has cost so far.


@dataclass(slots=True)
class TurnCost:
    """All that brains were paid for in it, those that then failed too."""

    usage: Usage | None = None  # None: nobody has told of any
    cost_usd: float = 0.0
    model: str | None = None  # that was paid for last

    def add(self, spent: Spent) -> None:
        """The turn has cost something more."""
        self.usage = spent.usage if self.usage is None else self.usage + spent.usage
        self.cost_usd += spent.cost_usd
        self.model = spent.model or self.model


#
# Stands for who does the work of a turn, while they are still being made.
#
# Hearth listens before the house, its tools and the brains are there. A turn that begins meanwhile
# waits for them; its sound is kept as that of every turn is, so nothing of it is lost.


NAME = "none"  # of the brain that is not there yet


class LateBrain:
    """A Brain that is told later which one it is."""

    def __init__(self) -> None:
        self._brain: Brain | None = None
        self._begin: Callable[[TurnRequest], object] = lambda request: None
        self._here = asyncio.Event()
        self._anticipated = False

    @property
    def name(self) -> str:
        """That of the brain, "none" before there is one."""
        return NAME if self._brain is None else self._brain.name

    def become(self, brain: Brain, begin: Callable[[TurnRequest], object]) -> None:
        """Who has waited is served by this one, after `begin` was called with the request."""
        self._brain, self._begin = brain, begin
        self._here.set()
        if self._anticipated:
            brain.anticipate()

    def begin(self, request: TurnRequest) -> BrainTurn:
        """A turn that waits for its brain when its events are wanted."""
        return _LateTurn(self, request)

    def anticipate(self) -> None:
        """A turn may be about to begin; whoever comes is told so."""
        self._anticipated = True
        if self._brain is not None:
            self._brain.anticipate()

    async def begun(self, request: TurnRequest) -> BrainTurn:
        """The turn, once there is a brain."""
        await self._here.wait()
        assert self._brain is not None
        self._begin(request)
        return self._brain.begin(request)


class _LateTurn:
    """A BrainTurn of a brain that was not there when it began."""

    def __init__(self, brain: LateBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._turn: BrainTurn | None = None

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """Those of the brain that has come."""
        self._turn = await self._brain.begun(self._request)
        async with aclosing(self._turn.events()) as events:
            async for event in events:
                yield event

    async def answer(self, outcome: ToolOutcome) -> None:
        """Only who has called is answered."""
        if self._turn is not None:
            await self._turn.answer(outcome)


class LateTools:
    """A ToolRunner that is told later which one it is. Nobody calls before there is a brain."""

    def __init__(self) -> None:
        self._tools: ToolRunner | None = None
        self._here = asyncio.Event()

    def become(self, tools: ToolRunner) -> None:
        """Every call goes there."""
        self._tools = tools
        self._here.set()

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        """See ToolRunner."""
        await self._here.wait()
        assert self._tools is not None
        return await self._tools.call(call, turn_id, heard, language, situation)

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """See ToolRunner; before there are tools nothing waits for an answer."""
        return None if self._tools is None else self._tools.question(turn_id, call_id)

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """See ToolRunner."""
        return None if self._tools is None else await self._tools.settle(question, settlement)

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """See ToolRunner."""
        return None if self._tools is None else await self._tools.next_question(turn_id, settlement)

    def leave(self, turn_id: str) -> None:
        """See ToolRunner; before there are tools nothing was begun."""
        if self._tools is not None:
            self._tools.leave(turn_id)
