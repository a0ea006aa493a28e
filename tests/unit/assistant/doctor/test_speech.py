"""Tests of the doctor's checks of speech recognition, with real models on synthetic clips."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import speech
from assistant.doctor.finding import Finding
from assistant.doctor.speech import Tried
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.tts import Chunk
from audio.tts.tuned import Leveller, PhraseCache, TunedVoice
from audio.wake import built_in_words
from tests.tiny_voice import make_tiny_voice
from tests.unit.assistant.doctor.scenes import look, scene, settings

speaks = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")


async def found(name: str, folder: Path, **sections: dict[str, Any]) -> Finding:
    return await look(speech.CHECKS, name, scene(settings(folder, **sections)))


@speaks
@pytest.mark.parametrize("sensitivity", ["normal", "low"])
@pytest.mark.parametrize("engine", ["micro", "open"])
async def test_every_word_hears_itself_and_nothing_else(
    tmp_path: Path, engine: str, sensitivity: str
) -> None:
    words = list(built_in_words(engine))
    chosen = {"engine": engine, "words": words, "sensitivity": sensitivity}
    one = await found("wake word", tmp_path, wake=chosen)
    assert one.status == "ok", one
    assert len(words) >= 4
    assert all(f"{speech.called(word)} heard, " in one.detail for word in words)
    assert one.detail.endswith("ignored other speech")


@speaks
async def test_a_model_that_does_not_hear_its_word_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "spelled", lambda model: "good morning")
    one = await found("wake word", tmp_path)
    assert one.status == "fail"
    assert "okay nabu not heard" in one.detail


@speaks
async def test_other_speech_that_wakes_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "OTHER_SPEECH", "okay nah boo")
    one = await found("wake word", tmp_path)
    assert (one.status, "wake.sensitivity" in one.mend) == ("warn", True)
    assert "other speech triggered okay nabu" in one.detail


async def test_a_word_that_is_not_there(tmp_path: Path) -> None:
    one = await found("wake word", tmp_path, wake={"words": ["nobody"]})
    assert one.status == "fail"
    assert "wake.words" in one.mend


async def test_without_espeak_it_is_not_said_to_hear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(text: str, take: speech.Take) -> bytes:
        raise InputUnusable("espeak-ng is not installed; run: sudo apt install espeak-ng")

    monkeypatch.setattr(speech, "speak", away)
    for name in ("wake word", "voice detector"):
        one = await found(name, tmp_path)
        assert (one.status, "apt install espeak-ng" in one.mend) == ("warn", True)
        assert "not tested" in one.detail


@pytest.mark.parametrize(
    ("one", "status", "words"),
    [
        (Tried("okay nabu", True, 0.99, True), "ok", "okay nabu heard, 0.99"),
        (Tried("okay nabu", False, 0.61, True), "warn", "not heard, 0.61"),
        (Tried("okay nabu", False, 0.02, True), "fail", "not heard, 0.02"),
        (Tried("hey marvin", True, 0.9, False), "ok", "hey marvin heard"),
        (Tried("hey marvin", False, 0.02, False), "ok", "no good clip to test it"),
    ],
)
def test_how_it_is_judged(one: Tried, status: str, words: str) -> None:
    judged = speech.judge_wake([one], [], "micro")
    assert judged.status == status
    assert words in judged.detail
    assert bool(judged.mend) == (status != "ok")


def test_what_is_said_to_a_model() -> None:
    assert speech.spelled("okay_nabu") == "okay nah boo"
    assert speech.spelled("/models/hey_marvin.v2.tflite") == "hey marvin"
    assert speech.called("okay_nabu") == "okay nabu"


@speaks
def test_a_clip_has_silence_around_it() -> None:
    sound = speech.speak("hello there", speech.TAKES[0])
    half_a_second = SAMPLE_RATE  # bytes
    assert not any(sound[: half_a_second - 64])
    assert any(sound)
    assert not any(sound[-half_a_second:])


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputUnusable, match="apt install espeak-ng"):
        speech.speak("hello", speech.TAKES[0])


@speaks
async def test_the_voice_detector(tmp_path: Path) -> None:
    one = await found("voice detector", tmp_path)
    assert one.status == "ok"
    assert one.detail.startswith("Silero: speech ")


@pytest.mark.parametrize(
    ("kind", "spoken", "silence", "status"),
    [
        ("Silero", 0.98, 0.02, "ok"),
        ("Webrtc", 1.0, 0.0, "warn"),
        ("Silero", 0.4, 0.02, "fail"),
        ("Silero", 0.98, 0.7, "fail"),
    ],
)
def test_how_a_detector_is_judged(kind: str, spoken: float, silence: float, status: str) -> None:
    judged = speech.judge_detector(kind, spoken, silence)
    assert (judged.status, bool(judged.mend)) == (status, status != "ok")


async def test_which_stop_words_work(tmp_path: Path) -> None:
    without = await found("stop words", tmp_path)
    assert "no model stop" in without.detail
    assert "heard directly: the English stop words" in without.detail
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("stop.json", "stop.tflite"):
        (folder / name).write_text("")
    one = await found(
        "stop words",
        tmp_path,
        offline={"recognizer": "tcp://host:10300"},
        assistant={"languages": ("en", "es")},
    )
    assert one.status == "ok"
    assert "transcript: en, es" in one.detail
    assert "by ear" not in one.detail
    assert one.detail.endswith("the model stop")


def voiced(folder: Path, languages: tuple[str, ...] = ("en",), **voice: Any) -> Settings:
    return Settings.model_validate(
        {"assistant": {"data": str(folder), "languages": languages}, "voice": voice}
    )


class Slow:
    """Decodes two seconds of sound in a set time of its own clock."""

    name = "piper:en_US-lessac-medium"
    rate = 16_000

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._now = 0.0

    def clock(self) -> float:
        return self._now

    def speak(self, text: str) -> Iterator[Chunk]:
        self._now += 2 * self._factor
        yield Chunk(b"\0\1" * 2 * self.rate)


def give(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    slow = Slow(factor)
    tuned = TunedVoice(slow, Leveller(), PhraseCache(), clock=slow.clock)
    monkeypatch.setattr(speech, "voices_of", lambda _: lambda _: tuned)


async def test_a_voice_that_works_has_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, 0.25)
    found = await speech.voice(scene(voiced(tmp_path)))
    assert (found.status, found.mend) == ("ok", "")
    assert found.detail == "en: piper:en_US-lessac-medium, 0.25 of real time"


async def test_a_slow_voice_is_named_with_the_lower_quality(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, 0.83)
    found = await speech.voice(scene(voiced(tmp_path)))
    assert found.status == "warn"
    assert "0.83 of real time" in found.detail
    assert "en_US-lessac-low" in found.mend


async def test_the_real_voices_are_tried(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    found = await speech.voice(
        scene(voiced(tmp_path, ("en", "es"), models={"en": model, "es": model}))
    )
    assert found.status == "ok"
    assert found.detail.count("piper:tiny, 0.") == 2


async def test_a_missing_voice_is_replaced_and_told(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    chosen = voiced(tmp_path, ("en", "es", "de"), models={"en": model, "es": "/none.onnx"})
    found = await speech.voice(scene(chosen))
    assert found.status == "warn"
    assert "en: piper:tiny" in found.detail
    assert "es: espeak:es instead of the configured voice" in found.detail
    assert "/none.onnx" in found.mend
    assert 'no Piper voice for "de"' in found.mend


async def test_no_voice_at_all_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(language: str) -> TunedVoice:
        raise InputUnusable("espeak-ng is not installed; run: sudo apt install espeak-ng")

    monkeypatch.setattr(speech, "spare_voices_of", lambda _: broken)
    found = await speech.voice(scene(voiced(tmp_path, models={})))
    assert found.status == "fail"
    assert found.detail == "en: no voice"
    assert "voice.models" in found.mend
    assert "apt install espeak-ng" in found.mend


async def test_espeak_in_place_of_piper_is_said(tmp_path: Path) -> None:
    found = await speech.voice(scene(voiced(tmp_path, engine="piper", models={})))
    assert found.status == "warn"
    assert "espeak" in found.detail
    assert "voice.models" in found.mend
