"""Tests of the rule for the last voiced sample, and of the noting player's first sound."""

from types import SimpleNamespace

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from tests.benchmarks.sound import AUDIBLE, NotingPlayer, voiced

FRAME = 320  # 20 ms, the rule's frame


def tone(seconds: float, level: float) -> bytes:
    """Return mono int16 at 16 kHz."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (np.sin(2 * np.pi * 400 * time) * level).astype(np.int16).tobytes()


@pytest.mark.parametrize(
    ("tail_db", "last_ms"),
    [
        pytest.param(-20.0, 1_000, id="a tail within 24 dB is voiced"),
        pytest.param(-30.0, 500, id="a fainter tail is not"),
    ],
)
def test_the_last_voiced_sample(tail_db: float, last_ms: int) -> None:
    tail = tone(0.5, 20_000 * 10 ** (tail_db / 20))
    pcm = bytes(SAMPLE_RATE) + tone(0.5, 20_000) + tail + bytes(SAMPLE_RATE)
    first, last = voiced(pcm)
    # A frame that is voiced in part may reach 20 ms over the edge.
    assert -FRAME <= first - SAMPLE_RATE // 2 <= 0
    assert 0 <= last - SAMPLE_RATE // 2 - last_ms * SAMPLE_RATE // 1000 <= FRAME


async def test_silence_at_the_start_is_no_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.benchmarks.sound.time", SimpleNamespace(monotonic=lambda: 5.0))
    player = NotingPlayer()
    await player.play(bytes(2 * 1_600), 16_000)  # 100 ms
    sound = np.array([0] * 800 + [AUDIBLE] * 800, np.int16)  # from 50 ms on
    await player.play(sound.tobytes(), 16_000)
    handed, audible = player.first_sound(after=0.0)
    assert handed == player.pieces[0].at
    assert audible - handed == pytest.approx(0.15)


async def test_what_came_before_is_no_answer() -> None:
    player = NotingPlayer()
    sound = np.full(1_600, AUDIBLE, np.int16).tobytes()
    await player.play(sound, 16_000)
    await player.play(sound, 16_000)
    handed, _ = player.first_sound(after=player.pieces[1].at)
    assert handed == player.pieces[1].at
