"""Our own voice in the microphone has no effect, and a person is heard through it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.echo.livekit import LivekitCleaner
from audio.echo.measure import measure
from audio.frames import SAMPLE_RATE, Frame
from audio.sound_files import read_wav, write_wav
from tests.benchmarks.figures import how_many, spread
from tests.devices.echo_path import Carried, echo_path
from tests.devices.echo_room import Room, answer, at_level, room
from tests.devices.pulse import Recorder, play, recording
from tests.shared_data import shared

# A hundred answers take a quarter of an hour.
pytestmark = [pytest.mark.devices, pytest.mark.timeout(how_many(300, 7200))]


def talkers(folder: Path) -> Sequence[Path]:
    """Make ten people who ask for the office lights, as files at LEVEL."""
    found = sorted(shared("data", "speech").glob("turn_on_the_office_lights_*.wav"))
    paths = [folder / path.name for path in found]
    for path, kept in zip(found, paths, strict=True):
        pcm = np.frombuffer(read_wav(path), np.int16)
        write_wav(kept, at_level(pcm).tobytes(), SAMPLE_RATE)
    return paths


def assert_carried(carried: Carried, seconds: float) -> None:
    """Check that the path worked, or nothing was tested."""
    assert carried.loud > seconds * 50 * 0.4, "the path carried no sound"


async def test_without_a_canceller_we_hear_ourselves() -> None:
    """The tests below would pass on a path that is too quiet."""
    async with echo_path(), room(None) as here:
        here.begin()
        await here.speak(answer(1))
        assert here.long_speech.is_set()


async def on_steady_sound(attempt: Callable[[LivekitCleaner], Awaitable[None]]) -> None:
    """Make the attempt, and repeat it up to twice if it fails on a device that stuttered.

    After every stutter the echo's delay is different, which takes up to 3 s to learn.
    """
    for left in (2, 1, 0):
        cleaner = LivekitCleaner()
        try:
            await attempt(cleaner)
        except AssertionError as error:
            if not (left and cleaner.counts.stalls):
                raise
            print(f"the device stuttered {cleaner.counts.stalls} times, so once more: {error}")
        else:
            return


async def test_our_own_voice_is_neither_wake_word_nor_speech() -> None:
    await on_steady_sound(_nobody_is_heard)


async def _nobody_is_heard(cleaner: LivekitCleaner) -> None:
    count, spoken, wrong = how_many(5, 100), 0.0, []
    async with echo_path() as carried, room(cleaner) as here:
        for number in range(count):
            here.begin()
            words = answer(number)
            spoken += len(words) / SAMPLE_RATE
            await here.speak(words)
            if here.wakes or here.speeches:
                wrong.append((number, here.wakes, len(here.speeches), here.long_speech.is_set()))
    print(cleaner.counts, carried, wrong)
    assert_carried(carried, spoken)
    assert cleaner.counts.processed > spoken * 40
    assert cleaner.counts.failed == 0
    assert not [each for each in wrong if each[1] or each[3]], wrong  # no wake, no barge-in
    assert len(wrong) <= count * 0.02, wrong  # events that would duck our voice for a moment


async def test_who_talks_over_us_is_heard_and_we_fall_silent(tmp_path: Path) -> None:
    people = talkers(tmp_path)
    await on_steady_sound(lambda cleaner: _everybody_is_heard(cleaner, people))


async def _everybody_is_heard(cleaner: LivekitCleaner, people: Sequence[Path]) -> None:
    count = how_many(5, 100)
    story = np.concatenate([answer(number) for number in range(3)])
    after: list[float] = []
    async with echo_path() as carried, room(cleaner) as here, recording() as recorder:
        await here.speak(answer(3))  # the first words after the start train it
        for number in range(count):
            await _nobody_talks(here, story[: 6 * SAMPLE_RATE])
            silent = await _talked_over(here, recorder, story, people[number % len(people)])
            after += [] if silent is None else [silent]
    print(cleaner.counts, carried, f"heard: {len(after)} of {count}")
    assert_carried(carried, count)
    assert len(after) >= count * 0.95
    print("silent after ms:", spread([each * 1000 for each in after]))
    assert np.percentile(after, 95) <= 0.1


async def _nobody_talks(here: Room, story: NDArray[np.int16]) -> None:
    """Play the same words without a person: what is heard in the tests below is the person."""
    here.begin()
    await here.speak(story)
    assert not here.long_speech.is_set(), "heard though nobody spoke"


async def _talked_over(
    here: Room, recorder: Recorder, story: NDArray[np.int16], person: Path
) -> float | None:
    """Return the seconds from 300 ms of speech to the loudspeaker's silence; None if not heard."""
    voice = here.speaker.stream("voice")
    here.begin()
    telling = asyncio.create_task(voice.play(story.tobytes(), SAMPLE_RATE))
    await asyncio.sleep(1.5)
    assert not here.speeches, "heard before anybody spoke"
    begun = here.now + _onset(person)
    talking = asyncio.create_task(play(person))
    mark = None
    try:
        async with asyncio.timeout(4):
            await here.long_speech.wait()
            mark = recorder.now
        assert here.speeches[-1] >= begun, "heard before the person spoke"
        assert not talking.done(), "heard after the person spoke"
    except TimeoutError:
        pass
    voice.stop()
    await asyncio.wait([telling, talking])
    await asyncio.sleep(0.7)
    if mark is None:
        await recorder.until(recorder.now - 0.1)
        return None
    await recorder.until(mark - 0.2)
    sound = np.abs(np.frombuffer(await recorder.until(mark + 0.6), np.int16).astype(int))
    loud = np.flatnonzero(sound > 100)
    return max(0.0, int(loud[-1]) / SAMPLE_RATE - 0.2) if loud.size else 0.0


def _onset(person: Path) -> int:
    """Return the samples before the person's voice in that file."""
    sound = np.abs(np.frombuffer(read_wav(person), np.int16).astype(int))
    return int(np.flatnonzero(sound > sound.max() / 20)[0])


async def test_the_path_is_measured() -> None:
    async with echo_path(delay_ms=150) as carried, room(None) as here:
        path = await measure(here.speaker.stream("voice"), _frames(here))
    assert carried.loud
    assert path.kind == "echo"
    assert -6 < path.level_db < 6
    assert 100 < path.delay_ms < 500


async def _frames(here: Room) -> AsyncIterator[Frame]:
    here.tap = asyncio.Queue()
    while True:
        yield await here.tap.get()
