"""Voices: the real espeak-ng, and the real Piper with a tiny voice."""

import logging
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from audio.errors import InputUnusable
from audio.tts import EspeakVoice, PiperVoice, make_voice
from audio.tts.espeak import espeak_name
from audio.tts.text import plain
from tests.tiny_voice import RATE as TINY_RATE
from tests.tiny_voice import make_tiny_voice


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_voice(tmp_path_factory.mktemp("voice"))


def seconds(pcm: bytes, rate: int) -> float:
    return len(pcm) / 2 / rate


def script(folder: Path, text: str) -> str:
    """A program that stands for espeak-ng."""
    path = folder / "espeak"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_espeak_speaks_and_speed_matters() -> None:
    voice = EspeakVoice("en")
    pieces = list(voice.speak("The kitchen light is on."))
    sound = np.frombuffer(b"".join(pieces), np.int16)
    assert all(len(piece) % 2 == 0 for piece in pieces)
    assert len(pieces) > 3  # it streams
    assert 1.0 < len(sound) / voice.rate < 3.0
    assert np.abs(sound).max() > 5000
    fast = b"".join(EspeakVoice("en", speed=1.8).speak("The kitchen light is on."))
    assert seconds(fast, voice.rate) < 0.75 * len(sound) / voice.rate


def test_the_speed_is_asked_before_each_clause() -> None:
    speeds = iter((1.0, 2.0))
    voice = EspeakVoice("en", lambda: next(speeds))
    slow, fast = (b"".join(voice.speak("The kitchen light is on.")) for _ in range(2))
    assert len(fast) < 0.75 * len(slow)


def test_what_looks_like_an_option_is_spoken() -> None:
    voice = EspeakVoice("en")
    for text in ("--help", "-v de", "[[hello]]", "one\ntwo\x00three"):
        assert seconds(b"".join(voice.speak(text)), voice.rate) > 0.2


def test_blank_text_gives_nothing() -> None:
    assert list(EspeakVoice("en").speak(" \n\x07 ")) == []


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("en", "en-us"),
        ("en-GB", "en-gb"),
        ("es", "es"),
        ("es_MX", "es-419"),
        ("pt-BR", "pt-br"),
        ("fr", "fr-fr"),
        ("de-AT", "de"),
        ("vi", "vi"),
        ("zh", "cmn"),
    ],
)
def test_languages_have_voices(language: str, name: str) -> None:
    assert espeak_name(language) == name
    assert sum(map(len, EspeakVoice(language).speak("1 2 3"))) > 10_000


def test_an_unknown_language_is_spoken_anyway(caplog: pytest.LogCaptureFixture) -> None:
    voice = EspeakVoice("tlh")
    assert voice.name == "espeak:en-us"
    assert "'tlh'" in caplog.text


def test_a_missing_program_tells_how_to_install_it() -> None:
    with pytest.raises(InputUnusable, match="sudo apt install espeak-ng"):
        list(EspeakVoice("en", program="espeak-ng-is-not-here").speak("hello"))


@pytest.mark.parametrize(
    "text", ["exit 3", "cat >/dev/null; echo no sound; exit 0", "cat >/dev/null; exit 1"]
)
def test_a_failing_program_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputUnusable, match="espeak-ng"):
        list(EspeakVoice("en", program=script(tmp_path, text)).speak("hello"))


def test_closing_the_iterator_ends_the_program(tmp_path: Path) -> None:
    log = tmp_path / "pid"
    program = script(
        tmp_path, f"echo $$ > {log}; cat >/dev/null; espeak-ng --stdout hello; exec sleep 100"
    )
    sound = EspeakVoice("en", program=program).speak("hello")
    assert next(sound)
    sound.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


def test_piper_gives_one_piece_for_each_sentence(tiny: Path) -> None:
    voice = PiperVoice(tiny)
    assert (voice.name, voice.rate) == ("piper:tiny", TINY_RATE)
    normal = list(voice.speak("Hello there. How are you?"))
    fast = list(PiperVoice(tiny, speed=2.0).speak("Hello there. How are you?"))
    assert [len(piece) for piece in normal] == [2 * len(piece) for piece in fast]
    asked = list(PiperVoice(tiny, lambda: 2.0).speak("Hello there. How are you?"))
    assert list(map(len, asked)) == list(map(len, fast))
    assert len(normal) == 2
    assert np.abs(np.frombuffer(normal[0], np.int16)).max() > 10_000
    assert list(voice.speak("  ")) == []


def test_piper_uses_two_threads_at_most(tiny: Path) -> None:
    options = PiperVoice(tiny)._voice.session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (2, 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_make_voice_takes_piper_when_it_can(tiny: Path) -> None:
    assert make_voice("piper", "en", tiny).name == "piper:tiny"
    assert make_voice("espeak", "en", tiny).name == "espeak:en-us"
    with pytest.raises(InputUnusable, match=r"voice\.engine"):
        make_voice("festival", "en", None)


def test_a_broken_voice_falls_back_and_says_so_once(
    tmp_path: Path, tiny: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    junk = tmp_path / "junk.onnx"
    junk.write_bytes(b"no model")
    alone = tmp_path / "alone.onnx"
    alone.write_bytes(tiny.read_bytes())
    junk.with_name("junk.onnx.json").write_text(tiny.with_name("tiny.onnx.json").read_text())
    for model in (junk, alone, tmp_path / "missing.onnx", None):
        caplog.clear()
        for _ in range(2):
            assert make_voice("piper", f"en-{tmp_path.name}", model).name == "espeak:en-us"
        assert len(caplog.records) == 1
        assert "\n" not in caplog.text.strip()


def test_engines_get_one_plain_line() -> None:
    assert plain("a\n b\t[[c]]\x1b d ") == "a b c d"
