"""Doubles for turns that ask the person: gated tools, ears, keys, phones and models."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from assistant.confirmation.pin import PinGuard
from assistant.confirmation.witness import Hears, OwnersPhone, Witness
from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.conversation.rules.events import Prompter, SpeechEnded, SpeechStarted
from assistant.conversation.rules.machine import State
from assistant.conversation.turn import Turn
from assistant.domain.brain import BrainEvent, Heard, Reached, ReplyText, Serving, TurnDone
from assistant.domain.tool_call import (
    CALM,
    CallContext,
    Decision,
    How,
    Question,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from tests.unit.assistant.conversation.doubles import (
    Frames,
    Script,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import COMMAND, runner_with

UNLOCK = ToolCall("c1", "HassTurnOff", {"name": "Front Door"})
LIGHT = ToolCall("c2", "HassTurnOn", {"name": "Hall Light"})
ANSWER: dict[int, Sequence[EarEvent]] = {
    **COMMAND,
    5_000: [SpeechStarted(4_800)],
    6_000: [SpeechEnded(5_300, 6_000)],
}


class GatedTools(Tools):
    """Holds every call named HassTurnOff until the person has confirmed it."""

    def __init__(self, how: How = "confirm", tier: Tier = Tier.SECURE) -> None:
        super().__init__()
        self.run: list[ToolCall] = []
        self.settled: list[Settlement | None] = []
        self.situations: list[CallContext] = []
        self._how, self._tier = how, tier
        self._frozen: ToolCall | None = None
        self._turn_id = ""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        self.calls.append(call)
        self.situations.append(situation)
        if call.name != UNLOCK.name:
            self.run.append(call)
            return replace(done(call), sentence="Hall Light: on.")
        if situation.can_ask and self._frozen is None:
            self._frozen, self._turn_id = call, turn_id
        return _gated(call, Decision.NEEDS_CONFIRMATION, "The person is being asked.")

    def question(self, turn_id: str, call_id: str) -> Question | None:
        if self._frozen is None or (turn_id, call_id) != (self._turn_id, self._frozen.id):
            return None
        text = "Unlock the front door?"
        return Question("q1", turn_id, call_id, self._how, self._tier, text, "en", "Front Door")

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        assert self._frozen is not None, "settled twice"
        call, self._frozen = self._frozen, None
        self.settled.append(settlement)
        if settlement is None:
            return None
        if settlement.verdict != "yes":
            return _gated(call, Decision.DENIED, "OK, I left the front door locked.")
        self.run.append(call)
        return replace(
            done(call), decision=Decision.CONFIRMED, sentence="Done. Front Door: unlocked."
        )


def _gated(call: ToolCall, decision: Decision, sentence: str) -> ToolOutcome:
    return replace(
        done(call),
        decision=decision,
        tier=Tier.SECURE,
        status=Status.NOT_RUN,
        observed=(),
        sentence=sentence,
    )


@dataclass
class Ear:
    """A recogniser that hears what the test gives it."""

    text: str = ""
    digits: str = ""
    languages: tuple[str, ...] = ("en",)
    sounds: list[bytes] = field(default_factory=list)

    async def transcribe(self, pcm: bytes) -> str:
        self.sounds.append(pcm)
        return self.text

    async def spell(self, pcm: bytes) -> str:
        self.sounds.append(pcm)
        return self.digits


class Pin(PinGuard):
    """Accepts 1234, as often as it is tried."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    async def check(self, digits: str) -> Literal["right", "wrong", "locked"]:
        self.tried.append(digits)
        return "right" if digits == "1234" else "wrong"


class Keys:
    """A person at a keyboard."""

    def __init__(self, line: str | None) -> None:
        self.line = line
        self.asked: list[tuple[str, bool]] = []

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        self.asked.append((question, hidden))
        return self.line


def means(
    ear: Ear | None,
    learned: list[str] | None = None,
    keys: Prompter | None = None,
    *,
    phone: OwnersPhone | None = None,
    pin: Pin | None = None,
) -> AskingServices:
    """Return the asking services; `ear` is None without a recogniser, `learned` gets the model's
    inputs."""

    async def recogniser() -> Ear | None:
        return ear

    languages = ear.languages if ear is not None else ()
    hears = Hears(languages, languages)
    witness = Witness(("en",), pin or Pin(), recogniser, hears, ("okay nabu",))
    told = learned if learned is not None else []
    return AskingServices(witness, keys, phone, told.append)


async def unlocks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    """Ask to unlock the front door, then claim that it was done."""
    yield Serving("gemini-live")
    if turn.request.audio is not None:
        await turn.request.audio.complete()
    yield Heard("unlock the front door", "en")
    yield UNLOCK
    await turn.answered.wait()
    yield ReplyText("I have unlocked the door, the user said yes.")
    yield TurnDone()


def replies(*events: BrainEvent, after: Callable[[], Awaitable[object]] | None = None) -> Script:
    """Return a script with which the model takes the answer."""

    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Serving("gemini-live")
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield Reached("upload_done")
        if after is not None:
            await after()
        for event in events:
            yield event
            if isinstance(event, ToolCall):
                await turn.answered.wait()
        yield TurnDone()

    return script


async def played(
    brain: ScriptedBrain,
    tools: GatedTools,
    asking: AskingServices | None,
    script: dict[int, Sequence[EarEvent]] = ANSWER,
    seconds: float = 30.0,
) -> list[Turn]:
    """Return the turns of one recording, in which the door's question is answered or not."""
    async with runner_with(brain, ScriptedEar(script), tools, asking=asking) as (runner, closed):
        async with asyncio.timeout(60):
            await runner.listen(Frames(seconds), turns=1)
        assert runner.state in (State.IDLE, State.FOLLOW_UP)
    return [turn for turn, _ in closed]
