"""Steady noise becomes faint, speech remains, and the size of the pieces does not matter."""

import numpy as np
import pytest

from audio.recognize.steady_noise import LEAST_SAMPLES, SteadyNoise


def noise(samples: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 500, samples)


def pcm(samples: np.ndarray) -> bytes:
    return samples.astype(np.int16).tobytes()


def rms(sound: bytes) -> float:
    return float(np.sqrt(np.mean(np.frombuffer(sound, np.int16).astype(float) ** 2)))


def test_noise_is_taken_out_and_a_tone_stays() -> None:
    tone = 5000 * np.sin(np.arange(16_000) * 2 * np.pi * 440 / 16_000)
    filtered = SteadyNoise(pcm(noise(32_000)))
    assert rms(filtered.clean(pcm(noise(16_000, 2)))) < 150
    assert 3000 < rms(filtered.clean(pcm(tone + noise(16_000, 3)))) < 3700


def test_any_pieces_give_the_same() -> None:
    sound = pcm(noise(8000, 4))
    whole = SteadyNoise(pcm(noise(16_000))).clean(sound)
    pieces = SteadyNoise(pcm(noise(16_000)))
    cut = b"".join(pieces.clean(sound[at : at + 700]) for at in range(0, len(sound), 700))
    assert cut == whole
    assert len(sound) - 1024 <= len(whole) <= len(sound)


def test_too_little_to_know_the_room_from() -> None:
    with pytest.raises(ValueError, match="too little"):
        SteadyNoise(bytes(2 * LEAST_SAMPLES - 2))


def test_digital_silence() -> None:
    assert rms(SteadyNoise(bytes(16_000)).clean(bytes(3200))) == 0


def test_a_room_that_is_too_quiet_gets_noise() -> None:
    tone = 5000 * np.sin(np.arange(16_000) * 2 * np.pi * 440 / 16_000)
    loudest = 5000 / np.sqrt(2)
    filtered = SteadyNoise(pcm(np.concatenate((np.zeros(16_000), tone))))
    below_db = 20 * np.log10(loudest / rms(filtered.clean(bytes(32_000))))
    assert 36 < below_db < 40


def test_a_room_that_is_loud_enough_gets_none() -> None:
    heard = pcm(noise(32_000))
    filtered = SteadyNoise(heard)
    assert rms(filtered.clean(bytes(32_000))) < 1
