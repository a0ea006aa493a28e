"""Another wake engine takes over while sound comes: no word is lost by it, and none told twice."""

from pathlib import Path

import pytest

from assistant.conversation.audio_front_end import AudioFrontEnd, EarEvent
from assistant.conversation.hearing import Hearing
from assistant.conversation.rules.events import WakeHeard
from audio.endpoint import Endpointer
from audio.frames import FRAME_MS, FRAME_SAMPLES, Frame, Framer
from audio.sound_files import read_wav
from audio.wake import WakeEngine, make_wake_engine
from tests.unit.assistant.conversation.doubles import NoVoice
from tests.unit.audio.wake.doubles import ScriptedWake

SECOND = bytes(32_000)
QUIET = bytes(FRAME_SAMPLES * 2)
LOUD = b"\x00\x20\x00\xe0" * (FRAME_SAMPLES // 2)
WORD_ENDS_MS = {"okay_nabu": 2_620, "alexa": 2_110}  # a second of silence comes first


def make_ear(wake: WakeEngine) -> AudioFrontEnd:
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
    ear = make_ear(primed(engine, ["okay_nabu", "alexa"]))
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
    ear = make_ear(primed("micro", ["alexa"]))
    ear.use(primed("micro", ["okay_nabu"]))
    events = [event for frame in sound for event in give(ear, frame)]
    assert not [event for event in events if isinstance(event, WakeHeard)]
    ear.close()


def frames(pcm: bytes, first_ms: int, until_ms: int) -> list[Frame]:
    return [Frame(pcm, at * 16) for at in range(first_ms, until_ms, FRAME_MS)]


def test_the_one_before_is_closed_and_strictness_goes_over() -> None:
    first, second = ScriptedWake(), ScriptedWake()
    ear = make_ear(first)
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
    ear = make_ear(ScriptedWake(lambda end: 0.9 if end == before_ms else 0.0))
    for frame in frames(LOUD, 0, 1_000):
        ear.hear(frame)
    ear.use(ScriptedWake(lambda end: 0.9 if end == now_ms else 0.0))
    told = [event for event in ear.hear(Frame(LOUD, 16_000)) if isinstance(event, WakeHeard)]
    assert [event.at_ms for event in told] == ([now_ms] if is_told else [])


def test_in_silence_it_waits_for_sound_as_the_one_before_it_did() -> None:
    first, second = ScriptedWake(), ScriptedWake()
    ear = make_ear(first)
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
    ear = make_ear(engines[0])
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
