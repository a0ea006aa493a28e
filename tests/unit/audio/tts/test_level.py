"""Loudness: similar across voices, varied within a voice, never clipped."""

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.tts.tuned import (
    CEILING_DB,
    TARGET_DB,
    Leveller,
    Meter,
    block_powers,
    level_whole,
    lighter,
    limit,
    slowness,
    speech_power,
)

RATE = 22_050  # Hz
CEILING = 10 ** (CEILING_DB / 20)


def speech(seconds: float, db: float, seed: int = 1, rate: int = RATE) -> bytes:
    """Make noise in syllables of 150 ms with 50 ms between them and a pause each second; RMS
    `db`."""
    noise = np.random.default_rng(seed).standard_normal(round(seconds * rate))
    time = np.arange(len(noise)) / rate
    noise[(time % 0.2 > 0.15) | (time % 1.0 > 0.8)] = 0
    loud = noise[noise != 0]
    noise *= 10 ** (db / 20) / np.sqrt(np.mean(loud**2))
    return (np.clip(noise, -1, 1) * 32767).astype(np.int16).tobytes()


def samples(pcm: bytes) -> NDArray[np.float64]:
    return np.frombuffer(pcm, np.int16) / 32768


def loudness(pcm: bytes, rate: int = RATE) -> float:
    power, _ = speech_power(block_powers(samples(pcm), rate)[0])
    return float(10 * np.log10(power))


@pytest.mark.parametrize("rate", [16_000, RATE])
@pytest.mark.parametrize("piece_s", [0.19, 10.0])
@pytest.mark.parametrize("db", [-36.0, -30.0, -24.0, -18.0, -10.0])
def test_each_voice_ends_at_the_target(db: float, piece_s: float, rate: int) -> None:
    leveller = Leveller()
    whole = speech(6.0, db, rate=rate)
    size = round(piece_s * rate) * 2
    made = [leveller.level("v", whole[at : at + size], rate) for at in range(0, len(whole), size)]
    sound = b"".join(made)
    assert len(sound) == len(whole)
    assert loudness(sound[-2 * rate * 2 :], rate) == pytest.approx(TARGET_DB, abs=1.0)


@pytest.mark.parametrize(("one", "other"), [(-32.0, -12.0), (-14.0, -30.0), (-20.0, -21.0)])
def test_a_quiet_and_a_loud_voice_end_alike(one: float, other: float) -> None:
    leveller = Leveller()
    ends = []
    for turn in range(6):
        for voice, db in (("a", one), ("b", other)):
            sound = leveller.level(voice, speech(2.0, db, seed=turn), RATE)
            ends.append(loudness(sound))
    assert max(ends) - min(ends) < 2.0, "from the first clause on"


@pytest.mark.parametrize("softer_db", [3.0, 6.0, 12.0])
def test_a_soft_clause_after_a_loud_one_stays_soft(softer_db: float) -> None:
    leveller = Leveller()
    loud = loudness(leveller.level("v", speech(4.0, -20.0), RATE))
    soft = loudness(leveller.level("v", speech(4.0, -20.0 - softer_db, 2), RATE))
    assert softer_db - 2.0 <= loud - soft <= softer_db + 0.2


def test_the_gain_does_not_jump_between_clauses_nor_within_them() -> None:
    """A steady tone shows the gain, which moves by at most 0.5 dB a second once a voice is
    known."""
    leveller = Leveller()
    leveller.level("v", speech(3.0, -20.0), RATE)
    tone = (np.sin(np.arange(RATE // 4) * 0.2) * 3000).astype(np.int16)
    gains: list[float] = []
    for number in range(40):
        louder = leveller.level("v", tone.tobytes(), RATE)
        steady = np.abs(tone) > 2000
        gain = 20 * np.log10(np.frombuffer(louder, np.int16)[steady] / tone[steady])
        gains += [float(gain[:50].mean()), float(gain[-50:].mean())]
        if number % 8 == 7:
            leveller.level("v", speech(1.0, -20.0 + number / 4, number), RATE)
    steps = np.abs(np.diff(gains))
    assert steps[::2].max() < 0.5 * 0.25 + 0.05, "within a quarter of a second"
    assert steps[1::2].max() < 0.5 * 1.0 + 0.05, "over the clause of a second between two of them"


def test_silence_is_no_reason_to_turn_anything_up() -> None:
    leveller = Leveller()
    hiss = speech(2.0, -75.0)
    assert leveller.level("v", hiss, RATE) == hiss, "nothing is known of the voice"
    loud = loudness(leveller.level("v", speech(2.0, -20.0), RATE))
    for _ in range(10):
        assert np.abs(samples(leveller.level("v", hiss, RATE))).max() < 0.01
    assert loudness(leveller.level("v", speech(2.0, -20.0), RATE)) == pytest.approx(loud, abs=0.5)
    assert leveller.level("v", b"", RATE) == b""


def test_a_whisper_is_not_turned_up_without_end() -> None:
    sound = Leveller().level("v", speech(2.0, -50.0), RATE)
    assert loudness(sound) == pytest.approx(-30.0, abs=0.5)


@pytest.mark.parametrize(("volume", "db"), [(0.5, -6.02), (1.0, 0.0)])
def test_the_volume_is_relative_to_the_target(volume: float, db: float) -> None:
    sound = Leveller().level("v", speech(2.0, -25.0), RATE, volume)
    assert loudness(sound) == pytest.approx(TARGET_DB + db, abs=0.5)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_clips(seed: int) -> None:
    """For bursts, edges, pieces of any size, and a voice louder than full scale."""
    random = np.random.default_rng(seed)
    leveller = Leveller(target_db=-3.0)
    for _ in range(30):
        sound = random.standard_normal(int(random.integers(1, 6000)))
        sound *= random.choice([0.001, 0.05, 0.5]) * np.where(
            random.random(len(sound)) < 0.001, 9, 1
        )
        pcm = (np.clip(sound, -1, 1) * 32767).astype(np.int16).tobytes()
        louder = leveller.level("v", pcm, RATE, volume=2.0)
        assert len(louder) == len(pcm)
        assert np.abs(samples(louder)).max(initial=0.0) <= CEILING + 2 / 32768


def test_the_limiter_leaves_alone_what_needs_none() -> None:
    quiet = samples(speech(1.0, -20.0)) * 0.5
    same, factor = limit(quiet, RATE)
    assert same is quiet
    assert factor == 1.0


def test_the_limiter_turns_down_and_up_smoothly() -> None:
    steady = np.full(RATE, 0.5)
    steady[RATE // 2] = 4.0
    limited, factor = limit(steady, RATE)
    assert limited[RATE // 2] <= CEILING + 1e-9
    assert factor == 1.0, "it has recovered"
    around = np.delete(limited, RATE // 2)
    assert np.abs(np.diff(around)).max() < 0.01
    assert limited[0] == limited[-1] == 0.5
    # It continues over the border of two pieces.
    first, factor = limit(steady[: RATE // 2 + 10], RATE)
    second, _ = limit(steady[RATE // 2 + 10 :], RATE, factor)
    assert abs(second[0] - first[-1]) < 0.01


@pytest.mark.parametrize("db", [-36.0, -18.0, -8.0])
def test_a_whole_sound_gets_one_gain(db: float) -> None:
    whole = speech(6.0, db)
    made = level_whole(whole, RATE)
    assert len(made) == len(whole)
    assert loudness(made) == pytest.approx(TARGET_DB, abs=0.3)
    quiet = np.abs(samples(made)) < CEILING / 2  # where nothing was reduced
    gains = samples(made)[quiet & (np.abs(samples(whole)) > 0.01)]
    gains = gains / samples(whole)[quiet & (np.abs(samples(whole)) > 0.01)]
    assert np.ptp(gains) < 0.1 * np.median(gains)


def test_a_whole_sound_without_sound() -> None:
    assert level_whole(b"", RATE) == b""
    assert level_whole(bytes(1000), RATE) == bytes(1000)


# The speed of a voice, and the warning about a slow one.


def test_there_is_no_figure_before_a_second_of_sound() -> None:
    meter = Meter()
    assert meter.factor is None
    meter.note(9.0, 0.9)
    assert meter.factor is None
    assert not meter.slow
    meter.note(0.0, 0.1)
    assert meter.factor == pytest.approx(9.0)
    assert meter.slow


@pytest.mark.parametrize(("worked_s", "slow"), [(0.1, False), (0.5, False), (0.51, True)])
def test_slower_than_half_of_real_time_is_slow(worked_s: float, slow: bool) -> None:
    meter = Meter()
    meter.note(worked_s, 1.0)
    assert meter.slow is slow


def test_the_figure_is_of_what_was_made_last() -> None:
    meter = Meter()
    meter.note(20.0, 20.0)  # while something else kept the machine busy
    for _ in range(10):
        meter.note(0.4, 2.0)
    assert meter.factor == pytest.approx((20 + 4) / 40)
    for _ in range(5):
        meter.note(0.4, 2.0)
    assert meter.factor == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("voice", "lower"),
    [
        ("en_US-lessac-high", "en_US-lessac-medium"),
        ("en_US-lessac-medium", "en_US-lessac-low"),
        ("es_ES-mls_10246-low", "es_ES-mls_10246-x_low"),
        ("es_ES-carlfm-x_low", None),
        ("my-own", None),
        ("medium", None),
    ],
)
def test_the_lower_quality_of_a_voice(voice: str, lower: str | None) -> None:
    assert lighter(voice) == lower


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("piper:en_US-lessac-medium", "name en_US-lessac-low in voice.models."),
        ("piper:mine", 'set voice.engine = "espeak".'),
        ("espeak:en-us", "see what else keeps it busy."),
    ],
)
def test_a_slow_voice_is_one_sentence(name: str, mend: str) -> None:
    sentence = slowness(name, 0.834)
    voice = name.partition(":")[2]
    assert sentence.startswith(f"The voice {voice} takes 0.83 s for each second of sound")
    assert sentence.endswith(mend)
