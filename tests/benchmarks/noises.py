"""Sounds of a room, made: noise, a fan, water, dishes, music, talk; and mixing them under speech.

Each maker gives `seconds` of float64 samples at 16 kHz with an RMS of 1 over the whole, the same
for the same seed. `mix` scales them against what is said.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audio.frames import SAMPLE_RATE
from tests.corpus.speech import can_speak, say

Sound = NDArray[np.float64]
Noise = Callable[[float, int], Sound]

VOICES = ("slt", "rms", "awb", "kal16", "espeak:en-us", "espeak:en-gb", "espeak:en-us+f3")
_FRAME = SAMPLE_RATE * 20 // 1000
_ACTIVE_DB = 24.0  # frames within this of the loudest one are speech
_CORPUS = Path(__file__).resolve().parents[1] / "corpus"


def white(seconds: float, seed: int) -> Sound:
    """Return noise with the same power at every frequency."""
    return _unit(np.random.default_rng(seed).standard_normal(_length(seconds)))


def pink(seconds: float, seed: int) -> Sound:
    """Return noise whose power falls by 3 dB an octave, from 20 Hz on."""
    return _shaped(seconds, seed, lambda hertz: 1 / np.sqrt(np.maximum(hertz, 20.0)))


def fan(seconds: float, seed: int) -> Sound:
    """Return low rushing with the hum of the motor and the beat of its blades."""
    rng = np.random.default_rng(seed)
    rush = _shaped(seconds, seed, lambda hertz: 1 / (1 + (hertz / 300.0) ** 2))
    time = np.arange(len(rush)) / SAMPLE_RATE
    hum = sum(
        np.sin(2 * np.pi * 100.0 * part * time + rng.uniform(0, 2 * np.pi)) / part
        for part in range(1, 6)
    )
    beat = 1 + 0.2 * np.sin(2 * np.pi * rng.uniform(6, 12) * time)
    return _unit(rush * beat + 0.4 * hum)


def water(seconds: float, seed: int) -> Sound:
    """Return a tap: bright rushing that wavers, with bubbles."""
    rng = np.random.default_rng(seed)
    rush = _shaped(seconds, seed, lambda hertz: np.exp(-(((hertz - 2500.0) / 2500.0) ** 2)))
    waver = _shaped(seconds, seed + 1, lambda hertz: (hertz < 8.0).astype(np.float64))
    sound = rush * (1 + 0.3 * np.clip(waver, -2, 2))
    for _ in range(round(seconds * 15)):
        length = int(rng.uniform(0.01, 0.04) * SAMPLE_RATE)
        time = np.arange(length) / SAMPLE_RATE
        pitch = rng.uniform(400, 1500) * (1 + 8 * time)  # a bubble's tone rises
        bubble = np.sin(2 * np.pi * pitch * time) * np.hanning(length)
        _add(sound, rng.uniform(0.5, 1.5) * bubble, rng)
    return _unit(sound)


def dishes(seconds: float, seed: int) -> Sound:
    """Return plates and cutlery: short ringing blows, about two a second, with quiet between
    them."""
    rng = np.random.default_rng(seed)
    sound = 0.01 * rng.standard_normal(_length(seconds))
    for _ in range(max(1, round(seconds * 2))):
        time = np.arange(int(0.4 * SAMPLE_RATE)) / SAMPLE_RATE
        blow = np.exp(-time / 0.003) * rng.standard_normal(len(time))
        for _ in range(6):
            pitch, decay = rng.uniform(1200, 7000), rng.uniform(0.02, 0.12)
            blow += rng.uniform(0.2, 1) * np.sin(2 * np.pi * pitch * time) * np.exp(-time / decay)
        _add(sound, rng.uniform(0.2, 1.0) * blow, rng)
    return _unit(sound)


def music(seconds: float, seed: int) -> Sound:
    """Return chords, a melody, a bass and a drum at 100 to 130 beats a minute."""
    rng = np.random.default_rng(seed)
    sound = np.zeros(_length(seconds))
    beat = 60.0 / rng.uniform(100, 130)
    root = rng.uniform(196, 262)
    degrees = (0, 2, 4, 5, 7, 9, 11, 12)
    chord = (0, 4, 7)
    for number in range(int(seconds / beat) + 1):
        start = int(number * beat * SAMPLE_RATE)
        if number % 4 == 0:
            base = int(rng.choice((0, 5, 7, 9)))
            chord = (base, base + (3 if base == 9 else 4), base + 7)
            for step in chord:
                _put(sound, 0.25 * _tone(root * 2 ** (step / 12), 4 * beat, 6, 1.5), start)
        _put(sound, 0.5 * _tone(root / 2 * 2 ** (chord[0] / 12), beat, 4, 0.4), start)
        for half in (0.0, 0.5):
            pitch = 2 * root * 2 ** (int(rng.choice(degrees)) / 12)
            at = start + int(half * beat * SAMPLE_RATE)
            _put(sound, 0.4 * _tone(pitch, beat, 5, 0.25), at)
            hiss = rng.standard_normal(1600) * np.exp(-np.arange(1600) / 240)
            _put(sound, (0.3 if half else 0.6) * hiss, at)
    return _unit(sound)


def talker(seconds: float, seed: int) -> Sound:
    """Return one person who talks on about other things. Needs flite or espeak-ng."""
    rng = np.random.default_rng(seed)
    voices = [voice for voice in VOICES if can_speak(voice)]
    voice = voices[int(rng.integers(len(voices)))]
    lines = _lines()
    parts: list[Sound] = []
    length = 0
    while length < _length(seconds):
        said = say(lines[int(rng.integers(len(lines)))], voice).astype(np.float64)
        pause = np.zeros(int(rng.uniform(0.1, 0.5) * SAMPLE_RATE))
        parts += [said, pause]
        length += len(said) + len(pause)
    return _unit(np.concatenate(parts)[: _length(seconds)])


def babble(seconds: float, seed: int) -> Sound:
    """Return four people who talk at once."""
    voices = (talker(seconds, seed * 4 + number) for number in range(4))
    return _unit(np.sum(list(voices), axis=0))


NOISES: dict[str, Noise] = {
    "white": white,
    "pink": pink,
    "fan": fan,
    "water": water,
    "dishes": dishes,
    "music": music,
    "talker": talker,
    "babble": babble,
}


def active_level(speech: bytes) -> float:
    """Return the RMS of mono int16 over the 20 ms frames that contain speech, 0 for silence."""
    samples = np.frombuffer(speech, "<i2").astype(np.float64)
    whole = len(samples) // _FRAME * _FRAME
    powers = np.mean(samples[:whole].reshape(-1, _FRAME) ** 2, axis=1)
    if not powers.any():
        return 0.0
    active = powers[powers >= powers.max() * 10 ** (-_ACTIVE_DB / 10)]
    return float(np.sqrt(active.mean()))


def at_level(sound: Sound, dbfs: float) -> bytes:
    """Return a sound of RMS 1 as mono int16 with that RMS; full scale is an RMS of 32768."""
    return _pcm(sound * 32768.0 * 10 ** (dbfs / 20))


def mix(speech: bytes, noise: Sound, snr_db: float) -> bytes:
    """Return mono int16 with noise below its active speech; the noise must be as long.

    If the sum would be clipped, all of it is made quieter.
    """
    samples = np.frombuffer(speech, "<i2").astype(np.float64)
    level = active_level(speech) * 10 ** (-snr_db / 20)
    both = samples + noise[: len(samples)] * level
    peak = float(np.abs(both).max(initial=0.0))
    return _pcm(both * min(1.0, 32767.0 / peak) if peak else both)


def _lines() -> list[str]:
    files = (_CORPUS / "house_talk.txt", _CORPUS / "not_commands.txt")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _length(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE)


def _unit(sound: Sound) -> Sound:
    return np.asarray(sound / float(np.sqrt(np.mean(sound**2))), np.float64)


def _pcm(samples: Sound) -> bytes:
    return bytes(np.rint(samples).clip(-32768, 32767).astype("<i2").tobytes())


def _shaped(seconds: float, seed: int, gain: Callable[[Sound], Sound]) -> Sound:
    """Return white noise through a filter that has that gain at each frequency in Hz."""
    flat = np.random.default_rng(seed).standard_normal(_length(seconds))
    hertz = np.asarray(np.fft.rfftfreq(len(flat), 1 / SAMPLE_RATE), np.float64)
    bins = np.fft.rfft(flat) * gain(hertz)
    return _unit(np.asarray(np.fft.irfft(bins, len(flat)), np.float64))


def _tone(pitch: float, seconds: float, overtones: int, decay: float) -> Sound:
    time = np.arange(_length(seconds)) / SAMPLE_RATE
    parts = [np.sin(2 * np.pi * pitch * n * time) / n for n in range(1, overtones + 1)]
    ends = np.minimum(1.0, np.minimum(time, time[::-1]) / 0.01)  # no clicks
    return np.asarray(np.sum(parts, axis=0) * np.exp(-time / decay) * ends)


def _add(sound: Sound, piece: Sound, rng: np.random.Generator) -> None:
    _put(sound, piece, int(rng.integers(len(sound))))


def _put(sound: Sound, piece: Sound, at: int) -> None:
    kept = piece[: max(0, len(sound) - at)]
    sound[at : at + len(kept)] += kept
