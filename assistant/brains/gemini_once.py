"""A brain that sends the whole recording to Gemini once the person has finished speaking.

It is meant for times when the Live connection fails but the network works. The answer is text,
which a local voice speaks. Spoken turns yield no `Heard` event: only the model could write a
transcript, and its own transcript can't be used to check its calls.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial

from assistant.brains.briefing.briefer import Briefer
from assistant.brains.dialogue import Dialogue
from assistant.brains.gemini.usage import spent
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Reached,
    ReplyText,
    Spent,
    Thought,
    TurnRequest,
)
from assistant.domain.tool_call import ToolCall, ToolOutcome
from integrations.gemini.declarations import Declaration
from integrations.gemini.models import ModelRow
from integrations.gemini.once import OnceClient, OnceSetup, Picture


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
        dialogue = Dialogue(conversation, partial(spent, self._row), "Gemini", rounds)
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
        self._dialogue = Dialogue(conversation, partial(spent, self._row), "Gemini")
        async with aclosing(self._dialogue.events()) as events:
            async for event in events:
                yield event
