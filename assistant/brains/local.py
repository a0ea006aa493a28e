"""A brain that uses a language model on one of the home's own computers.

The model reads and writes text. A spoken sentence is therefore recognised first, as for the brain
`home-assistant`, and a local voice speaks the answer.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from assistant.brains.briefing.briefer import Briefer
from assistant.brains.dialogue import Dialogue
from assistant.brains.gemini.calls import fault_from
from assistant.brains.gemini.transcript_filters import LeakFilter
from assistant.brains.gemini.usage import usage_of
from assistant.brains.home_assistant import Ear, hear, unheard
from assistant.brains.slots import LOCAL
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Reached,
    ReplyText,
    Spent,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from audio.errors import AudioError, TookTooLong
from integrations.chat.client import ChatClient
from integrations.chat.faults import Endless, Malformed
from integrations.errors import IntegrationError, Misconfigured, Refused, SignInAgain
from integrations.gemini.events import TokensUsed

_LEAKED = "The local model wrote a tool call as text instead of making it."
_NOTHING_HEARD = "No words were recognised for the local model."


class LocalBrain:
    """Handles each turn with a few requests, and keeps no state between turns."""

    def __init__(
        self, client: ChatClient, briefer: Briefer, ear: Ear, catalogue: Catalogue
    ) -> None:
        self.client = client
        self.briefer = briefer
        self.ear = ear
        self.catalogue = catalogue

    @property
    def name(self) -> str:
        return LOCAL

    def anticipate(self) -> None:
        """Do nothing, because the request needs the whole sentence."""

    def begin(self, request: TurnRequest) -> "LocalTurn":
        return LocalTurn(self, request)


class LocalTurn:
    def __init__(self, brain: LocalBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._dialogue: Dialogue | None = None

    async def answer(self, outcome: ToolOutcome) -> None:
        if self._dialogue is not None:
            await self._dialogue.answer(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        brain, request = self._brain, self._request
        # Prepare the briefing while the person is still speaking.
        known = request.text or request.heard or ""
        briefing = await brain.briefer.brief(request.profile, known, request.owner)
        try:
            said = await hear(brain.ear, request)
        except TookTooLong:  # the next brain would use the same recogniser
            for event in unheard("offline.too_long", request, brain.catalogue):
                yield event
            return
        except AudioError as error:
            yield BrainFault("broken", str(error), retryable=False)
            return
        if said is None or not said.text:
            for event in self._nothing("offline.no_ear" if said is None else "offline.not_caught"):
                yield event
            return
        language = None if request.audio is None else said.language
        yield Heard(said.text, language, said.own_ear)
        conversation = brain.client.converse(briefing.instruction, briefing.declarations)
        conversation.read(f"{request.note}\n\n{said.text}" if request.note else said.text)
        yield Reached("first_upload")
        self._dialogue = Dialogue(
            conversation,
            partial(_spent, brain.client.server.model),
            "The local model",
            fault_from=local_fault,
        )
        async with aclosing(self._checked(self._dialogue)) as events:
            async for event in events:
                yield event

    async def _checked(self, dialogue: Dialogue) -> AsyncGenerator[BrainEvent]:
        """Yield the dialogue's events. Ends with a fault if the model writes a call as text."""
        leaks = LeakFilter()
        async with aclosing(dialogue.events()) as events:
            async for event in events:
                if isinstance(event, ReplyText):
                    text = leaks.push(event.delta)
                    if leaks.leaked:
                        yield BrainFault("broken", _LEAKED, retryable=True)
                        return
                elif isinstance(event, ToolCall | TurnDone):
                    text = leaks.flush()
                    leaks.begin()
                else:
                    text = ""
                if text:
                    yield ReplyText(text)
                if not isinstance(event, ReplyText):
                    yield event

    def _nothing(self, reason: str) -> list[BrainEvent]:
        if self._request.next_brains:
            return [BrainFault("not_understood", _NOTHING_HEARD, retryable=False)]
        return unheard(reason, self._request, self._brain.catalogue)


def local_fault(error: IntegrationError) -> BrainFault:
    match error:
        case Malformed():
            return BrainFault("broken", str(error), retryable=True)
        case Endless():
            return BrainFault("endless", str(error), retryable=False)
        case SignInAgain() | Misconfigured() | Refused():
            return BrainFault("local_model", str(error), retryable=False)
    return fault_from(error)


def _spent(model: str, used: TokensUsed) -> Spent:
    return Spent(usage_of(used), 0.0, model)
