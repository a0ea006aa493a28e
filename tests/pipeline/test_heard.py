"""Tests of the heard part of a stopped answer: in the journal, and as reported to Gemini."""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from audio.player import NullPlayer
from audio.tts import Chunk
from tests.espeak_words import RATE, WordTimes, espeak_words
from tests.pipeline.gemini_rig import Scene, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Done, Hear, Say, Turn

SEED = 20261122
MOMENTS = 20
STEP_S = 0.013  # between two looks at the player
LONGEST_S = 30.0  # of real time, for anything here
ANSWER = (
    "The washing machine is done, and the dryer still needs forty minutes. "
    "Outside it is cold and windy. Nobody has closed the window in the upper bathroom yet."
)
_NOTE = re.compile(r'heard it only up to: ("(?:[^"\\]|\\.)*")')
_NOTHING = "was cut off before any of it was heard"


class TellingVoice:
    """A voice whose words last as long as their seed says, and which reports where they end."""

    rate = RATE
    name = "telling"

    def __init__(self) -> None:
        self.said: list[WordTimes] = []
        self._lasting = random.Random(SEED)

    def speak(self, text: str) -> Iterator[Chunk]:
        """Yield a chunk for each two words."""
        chunks: list[Chunk] = []
        ends: list[int] = []
        words, before = text.split(), 0
        for first in range(0, len(words), 2):
            at, inside = 0, []
            for _ in words[first : first + 2]:
                at += self._lasting.randrange(RATE // 20, RATE // 2)
                inside.append(at)
            ends += [before + end for end in inside]
            at += self._lasting.randrange(RATE // 10)
            before += at
            chunks.append(Chunk(np.full(at, 1000, np.int16).tobytes(), tuple(inside)))
        self.said.append(WordTimes(text, b"".join(chunk.pcm for chunk in chunks), tuple(ends)))
        yield from chunks


@asynccontextmanager
async def talk(
    folder: Path, voice: TellingVoice | None, *turns: Turn, hears: bool = False
) -> AsyncIterator[tuple[Scene, NullPlayer, VirtualClock]]:
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    service = GeminiSimulator(list(turns))
    async with asyncio.timeout(LONGEST_S * 4):
        if voice is None:
            async with scene(folder, service, player=player, hears=hears) as on:
                yield on, player, clock
            return
        with patch(
            "assistant.app.conversation.voices_of",
            lambda settings, pace, ahead: lambda language: voice,
        ):
            async with scene(folder, service, player=player, hears=hears) as on:
                yield on, player, clock


async def stop_after(
    on: Scene, player: NullPlayer, clock: VirtualClock, sentence: str, after_ms: float
) -> float:
    """Ask, stop the answer after `after_ms` of sound, and return how much has sounded in ms."""
    before = player.played_ms
    asking = asyncio.create_task(on.app.runner.ask(sentence))
    async with asyncio.timeout(LONGEST_S):
        while player.played_ms - before < after_ms or not player.played_ms - before:
            await asyncio.sleep(0.001)  # the voice works in a thread
            await clock.run(STEP_S)
        on.app.runner.stop()
        played = player.played_ms - before
        await asking
    assert player.played_ms - before == played
    return played


async def whole(on: Scene, clock: VirtualClock, sentence: str) -> None:
    """Ask, and let the answer finish."""
    asking = asyncio.create_task(on.app.runner.ask(sentence))
    async with asyncio.timeout(LONGEST_S):
        while not asking.done():
            await asyncio.sleep(0.001)
            await clock.run(STEP_S * 4)
        await asking


async def journal_of(on: Scene) -> str | None:
    record = await on.app.home.store.turn(on.turns[-1].record.turn_id)
    assert record is not None
    return record.cut_at


def told(on: Scene, sentence: str) -> str | None:
    """Return what the request of the newest typed sentence said about the answer before."""
    # A long conversation goes on in a new session, which may have been opened already.
    sent = [one for connection in on.service.connections for one in connection.contents]
    _, text, complete = sent[-1]
    assert complete
    note, _, asked = text.rpartition("\n")
    assert asked == sentence
    if not note:
        return None
    if _NOTHING in note:
        return ""
    found = _NOTE.search(note)
    assert found, note
    return str(json.loads(found[1]))


def answers(count: int) -> list[Turn]:
    return [Turn("text", [Say(ANSWER), Done()], cut=None) for _ in range(count)]


async def test_stopped_at_any_moment_the_history_holds_the_words_that_were_played(
    tmp_path: Path,
) -> None:
    chance = random.Random(SEED)
    voice = TellingVoice()
    async with talk(tmp_path, voice, *answers(MOMENTS + 1)) as (on, player, clock):
        counts = set()
        expected: str | None = None
        for number in range(MOMENTS):
            del voice.said[:]
            after_ms = chance.uniform(0.0, 6_000.0)
            played = await stop_after(on, player, clock, f"question {number}", after_ms)
            heard = truth(voice.said, played)
            counts.add(len(heard.split()))
            assert await journal_of(on) == heard
            assert told(on, f"question {number}") == expected
            expected = heard
        await whole(on, clock, "and now")
        assert told(on, "and now") == expected
        assert await journal_of(on) is None
    assert len(counts) > 8  # the moments were at many places


@pytest.mark.skipif(not espeak_words("try", "en-us"), reason="libespeak-ng is not here")
async def test_with_a_voice_that_tells_no_words_it_is_right_to_one_word(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    async with talk(tmp_path, None, *answers(MOMENTS + 1)) as (on, player, clock):
        expected: str | None = None
        for number in range(MOMENTS):
            after_ms = chance.uniform(0.0, 8_000.0)
            played = await stop_after(on, player, clock, f"question {number}", after_ms)
            assert told(on, f"question {number}") == expected
            cut_at = await journal_of(on)
            assert cut_at is not None
            assert ANSWER.startswith(cut_at)
            said = [espeak_words(clause, "en-us") for clause in on.turns[-1].record.clauses]
            heard = truth([one for one in said if one is not None], played)
            assert abs(len(cut_at.split()) - len(heard.split())) <= 1
            expected = cut_at
        await whole(on, clock, "and now")
        assert told(on, "and now") == expected


async def test_of_the_models_own_voice_it_is_right_to_one_word(tmp_path: Path) -> None:
    said = "Lamp door wall roof. Hall room sofa desk fork. Moon star rain wind fire."
    chance = random.Random(SEED)
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    turns = [Turn("text", [Say(said), Done()], cut=None) for _ in range(MOMENTS)]
    service = GeminiSimulator(turns)
    async with scene(tmp_path, service, player=player, voice={"engine": "gemini"}) as on:
        expected: str | None = None
        for number in range(MOMENTS):
            after_ms = chance.uniform(0.0, 4_700.0)
            played = await stop_after(on, player, clock, f"question {number}", after_ms)
            assert told(on, f"question {number}") == expected
            expected = await journal_of(on)
            assert expected is not None
            assert said.startswith(expected)
            # Each word of the simulated service takes 350 ms.
            assert abs(len(expected.split()) - int(played / 350)) <= 1


async def test_what_was_heard_out_is_told_of_nowhere(tmp_path: Path) -> None:
    async with talk(tmp_path, TellingVoice(), *answers(2)) as (on, _, clock):
        await whole(on, clock, "one")
        assert await journal_of(on) is None
        await whole(on, clock, "two")
        assert told(on, "two") is None


async def test_it_is_told_once(tmp_path: Path) -> None:
    async with talk(tmp_path, TellingVoice(), *answers(3)) as (on, player, clock):
        await stop_after(on, player, clock, "one", 1_000.0)
        await whole(on, clock, "two")
        assert told(on, "two")
        await whole(on, clock, "three")
        assert told(on, "three") is None


async def test_a_spoken_turn_is_told_beside_its_sound(tmp_path: Path, command: Path) -> None:
    turns = [*answers(1), Turn("audio", [Hear("what?"), Say("Yes."), Done()], cut=None)]
    async with talk(tmp_path, TellingVoice(), *turns, hears=True) as (on, player, clock):
        await stop_after(on, player, clock, "one", 1_500.0)
        heard = await journal_of(on)
        hearing = asyncio.create_task(on.hear(command))
        while not hearing.done():
            await asyncio.sleep(0.001)
            await clock.run(STEP_S)
        await hearing
        [(role, text, complete)] = on.service.connections[-1].contents[-1:]
        assert (role, complete) == ("user", False)
        assert json.dumps(heard) in text


async def test_a_session_that_begins_afresh_reads_it_in_the_history(tmp_path: Path) -> None:
    async with talk(tmp_path, TellingVoice(), *answers(2)) as (on, player, clock):
        await stop_after(on, player, clock, "one", 1_500.0)
        heard = await journal_of(on)
        service = on.service
        service.expire_handles()
        service.connections[-1].drop()
        await on.until(lambda: service.open_sockets == 0)
        await whole(on, clock, "two")
        setup = service.connections[-1].setup
        assert setup is not None
        assert f"You: {heard} (cut off)" in setup.instruction
        assert told(on, "two") is None


def truth(said: list[WordTimes], played_ms: float) -> str:
    """Return the words of these clauses that end within `played_ms`."""
    heard: list[str] = []
    left = round(played_ms / 1000 * RATE)
    for clause in said:
        heard += [
            word for word, end in zip(clause.text.split(), clause.ends, strict=True) if end <= left
        ]
        left -= len(clause.pcm) // 2
    return " ".join(heard)
