"""Wake word and command in one breath: not a sample is lost on the real device path.

The played sound has faint noise, so that every tenth of a second is unique.
"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.domain.brain import BrainEvent, Heard, TurnDone
from audio.devices.watch import DeviceWatch
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from audio.microphone import DeviceInput
from audio.sound_files import read_wav, write_wav
from audio.steady import SteadyMicrophone
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine
from tests.benchmarks.figures import how_many, write_figures
from tests.devices.pulse import play
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedTurn
from tests.unit.assistant.conversation.stage import runner_with

pytestmark = [pytest.mark.devices, pytest.mark.timeout(how_many(120, 600))]

Samples = NDArray[np.float64]
PIECE = SAMPLE_RATE // 10
NEAR = SAMPLE_RATE // 2  # range in which a piece is searched for
# White noise loses its highest tones on the way to 48 kHz and back; unrelated noise is below 0.1.
FITS = 0.7
CODE_RMS = 80.0  # of the noise: -52 dBFS, as in a quiet room


def coded(clip: Path, to: Path, seed: int) -> Samples:
    """Write the clip with noise over all of it to a file."""
    samples = np.frombuffer(read_wav(clip), "<i2").astype(np.float64)
    samples += np.random.default_rng(seed).normal(0, CODE_RMS, len(samples))
    write_wav(to, samples.clip(-32_768, 32_767).astype("<i2").tobytes(), SAMPLE_RATE)
    return samples


def place_of(piece: Samples, heard: Samples) -> tuple[int, float]:
    """Return the position of the piece in `heard`, and the correlation there."""
    products = np.correlate(heard, piece, "valid")
    sums = np.concatenate([[0.0], np.cumsum(heard**2)])
    energies = sums[len(piece) :] - sums[: -len(piece)]
    fits = products / np.sqrt(np.maximum(energies, 1) * (piece**2).sum())
    at = int(np.argmax(fits))
    return at, float(fits[at])


def offsets(said: Samples, heard: Samples) -> list[int]:
    """Return for each tenth of a second of `said` how much later it is in `heard`.

    Raises AssertionError for a piece that is not in it.
    """
    whole, _ = place_of(said[: 2 * PIECE], heard)
    found = []
    for start in range(0, len(said) - PIECE + 1, PIECE):
        first = max(0, start + whole - NEAR)
        at, fit = place_of(said[start : start + PIECE], heard[first : start + whole + NEAR])
        assert fit > FITS, f"what was said at {start / SAMPLE_RATE:.1f} s is missing"
        found.append(first + at - start)
    return found


def as_samples(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, "<i2").astype(np.float64)


async def test_the_stream_has_every_sample_once(tmp_path: Path) -> None:
    seconds = how_many(5, 60)
    noise = np.random.default_rng(3).normal(0, 3000, seconds * SAMPLE_RATE).clip(-30_000, 30_000)
    clip = tmp_path / "noise.wav"
    write_wav(clip, noise.astype("<i2").tobytes(), SAMPLE_RATE)
    heard = bytearray()
    starts = []
    async with DeviceWatch() as watch, asyncio.TaskGroup() as group:
        microphone = SteadyMicrophone(DeviceInput("default"), watch=watch)
        playing: asyncio.Task[None] | None = None
        async for frame in microphone.frames():
            playing = playing or group.create_task(play(clip))
            heard += frame.pcm
            starts.append(frame.start)
            if len(heard) >= 2 * SAMPLE_RATE * (seconds + 2):
                break
    assert starts == list(range(0, FRAME_SAMPLES * len(starts), FRAME_SAMPLES))
    assert microphone.dropped == 0
    found = offsets(noise, as_samples(bytes(heard)))
    print(f"  {len(found)} pieces of 100 ms, offsets {min(found)} to {max(found)} samples")
    assert max(found) - min(found) <= 1


async def test_nothing_is_lost_between_wake_word_and_command(command: Path, tmp_path: Path) -> None:
    sounds: list[bytes] = []

    async def listens(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        sounds.append(await turn.request.audio.complete())
        yield Heard("turn off the dining room light", "en")
        yield TurnDone()

    rounds = how_many(2, 20)
    brain = ScriptedBrain(*[listens] * rounds)
    voice = make_voice_detector()
    ear = AudioFrontEnd(
        make_wake_engine("micro", ["okay_nabu"]),
        voice,
        Endpointer(chunk_samples=voice.chunk_samples),
    )
    lost_ms = []
    async with (
        DeviceWatch() as watch,
        runner_with(brain, ear) as (runner, closed),
    ):
        microphone = SteadyMicrophone(DeviceInput("default"), watch=watch)
        listening = asyncio.create_task(runner.listen_for_ever(microphone))
        await asyncio.sleep(1)  # the engine fills its window
        for number in range(rounds):
            clip = tmp_path / f"coded-{number}.wav"
            said = coded(command, clip, seed=number)
            await play(clip)
            async with asyncio.timeout(10):
                while len(closed) <= number:  # noqa: ASYNC110  (the test's own polling)
                    await asyncio.sleep(0.05)
            lost_ms.append(_lost_ms(said, as_samples(sounds[number])))
            await asyncio.sleep(2.5)  # the engine's refractory time
        listening.cancel()
        await asyncio.wait([listening])
    print(f"  lost between wake word and command, ms: {lost_ms}")
    write_figures("one_breath", {"lost_ms": lost_ms})
    assert lost_ms == [0.0] * rounds


def _lost_ms(said: Samples, heard: Samples) -> float:
    """Return the ms of `said` that are lost, from the mark to the end of the turn's sound."""
    mark, fit = place_of(heard[:PIECE], said)  # the turn's sound begins inside the wake word
    assert fit > FITS, "the turn's sound begins nowhere in what was said"
    through = min(len(said) - mark, len(heard))
    found = offsets(said[mark : mark + through - PIECE], heard)
    return float(max(abs(offset) for offset in found) // 2 * 1000 / SAMPLE_RATE)
