"""The ear: what it is told from another thread, and when it acts on that."""

import pytest

from assistant.conversation.audio_front_end import RISING, AudioFrontEnd
from assistant.conversation.endpointing import Endings
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechPassed,
    SpeechStarted,
    WakeHeard,
    WakeRising,
)
from audio.endpoint import Endpointer
from audio.frames import FRAME_SAMPLES, Frame
from audio.vad import Voicing
from audio.wake import Detection
from tests.unit.assistant.conversation.doubles import NoWake

SPEECH, SILENCE = b"\1\0" * FRAME_SAMPLES, bytes(FRAME_SAMPLES * 2)


class Detector:
    """Speech is what is not silence; remembers what it was given."""

    chunk_samples = FRAME_SAMPLES

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.resets = 0

    def hear(self, pcm: bytes, end: int) -> list[Voicing]:
        self.ends.append(end)
        return [Voicing(end, float(any(pcm)))]

    def reset(self) -> None:
        self.resets += 1


class Rising(NoWake):
    """A wake engine that comes as near to firing as it is told, frame by frame."""

    def __init__(self, closeness: list[float]) -> None:
        self._left = closeness
        self.restarts = 0

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self.closeness = self._left.pop(0)
        if self.closeness <= 1:
            return None
        return Detection("alexa", 0.9, at=end, mark=end - 160)

    def restart(self) -> None:
        self.restarts += 1


def make_ear() -> tuple[AudioFrontEnd, Detector]:
    detector = Detector()
    return AudioFrontEnd(NoWake(), detector, Endpointer(chunk_samples=FRAME_SAMPLES)), detector


class Listed(Endings):
    """Endings that last as long as they are told to; remembers what it was asked."""

    def __init__(self, hang_over_ms: int) -> None:
        self.length = hang_over_ms
        self.begun: list[int] = []
        self.ends: list[int] = []  # of the frames, since it began
        self.asked: list[tuple[int, int | None]] = []
        self.over = 0

    def begin(self, after: int) -> None:
        self.begun.append(after)
        self.ends.clear()

    def hear(self, pcm: bytes, end: int) -> None:
        assert len(pcm) == 2 * FRAME_SAMPLES
        self.ends.append(end)

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        assert self.ends[-1] == now  # it has the chunk's sound
        self.asked.append((now, last_voiced))
        return self.length

    def end(self) -> None:
        self.over += 1


def listed_ear(hang_over_ms: int) -> tuple[AudioFrontEnd, Listed]:
    endings = Listed(hang_over_ms)
    return AudioFrontEnd(
        NoWake(), Detector(), Endpointer(chunk_samples=FRAME_SAMPLES), endings
    ), endings


def hear(ear: AudioFrontEnd, sounds: list[bytes], first: int = 0) -> list[object]:
    return [
        event
        for number, pcm in enumerate(sounds, first)
        for event in ear.hear(Frame(pcm, number * FRAME_SAMPLES))
    ]


def test_an_idle_ear_does_not_look_for_speech() -> None:
    ear, detector = make_ear()
    assert hear(ear, [SPEECH] * 50) == []
    assert detector.ends == []


def test_watching_begins_with_the_past_and_only_on_the_thread_that_hears() -> None:
    ear, detector = make_ear()
    hear(ear, [SILENCE] * 10)
    ear.watch(from_ms=100, after_ms=240)
    assert (detector.ends, detector.resets) == ([], 0)  # the worker may be using it just now
    events = hear(ear, [SPEECH] * 10, first=10)
    assert detector.resets == 1
    assert detector.ends == [end * FRAME_SAMPLES for end in range(6, 21)]
    assert events == [SpeechStarted(240)]
    assert ear.last_voiced_ms == 400
    passed, ended = hear(ear, [SILENCE] * 50, first=20)
    assert passed == SpeechPassed(400)
    assert isinstance(ended, SpeechEnded)
    assert ended.at_ms == 400


def test_the_newest_wish_counts() -> None:
    ear, _ = make_ear()
    ear.watch(0, 0)
    ear.unwatch()
    assert hear(ear, [SPEECH] * 10) == []
    ear.unwatch()
    ear.watch(200, 200)
    assert hear(ear, [SPEECH] * 10, first=10) == [SpeechStarted(200)]


def test_a_new_watch_knows_of_no_earlier_speech() -> None:
    ear, _ = make_ear()
    ear.watch(0, 0)
    hear(ear, [SPEECH] * 10)
    ear.unwatch()
    assert ear.last_voiced_ms == 200  # the sentence may have been cut off
    ear.watch(200, 400)
    assert ear.last_voiced_ms is None


def test_a_new_source_is_not_watched() -> None:
    ear, detector = make_ear()
    ear.watch(0, 0)
    ear.restart()
    assert hear(ear, [SPEECH] * 10) == []
    assert detector.ends == []


HALF = RISING / 2


@pytest.mark.parametrize(
    ("closeness", "told"),
    [
        ([0.0, 0.1, RISING, 0.1], {}),  # at the threshold is not above it
        ([0.0, 0.4, 0.9, 0.9, 0.0], {40: WakeRising}),
        ([0.4, 0.9, 1.1, 1.1], {20: WakeRising, 60: WakeHeard, 80: WakeHeard}),
        ([0.0, 1.1, 0.9], {40: WakeHeard}),  # at once: there is nothing to anticipate
        ([0.4, HALF + 0.01, 0.4], {20: WakeRising}),  # it did not fall far enough
        ([0.4, HALF, 0.4], {20: WakeRising, 60: WakeRising}),
        ([1.1, 0.1, 0.4], {20: WakeHeard, 60: WakeRising}),
    ],
)
def test_a_rising_score_is_told_once(closeness: list[float], told: dict[int, type]) -> None:
    ear = AudioFrontEnd(
        Rising(list(closeness)), Detector(), Endpointer(chunk_samples=FRAME_SAMPLES)
    )
    events = hear(ear, [SILENCE] * len(closeness))
    assert {event.at_ms: type(event) for event in events} == told  # type: ignore[attr-defined]


def test_what_is_forgotten_is_gone_at_once_and_the_engine_begins_anew() -> None:
    wake = Rising([0.4, 0.4, 0.4, 0.4])
    ear = AudioFrontEnd(wake, Detector(), Endpointer(chunk_samples=FRAME_SAMPLES))
    hear(ear, [SPEECH] * 2)
    ear.watch(0, 0)
    ear.forget()
    assert ear.ring.since(0) == b""
    assert wake.restarts == 0  # the worker may be using it just now
    assert hear(ear, [SILENCE], first=2) == [WakeRising(60)]  # as if nothing had risen before
    assert wake.restarts == 1
    hear(ear, [SILENCE], first=3)
    assert wake.restarts == 1
    assert ear.ring.start == 2 * FRAME_SAMPLES


@pytest.mark.parametrize("hang_over_ms", [300, 700, 1160])
def test_speech_ends_after_the_pause_that_the_endings_allow(hang_over_ms: int) -> None:
    ear, _ = listed_ear(hang_over_ms)
    ear.watch(0, 0)
    events = hear(ear, [SPEECH] * 20 + [SILENCE] * 70)
    assert SpeechEnded(400, 400 + hang_over_ms) in events


def test_the_pause_may_change_while_it_lasts() -> None:
    ear, endings = listed_ear(1160)
    ear.watch(0, 0)
    hear(ear, [SPEECH] * 20 + [SILENCE] * 20)
    endings.length = 300
    assert hear(ear, [SILENCE], first=40) == [SpeechEnded(400, 820)]


def test_the_endings_hear_all_that_is_watched_and_nothing_else() -> None:
    ear, endings = listed_ear(700)
    hear(ear, [SILENCE] * 10)
    assert (endings.begun, endings.ends, endings.asked) == ([], [], [])
    ear.watch(from_ms=100, after_ms=240)
    hear(ear, [SPEECH] * 10, first=10)
    assert endings.begun == [240 * 16]
    assert endings.ends == [end * FRAME_SAMPLES for end in range(6, 21)]
    assert endings.asked[-1] == (400 * 16, 380 * 16)
    ear.unwatch()
    hear(ear, [SPEECH], first=20)
    assert (len(endings.ends), endings.over) == (15, 1)


def test_the_endings_begin_anew_behind_the_end_of_speech() -> None:
    ear, endings = listed_ear(300)
    ear.watch(0, 0)
    hear(ear, [SPEECH] * 20 + [SILENCE] * 15)
    assert endings.begun == [0, 700 * 16]
    assert endings.ends == []


def test_the_endings_forget_with_a_new_source_and_with_what_is_forgotten() -> None:
    ear, endings = listed_ear(300)
    ear.watch(0, 0)
    hear(ear, [SPEECH])
    ear.restart()
    assert endings.over == 1
    ear.forget()
    hear(ear, [SPEECH])
    assert endings.over == 2


def test_without_endings_each_pause_is_the_endpointers() -> None:
    ear = AudioFrontEnd(
        NoWake(), Detector(), Endpointer(hang_over_ms=500, chunk_samples=FRAME_SAMPLES)
    )
    ear.watch(0, 0)
    assert SpeechEnded(400, 900) in hear(ear, [SPEECH] * 20 + [SILENCE] * 50)
