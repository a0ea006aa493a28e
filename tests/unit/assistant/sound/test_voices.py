"""Which voice speaks which language, with which values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.config.schema import Settings
from assistant.sound.devices import spare_voices_of, voices_of
from audio.errors import InputUnusable
from audio.tts import Speed
from audio.tts.tuned import TunedVoice, block_powers, speech_power
from tests.tiny_voice import make_tiny_voice


def settings(folder: Path, **voice: Any) -> Settings:
    return Settings.model_validate({"assistant": {"data": str(folder)}, "voice": voice})


def said(voice: TunedVoice, text: str = "The light is on.") -> bytes:
    return b"".join(chunk.pcm for chunk in voice.speak(text))


def loudness(pcm: bytes, rate: int) -> float:
    powers, _ = block_powers(np.frombuffer(pcm, np.int16) / 32768, rate)
    return float(10 * np.log10(speech_power(powers)[0]))


@pytest.mark.parametrize("language", ["es", "es-MX"])
@pytest.mark.parametrize("by", ["name", "path", "table"])
def test_a_voice_by_name_or_path(tmp_path: Path, by: str, language: str) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    path = make_tiny_voice(folder, "es_ES-tiny-low")
    model: Any = path.stem if by == "name" else str(path)
    chosen = settings(tmp_path, models={"es": {"model": model} if by == "table" else model})
    assert voices_of(chosen)(language).name == "piper:es_ES-tiny-low"


@pytest.mark.parametrize("name", ["es_ES-tiny-low", "/nowhere/x.onnx"])
def test_a_voice_that_is_not_there(tmp_path: Path, name: str) -> None:
    voices = voices_of(settings(tmp_path, models={"es": name}))
    for language in ("es", "en"):
        with pytest.raises(InputUnusable, match=r"voice\.models"):
            voices(language)
    assert spare_voices_of(settings(tmp_path))("es").name == "espeak:es"


@pytest.mark.parametrize("engine", ["piper", "gemini", "espeak"])
def test_what_we_say_ourselves_needs_a_local_voice(tmp_path: Path, engine: str) -> None:
    model = str(make_tiny_voice(tmp_path))
    voice = voices_of(settings(tmp_path, engine=engine, models={"en": model}))("en")
    assert voice.name == ("espeak:en-us" if engine == "espeak" else "piper:tiny")


@pytest.mark.parametrize(
    ("general", "own", "asked", "times"),
    [(1.0, 2.0, None, 2.0), (2.0, 1.0, None, 2.0), (2.0, 2.0, None, 4.0), (4.0, 0.5, 2.0, 1.0)],
)
def test_speeds_are_multiplied(
    tmp_path: Path, general: float, own: float, asked: float | None, times: float
) -> None:
    model = str(make_tiny_voice(tmp_path))
    normal = said(voices_of(settings(tmp_path, models={"en": model}))("en"))
    pace: Speed | None = None if asked is None else lambda: asked
    chosen = settings(tmp_path, speed=general, models={"en": {"model": model, "speed": own}})
    assert len(said(voices_of(chosen, pace)("en"))) * times == len(normal)


def test_the_speed_of_the_moment_counts_for_kept_phrases_too(tmp_path: Path) -> None:
    pace = 1.0
    model = str(make_tiny_voice(tmp_path))
    voice = voices_of(settings(tmp_path, models={"en": model}), lambda: pace)("en")
    normal = said(voice, "Done.")
    pace = 2.0
    assert 2 * len(said(voice, "Done.")) == len(normal)
    pace = 1.0
    assert len(said(voice, "Done.")) == len(normal)


def test_voices_are_equally_loud_but_for_their_volume(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    chosen = settings(tmp_path, models={"en": model, "es": {"model": model, "volume": 0.5}})
    own, spare = voices_of(chosen), spare_voices_of(chosen)
    english = own("en")
    normal = loudness(said(english), english.rate)
    spanish = own("es")
    assert loudness(said(spanish), spanish.rate) == pytest.approx(normal - 6.02, abs=0.5)
    robot = spare("en")
    said(robot)
    said(robot, "One two three four five.")
    assert loudness(said(robot), robot.rate) == pytest.approx(normal, abs=2.0)


def test_voices_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    paths = [make_tiny_voice(tmp_path / name) for name in "ab"]
    description = paths[1].with_name("tiny.onnx.json")
    slower = description.read_text().replace('"length_scale": 1.0', '"length_scale": 2.0')
    description.write_text(slower)
    models = dict(zip(("en", "es"), map(str, paths), strict=True))
    voices = voices_of(settings(tmp_path, models=models))
    english, spanish = voices("en"), voices("es")
    assert english.name == spanish.name
    assert len(said(spanish, "Done.")) == 2 * len(said(english, "Done."))
    assert len(said(spanish, "Done.")) == 2 * len(said(english, "Done.")), "from memory, too"


def test_the_speaker_is_the_voice_s(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path, speakers=("amy", "bob")))

    def voice(speaker: Any) -> TunedVoice:
        return voices_of(settings(tmp_path, models={"en": {"model": model, "speaker": speaker}}))(
            "en"
        )

    assert said(voice("bob"))
    assert said(voice(1))
    with pytest.raises(InputUnusable, match='no speaker "eve"'):
        voice("eve")
