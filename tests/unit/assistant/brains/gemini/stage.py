"""The brain between strict doubles, on a virtual clock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assistant.brains.gemini.brain import GeminiLiveBrain
from assistant.brains.gemini.turn import GeminiLiveTurn
from assistant.domain.brain import BrainEvent, BrainTurn, InTalk, Reached, TurnRequest
from assistant.domain.call import ToolCall
from assistant.domain.clock import VirtualClock
from assistant.domain.turn_audio import TurnAudio
from integrations.gemini.events import OutputText, TurnComplete
from tests.unit.assistant.brains.gemini.doubles import (
    ROW,
    Opening,
    ScriptedBriefer,
    ScriptedClient,
    ScriptedSession,
    Sent,
    outcome_of,
)

SOUND = bytes(range(256)) * 25  # 0.2 s: two pieces
YES = (OutputText("Yes.", with_sound=True), TurnComplete())


def spoken(sound: bytes = SOUND, finished: bool = True, **changes: Any) -> TurnRequest:
    """A spoken turn, whose sentence is over or goes on."""
    audio = TurnAudio()
    audio.append(sound)
    if finished:
        audio.finish()
    values: dict[str, Any] = {"turn_id": "t", "text": None, "audio": audio, **changes}
    return TurnRequest(language="en", source="voice", **values)


def typed(text: str = "turn on the lamp", **changes: Any) -> TurnRequest:
    values: dict[str, Any] = {"turn_id": "t", **changes}
    return TurnRequest(language="en", source="text", text=text, audio=None, **values)


def sentence(*then: Any, sound: bytes = SOUND) -> list[Sent]:
    """The messages of one spoken sentence, and what the service tells after it."""
    return [Sent("start"), Sent("sound", sound), Sent("end", then=then)]


class Stage:
    """A brain, its doubles, and the means to play turns on it."""

    def __init__(
        self, openings: tuple[Opening, ...], briefer: ScriptedBriefer | None, **options: Any
    ) -> None:
        self.clock = VirtualClock()
        self.client = ScriptedClient(*openings)
        self.briefer = briefer or ScriptedBriefer()
        row = options.pop("row", ROW)
        self.brain = GeminiLiveBrain(self.client, self.briefer, row, self.clock, **options)

    async def play(self, request: TurnRequest, seconds: float = 60.0) -> list[BrainEvent]:
        """The turn's events without milestones and the name of its talk; every call works."""
        events = await self.follow(self.brain.begin(request), seconds)
        return [event for event in events if not isinstance(event, Reached | InTalk)]

    async def follow(self, turn: BrainTurn, seconds: float = 60.0) -> list[BrainEvent]:
        """All events of a turn, which has to end within `seconds`."""
        events: list[BrainEvent] = []

        async def gather() -> None:
            async for event in turn.events():
                events.append(event)
                if isinstance(event, ToolCall):
                    await turn.answer(outcome_of(event.id, event.name))

        end = self.clock.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            task = group.create_task(gather())
            while not task.done() and self.clock.monotonic() < end:
                await self.clock.run(0.1)
            assert task.done(), f"the turn goes on for ever: {events}"
        return events

    async def until(self, turn: GeminiLiveTurn, kind: type[BrainEvent]) -> Any:
        """Open the turn and take its events up to one of a kind; it stays open."""
        events = turn.events()
        async for event in events:
            if isinstance(event, kind):
                return events, event
        raise AssertionError(f"no {kind.__name__} came")


@asynccontextmanager
async def stage(
    *openings: Opening, briefer: ScriptedBriefer | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """A brain whose client opens exactly `openings`; leaving checks that all was used."""
    tasks = len(asyncio.all_tasks())
    made = Stage(openings, briefer, **options)
    async with made.brain:
        yield made
    made.client.assert_consumed()
    assert all(one.closed_for_good.is_set() for one in made.client.sessions), "a socket is open"
    assert len(asyncio.all_tasks()) == tasks, "a task is left"
    assert made.clock.sleepers == 0


def session(*script: Sent, handle: str | None = None) -> ScriptedSession:
    """A connection that takes exactly these messages."""
    return ScriptedSession(script, handle)
