"""What the doctor finds of the ear: real models on clips that are made for it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from assistant.doctor import wake
from assistant.doctor import wake as clip
from assistant.doctor.finding import Finding
from assistant.doctor.wake import Tried
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.wake import built_in_words
from tests.unit.assistant.doctor.scenes import look, scene, settings

speaks = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")


async def found(name: str, folder: Path, **sections: dict[str, Any]) -> Finding:
    return await look(wake.CHECKS, name, scene(settings(folder, **sections)))


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
    assert all(f"{clip.called(word)} heard, " in one.detail for word in words)
    assert one.detail.endswith("other speech not")


@speaks
async def test_a_model_that_does_not_hear_its_word_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip, "spelled", lambda model: "good morning")
    one = await found("wake word", tmp_path)
    assert one.status == "fail"
    assert "okay nabu not heard" in one.detail


@speaks
async def test_other_speech_that_wakes_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clip, "OTHER_SPEECH", "okay nah boo")
    one = await found("wake word", tmp_path)
    assert (one.status, "wake.sensitivity" in one.mend) == ("warn", True)
    assert "other speech was taken for okay nabu" in one.detail


async def test_a_word_that_is_not_there(tmp_path: Path) -> None:
    one = await found("wake word", tmp_path, wake={"words": ["nobody"]})
    assert one.status == "fail"
    assert "wake.words" in one.mend


async def test_without_espeak_it_is_not_said_to_hear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(text: str, take: clip.Take) -> bytes:
        raise InputUnusable("espeak-ng is not installed; run: sudo apt install espeak-ng")

    monkeypatch.setattr(clip, "speak", away)
    for name in ("wake word", "voice detector"):
        one = await found(name, tmp_path)
        assert (one.status, "apt install espeak-ng" in one.mend) == ("warn", True)
        assert "not tried on a clip" in one.detail


@pytest.mark.parametrize(
    ("one", "status", "words"),
    [
        (Tried("okay nabu", True, 0.99, True), "ok", "okay nabu heard, 0.99"),
        (Tried("okay nabu", False, 0.61, True), "warn", "not heard, 0.61"),
        (Tried("okay nabu", False, 0.02, True), "fail", "not heard, 0.02"),
        (Tried("hey marvin", True, 0.9, False), "ok", "hey marvin heard"),
        (Tried("hey marvin", False, 0.02, False), "ok", "no clip that is known to be good"),
    ],
)
def test_how_it_is_judged(one: Tried, status: str, words: str) -> None:
    judged = wake.judge_wake([one], [], "micro")
    assert judged.status == status
    assert words in judged.detail
    assert bool(judged.mend) == (status != "ok")


def test_what_is_said_to_a_model() -> None:
    assert clip.spelled("okay_nabu") == "okay nah boo"
    assert clip.spelled("/models/hey_marvin.v2.tflite") == "hey marvin"
    assert clip.called("okay_nabu") == "okay nabu"


@speaks
def test_a_clip_has_silence_around_it() -> None:
    sound = clip.speak("hello there", clip.TAKES[0])
    half_a_second = SAMPLE_RATE  # bytes
    assert not any(sound[: half_a_second - 64])
    assert any(sound)
    assert not any(sound[-half_a_second:])


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputUnusable, match="apt install espeak-ng"):
        clip.speak("hello", clip.TAKES[0])


@speaks
async def test_the_voice_detector(tmp_path: Path) -> None:
    one = await found("voice detector", tmp_path)
    assert one.status == "ok"
    assert one.detail.startswith("Silero: speech ")


@pytest.mark.parametrize(
    ("kind", "speech", "silence", "status"),
    [
        ("Silero", 0.98, 0.02, "ok"),
        ("Webrtc", 1.0, 0.0, "warn"),
        ("Silero", 0.4, 0.02, "fail"),
        ("Silero", 0.98, 0.7, "fail"),
    ],
)
def test_how_a_detector_is_judged(kind: str, speech: float, silence: float, status: str) -> None:
    judged = wake.judge_detector(kind, speech, silence)
    assert (judged.status, bool(judged.mend)) == (status, status != "ok")


async def test_which_stop_words_work(tmp_path: Path) -> None:
    without = await found("stop words", tmp_path)
    assert "no model stop" in without.detail
    assert "by ear: the English ones" in without.detail
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
