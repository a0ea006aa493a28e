"""A brain that sends the whole recording to Gemini once the person has finished speaking.

It is meant for times when the Live connection fails but the network works. The answer is text,
which a local voice speaks. Spoken turns yield no `Heard` event: only the model could write a
transcript, and its own transcript can't be used to check its calls.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from assistant.brains.briefing.briefer import STAY_SILENT, Briefer
from assistant.brains.gemini.calls import fault_from, response_to, spent, tool_call
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyText,
    Spent,
    Thought,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import ToolCall, ToolOutcome
from integrations.errors import IntegrationError
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import FunctionCall, TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.models import ModelRow
from integrations.gemini.once import (
    OnceCalls,
    OnceClient,
    OnceConversation,
    OnceEnd,
    OnceSetup,
    OnceText,
    Picture,
)

_NATURAL = (None, "STOP")  # finishReason of a complete answer
ROUNDS = 8  # requests of one turn; in the last one the model can't call tools


class GeminiOnceBrain:
    """Serves each turn with a few requests, and keeps no state between turns."""

    def __init__(self, client: OnceClient, briefer: Briefer, row: ModelRow) -> None:
        self._client = client
        self._briefer = briefer
        self._row = row

    @property
    def name(self) -> str:
        return "gemini-once"

    def anticipate(self) -> None:
        """Do nothing. A connection is opened only after the sentence has ended."""

    def begin(self, request: TurnRequest) -> "OnceTurn":
        return OnceTurn(request, self._client, self._briefer, self._row)

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: tuple[Declaration, ...],
        call: Callable[[ToolCall], Awaitable[ToolOutcome]],
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> Thought:
        """Answer a question outside of a turn, with at most `rounds` requests.

        `call` runs a tool; the calls of one response run concurrently. `thinking` is a level such
        as "high". `spend` receives the cost of each request. Service errors are reported in the
        result, and exceptions of `call` are raised in an ExceptionGroup.
        """
        setup = OnceSetup(self._row, instruction, declarations, thinking)
        conversation = self._client.converse(setup)
        if picture is None:
            conversation.read(question)
        else:
            conversation.see(picture, question)
        dialogue = Dialogue(conversation, self._row, rounds)
        text, fault = "", None

        async def run(asked: ToolCall) -> None:
            await dialogue.answer(await call(asked))

        async with asyncio.TaskGroup() as group, aclosing(dialogue.events()) as events:
            async for event in events:
                match event:
                    case ReplyText(delta):
                        text += delta
                    case ToolCall():
                        group.create_task(run(event))
                    case Spent():
                        await spend(event)
                    case BrainFault():
                        fault = event
        return Thought(text.strip(), fault)


class OnceTurn:
    """A turn that prepares its briefing while the person is speaking, and then sends
    the requests."""

    def __init__(
        self, request: TurnRequest, client: OnceClient, briefer: Briefer, row: ModelRow
    ) -> None:
        self._request = request
        self._client = client
        self._briefer = briefer
        self._row = row
        self._dialogue: Dialogue | None = None

    async def answer(self, outcome: ToolOutcome) -> None:
        if self._dialogue is not None:
            await self._dialogue.answer(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        request = self._request
        # Prepare the briefing while the person is still speaking.
        said = request.text or request.heard or ""
        briefing = await self._briefer.brief(request.profile, said, request.owner)
        # Plain commands don't use the profile's thinking level, which costs money.
        setup = OnceSetup(self._row, briefing.instruction, briefing.declarations)
        conversation = self._client.converse(setup)
        if request.note:
            conversation.read(request.note)
        if request.audio is not None:
            conversation.hear(await request.audio.complete())
        else:
            text = request.text or ""
            conversation.read(text)
            yield Heard(text)
        # The only milestone, because the SDK doesn't report when it has connected or has sent the
        # recording.
        yield Reached("first_upload")
        self._dialogue = Dialogue(conversation, self._row, ROUNDS)
        async with aclosing(self._dialogue.events()) as events:
            async for event in events:
                yield event


class Dialogue:
    """Alternates requests and tool calls until the model has finished."""

    def __init__(self, conversation: OnceConversation, row: ModelRow, rounds: int) -> None:
        self._conversation = conversation
        self._row = row
        self._rounds = rounds
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
                yield _fault(error)
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
                        yield spent(self._row, event)
                    case OnceEnd(reason):
                        self._reason = reason

    def _end(self) -> BrainEvent:
        if self._calls:
            return BrainFault("broken", "Gemini did not stop calling tools.", False)
        # After calls, the model may have nothing to add. The caller decides if that is acceptable.
        ended = self._said or (self._open and self._reason in _NATURAL)
        return TurnDone() if ended else self._empty()

    def _empty(self) -> BrainFault:
        reason = self._reason or "no reason given"
        return BrainFault("empty", f"Gemini gave an empty answer ({reason}).", retryable=True)


def _fault(error: IntegrationError) -> BrainFault:
    fault = fault_from(error)
    if isinstance(error.__cause__, TimeoutError):
        return replace(fault, kind="timeout")
    return fault
