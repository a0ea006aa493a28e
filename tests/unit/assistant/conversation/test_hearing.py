"""Hearing: what stays on the loop's thread, and what an ear tells beside its events."""

import threading

import numpy as np

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.hearing import Hearing
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, Frame
from audio.wake import Detection, NearMiss
from tests.unit.assistant.conversation.doubles import NoVoice, NoWake

LOUD = (np.arange(FRAME_SAMPLES) % 40 * 50).astype("<i2").tobytes()
QUIET = bytes(FRAME_SAMPLES * 2)


class Noting(NoWake):
    """Notes on which thread it hears, and comes near with every frame."""

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
