"""Tests of the wake-word engines on recordings of people, clean and in noise."""

from pathlib import Path

import pytest

from audio.frames import SAMPLE_RATE, Framer
from audio.wake import WakeEngine, make_wake_engine
from audio.wake.wrappers import GatedWake
from tests.benchmarks import waking
from tests.benchmarks.noises import mix, pink, white

SEEDS = 3  # the benchmark takes ten


def heard(engine: WakeEngine, pcm: bytes) -> list[tuple[str, int]]:
    """Return the words found in a new stream, and their positions."""
    engine.restart()
    found = (engine.hear(frame.pcm, frame.end) for frame in Framer().push(pcm))
    return [(detection.word, detection.at) for detection in found if detection is not None]


def words(engine: WakeEngine, pcm: bytes) -> list[str]:
    return [word for word, _ in heard(engine, pcm)]


@pytest.mark.parametrize("name", waking.ENGINES)
def test_all_words_are_found_and_no_other_clip_fires(name: str, speech: Path) -> None:
    engine = GatedWake(waking.make(name))
    for clip, word in waking.spoken(name):
        assert words(engine, waking.BEFORE + waking.clip(clip) + waking.AFTER) == [word], clip
    for clip in waking.other_speech(name):
        # Micro's steps of 30 ms fall differently; those of open would cost a minute.
        for shift_ms in (0, 20, 40) if name == "micro" else (0,):
            before = waking.BEFORE + bytes(shift_ms * SAMPLE_RATE // 1000 * 2)
            assert words(engine, before + waking.clip(clip) + waking.AFTER) == [], clip
    engine.close()


def test_micro_finds_most_of_them_in_noise(speech: Path) -> None:
    engine = GatedWake(waking.make("micro"))
    hits = [
        words(engine, pcm) == [word]
        for clip, word in waking.spoken("micro")
        for noise in (white, pink)
        for pcm in waking.in_noise(clip, noise, 10.0, SEEDS)
    ]
    engine.close()
    assert sum(hits) >= 0.85 * len(hits)


@pytest.mark.parametrize("dbfs", [-20.0, -40.0, -60.0])
@pytest.mark.parametrize("room", ["silence", "hiss"])
def test_no_word_is_lost_or_late_behind_the_gate(room: str, dbfs: float, speech: Path) -> None:
    """The engine has not run for the ten seconds before."""
    bare, gated = waking.make("micro"), GatedWake(waking.make("micro"))
    for clip, _ in waking.spoken("micro"):
        spoken = waking.at_active_level(waking.clip(clip), dbfs)
        pcm = bytes(10 * SAMPLE_RATE * 2) + spoken + waking.AFTER
        if room == "hiss":
            pcm = mix(pcm, white(len(pcm) / 2 / SAMPLE_RATE, 1), 20.0)
        [(word, at)], [(word_gated, at_gated)] = heard(bare, pcm), heard(gated, pcm)
        assert word_gated == word
        assert at_gated - at <= SAMPLE_RATE * 20 // 1000
    bare.close()
    gated.close()


def test_the_verifier_lets_every_clean_word_stand(speech: Path) -> None:
    shared = [word for word in waking.WORDS["open"] if word in waking.WORDS["micro"]]
    for name in waking.ENGINES:
        engine = make_wake_engine(name, shared, verify="soft")
        for word in shared:
            assert words(engine, waking.BEFORE + waking.clip(word) + waking.AFTER) == [word]
        engine.close()
