"""The simulator finds what it has heard in the recording, exactly, or says where it stops."""

import random

import pytest

from tests.simulators.performance import schedule
from tests.simulators.records import Heard, HeardTurn
from tests.simulators.script import Say
from tests.simulators.sound import find, frames, tone
from tests.simulators.wire import Refusal, decoded, normalised

RECORDING = random.Random(0).randbytes(64_000)  # 2 s


def turn(pcm: bytes) -> HeardTurn:
    heard = HeardTurn(0, "audio", 0, "session-1", 0.0)
    heard.heard += pcm
    return heard


def test_the_place_is_given_in_samples() -> None:
    assert turn(RECORDING[1_000:9_000]).assert_heard(RECORDING) == Heard(500, 4_500)


def test_added_silence_is_allowed_where_it_is_said() -> None:
    pcm = RECORDING[:8_000] + bytes(3_200)
    assert turn(pcm).assert_heard(RECORDING, added_silence_s=0.1) == Heard(0, 4_000)
    with pytest.raises(AssertionError, match=r"samples 0\.\.4000 are the recording's 0\.\.4000"):
        turn(pcm).assert_heard(RECORDING)
    with pytest.raises(AssertionError):
        turn(pcm).assert_heard(RECORDING, added_silence_s=0.09)


@pytest.mark.parametrize(
    "pcm",
    [
        RECORDING[:8_000] + RECORDING[8_002:16_000],  # a sample is missing
        RECORDING[1:8_001],  # half a sample off
        RECORDING[:8_000] * 2,
        bytes(8_000),
    ],
)
def test_anything_else_is_not_the_recording(pcm: bytes) -> None:
    with pytest.raises(AssertionError, match="no contiguous part"):
        turn(pcm).assert_heard(RECORDING)


@pytest.mark.parametrize(
    ("window", "covers"), [((501, 9_000), None), ((0, 4_499), None), (None, (499, 600))]
)
def test_the_place_must_be_as_asked(
    window: tuple[int, int] | None, covers: tuple[int, int] | None
) -> None:
    heard = turn(RECORDING[1_000:9_000])
    assert heard.assert_heard(RECORDING, (500, 4_500), covers=(500, 4_500)) == Heard(500, 4_500)
    with pytest.raises(AssertionError, match=r"was found at samples 500\.\.4500"):
        heard.assert_heard(RECORDING, window, covers=covers)


def test_every_place_is_found() -> None:
    assert find(b"ab", b"abcdab" + b"xab") == [0, 2]


def test_the_tone_has_its_length_and_comes_in_frames_of_100_ms() -> None:
    assert len(tone(1.25)) == 60_000
    assert [len(frame) for frame in frames(tone(0.25))] == [4_800, 4_800, 2_400]


@pytest.mark.parametrize(
    ("say", "expected"),
    [
        # s, sound, transcript
        (
            Say("a b", audio_s=0.2, pieces=2),
            [(0, 1, None), (0, 0, "a"), (0, 1, None), (0, 0, " b")],
        ),
        (Say("a b", audio_s=0.2, pieces=2, together=True), [(0, 1, "a"), (0, 1, " b")]),
        (
            Say("a b", audio_s=0.2, pieces=2, lag_s=1.0, speed=2.0),
            [(0, 1, None), (0.05, 1, None), (1, 0, "a"), (1.05, 0, " b")],
        ),
        (
            Say("a b", audio_s=0.2, pieces=1, lag_s=-0.5),
            [(0, 0, "a b"), (0.5, 1, None), (0.5, 1, None)],
        ),
        (Say("a", audio_s=0.0), [(0, 0, "a")]),
        (Say("", audio_s=0.1), [(0, 1, None)]),
    ],
)
def test_sound_and_transcript_are_skewed_as_scripted(
    say: Say, expected: list[tuple[float, int, str | None]]
) -> None:
    events = [(round(at, 6), int(pcm is not None), text) for at, pcm, text in schedule(say)]
    assert events == expected


def test_only_keys_of_the_protocol_are_normalised() -> None:
    message = {
        "tool_response": {"function_responses": [{"will_continue": True, "response": {"a_b": 1}}]},
        "parameters": {"any_of": [{"properties": {"any_of": {"min_items": 1}}}]},
    }
    assert normalised(message) == {
        "toolResponse": {"functionResponses": [{"willContinue": True, "response": {"a_b": 1}}]},
        "parameters": {"anyOf": [{"properties": {"any_of": {"minItems": 1}}}]},
    }
    with pytest.raises(Refusal, match="Duplicate"):
        normalised({"a_b": 1, "aB": 1})


@pytest.mark.parametrize("text", ["+/8=", "-_8="])
def test_base64_of_either_alphabet(text: str) -> None:
    assert decoded(text, "data") == b"\xfb\xff"
