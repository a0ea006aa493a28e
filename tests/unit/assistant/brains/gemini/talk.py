"""A Gemini Live brain with the real google-genai client, and the simulated service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assistant.brains.briefing.briefer import STAY_SILENT, Briefing
from assistant.brains.gemini.brain import GeminiLiveBrain
from assistant.brains.gemini.lifecycle import LiveTimeouts
from assistant.domain.brain import BrainEvent, BrainFault, Reached, ReplyText, TurnDone, TurnRequest
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import ToolCall
from assistant.domain.turn_audio import TurnAudio
from integrations.gemini.access import Access
from integrations.gemini.declarations import Declaration
from integrations.gemini.live import LiveClient
from integrations.gemini.models import model_row
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Done,
    LiveStep,
    Say,
    Turn,
)
from tests.unit.assistant.brains.gemini.doubles import (
    ScriptedBriefer,
    chain_of,
    outcome_of,
    without_estimates,
)

SPEECH = b"".join(number.to_bytes(2, "little") for number in range(1, 32_001))  # 2 s, all unlike
QUICK = LiveTimeouts(
    first_event_s=0.6, after_answer_s=0.6, between_events_s=1.0, late_text_s=0.1, open_calls_s=0.5
)
FUNCTIONS = tuple(
    Declaration(name, name, None, ()) for name in ("HassTurnOn", "HassTurnOff", STAY_SILENT)
)
BRIEFING = Briefing("You are Hearth.", FUNCTIONS, ("Lamp",), ("en",), "", "")
YES: tuple[LiveStep, ...] = (Say("Yes, it is.", audio_s=0.1), Done())


class Talk:
    """A brain that is connected to the simulated service."""

    def __init__(self, service: GeminiSimulator, brain: GeminiLiveBrain) -> None:
        self.service = service
        self.brain = brain
        self.turns = 0

    def spoken(self, pcm: bytes = SPEECH, finished: bool = True) -> TurnRequest:
        audio = TurnAudio()
        audio.append(pcm)
        if finished:
            audio.finish()
        self.turns += 1
        return TurnRequest(f"t{self.turns}", "en", "voice", None, audio)

    async def play(self, request: TurnRequest | None = None) -> list[BrainEvent]:
        """Return a turn's events without milestones and estimated costs. Every call succeeds."""
        turn = self.brain.begin(request or self.spoken())
        events: list[BrainEvent] = []
        async with asyncio.timeout(20):
            async for event in turn.events():
                if isinstance(event, ToolCall):
                    await turn.answer(outcome_of(event.id, event.name))
                if not isinstance(event, Reached):
                    events.append(event)
        return without_estimates(events)

    async def persist(self) -> str:
        """Return a turn's answer, after one retry if the connection turned out to be broken."""
        request = self.spoken()
        events = await self.play(request)
        if isinstance(events[-1], BrainFault) and events[-1].retryable:
            return await self.answer(request)
        return "".join(event.delta for event in events if isinstance(event, ReplyText))

    async def answer(self, request: TurnRequest | None = None) -> str:
        """Return a turn's answer; the turn has to end well."""
        events = await self.play(request)
        assert events[-1] == TurnDone()
        return "".join(event.delta for event in events if isinstance(event, ReplyText))


@asynccontextmanager
async def talk(
    *turns: Turn,
    briefer: ScriptedBriefer | None = None,
    model: str = "gemini-3.8-live",
    native_voice: bool = False,
    timeouts: LiveTimeouts = QUICK,
    **service_options: Any,
) -> AsyncIterator[Talk]:
    """Yield a brain and the service that plays exactly these turns."""
    before = len(asyncio.all_tasks())
    async with GeminiSimulator(turns, **service_options) as service:
        access = Access(service.key, service.url, str(service.ca_file))
        async with LiveClient(access) as client:
            clock = SystemClock()
            brain = GeminiLiveBrain(
                client,
                briefer or ScriptedBriefer(BRIEFING),
                chain_of(model_row(model)[0], clock=clock),
                clock,
                native_voice=native_voice,
                timeouts=timeouts,
            )
            async with brain:
                yield Talk(service, brain)
            await service.until(lambda: service.open_sockets == 0)
    assert len(asyncio.all_tasks()) == before, "a task is left"
