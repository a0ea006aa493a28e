"""Tests of hearing: what stays on the loop's thread, and what an ear reports beside its events."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence

import numpy as np
import pytest

from assistant.conversation.audio_front_end import AudioFrontEnd, EarEvent
from assistant.conversation.hearing import Hearing, Level, Reading
from assistant.conversation.rules.events import StopAsked
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.turn_audio import TurnAudio
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, Frame
from audio.wake import Detection, NearMiss
from tests.unit.assistant.conversation.doubles import (
    Frames,
    NoVoice,
    NoWake,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
)
from tests.unit.assistant.conversation.stage import COMMAND, WAKE, rounds, runner_with

LOUD = (np.arange(FRAME_SAMPLES) % 40 * 50).astype("<i2").tobytes()
QUIET = bytes(FRAME_SAMPLES * 2)


class Noting(NoWake):
    """Records on which thread it hears, and comes closer to firing with every frame."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.strictness: list[bool] = []

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self.threads.append(threading.current_thread().name)
        return None

    def near_misses(self) -> list[NearMiss]:
        return [NearMiss("alexa", 0.5, 0.6, len(self.threads) * FRAME_SAMPLES)]

    def strict(self, on: bool) -> None:
        self.strictness.append(on)


async def hear(hearing: Hearing, pcm: bytes, first: int, count: int) -> None:
    for number in range(first, first + count):
        await hearing.hear(Frame(pcm, number * FRAME_SAMPLES))


async def test_a_silent_room_needs_no_thread_and_a_sound_is_heard_with_what_came_before() -> None:
    wake = Noting()
    ear = AudioFrontEnd(wake, NoVoice(), Endpointer())
    hearing = Hearing(ear)
    await hear(hearing, QUIET, 0, 500)  # ten seconds
    in_silence = len(wake.threads)
    assert in_silence < 120  # it is open for two seconds at first, and a little
    await hear(hearing, LOUD, 500, 4)
    assert len(wake.threads) - in_silence >= 54
    assert {name.partition("_")[0] for name in wake.threads} == {"ear"}
    assert ear.ring.end == 504 * FRAME_SAMPLES  # the ring has all of it
    hearing.close()


async def test_while_somebody_is_expected_to_speak_every_frame_is_heard_at_once() -> None:
    wake = Noting()
    hearing = Hearing(AudioFrontEnd(wake, NoVoice(), Endpointer()))
    await hear(hearing, LOUD, 0, 8)
    hearing.watch(0, 0)
    await hear(hearing, LOUD, 8, 1)
    assert len(wake.threads) == 9
    hearing.close()


async def test_near_misses_are_told_on_the_loops_thread() -> None:
    told: list[str] = []
    hearing = Hearing(AudioFrontEnd(Noting(), NoVoice(), Endpointer()))
    hearing.follow_near_misses(lambda miss: told.append(threading.current_thread().name))
    await hear(hearing, LOUD, 0, 4)
    assert told == [threading.main_thread().name]
    assert hearing.near_misses == 1
    hearing.close()


async def test_it_is_not_stricter_while_something_rings() -> None:
    wake = Noting()
    hearing = Hearing(AudioFrontEnd(wake, NoVoice(), Endpointer()))
    hearing.distract("ringing", True)
    await hear(hearing, LOUD, 0, 4)
    assert wake.strictness == []
    hearing.close()


async def test_it_is_strict_as_long_as_anything_plays() -> None:
    wake = Noting()
    hearing = Hearing(AudioFrontEnd(wake, NoVoice(), Endpointer()))
    steps = (("speaking", True), ("media", True), ("speaking", False), ("media", False))
    await hear(hearing, LOUD, 0, 4)
    assert wake.strictness == []
    for number, (by, on) in enumerate(steps, 1):
        hearing.distract("speaking" if by == "speaking" else "media", on)
        await hear(hearing, LOUD, number * 4, 4)
    assert wake.strictness == [True, False]
    hearing.close()


# The level meter at the microphone.


class Room:
    """A microphone that hears a tone of any loudness, and a clock that advances with it."""

    def __init__(self) -> None:
        self.now = 50.0
        self.samples = 0
        self.level = Level(lambda: self.now)

    def hears(self, seconds: float, amplitude: float) -> Reading:
        """Hear a 1 kHz sine of `amplitude` (0 to 1 of full scale)."""
        for _ in range(round(seconds * 50)):
            times = (self.samples + np.arange(FRAME_SAMPLES)) / 16_000
            sound = np.sin(2 * np.pi * 1000 * times) * amplitude * 32_768
            pcm = np.clip(np.round(sound), -32_768, 32_767).astype("<i2").tobytes()
            self.level.take(Frame(pcm, self.samples))
            self.samples += FRAME_SAMPLES
            self.now += 0.02
        return self.level.read()


@pytest.fixture
def room() -> Room:
    return Room()


def test_without_a_microphone_there_is_no_figure(room: Room) -> None:
    assert room.level.read() == Reading(None, None, None, None, None)


def test_a_tone_is_measured(room: Room) -> None:
    told = room.hears(2, 0.1)
    assert told.rms_db == pytest.approx(-23.0, abs=0.1)  # a sine: 3 dB below its peak
    assert told.peak_db == pytest.approx(-20.0, abs=0.1)
    assert told.noise_floor_db == pytest.approx(-23.0, abs=0.1)
    assert told.clipped == 0
    assert told.at_ms == 2000.0


def test_it_is_of_the_last_second_and_the_floor_of_half_a_minute(room: Room) -> None:
    room.hears(5, 0.001)
    told = room.hears(1, 0.5)
    assert told.rms_db == pytest.approx(-9.0, abs=0.1)
    assert told.noise_floor_db == pytest.approx(-63.0, abs=0.2)
    assert room.hears(1, 0.01).rms_db == pytest.approx(-43.0, abs=0.1)
    for _ in range(31):
        told = room.hears(1, 0.05)
    assert told.noise_floor_db == pytest.approx(-29.0, abs=0.1)


def test_what_is_too_loud_is_counted(room: Room) -> None:
    told = room.hears(1, 1.5)
    assert told.clipped is not None
    assert told.clipped > 1000
    assert told.peak_db == 0.0
    room.hears(0.9, 0.1)
    assert room.hears(0.1, 0.1).clipped == 0


def test_digital_silence_has_a_figure_too(room: Room) -> None:
    told = room.hears(1, 0)
    assert (told.rms_db, told.peak_db, told.noise_floor_db) == (-96.0, -96.0, -96.0)


def test_the_first_frames_tell_nothing_yet(room: Room) -> None:
    assert room.hears(0.08, 0.1) == Reading()
    assert room.hears(0.02, 0.1).at_ms == 100.0


def test_what_has_ended_is_not_told_and_does_not_count_later(room: Room) -> None:
    room.hears(3, 0.0001)
    room.now += 1.1
    assert room.level.read() == Reading()  # muted, or the device is gone
    told = room.hears(1, 0.1)
    assert told.noise_floor_db == pytest.approx(-23.0, abs=0.1)


# The sound that a brain gets: a sentence from its mark on, and nothing else.


class Reader:
    """Reads the sound in a task that the turn's end does not cancel."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def brain(self, turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        self.tasks.append(asyncio.create_task(self._read(turn.request.audio)))
        await turn.request.audio.complete()
        yield ReplyText("Done.")
        yield TurnDone()

    async def end(self) -> list[bool]:
        """Return for each sound whether it was read to the end of a sentence."""
        await rounds()
        ended = [task.done() for task in self.tasks]
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)
        return ended

    async def _read(self, audio: TurnAudio) -> None:
        async for piece in audio.stream():
            self.pieces.append(piece)


async def test_a_sentence_is_given_from_its_mark_to_its_end() -> None:
    reader = Reader()
    async with runner_with(ScriptedBrain(reader.brain), ScriptedEar(COMMAND)) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
    assert await reader.end() == [True]
    assert len(b"".join(reader.pieces)) == (3_000 - 700) * 16 * 2


async def test_after_a_false_wake_nothing_is_given() -> None:
    reader, script = Reader(), dict[int, Sequence[EarEvent]]({1_000: [WAKE]})
    async with runner_with(ScriptedBrain(reader.brain), ScriptedEar(script)) as (runner, closed):
        await runner.listen(Frames(8.0), turns=1)
    assert [closing.error for _, closing in closed] == ["no_speech"]
    assert await reader.end() == [False]
    assert reader.pieces == []


async def test_a_sentence_that_is_cut_off_never_comes_to_its_end() -> None:
    reader, script = Reader(), {at: COMMAND[at] for at in (1_000, 1_400)}
    async with (
        runner_with(ScriptedBrain(reader.brain), ScriptedEar(script)) as (runner, closed),
        asyncio.TaskGroup() as group,
    ):
        group.create_task(runner.listen(Frames(6.0), turns=1))
        while not reader.pieces:
            await rounds(1)
        runner.dispatch(StopAsked())
    assert [closing.error for _, closing in closed] == ["interrupted"]
    assert await reader.end() == [False]
