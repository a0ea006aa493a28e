"""A room in which a program asks: the loop around a scripted ear, and a person who answers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_questions import (
    MapAnswer,
    ProgramQuestions,
    QuestionHouse,
    Talks,
)
from assistant.conversation.request_queue import RequestQueue
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted, WakeHeard
from assistant.conversation.rules.machine import State
from assistant.conversation.turn import Turn
from assistant.domain.brain import BrainEvent, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.speech.catalogue import Catalogue
from audio.frames import FRAME_SAMPLES, Frame
from audio.player import Player
from integrations.web.box import Caller
from integrations.web.requests import QuestionAnswer, QuestionRequest
from tests.unit.assistant.conversation.doubles import (
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    numbered,
)
from tests.unit.assistant.conversation.stage import Closed, runner_with

GARDEN = Caller("http:garden", frozenset({"speak"}))
YES_NO = [{"id": "yes", "sentences": ["yes"]}, {"id": "no", "sentences": ["no"]}]
ASKED_MS = 500  # from when on the program asks


def spoken(at_ms: int) -> dict[int, Sequence[EarEvent]]:
    """Return the ear's events of half a second of speech."""
    return {
        at_ms + 200: [SpeechStarted(at_ms)],
        at_ms + 1_200: [SpeechEnded(at_ms + 500, at_ms + 1_200)],
    }


ONCE = spoken(1_000)
TWICE = {**spoken(1_000), **spoken(4_000)}


def question(**wanted: Any) -> QuestionRequest:
    """Return a request that expects yes or no."""
    given = {"question": "Shall I close the blinds?", "answers": YES_NO, "preannounce": False}
    return QuestionRequest.model_validate({**given, **wanted})


class Room:
    """A microphone that pauses at ASKED_MS until the question is under way."""

    pulled = True

    def __init__(self, runner: ConversationLoop, seconds: float = 40.0) -> None:
        self._runner = runner
        self._count = round(seconds * 50)
        self.asks = asyncio.Event()  # the program may ask

    async def frames(self) -> AsyncGenerator[Frame, None]:
        for number in range(self._count):
            if number * 20 == ASKED_MS:
                self.asks.set()
                await self._runner.until(lambda: self._runner.state is not State.IDLE)
            yield Frame(numbered(number), number * FRAME_SAMPLES)


@dataclass
class Stage:
    """The parts that a test looks at."""

    runner: ConversationLoop
    questions: ProgramQuestions
    talks: Talks
    closed: Closed
    clock: VirtualClock
    told: list[BusEvent] = field(default_factory=list)

    async def ask(self, **wanted: Any) -> QuestionAnswer:
        """Ask the question in the room."""
        room = Room(self.runner)
        listening = asyncio.create_task(self.runner.listen(room))
        await room.asks.wait()
        async with asyncio.timeout(60):
            answer = await self.questions.ask(question(**wanted), GARDEN)
            await listening
        return answer

    @property
    def turns(self) -> list[Turn]:
        """Return the finished turns."""
        return [turn for turn, _ in self.closed]

    @property
    def data(self) -> list[Mapping[str, Any]]:
        """Return the data of the reported questions."""
        return [one.data for one in self.told if one.kind == "question"]


@asynccontextmanager
async def stage(
    brain: ScriptedBrain,
    script: dict[int, Sequence[EarEvent]],
    asking: AskingServices | None = None,
    *,
    tools: Tools | None = None,
    player: Player | None = None,
    mapper: MapAnswer | None = None,
    off: Collection[str] = (),
    volume: float = 1.0,
    keeps_words: bool = True,
) -> AsyncIterator[Stage]:
    """Yield everything that asks, between strict doubles."""
    clock, bus, told = VirtualClock(), EventBus(lambda: keeps_words), list[BusEvent]()
    bus.follow(told.append)
    async with runner_with(
        brain,
        ScriptedEar(script),
        tools,
        clock,
        player,
        asking=asking,
        off=off,
        volume=volume,
    ) as (runner, closed):
        line = RequestQueue(clock)
        house = QuestionHouse(
            Catalogue(), lambda text: "en", ("okay nabu",), keeps_words=lambda: keeps_words
        )
        questions = ProgramQuestions(runner, line, house, bus, clock, mapper)
        talks = Talks(runner, line, lambda text: "en", clock)
        async with talks, questions:
            yield Stage(runner, questions, talks, closed, clock, told)


async def listens(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    """Begin a turn in which the person has not spoken yet."""
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield TurnDone()


def waked(runner: ConversationLoop) -> None:
    """Wake the loop; nothing has been said yet."""
    runner.dispatch(WakeHeard("okay_nabu", 0.9, 0, 0))
