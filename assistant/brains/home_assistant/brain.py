"""The brain that lets Home Assistant's own conversation engine serve the sentence.

The engine is first asked what it would do (design, section 3); only what the policy lets through
is then said to it, as one call on the path of every call.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator

from assistant.brains.home_assistant.dry_run import DryRun
from assistant.brains.home_assistant.ear import Ear, Said
from assistant.brains.home_assistant.sentence import answer, call_for
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    ReplySettled,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import ToolOutcome
from assistant.speech.catalogue import Catalogue
from audio.errors import AudioError, TookTooLong
from integrations.errors import IntegrationError
from integrations.home_assistant.refusals import CommandRefused

_log = logging.getLogger(__name__)


class HomeAssistantBrain:
    """Serves what the engine knows, in any language that it knows; the rest is the next rung's."""

    def __init__(self, ear: Ear, dry_run: DryRun, catalogue: Catalogue, *, last: bool) -> None:
        """`last`: no rung comes after it, so it says itself that it did not understand."""
        self.ear = ear
        self.dry_run = dry_run
        self.catalogue = catalogue
        self.last = last

    @property
    def name(self) -> str:
        """As in `brain.order`."""
        return "home-assistant"

    def begin(self, request: TurnRequest) -> "HomeAssistantTurn":
        """Start on a turn; nothing happens before its events are asked for."""
        return HomeAssistantTurn(self, request)

    def anticipate(self) -> None:
        """The connection to the home always stands."""


class HomeAssistantTurn:
    """One sentence, heard or typed."""

    def __init__(self, brain: HomeAssistantBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._outcomes: asyncio.Queue[ToolOutcome] = asyncio.Queue(maxsize=1)

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give the result of the one call back."""
        await self._outcomes.put(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """Heard, the one call, its answer, TurnDone; or a fault, for the next rung."""
        spoken = self._request.audio is not None
        try:
            said = await self._hear()
        except TookTooLong:  # the next rung would hear by the same recogniser
            for event in self._say("offline.too_long"):
                yield event
            return
        except AudioError as error:
            yield BrainFault("broken", str(error), retryable=False)
            return
        if said is not None and said.text and spoken:
            yield Heard(said.text, said.language)
        match = await self._match(said)
        if not isinstance(match, SentenceMatch):
            for event in self._ending(match):
                yield event
            return
        if not spoken:
            yield Heard(self._request.text or "", match.language)
        yield call_for(match, self._request.turn_id)
        own = self._brain.catalogue.own(match.language)
        yield answer(await self._outcomes.get(), own)
        yield ReplySettled()
        yield TurnDone()

    async def _hear(self) -> Said | None:
        request = self._request
        if request.audio is None:
            return Said(request.text or "", request.language)
        return await self._brain.ear.hear(request.audio, request.language)

    async def _match(self, said: Said | None) -> SentenceMatch | BrainFault | str:
        """What the sentence would do, the fault that keeps us from asking, or why it is not
        understood: a key of the catalogue."""
        if said is None:
            return "offline.no_ear"
        try:
            match = await self._brain.dry_run.match(said.text, said.language)
        except CommandRefused as error:
            _log.info("sentences are not tried here: %s", error)
            match = None
        except IntegrationError as error:
            return BrainFault("house_away", str(error), retryable=False)
        if match is not None:
            return match
        return "offline.cannot" if self._request.audio is None else "offline.not_caught"

    def _ending(self, reason: BrainFault | str) -> list[BrainEvent]:
        """How a turn ends in which nothing was said to the engine."""
        if isinstance(reason, BrainFault):
            return [reason]
        if not self._brain.last:
            message = "Home Assistant's own engine does not know this sentence."
            return [BrainFault("not_understood", message, retryable=False)]
        return self._say(reason)

    def _say(self, reason: str) -> list[BrainEvent]:
        """Why nothing was understood: a key of the catalogue."""
        line = self._brain.catalogue.line(reason, self._request.language)
        words = ReplyText(line.text, language=line.language)
        return [words, TurnDone(understood=False)]
