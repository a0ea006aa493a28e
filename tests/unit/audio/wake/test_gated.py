"""Behind the gate: the engine rests in silence, and loses nothing when something comes."""

import numpy as np
import pytest

from audio.frames import FRAME_MS, FRAME_SAMPLES
from audio.wake.gate import GLANCE_MS, START_MS
from audio.wake.gated import LOOK_BACK_MS, GatedWake
from audio.wake.protocol import NearMiss
from tests.unit.audio.wake.doubles import ScriptedWake

QUIET = bytes(FRAME_SAMPLES * 2)
LOUD = (np.arange(FRAME_SAMPLES) % 40 * 50).astype("<i2").tobytes()


def give(gated: GatedWake, pcm: bytes, first_ms: int, until_ms: int) -> list[int]:
    """Frames that end after the first and up to the second moment; where it fired, in ms."""
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
    assert skipped % 240 == 0  # the engines' steps fall as if nothing had been


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
    assert engine.heard[before:] == list(range(12_020, 12_101, 20))


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
    assert not gated.pass_by(LOUD, 10_080 * 16)  # it has still to be heard:
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
        if end % (4 * FRAME_SAMPLES) == 0:  # a block is through
            assert by_frames.open is by_blocks.open
            assert other.heard[-1] == one.heard[-1] or not by_blocks.open
    assert other.heard[-30:] == list(range(12_060, 12_641, 20))  # all that was loud


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
