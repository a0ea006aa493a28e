"""Stands for who does the work of a turn, while they are still being made.

Hearth listens before the house, its tools and the brains are there. A turn that begins meanwhile
waits for them; its sound is kept as that of every turn is, so nothing of it is lost.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from assistant.conversation.turn_services import ToolRunner
from assistant.domain.brain import Brain, BrainEvent, BrainTurn, TurnRequest
from assistant.domain.call import ToolCall
from assistant.domain.call_context import CALM, CallContext
from assistant.domain.outcome import ToolOutcome
from assistant.domain.question import Question, Settlement

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
