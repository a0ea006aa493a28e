"""The second opinion: what the other engine is asked, and what follows from its answer."""

import pytest

from audio.frames import FRAME_SAMPLES
from audio.wake import Detection, make_wake_engine
from audio.wake.wrappers import VerifiedWake
from tests.unit.audio.wake.doubles import ScriptedWake

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
    # The last two seconds and a little silence, in which the other engine makes up its mind.
    assert other.heard == list(range(2_020, 4_241, 20))
    assert other.restarts == 1  # with the next frame: it hears silence before the next look
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
