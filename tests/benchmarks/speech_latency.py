"""From a clause's text to its first sample at the player, and from an interruption to silence."""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from assistant.conversation.rules.events import Event, StopAsked, WakeHeard
from assistant.domain.brain import BrainEvent, ReplyAudio, ReplySettled, ReplyText, TurnDone
from audio.tts import Chunk, Voice
from tests.benchmarks.figures import Spread, how_many, print_table, spread, write_figures
from tests.benchmarks.recital import listening, reciting
from tests.benchmarks.service import Always, GeminiProcess
from tests.benchmarks.sound import AUDIBLE, InstantVoice, NotingPlayer
from tests.benchmarks.stage import hearth, stamps
from tests.simulators.script import Done, Say, Step, Wait

CLAUSE_BUDGET_MS = 40.0
SILENCE_BUDGET_MS = 100.0
SENTENCES = ("The office lights are on.", " The hall is dark.", " The door is shut.")
ONE, TWO = SENTENCES[0], SENTENCES[0] + SENTENCES[1]
LATE_S = 0.3  # as Gemini's turn ends after its last text
# The service's words, and the rest of its turn after the text.
HELD: dict[str, tuple[Step, ...]] = {
    "one sentence, the turn ends with it": (Say(ONE), Done()),
    "one sentence, the turn ends 1 s later": (Say(ONE), Wait(1.0), Done()),
    "two sentences, the turn ends with them": (Say(TWO), Done()),
    "one sentence, its last words 500 ms after its first": (
        Say(ONE, audio_s=1.0, speed=1.0),
        Done(),
    ),
}


class SlowVoice:
    """A voice that is always in the middle of a piece when interrupted: 200 ms for 100 ms."""

    name = "slow"
    rate = 16_000  # Hz

    def speak(self, text: str) -> Iterator[Chunk]:
        for _ in range(20):
            yield Chunk(np.full(self.rate // 10, AUDIBLE, np.int16).tobytes())
            time.sleep(0.2)


class Sentences:
    """Recites three sentences and records when the text that completes each had come."""

    def __init__(self) -> None:
        self.complete: list[float] = []  # seconds of the monotonic clock

    async def recite(self) -> AsyncGenerator[BrainEvent]:
        self.complete.clear()
        for index, sentence in enumerate(SENTENCES):
            if index:  # its first letter shows that the one before has ended
                self.complete.append(time.monotonic())
            yield ReplyText(sentence)
            await asyncio.sleep(0.05)
        self.complete.append(time.monotonic())
        yield ReplySettled()
        await asyncio.sleep(LATE_S)
        yield TurnDone()


async def clauses(folder: Path, count: int) -> list[float]:
    """Return the ms from text to player, with an instant voice, while the microphone hears a quiet
    room."""
    sentences, player = Sentences(), NotingPlayer()
    taken: list[float] = []
    async with (
        reciting(sentences.recite, InstantVoice(), player) as runner,
        listening(runner, folder),
    ):
        for _ in range(count):
            player.clear()
            await runner.ask("Say three sentences.")
            assert len(player.pieces) == len(SENTENCES), "each clause is one piece"
            pairs = zip(sentences.complete, player.pieces, strict=True)
            taken += [(piece.at - complete) * 1000 for complete, piece in pairs]
    return taken


async def held_back(folder: Path, service: GeminiProcess, count: int) -> dict[str, Spread]:
    """Return the ms from an answer's first text to its first sample, with Gemini's real client.

    The voice is instant. The last sentence has to wait, because its text does not show whether it
    has ended.
    """
    player, results = NotingPlayer(), {}
    voice = InstantVoice()
    with (
        stamps() as moments,
        patch("assistant.app.conversation.voices_of", lambda *_, **__: lambda _: voice),
    ):
        async with hearth(folder, service.address, player) as app:
            for name, steps in {"": HELD[next(iter(HELD))], **HELD}.items():
                service.respond(Always(steps))
                taken = []
                for _ in range(count if name else 1):  # the first opens the session
                    player.clear()
                    moments.clear()
                    await app.runner.ask("How are the lights?")
                    taken.append((player.pieces[0].at - moments["first_reply_text"]) * 1000)
                if name:
                    results[name] = spread(taken)
    return results


@dataclass(frozen=True, slots=True)
class Interruption:
    """The voice that speaks, and the event that interrupts it."""

    name: str
    recite: Callable[[], AsyncGenerator[BrainEvent]]
    voice: Callable[[], Voice]
    event: Event


async def _long_text() -> AsyncGenerator[BrainEvent]:
    while True:
        yield ReplyText("This goes on and on. ")
        await asyncio.sleep(0.01)


async def _long_sound() -> AsyncGenerator[BrainEvent]:
    piece = np.full(2_400, AUDIBLE, np.int16).tobytes()
    while True:
        yield ReplyAudio(piece, 24_000)
        await asyncio.sleep(0.01)


# It fires far ahead in the sound, so that neither wake sound nor time-out comes after it.
WAKE = WakeHeard("okay_nabu", 1.0, at_ms=1e9, mark_ms=0.0)
INTERRUPTIONS = (
    Interruption("local voice, stop", _long_text, InstantVoice, StopAsked()),
    Interruption("local voice, wake word", _long_text, InstantVoice, WAKE),
    Interruption("slow local voice, wake word", _long_text, SlowVoice, WAKE),
    Interruption("Gemini's voice, wake word", _long_sound, InstantVoice, WAKE),
)


async def silence(case: Interruption, folder: Path, count: int) -> list[float]:
    """Return the ms from the event to the return of the player's stop.

    No piece may come after that.
    """
    player = NotingPlayer(paced=True)
    taken = []
    async with reciting(case.recite, case.voice(), player) as runner, listening(runner, folder):
        for index in range(count):
            player.clear()
            async with asyncio.TaskGroup() as group:
                group.create_task(runner.ask("Talk."))
                await player.given.wait()
                await asyncio.sleep(0.1 + 0.01 * (index % 20))  # at any point of a piece
                player.stops.clear()
                began = time.monotonic()
                runner.dispatch(case.event)
                await asyncio.sleep(0.15)  # what still came would have come
                stopped = player.stops[0]
                assert all(piece.at <= stopped for piece in player.pieces), "sound after the stop"
                taken.append((stopped - began) * 1000)
                runner.dispatch(StopAsked())  # the turn that the wake word has opened
    return taken


def main() -> None:
    """Measure, and fail if a budget is exceeded."""
    count = how_many(40, 400)
    with tempfile.TemporaryDirectory() as name, GeminiProcess(Always(())) as service:
        folder = Path(name)
        text = spread(asyncio.run(clauses(folder, count)))
        held = asyncio.run(held_back(folder, service, how_many(10, 50)))
        quiet = {
            case.name: spread(asyncio.run(silence(case, folder, count))) for case in INTERRUPTIONS
        }
    print_table(("clauses", "complete text to player p50 / p95 / max"), [(text.count, text)])
    head = ("answer", "turns", "first text to player p50 / p95 / max")
    print_table(head, [(name, one.count, one) for name, one in held.items()])
    head = ("interruption", "times", "event to silence p50 / p95 / max")
    print_table(head, [(name, one.count, one) for name, one in quiet.items()])
    figures = {"clause_to_player": text, "held_back": held, "interrupt_to_silence": quiet}
    write_figures("speech_latency", figures)
    late = [name for name, one in quiet.items() if one.p95 > SILENCE_BUDGET_MS]
    if text.p95 > CLAUSE_BUDGET_MS or late:
        raise AssertionError(f"over budget: clause p95 {text.p95:.1f} ms, silence late in {late}")
