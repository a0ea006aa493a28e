"""Tests that people who talked before the wake word and go on do not keep a turn open."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from assistant.conversation.audio_front_end import AudioFrontEnd, Distraction
from assistant.conversation.endpointing import Endings
from assistant.conversation.rules.events import SpeechEnded, SpeechStarted, WakeHeard
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, Frame
from audio.vad import Voicing, level_of
from audio.wake import Detection
from tests.unit.assistant.conversation.doubles import NoWake


def sound(level: int) -> bytes:
    """Return a frame of that int16 level."""
    return np.tile(np.array([level, -level], "<i2"), FRAME_SAMPLES // 2).tobytes()


PERSON, QUIET = sound(4000), sound(0)
OTHERS = {6: sound(2000), 12: sound(1000)}  # so many dB below
WORD = 40  # frames of a wake word


class Measuring:
    """Takes everything but silence for speech, and records its input."""

    chunk_samples = FRAME_SAMPLES

    def __init__(self) -> None:
        self.heard: list[tuple[int, bytes]] = []

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        self.heard.append((end, pcm))
        return [Voicing(end, float(any(pcm)), level_of(pcm))]

    def reset(self) -> None: ...


class Firing(NoWake):
    """A wake engine that fires at the set samples."""

    def __init__(self) -> None:
        self.at = -1

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        if end != self.at:
            return None
        return Detection("alexa", 0.9, at=end, mark=end - 4_837)


class Noting(Endings):
    """Endings that allow 0.7 s and record their input."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, bytes]] = []

    def begin(self, after: int) -> None:
        self.heard.clear()

    def hear(self, pcm: bytes, end: int) -> None:
        self.heard.append((end, pcm))

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        return 700

    def end(self) -> None: ...


@dataclass
class Room:
    """A stream that is heard by one ear."""

    wake: Firing = field(default_factory=Firing)
    detector: Measuring = field(default_factory=Measuring)
    endings: Noting = field(default_factory=Noting)
    frames: int = 0

    def __post_init__(self) -> None:
        endpointer = Endpointer(chunk_samples=FRAME_SAMPLES)
        self.ear = AudioFrontEnd(self.wake, self.detector, endpointer, self.endings)

    def hear(self, pcm: bytes, count: int) -> list[object]:
        events: list[object] = []
        for number in range(count):
            breath = number % 8 == 7  # sound that never pauses counts as noise of the room
            events += self.ear.hear(Frame(QUIET if breath else pcm, self.frames * FRAME_SAMPLES))
            self.frames += 1
        return [event for event in events if isinstance(event, SpeechStarted | SpeechEnded)]

    def say_wake_word(self) -> WakeHeard:
        """Say the wake word, heard with its last frame, and look for speech from its mark on."""
        assert self.hear(PERSON, WORD - 1) == []
        self.wake.at = (self.frames + 1) * FRAME_SAMPLES
        events = self.ear.hear(Frame(PERSON, self.frames * FRAME_SAMPLES))
        self.frames += 1
        [wake] = [event for event in events if isinstance(event, WakeHeard)]
        self.ear.watch(wake.mark_ms, wake.at_ms + 200)
        return wake

    def ends_ms(self, pcm: bytes) -> float | None:
        """Speak for 1.4 s, then hear `pcm`; return after how many milliseconds the end comes."""
        assert [type(event) for event in self.hear(PERSON, 70)] == [SpeechStarted]
        last = self.frames * 20
        ended = [event for event in self.hear(pcm, 200) if isinstance(event, SpeechEnded)]
        if not ended:
            return None
        assert abs(ended[0].at_ms - last) <= 250  # the level is taken over that
        return ended[0].decided_ms - last


@pytest.mark.parametrize("below_db", [6, 12])
def test_the_turn_ends_while_those_who_talked_before_talk_on(below_db: int) -> None:
    room = Room()
    room.hear(OTHERS[below_db], 150)
    room.say_wake_word()
    after = room.ends_ms(OTHERS[below_db])
    assert after is not None
    assert 900 <= after <= 1200


def test_who_begins_to_talk_afterwards_may_be_the_person() -> None:
    room = Room()
    room.hear(QUIET, 150)
    room.say_wake_word()
    assert room.ends_ms(OTHERS[6]) is None


def test_who_talked_to_somebody_else_before_may_become_faint() -> None:
    room = Room()
    room.hear(PERSON, 130)
    room.hear(QUIET, 30)  # otherwise the gate before the engine takes it for noise
    room.say_wake_word()
    assert room.ends_ms(OTHERS[6]) is None


@pytest.mark.parametrize("ours", ["speaking", "ringing"])
def test_what_we_play_ourselves_is_nobodys_talk(ours: Distraction) -> None:
    room = Room()
    room.ear.distract(ours, on=True)
    room.hear(OTHERS[6], 150)
    room.say_wake_word()
    room.ear.distract(ours, on=False)
    assert room.ends_ms(OTHERS[6]) is None


def test_what_follows_on_our_own_voice_is_others_talk() -> None:
    room = Room()
    room.ear.distract("speaking", on=True)
    room.hear(sound(3900), 75)  # as loud as the person
    room.ear.distract("speaking", on=False)
    room.hear(QUIET, 15)
    room.hear(OTHERS[12], 60)
    room.say_wake_word()
    assert room.ends_ms(OTHERS[12]) is not None


@pytest.mark.parametrize(("waited_s", "known"), [(50, True), (60, False)])
def test_a_turn_without_wake_word_knows_those_who_talked_before_the_last_one(
    waited_s: int, known: bool
) -> None:
    room = Room()
    room.hear(OTHERS[12], 150)
    room.say_wake_word()
    assert room.ends_ms(OTHERS[12]) is not None
    room.ear.unwatch()
    room.hear(QUIET, waited_s * 50)
    room.ear.watch(room.frames * 20, room.frames * 20)
    assert (room.ends_ms(OTHERS[12]) is not None) is known


def test_a_new_source_has_nobody_in_it() -> None:
    room = Room()
    room.hear(OTHERS[12], 150)
    room.say_wake_word()
    assert room.ends_ms(OTHERS[12]) is not None
    room.ear.restart()
    room.frames = 0
    room.hear(QUIET, 20)
    room.ear.watch(400, 400)
    assert room.ends_ms(OTHERS[12]) is None


def test_every_sample_is_looked_at_once_and_the_endings_hear_none_from_before_the_mark() -> None:
    room = Room()
    rng = np.random.default_rng(1)
    levels = [*[900] * 170, *[9_000] * 130]
    pieces = [rng.integers(-level, level, FRAME_SAMPLES, np.int16).tobytes() for level in levels]
    room.wake.at = 200 * FRAME_SAMPLES
    for number, piece in enumerate(pieces[:200]):
        events = room.ear.hear(Frame(piece, number * FRAME_SAMPLES))
    [wake] = [event for event in events if isinstance(event, WakeHeard)]
    room.ear.watch(wake.mark_ms, wake.at_ms + 200)
    for number, piece in enumerate(pieces[200:], 200):
        room.ear.hear(Frame(piece, number * FRAME_SAMPLES))
    mark = round(wake.mark_ms * 16)
    for heard, first in ((room.detector.heard, 50), (room.endings.heard, mark // FRAME_SAMPLES)):
        expected = enumerate(pieces[first:], first + 1)
        assert heard == [(number * FRAME_SAMPLES, piece) for number, piece in expected]
