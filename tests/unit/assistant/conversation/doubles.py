"""Strict doubles around the conversation loop: scripted ears, brains and tools."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from assistant.conversation.audio_front_end import AudioFrontEnd, EarEvent
from assistant.domain.brain import BrainEvent, TurnRequest
from assistant.domain.tool_call import (
    CALM,
    READ_ONLY,
    CallContext,
    Decision,
    Observed,
    Question,
    Rights,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.jobs.jobs import Patient
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.choices import Profiles
from audio.endpoint import Endpointer
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, Frame
from audio.tts import Chunk
from audio.vad import Voicing
from audio.wake import Detection, NearMiss

Script = Callable[["ScriptedTurn"], AsyncGenerator[BrainEvent]]


class NoWake:
    """A wake engine that hears nothing."""

    score = closeness = 0.0

    @property
    def scores(self) -> Mapping[str, float]:
        return {}

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        return None

    def near_misses(self) -> list[NearMiss]:
        return []

    def strict(self, on: bool) -> None: ...

    def restart(self) -> None: ...

    def close(self) -> None: ...


class NoVoice:
    """A detector that finds no speech."""

    chunk_samples = FRAME_SAMPLES

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        return []

    def reset(self) -> None: ...


class ScriptedEar(AudioFrontEnd):
    """Reports the given events with the frames that end at the given milliseconds."""

    def __init__(self, script: dict[int, Sequence[EarEvent]]) -> None:
        super().__init__(NoWake(), NoVoice(), Endpointer())
        self.script = dict(script)

    def pass_by(self, frame: Frame) -> bool:
        return False

    def hear(self, frame: Frame) -> list[EarEvent]:
        super().hear(frame)
        return list(self.script.pop(frame.end // 16, ()))


class Frames:
    """A pulled source of numbered frames; each is filled with its number."""

    pulled = True

    def __init__(self, seconds: float) -> None:
        self._count = round(seconds * 50)

    async def frames(self) -> AsyncGenerator[Frame, None]:
        for number in range(self._count):
            yield Frame(numbered(number), number * FRAME_SAMPLES)


class FramesWith:
    """A microphone that runs an action or waits for one between two frames."""

    pulled = False

    def __init__(
        self,
        seconds: float,
        happens: dict[int, Callable[[], None]],
        waits: Mapping[int, Callable[[], Awaitable[None]]] | None = None,
    ) -> None:
        self._count = round(seconds * 50)
        self._happens = happens  # before the frame that ends at that millisecond
        self._waits = waits or {}  # there too; no frame comes until it returns

    async def frames(self) -> AsyncGenerator[Frame, None]:
        for number in range(self._count):
            at_ms = (number + 1) * 20
            self._happens.get(at_ms, lambda: None)()
            if (wait := self._waits.get(at_ms)) is not None:
                await wait()
            yield Frame(numbered(number), number * FRAME_SAMPLES)


def numbered(number: int) -> bytes:
    """Return a frame whose samples all have one value."""
    return (number % 32_000).to_bytes(2, "little") * (FRAME_BYTES // 2)


class ScriptedTurn:
    """A turn whose events are made by a function."""

    def __init__(self, request: TurnRequest, script: Script) -> None:
        self.request = request
        self.answers: list[ToolOutcome] = []
        self.answered = asyncio.Event()
        self.begun = self.closed = False
        self.yielded = 0  # events
        self._script = script

    async def events(self) -> AsyncGenerator[BrainEvent]:
        self.begun = True
        try:
            async with aclosing(self._script(self)) as events:
                async for event in events:
                    self.yielded += 1
                    yield event
        finally:
            self.closed = True

    async def answer(self, outcome: ToolOutcome) -> None:
        self.answers.append(outcome)
        self.answered.set()


class ScriptedBrain:
    """Plays one script per turn; one turn too many or too few fails the test."""

    name = "scripted"

    def __init__(self, *scripts: Script) -> None:
        self._scripts: Iterator[Script] = iter(scripts)
        self.turns: list[ScriptedTurn] = []
        self.anticipated = 0  # times

    def anticipate(self) -> None:
        self.anticipated += 1

    def begin(self, request: TurnRequest) -> ScriptedTurn:
        turn = ScriptedTurn(request, next(self._scripts))
        self.turns.append(turn)
        return turn

    def assert_consumed(self) -> None:
        assert next(self._scripts, None) is None, "a script was not played"
        assert all(turn.closed for turn in self.turns if turn.begun), "events were left open"


if TYPE_CHECKING:
    ToolsBase = Patient
else:
    ToolsBase = object  # a double keeps what it was asked for, and Patient is frozen


class Tools(ToolsBase):
    """Runs every call at once and records it."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.left: list[str] = []  # ids of turns that were cut off

    def question(self, turn_id: str, call_id: str) -> Question | None:
        raise AssertionError("nothing is gated")

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        raise AssertionError("nothing is gated")

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        return None

    def leave(self, turn_id: str) -> None:
        self.left.append(turn_id)

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        self.calls.append(call)
        return done(call)


class Manners(Profiles):
    """Records which turns have begun with which profile."""

    def __init__(self, language: str = "") -> None:
        self.begun: list[tuple[str, str]] = []
        self._language = language

    def begin(self, turn_id: str, profile: str) -> str:
        self.begun.append((turn_id, profile))
        return self._language


class Rightful(Toolbox):
    """Records, in order, the rights that each program's turn was given."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        assert rights is READ_ONLY
        self.told.append(("restrict", turn_id, caller))

    def release(self, turn_id: str) -> None:
        self.told.append(("release", turn_id))


def done(call: ToolCall) -> ToolOutcome:
    """Return the outcome of a successful call."""
    return ToolOutcome(
        id=call.id,
        server="home_assistant",
        name=call.name,
        arguments=call.arguments,
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=Status.DONE,
        observed=(Observed("light.kitchen", "off", "on"),),
        ms=1.0,
        sentence="Done.",
    )


class ToneVoice:
    """A voice that makes 10 ms of sound per character."""

    name = "tone"
    rate = 16_000

    def speak(self, text: str) -> Iterator[Chunk]:
        yield Chunk(b"\1\0" * (160 * len(text)))
