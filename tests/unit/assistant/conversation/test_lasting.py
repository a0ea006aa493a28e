"""Whether speech lasts."""

import pytest

from assistant.conversation.audio_front_end import SpeechDuration
from assistant.conversation.rules.events import SpeechHeld, SpeechPassed
from audio.frames import SAMPLES_PER_MS
from audio.vad import Voicing

CHUNK = 32 * SAMPLES_PER_MS


def told(pattern: str) -> list[SpeechHeld | SpeechPassed]:
    """Chunks of 32 ms behind a start of three: "x" voiced, "." silent. The start ends at 96 ms."""
    lasting = SpeechDuration(CHUNK)
    lasting.begin(0, 3 * CHUNK)
    voicings = (
        Voicing((4 + number) * CHUNK, 0.9 if sign == "x" else 0.1)
        for number, sign in enumerate(pattern)
    )
    return [event for voicing in voicings if (event := lasting.hear(voicing)) is not None]


@pytest.mark.parametrize(
    ("pattern", "events"),
    [
        ("xxxxx", []),  # 256 ms
        ("xxxxxx", [SpeechHeld(288, 0)]),  # nearest to 300 ms
        ("xxxxxxxxxxxxxxxx", [SpeechHeld(288, 0)]),  # once
        ("xx..xx..xx", [SpeechHeld(416, 0)]),  # a word has silent places
        ("xx.......", [SpeechPassed(160)]),
        ("xx......xxxx", [SpeechHeld(480, 0)]),  # 192 ms of silence are no pause
        ("x.......xxxxxxxxx", [SpeechPassed(128), SpeechHeld(640, 352)]),  # the rest begins anew
        ("x.......xx.......", [SpeechPassed(128), SpeechPassed(416)]),
    ],
)
def test_it_is_told_once(pattern: str, events: list[SpeechHeld | SpeechPassed]) -> None:
    assert told(pattern) == events


def test_after_its_end_nothing_is_followed() -> None:
    lasting = SpeechDuration(CHUNK)
    lasting.begin(0, 3 * CHUNK)
    lasting.reset()
    assert [lasting.hear(Voicing(end * CHUNK, 0.9)) for end in range(4, 20)] == [None] * 16
