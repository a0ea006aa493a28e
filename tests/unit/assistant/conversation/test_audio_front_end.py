"""Tests of the audio front end: orders from another thread, and when they take effect."""

from pathlib import Path

import pytest

from assistant.conversation.audio_front_end import RISING, AudioFrontEnd, EarEvent
from assistant.conversation.endpointing import Endings
from assistant.conversation.hearing import Hearing
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechPassed,
    SpeechStarted,
    WakeHeard,
    WakeRising,
)
from audio.endpoint import Endpointer
from audio.frames import FRAME_MS, FRAME_SAMPLES, Frame, Framer
from audio.sound_files import read_wav
from audio.vad import Voicing
from audio.wake import Detection, WakeEngine, make_wake_engine
from tests.unit.assistant.conversation.doubles import NoVoice, NoWake
from tests.unit.audio.wake.doubles import ScriptedWake

SPEECH, SILENCE = b"\1\0" * FRAME_SAMPLES, bytes(FRAME_SAMPLES * 2)


class Detector:
    """Takes everything but silence for speech, and records its input."""

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
    """A wake engine whose scores are set frame by frame."""

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
    """Endings with scripted durations, which record their input."""

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


# Another wake engine takes over while sound comes: no word is lost or reported twice.


SECOND = bytes(32_000)
QUIET = bytes(FRAME_SAMPLES * 2)
LOUD = b"\x00\x20\x00\xe0" * (FRAME_SAMPLES // 2)
WORD_ENDS_MS = {"okay_nabu": 2_620, "alexa": 2_110}  # a second of silence comes first


def make_ear_ear_exchange(wake: WakeEngine) -> AudioFrontEnd:
    return AudioFrontEnd(wake, NoVoice(), Endpointer(chunk_samples=FRAME_SAMPLES))


def give(ear: AudioFrontEnd, frame: Frame) -> list[EarEvent]:
    return [] if ear.pass_by(frame) else ear.hear(frame)


def primed(engine: str, words: list[str]) -> WakeEngine:
    made = make_wake_engine(engine, words)
    made.restart()
    return made


@pytest.mark.parametrize(
    ("engine", "word", "before_ms"),
    [
        *(("micro", "alexa", before_ms) for before_ms in (600, 200, 100, 20, -60, -400)),
        *(("micro", "okay_nabu", before_ms) for before_ms in (600, 200, 100, 20, -60, -400)),
        ("open", "okay_nabu", 200),
    ],
)
def test_a_word_that_is_being_said_is_heard_once(
    engine: str, word: str, before_ms: int, speech: Path
) -> None:
    sound = SECOND + read_wav(speech / f"{word}.wav") + 2 * SECOND
    ear = make_ear_ear_exchange(primed(engine, ["okay_nabu", "alexa"]))
    heard = []
    for frame in Framer().push(sound):
        if frame.end // 16 == WORD_ENDS_MS[word] - before_ms:
            ear.use(primed(engine, ["alexa", "okay_nabu"]))
        heard += [event for event in give(ear, frame) if isinstance(event, WakeHeard)]
    assert [event.word for event in heard] == [word]
    assert heard[0].at_ms == pytest.approx(WORD_ENDS_MS[word], abs=460)
    ear.close()


def test_from_then_on_only_the_new_words_count(speech: Path) -> None:
    sound = list(Framer().push(SECOND + read_wav(speech / "alexa.wav") + 2 * SECOND))
    ear = make_ear_ear_exchange(primed("micro", ["alexa"]))
    ear.use(primed("micro", ["okay_nabu"]))
    events = [event for frame in sound for event in give(ear, frame)]
    assert not [event for event in events if isinstance(event, WakeHeard)]
    ear.close()


def frames(pcm: bytes, first_ms: int, until_ms: int) -> list[Frame]:
    return [Frame(pcm, at * 16) for at in range(first_ms, until_ms, FRAME_MS)]


def test_the_one_before_is_closed_and_strictness_goes_over() -> None:
    first, second = ScriptedWake(), ScriptedWake()
    ear = make_ear_ear_exchange(first)
    ear.distract("media", on=True)
    for frame in frames(LOUD, 0, 1_000):
        ear.hear(frame)
    assert first.is_strict
    ear.use(second)
    assert not first.closed, "the worker may be using it just now"
    ear.hear(Frame(LOUD, 16_000))
    assert first.closed
    assert second.is_strict
    assert second.heard == list(range(20, 1_021, 20)), "every frame once, in order"


@pytest.mark.parametrize(
    ("before_ms", "now_ms", "is_told"),
    [
        (None, 960, True),  # the one before would have fired only now
        (None, 500, False),  # too long ago: nobody waits for an answer to that any more
        (900, 960, False),  # the same word
    ],
)
def test_what_the_new_one_fires_at_of_the_past(
    before_ms: int | None, now_ms: int, is_told: bool
) -> None:
    ear = make_ear_ear_exchange(ScriptedWake(lambda end: 0.9 if end == before_ms else 0.0))
    for frame in frames(LOUD, 0, 1_000):
        ear.hear(frame)
    ear.use(ScriptedWake(lambda end: 0.9 if end == now_ms else 0.0))
    told = [event for event in ear.hear(Frame(LOUD, 16_000)) if isinstance(event, WakeHeard)]
    assert [event.at_ms for event in told] == ([now_ms] if is_told else [])


def test_in_silence_it_waits_for_sound_as_the_one_before_it_did() -> None:
    first, second = ScriptedWake(), ScriptedWake()
    ear = make_ear_ear_exchange(first)
    for frame in frames(QUIET, 0, 20_000):
        give(ear, frame)
    ear.use(second)
    for frame in frames(QUIET, 20_000, 20_400):
        give(ear, frame)
    taken_over = list(second.heard)
    for frame in frames(LOUD, 20_400, 20_640):
        give(ear, frame)
    after = second.heard[len(taken_over) :]
    assert after == list(range(after[0], 20_641, 20))
    assert after[0] < 20_400 - 900
    assert not taken_over or taken_over[-1] < after[0]


def test_of_two_at_once_the_newer_counts_and_none_is_left_open() -> None:
    engines = [ScriptedWake() for _ in range(4)]
    ear = make_ear_ear_exchange(engines[0])
    ear.use(engines[1])
    ear.use(engines[2])
    assert engines[1].closed
    ear.hear(Frame(LOUD, 0))
    assert engines[0].closed
    assert not engines[2].closed
    ear.use(engines[3])
    ear.close()
    assert engines[2].closed
    assert engines[3].closed


def test_where_there_is_no_ear_an_engine_is_closed() -> None:
    hearing, engine = Hearing(None), ScriptedWake()
    hearing.use(engine)
    assert engine.closed
    hearing.close()
