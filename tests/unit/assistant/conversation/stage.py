"""A conversation loop between strict doubles, and the turn that most tests play."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from assistant.config.sound import SoundChoice
from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.audio_front_end import AudioFrontEnd, EarEvent
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.effects import CloseTurn
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted, WakeHeard
from assistant.conversation.turn import Turn
from assistant.conversation.turn_services import TurnServices, TurnVoice
from assistant.domain.brain import BrainEvent, Heard, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.events import Deferred
from assistant.domain.tool_call import ToolCall
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import Languages
from assistant.speech.output import SpeechOutput
from assistant.speech.synthesis import Voices
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.choices import Profiles
from audio.player import NullPlayer, Outputs, Player
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedTurn, ToneVoice, Tools

WAKE = WakeHeard("okay_nabu", 0.9, at_ms=1_000, mark_ms=700)
COMMAND: dict[int, Sequence[EarEvent]] = {
    1_000: [WAKE],
    1_400: [SpeechStarted(1_220)],
    3_000: [SpeechEnded(2_300, 3_000)],
}
Closed = list[tuple[Turn, CloseTurn]]


@asynccontextmanager
async def runner_with(
    brain: ScriptedBrain,
    ear: AudioFrontEnd | None = None,
    tools: Tools | None = None,
    clock: VirtualClock | None = None,
    player: Outputs | Player | None = None,
    languages: Languages | None = None,
    voices: Voices = lambda _: ToneVoice(),
    profiles: dict[str, str] | None = None,
    asking: AskingServices | None = None,
    acknowledging: Acknowledging = IN_WORDS,
    off: Collection[str] = SoundChoice().off,
    limits: Toolbox | None = None,
    manners: Profiles | None = None,
    volume: float = 1.0,
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None,
    deferred: Deferred[TurnServices] | None = None,
) -> AsyncIterator[tuple[ConversationLoop, Closed]]:
    closed: Closed = []

    async def on_turn(turn: Turn, closing: CloseTurn) -> None:
        closed.append((turn, closing))

    mouth = SpeechOutput(voices, player or NullPlayer(paced=False), volume, off=off)
    ids = (f"turn-{number}" for number in range(100))
    services = TurnServices(
        brain, tools or Tools(), asking, tell_heard, profiles=manners, limits=limits
    )
    given = deferred or Deferred()
    if deferred is None:
        given.set(services)
    clock = clock or VirtualClock()
    runner = ConversationLoop(
        TurnVoice(mouth, Catalogue(), acknowledging),
        given,
        ear,
        clock,
        lambda: next(ids),
        on_turn,
        languages,
        profiles=profiles,
    )
    try:
        async with runner:
            yield runner, closed
    finally:
        mouth.close()
    brain.assert_consumed()


async def turns_on(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield Heard("turn on the light", "en")
    yield ToolCall("c1", "intent__HassTurnOn", {"name": "Kitchen light"})
    await turn.answered.wait()
    yield ReplyText("The kitchen ")
    yield ReplyText("light is on.")
    yield TurnDone()


async def says_hello(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ReplyText("Hello there.")
    yield TurnDone()


async def rounds(count: int = 20) -> None:
    """Let every task that can go on do so, `count` times."""
    for _ in range(count):
        await asyncio.sleep(0)


async def play_out(runner: ConversationLoop, clock: VirtualClock) -> None:
    """Let time pass until everything is said; the voice works on a thread meanwhile."""
    resting = asyncio.create_task(runner.rest())
    while not resting.done():
        await asyncio.to_thread(int)
        await clock.run(0.1)
    await resting
