"""The canceller on generated sound: it removes echo, keeps a person's voice, and never raises."""

import builtins
import logging
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.echo.livekit import ECHO_DELAY, LivekitCleaner, Residual
from audio.errors import InputUnusable
from audio.frames import FRAME_BYTES, FRAME_SAMPLES

pytest.importorskip("livekit.rtc", reason="needs the extra `echo`")

RATE = 16_000
Samples = NDArray[np.int16]


def talk(seconds: float, seed: int) -> Samples:
    """Make noise in syllables, which a canceller takes for speech."""
    count = round(seconds * RATE)
    noise = np.random.default_rng(seed).standard_normal(count)
    syllables = np.maximum(0.0, np.sin(np.arange(count) * 2 * np.pi * 3 / RATE))
    return np.asarray(noise * syllables * 3_000, np.int16)


def run(cleaner: LivekitCleaner, far: Samples, near: Samples, block: int = 160) -> Samples:
    """Run both streams at their own pace; the loudspeaker is 60 ms ahead."""
    out, given = [], 0
    for at in range(0, len(near) - 1279, 1280):
        while given < min(len(far), at + 1280 + 960):
            cleaner.played(far[given : given + block].tobytes(), RATE)
            given += block
        for start in range(at, at + 1280, FRAME_SAMPLES):
            out.append(cleaner.clean(near[start : start + FRAME_SAMPLES].tobytes()))
    return np.frombuffer(b"".join(out), np.int16)


def power(samples: Samples) -> float:
    return float(np.mean(samples.astype(np.float64) ** 2)) + 1e-3


def test_the_echo_goes() -> None:
    far = talk(8, seed=1)
    near = np.concatenate([np.zeros(2_000, np.int16), far])[: len(far)]
    cleaner = LivekitCleaner()
    out = run(cleaner, far, near)
    assert power(near[4 * RATE :]) / power(out[4 * RATE :]) > 10**3
    assert cleaner.counts.processed > 350
    assert cleaner.counts.failed == 0


def stalling(told_ms: int) -> tuple[LivekitCleaner, Samples]:
    """Make the loudspeaker 100 ms late from its third second on, and report some of that."""
    far = talk(6, seed=10)
    cut = 49_600  # samples that were handed over before
    near = np.concatenate([np.zeros(2_000, np.int16), far[:cut]])
    near = np.concatenate([near, np.zeros(1_600, np.int16), far[cut:]])[: len(far)]
    cleaner, out, given = LivekitCleaner(), [], 0
    for at in range(0, len(near) - 1279, 1280):
        lost = 1_600 if at >= 3 * RATE else 0
        while given < min(len(far), at + 1280 + 960 - lost):
            if lost and not cleaner.counts.stalls:
                cleaner.stalled(told_ms / 1000)
            cleaner.played(far[given : given + 160].tobytes(), RATE)
            given += 160
        for start in range(at, at + 1280, FRAME_SAMPLES):
            out.append(cleaner.clean(near[start : start + FRAME_SAMPLES].tobytes()))
    assert cleaner.counts.stalls == 1
    return cleaner, np.frombuffer(b"".join(out), np.int16)


def test_an_output_that_is_held_up_makes_no_person() -> None:
    cleaner, out = stalling(told_ms=100)
    assert cleaner.counts.renewed == 0
    assert cleaner.counts.ours == cleaner.counts.processed
    assert power(out) < 10


@pytest.mark.parametrize("told_ms", [130, 140, 160])
def test_a_canceller_that_loses_the_path_is_made_anew(told_ms: int) -> None:
    cleaner, out = stalling(told_ms)
    assert cleaner.counts.renewed == 1
    assert cleaner.counts.ours == cleaner.counts.processed
    assert power(out) < 10


def test_without_an_output_the_sound_is_the_same_8_ms_later() -> None:
    near = talk(2, seed=2)
    cleaner = LivekitCleaner()
    out = run(cleaner, near[:0], near)
    assert np.array_equal(out[ECHO_DELAY:], near[: len(out) - ECHO_DELAY])
    assert cleaner.counts.bypassed == len(out) // FRAME_SAMPLES
    assert cleaner.counts.processed == 0


def test_silence_that_is_played_is_bypassed_after_a_while() -> None:
    far = np.concatenate([talk(2, seed=3), np.zeros(8 * RATE, np.int16)])
    cleaner = LivekitCleaner()
    run(cleaner, far, np.zeros(len(far), np.int16))
    assert 4.5 * 50 < cleaner.counts.processed < 5.5 * 50


def test_switching_over_loses_nothing_of_a_person() -> None:
    """A person keeps speaking while an answer begins and is then bypassed again."""
    far = np.concatenate([np.zeros(2 * RATE, np.int16), talk(1, seed=4) // 50])
    near = talk(12, seed=5)
    out = run(LivekitCleaner(), np.concatenate([far, np.zeros(9 * RATE, np.int16)]), near)
    last = slice(8 * RATE, 11 * RATE)
    moved = slice(last.start - ECHO_DELAY, last.stop - ECHO_DELAY)
    assert np.array_equal(out[last], near[moved])


@pytest.mark.parametrize(
    "bad", [b"", b"\0", bytes(FRAME_BYTES - 2), bytes(FRAME_BYTES + 1), bytes(7 * FRAME_BYTES)]
)
def test_what_is_no_frame_comes_back(bad: bytes, caplog: pytest.LogCaptureFixture) -> None:
    cleaner = LivekitCleaner()
    with caplog.at_level(logging.WARNING):
        assert cleaner.clean(bad) == bad
        assert cleaner.clean(bad) == bad
    assert cleaner.counts.failed == 2
    assert len(caplog.records) == 1


@pytest.mark.parametrize("bad", [b"\0", b""])
def test_bad_sound_of_the_output_stops_nothing(bad: bytes) -> None:
    cleaner = LivekitCleaner()
    cleaner.played(bad, RATE)
    cleaner.played(talk(0.01, seed=6).tobytes(), 0)
    frame = talk(0.02, seed=7).tobytes()
    assert [len(cleaner.clean(frame)) for _ in range(5)] == [FRAME_BYTES] * 5


def test_what_the_library_refuses_comes_back() -> None:
    cleaner = LivekitCleaner(echo=False, noise_suppression=True)

    def refuse(data: Any) -> None:
        raise RuntimeError("no")

    tidy = cleaner._tidy
    assert tidy is not None
    tidy._module.process_stream = refuse
    frame = talk(0.02, seed=8).tobytes()
    assert cleaner.clean(frame) == frame
    assert cleaner.counts.failed == 1


@pytest.mark.parametrize("switches", [{"noise_suppression": True}, {"automatic_gain": True}])
def test_the_switches_work_without_echo_cancellation(switches: dict[str, bool]) -> None:
    cleaner = LivekitCleaner(echo=False, **switches)
    rng = np.random.default_rng(9)
    noise = np.asarray(rng.standard_normal(4 * RATE) * 300, np.int16)
    out = run(cleaner, noise[:0], noise)
    assert len(out) == len(noise) // 1280 * 1280
    if "noise_suppression" in switches:
        assert power(out[2 * RATE :]) < power(noise) / 4


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("livekit"):
            raise ImportError(name)
        return honest(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputUnusable, match=r"pip install hearth-voice\[echo\]"):
        LivekitCleaner()


# Our own voice or a person's, judged by what the canceller left.


LOUD, QUIET = 4_000.0**2, 20.0**2


def learnt() -> Residual:
    residual = Residual()
    for _ in range(100):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    return residual


def test_without_sound_of_ours_nothing_is_ours() -> None:
    residual = Residual()
    assert not any(residual.judge(LOUD, LOUD, playing=False) for _ in range(50))


def test_what_was_taken_down_is_ours() -> None:
    residual = learnt()
    assert all(residual.judge(LOUD, LOUD / 1e3, playing=True) for _ in range(50))


def test_a_person_is_believed_within_three_frames_and_for_300_ms_more() -> None:
    residual = learnt()
    verdicts = [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(4)]
    assert verdicts == [True, True, False, False]
    after = [residual.judge(LOUD, LOUD / 1e4, playing=True) for _ in range(30)]
    assert after.index(True) in range(13, 19)


def test_one_leak_is_no_person() -> None:
    residual = learnt()
    leak = [residual.judge(LOUD, LOUD / 2, playing=True) for _ in range(2)]
    rest = [residual.judge(LOUD, LOUD / 1e4, playing=True) for _ in range(10)]
    assert all(leak + rest)


def test_while_it_learns_all_is_ours_but_not_for_ever() -> None:
    residual = Residual()
    verdicts = [residual.judge(LOUD, LOUD, playing=True) for _ in range(200)]
    assert all(verdicts[:150])
    assert not any(verdicts[155:])


def test_quiet_rests_are_nobody() -> None:
    residual = learnt()
    assert all(residual.judge(QUIET, QUIET, playing=True) for _ in range(50))


def test_the_echo_lasts_longer_than_the_sound() -> None:
    residual = learnt()
    verdicts = [residual.judge(LOUD, LOUD / 1e3, playing=False) for _ in range(40)]
    assert all(verdicts[:24])
    assert not any(verdicts[25:])


def test_a_new_opening_of_the_output_is_learnt_quicker() -> None:
    residual = learnt()
    residual.moved()
    for _ in range(20):
        assert residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5)][-1]


def test_while_nobody_knows_what_is_played_all_is_ours() -> None:
    residual = learnt()
    for _ in range(100):
        residual.moved()
        assert residual.judge(LOUD, LOUD, playing=False)


def test_a_new_opening_does_not_cut_the_first_learning_short() -> None:
    residual = Residual()
    residual.moved()
    for _ in range(25):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert all(residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5))


def test_behind_a_break_a_canceller_that_finds_nothing_has_lost_the_path() -> None:
    residual = learnt()
    residual.moved()
    lost = []
    for _ in range(12):
        assert residual.judge(LOUD, LOUD, playing=True)
        lost.append(residual.lost)
    assert lost.index(True) == 9
    residual.renewed()
    assert not residual.lost
    for _ in range(20):
        assert residual.judge(LOUD, LOUD / 1e4, playing=True)
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(5)][-1]


def test_a_new_canceller_is_not_waited_for_without_end() -> None:
    residual = learnt()
    residual.moved()
    residual.renewed()
    verdicts = [residual.judge(LOUD, LOUD, playing=True) for _ in range(80)]
    assert all(verdicts[:60])
    assert not any(verdicts[65:])
    assert not residual.lost


@pytest.mark.parametrize(("frames", "down"), [(200, True), (9, False), (0, False)])
def test_a_canceller_that_still_works_stays(frames: int, down: bool) -> None:
    residual = learnt()
    residual.moved()
    for _ in range(frames):
        residual.judge(LOUD, LOUD / 1e4 if down else LOUD, playing=True)
        assert not residual.lost
    for _ in range(20):  # the end of the sound tells nothing
        residual.judge(QUIET, QUIET, playing=True)
        residual.judge(LOUD, LOUD, playing=False)
        assert not residual.lost


def test_who_speaks_long_after_a_break_makes_no_new_canceller() -> None:
    residual = learnt()
    residual.moved()
    for _ in range(60):
        residual.judge(LOUD, LOUD / 1e4, playing=True)
    for _ in range(100):
        residual.judge(2 * LOUD, LOUD, playing=True)
        assert not residual.lost


def test_who_talks_over_the_beginning_of_an_answer_makes_no_new_canceller() -> None:
    residual = learnt()
    residual.moved(opened=True)
    for _ in range(59):
        residual.judge(2 * LOUD, LOUD, playing=True)
        assert not residual.lost
    assert not [residual.judge(2 * LOUD, LOUD, playing=True) for _ in range(8)][-1]


def test_the_first_learning_makes_no_new_canceller() -> None:
    residual = Residual()
    residual.moved()
    for _ in range(149):
        residual.judge(LOUD, LOUD, playing=True)
        assert not residual.lost
