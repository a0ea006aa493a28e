"""Gated engine: it rests in silence and loses nothing when sound comes."""

import shutil
from itertools import islice

import numpy as np
import pytest

from audio.frames import FRAME_BYTES, FRAME_MS, FRAME_SAMPLES
from audio.gate import GLANCE_MS, START_MS
from audio.wake import Detection, NearMiss, make_wake_engine
from audio.wake.wrappers import LOOK_BACK_MS, GatedWake, VerifiedWake
from tests.corpus.speech import say
from tests.unit.audio.wake.doubles import ScriptedWake

QUIET = bytes(FRAME_SAMPLES * 2)
LOUD = (np.arange(FRAME_SAMPLES) % 40 * 50).astype("<i2").tobytes()


def give(gated: GatedWake, pcm: bytes, first_ms: int, until_ms: int) -> list[int]:
    """Feed frames that end within the range; returns where it fired, in ms."""
    found = []
    for end in range(first_ms + FRAME_MS, until_ms + 1, FRAME_MS):
        detection = gated.hear(pcm, end * 16)
        if detection is not None:
            assert detection.mark == detection.at - 4_800
            found.append(detection.at // 16)
    return found


def test_in_silence_the_engine_does_not_run() -> None:
    engine = ScriptedWake()
    gated = GatedWake(engine)
    give(gated, QUIET, 0, 60_000)
    last = engine.heard[-1]
    assert START_MS - FRAME_MS <= last < START_MS + GLANCE_MS
    assert engine.heard == list(range(FRAME_MS, last + 1, FRAME_MS))
    assert not gated.open


@pytest.mark.parametrize("silent_ms", [3_000, 9_980, 10_000, 60_020])
def test_what_came_before_is_heard_when_it_opens(silent_ms: int) -> None:
    engine = ScriptedWake()
    gated = GatedWake(engine)
    give(gated, QUIET, 0, silent_ms)
    before = len(engine.heard)
    give(gated, LOUD, silent_ms, silent_ms + 100)
    heard = engine.heard[before:]
    assert heard[-1] == silent_ms + 100
    assert heard == list(range(heard[0], silent_ms + 101, 20))  # without a gap, in order
    back = silent_ms - heard[0]
    skipped = heard[0] - 20 - engine.heard[before - 1]
    assert skipped == 0 or back >= LOOK_BACK_MS - 20
    assert skipped % 240 == 0  # the engines' steps fall as if nothing had been skipped


def test_a_detection_in_what_came_before_is_told_with_its_own_place() -> None:
    gated = GatedWake(ScriptedWake(lambda end: 0.9 if end == 19_800 else 0.0))
    assert give(gated, QUIET, 0, 20_000) == []
    assert give(gated, LOUD, 20_000, 20_200) == [19_800]


def test_what_lies_before_a_gap_in_the_stream_is_not_heard() -> None:
    engine = ScriptedWake()
    gated = GatedWake(engine)
    give(gated, QUIET, 0, 10_000)
    before = len(engine.heard)
    give(gated, LOUD, 12_000, 12_100)
    # Missing frames are silence to the engine.
    assert engine.heard[before:] == list(range(10_020, 12_101, 20))


@pytest.mark.parametrize(("gap_ms", "silent_ms"), [(20, 20), (500, 500), (3_600_000, 2_000)])
def test_a_gap_is_silence_to_the_engine(gap_ms: int, silent_ms: int) -> None:
    engine = ScriptedWake(lambda end: 0.9 if end == 2_000 + silent_ms else 0.0)
    gated = GatedWake(engine)
    give(gated, LOUD, 0, 2_000)
    begin = 2_000 + gap_ms
    assert not gated.pass_by(QUIET, (begin + 20) * 16), "that takes more than microseconds"
    assert give(gated, QUIET, begin, begin + 20) == [], "nobody heard it"
    assert gated.pass_by(QUIET, (begin + 40) * 16), "the gap is behind us"
    silent = engine.heard[100:]
    assert silent[: silent_ms // 20] == list(range(2_020, 2_001 + silent_ms, 20))


@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
@pytest.mark.parametrize("after_ms", [200, 500])
def test_a_microphone_that_goes_behind_the_word_does_not_bring_it_again(after_ms: int) -> None:
    sound = say("okay naboo, please tell me all that you know", "rms").tobytes()
    pieces = range(0, len(sound) - FRAME_BYTES, FRAME_BYTES)
    frames = iter([(sound[at : at + FRAME_BYTES], at // 2 + FRAME_SAMPLES) for at in pieces])
    gated = GatedWake(make_wake_engine("micro", ["okay_nabu"]))
    word = next(found for pcm, end in frames if (found := gated.hear(pcm, end)))
    assert word.word == "okay_nabu"
    for pcm, end in islice(frames, after_ms // FRAME_MS):
        assert gated.hear(pcm, end) is None
    back = word.at // 16 + 10_000
    assert give(gated, QUIET, back - back % FRAME_MS, back + 2_000) == []
    gated.close()


def test_silent_frames_pass_by_without_the_engine() -> None:
    engine = ScriptedWake()
    gated = GatedWake(engine)
    give(gated, QUIET, 0, 5_040)
    before = len(engine.heard)
    for end in range(5_060, 6_001, 20):
        assert gated.pass_by(QUIET, end * 16)
    assert len(engine.heard) == before
    give(gated, LOUD, 6_000, 6_020)
    assert set(range(5_060, 6_021, 20)) <= set(engine.heard)


def test_a_block_is_heard_with_its_last_frame() -> None:
    engine = ScriptedWake(lambda end: 0.9 if end == 10_020 else 0.0)
    gated = GatedWake(engine)
    give(gated, QUIET, 0, 10_000)
    before = len(engine.heard)
    assert [gated.pass_by(LOUD, end * 16) for end in (10_020, 10_040, 10_060)] == [True] * 3
    assert len(engine.heard) == before
    assert not gated.pass_by(LOUD, 10_080 * 16)  # the next frame must be heard
    assert give(gated, LOUD, 10_060, 10_080) == [10_020]
    assert engine.heard[-4:] == [10_020, 10_040, 10_060, 10_080]


def test_whether_frames_pass_by_or_not_the_gate_opens_with_the_same_block() -> None:
    one, other = ScriptedWake(), ScriptedWake()
    by_frames, by_blocks = GatedWake(one), GatedWake(other)
    for number, pcm in enumerate([LOUD] * 300 + [QUIET] * 302 + [LOUD] * 30):
        end = (number + 1) * FRAME_SAMPLES
        by_frames.hear(pcm, end)
        if not by_blocks.pass_by(pcm, end):
            by_blocks.hear(pcm, end)
        if end % (4 * FRAME_SAMPLES) == 0:  # the last frame of a block
            assert by_frames.open is by_blocks.open
            assert other.heard[-1] == one.heard[-1] or not by_blocks.open
    assert other.heard[-30:] == list(range(12_060, 12_641, 20))  # everything that was loud


def test_the_rest_is_the_engines_own() -> None:
    engine = ScriptedWake(lambda _: 0.4)
    gated = GatedWake(engine)
    give(gated, LOUD, 0, 20)
    assert (gated.score, gated.closeness, gated.scores) == (0.4, 0.4, {"alexa": 0.4})
    engine.missed = [NearMiss("alexa", 0.4, 0.8, 320)]
    assert gated.near_misses() == [NearMiss("alexa", 0.4, 0.8, 320)]
    gated.strict(True)
    gated.close()
    assert engine.is_strict
    assert engine.closed


def test_another_stream_begins_open() -> None:
    engine = ScriptedWake()
    gated = GatedWake(engine)
    give(gated, QUIET, 0, 5_000)
    gated.restart()
    assert engine.restarts == 1
    before = len(engine.heard)
    give(gated, QUIET, 0, 1_000)
    assert engine.heard[before:] == list(range(20, 1_001, 20))


# Verification: what the other engine hears, and what follows from its score.


PCM = bytes(FRAME_SAMPLES * 2)


def found_by(
    first: ScriptedWake, other: ScriptedWake, until_ms: int = 5_000
) -> tuple[VerifiedWake, list[Detection]]:
    verified = VerifiedWake(first, other)
    heard = (verified.hear(PCM, end * 16) for end in range(20, until_ms + 1, 20))
    return verified, [detection for detection in heard if detection is not None]


@pytest.mark.parametrize(("score", "stands"), [(0.0, False), (0.04, False), (0.05, True)])
def test_only_what_is_nothing_to_the_other_engine_is_refused(score: float, stands: bool) -> None:
    first = ScriptedWake(lambda end: 0.9 if end == 4_000 else 0.0)
    other = ScriptedWake(lambda end: score if end == 3_500 else 0.0)
    verified, found = found_by(first, other)
    assert [detection.at for detection in found] == [4_000 * 16] * stands
    # The last two seconds and a little silence, in which the other engine's score rises.
    assert other.heard == list(range(2_020, 4_241, 20))
    assert other.restarts == 1  # with the next frame it hears silence before the next check
    missed = verified.near_misses()
    assert [(miss.word, miss.score, miss.at) for miss in missed] == [("alexa", 0.9, 64_000)] * (
        not stands
    )
    assert verified.near_misses() == []


def test_a_word_that_the_other_engine_does_not_know_stands() -> None:
    first = ScriptedWake(lambda end: 0.9 if end == 4_000 else 0.0, word="hey_rhasspy")
    other = ScriptedWake(word="alexa")
    _, found = found_by(first, other)
    assert [detection.word for detection in found] == ["hey_rhasspy"]
    assert other.heard == []


def test_the_rest_is_the_first_engines_own() -> None:
    first, other = ScriptedWake(lambda _: 0.4), ScriptedWake()
    verified, _ = found_by(first, other, until_ms=20)
    assert (verified.score, verified.closeness, verified.scores) == (0.4, 0.4, {"alexa": 0.4})
    verified.strict(True)
    assert (first.is_strict, other.is_strict) == (True, False)
    verified.restart()
    assert (first.restarts, other.restarts) == (1, 1)
    verified.close()
    assert first.closed
    assert other.closed


def test_it_is_made_only_where_both_engines_have_a_word() -> None:
    both = make_wake_engine("micro", ["okay_nabu"], verify="soft")
    one = make_wake_engine("open", ["hey_rhasspy"], verify="soft")
    assert isinstance(both, VerifiedWake)
    assert not isinstance(one, VerifiedWake)
    both.close()
    one.close()
