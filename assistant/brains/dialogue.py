"""Sends the requests and runs the tool calls of one turn, for models that are used without Live."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.brains.gemini.calls import fault_from, response_to, tool_call
from assistant.domain.brain import BrainEvent, BrainFault, NotMeant, ReplyText, Spent, TurnDone
from assistant.domain.tool_call import ToolOutcome
from integrations.errors import IntegrationError
from integrations.gemini.events import FunctionCall, TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.once import OnceCalls, OnceEnd, OnceEvent, OnceText

_NATURAL = (None, "STOP", "stop")  # end of a complete answer, as Gemini and chat servers name it
ROUNDS = 8  # requests of one turn; in the last one the model can't call tools


class Conversation(Protocol):
    """A model's conversation, to which the person's sentence has been added."""

    def stream(self, *, may_call: bool = True) -> AsyncGenerator[OnceEvent]:
        """Send a request and yield the answer. Raises IntegrationError."""
        ...

    def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        """Add the results of all calls in the latest OnceCalls."""
        ...


class Dialogue:
    """Alternates requests and tool calls until the model has finished."""

    def __init__(
        self,
        conversation: Conversation,
        spent: Callable[[TokensUsed], Spent],
        model: str,
        rounds: int = ROUNDS,
        fault_from: Callable[[IntegrationError], BrainFault] = fault_from,
    ) -> None:
        """`spent` returns the cost of a request. `model` names the model in messages."""
        self._conversation = conversation
        self._spent = spent
        self._model = model
        self._rounds = rounds
        self._fault_from = fault_from
        self._open: dict[str, asyncio.Future[ToolOutcome]] = {}
        self._gap = ""  # separator between the text before and after a call
        # Results of the last request:
        self._calls: tuple[FunctionCall, ...] = ()
        self._said = False
        self._reason: str | None = None

    async def answer(self, outcome: ToolOutcome) -> None:
        """Set the result of a call, unless the call isn't open."""
        waiting = self._open.get(outcome.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """Yield ReplyText, ToolCall and Spent events, then TurnDone, NotMeant or BrainFault."""
        for number in range(1, self._rounds + 1):
            try:
                async with aclosing(self._request(number < self._rounds)) as events:
                    async for event in events:
                        yield event
            except IntegrationError as error:
                fault = self._fault_from(error)
                late = isinstance(error.__cause__, TimeoutError)
                yield replace(fault, kind="timeout") if late else fault
                return
            if not self._calls or number == self._rounds:
                yield self._end()
                return
            if any(call.name == STAY_SILENT for call in self._calls):
                yield self._empty() if self._said else NotMeant()
                return
            # Create all futures first: a call can be answered before the next one is yielded.
            loop = asyncio.get_running_loop()
            self._open = {call.id: loop.create_future() for call in self._calls}
            for call in self._calls:
                yield tool_call(call)
            self._conversation.answer(
                [
                    FunctionAnswer(call.id, call.name, response_to(await self._open[call.id]))
                    for call in self._calls
                ]
            )

    async def _request(self, may_call: bool) -> AsyncGenerator[BrainEvent]:
        self._calls, self._said, self._reason = (), False, None
        async with aclosing(self._conversation.stream(may_call=may_call)) as events:
            async for event in events:
                match event:
                    case OnceText(text) if self._said or text.strip():
                        yield ReplyText(text if self._said else self._gap + text)
                        self._said, self._gap = True, " "
                    case OnceCalls(calls):
                        self._calls = calls
                    case TokensUsed():
                        yield self._spent(event)
                    case OnceEnd(reason):
                        self._reason = reason

    def _end(self) -> BrainEvent:
        if self._calls:
            return BrainFault("broken", f"{self._model} did not stop calling tools.", False)
        # After calls, the model may have nothing to add. The caller decides if that is acceptable.
        ended = self._said or (self._open and self._reason in _NATURAL)
        return TurnDone() if ended else self._empty()

    def _empty(self) -> BrainFault:
        reason = self._reason or "no reason given"
        return BrainFault("empty", f"{self._model} gave an empty answer ({reason}).", True)
