"""Players that play nowhere or into a file."""

import asyncio
import os
import stat
import wave
from pathlib import Path

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from audio.errors import InputUnusable
from audio.player import AHEAD_SECONDS, NullPlayer, Player, WavPlayer

RATE = 22_050


def tone(seconds: float, rate: int = RATE) -> bytes:
    wave_form = np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate)) / rate)
    return (wave_form * 12_000).astype(np.int16).tobytes()


def read(path: Path) -> tuple[int, int, bytes]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return file.getframerate(), file.getnframes(), file.readframes(file.getnframes())


def make(kind: str, folder: Path, clock: VirtualClock) -> Player:
    if kind == "null":
        return NullPlayer(paced=True, clock=clock)
    return WavPlayer(folder / "out.wav", paced=True, clock=clock)


async def test_unpaced_playing_takes_no_time() -> None:
    player = NullPlayer(paced=False)
    for _ in range(100):
        await player.play(tone(1.0), RATE)
    await player.drain()
    player.stop()
    assert player.played_ms == pytest.approx(100_000)


@pytest.mark.parametrize("kind", ["null", "wav"])
async def test_paced_playing_takes_as_long_as_the_sound(kind: str, tmp_path: Path) -> None:
    clock = VirtualClock()
    player = make(kind, tmp_path, clock)
    await player.play(tone(1.0), RATE)
    drained = asyncio.create_task(player.drain())
    await clock.run(0.4)
    assert player.played_ms == pytest.approx(400)
    await clock.run(0.59)
    assert not drained.done()
    await clock.run(0.02)
    assert drained.done()
    assert player.played_ms == pytest.approx(1000)
    await player.close()


@pytest.mark.parametrize("kind", ["null", "wav"])
async def test_paced_play_waits_for_room(kind: str, tmp_path: Path) -> None:
    clock = VirtualClock()
    player = make(kind, tmp_path, clock)
    await player.play(tone(AHEAD_SECONDS + 1.0), RATE)
    waiting = asyncio.create_task(player.play(tone(1.0), RATE))
    await clock.run(0.95)
    assert not waiting.done()
    await clock.run(0.1)
    assert waiting.done()
    await player.close()


@pytest.mark.parametrize("kind", ["null", "wav"])
async def test_stop_ends_waiting_and_counts_only_what_was_played(kind: str, tmp_path: Path) -> None:
    clock = VirtualClock()
    player = make(kind, tmp_path, clock)
    await player.play(tone(3.0), RATE)
    waiting = asyncio.create_task(player.play(tone(5.0), RATE))
    drained = asyncio.create_task(player.drain())
    await clock.run(0.5)
    player.stop()
    await clock.settle()
    assert waiting.done()
    assert drained.done()
    await clock.run(10.0)
    assert player.played_ms == pytest.approx(500, abs=0.1)
    await player.play(tone(0.25), RATE)
    await clock.run(1.0)
    assert player.played_ms == pytest.approx(750, abs=0.1)
    await player.close()


async def test_a_stopped_file_holds_what_was_played(tmp_path: Path) -> None:
    clock = VirtualClock()
    path = tmp_path / "out.wav"
    player = WavPlayer(path, paced=True, clock=clock)
    await player.play(tone(2.0), RATE)
    await clock.run(0.5)
    player.stop()
    await player.play(tone(0.1), RATE)
    await clock.run(0.1)
    await player.close()
    rate, samples, pcm = read(path)
    assert rate == RATE
    assert samples == pytest.approx(0.6 * RATE, abs=2)
    assert pcm == tone(2.0)[: RATE // 2 * 2] + tone(0.1)


async def test_the_first_piece_fixes_the_rate(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    player = WavPlayer(path, paced=False)
    await player.play(tone(0.5), RATE)
    piece = tone(0.5, 48_000)
    for begin in range(0, len(piece), 4000):  # in pieces, without a seam
        await player.play(piece[begin : begin + 4000], 48_000)
    await player.drain()
    await player.close()
    rate, samples, pcm = read(path)
    assert rate == RATE
    assert samples == pytest.approx(RATE, abs=3)
    second = np.frombuffer(pcm, np.int16)[RATE // 2 + 500 : RATE - 500].astype(float)
    steps = np.abs(np.diff(second))
    assert steps.max() < 12_000 * 2 * np.pi * 440 / RATE * 1.05  # no click anywhere


async def test_a_silent_answer_is_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    player = WavPlayer(path, paced=True)
    await player.drain()
    await player.close()
    await player.close()
    player.stop()
    assert read(path) == (RATE, 0, b"")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


async def test_the_file_appears_only_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    path.write_bytes(b"old")
    player = WavPlayer(path, paced=False)
    await player.play(tone(0.1), RATE)
    assert path.read_bytes() == b"old"
    await player.close()
    assert read(path)[1] == int(0.1 * RATE)
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 (no blocking Path in async)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match=r"missing/out\.wav cannot be written"):
        WavPlayer(tmp_path / "missing" / "out.wav", paced=False)
    with pytest.raises(InputUnusable, match="is a folder"):
        WavPlayer(tmp_path, paced=False)
