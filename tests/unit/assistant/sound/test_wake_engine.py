"""The wake engine by the settings, and by what is chosen in their place."""

import shutil
from pathlib import Path
from typing import Any

import pymicro_wakeword
import pytest

from assistant.config.schema import Settings
from assistant.sound.devices import known_words, models_folder, wake_engine
from audio.errors import InputUnusable
from audio.wake.micro import BUILT_IN, MicroWake

MODELS = Path(pymicro_wakeword.__file__).parent / "models"


def settings(folder: Path, **wake: Any) -> Settings:
    return Settings.model_validate({"assistant": {"data": str(folder)}, "wake": wake})


def add_model(folder: Path, name: str) -> None:
    models = models_folder(settings(folder))
    models.mkdir(exist_ok=True)
    shutil.copy(MODELS / "alexa.tflite", models / f"{name}.tflite")
    text = (MODELS / "alexa.json").read_text().replace("alexa.tflite", f"{name}.tflite")
    (models / f"{name}.json").write_text(text)


def made(*given: Any) -> MicroWake:
    engine = wake_engine(*given)
    engine.close()
    assert isinstance(engine, MicroWake)
    return engine


def test_all_that_could_be_listened_for_is_named_once_and_the_settings_first(
    tmp_path: Path,
) -> None:
    add_model(tmp_path, "hey_house")
    add_model(tmp_path, "stop")  # which is no wake word
    words = known_words(settings(tmp_path, words=["hey_jarvis", "/models/own.json"]))
    assert words[:2] == ("hey_jarvis", "/models/own.json")
    assert words[-1] == "hey_house"
    assert sorted(words) == sorted({*BUILT_IN, "hey_house", "/models/own.json"})


def test_without_a_choice_it_is_as_the_settings_say(tmp_path: Path) -> None:
    add_model(tmp_path, "stop")
    both = settings(tmp_path, words=["okay_nabu", {"model": "alexa", "sensitivity": "low"}])
    engine = made(both)
    assert set(engine.thresholds) == {"okay_nabu", "alexa", "stop"}
    assert engine.thresholds["alexa"] > made(both, (), "normal").thresholds["alexa"]


@pytest.mark.parametrize("sensitivity", ["low", "high"])
def test_a_choice_is_of_every_word_and_keeps_the_stop_word(
    tmp_path: Path, sensitivity: str
) -> None:
    add_model(tmp_path, "stop")
    both = settings(tmp_path, words=["okay_nabu", {"model": "alexa", "sensitivity": "normal"}])
    usual, chosen = made(both), made(both, ("alexa",), sensitivity)
    assert set(chosen.thresholds) == {"alexa", "stop"}
    assert (chosen.thresholds["alexa"] > usual.thresholds["alexa"]) is (sensitivity == "low")


def test_a_word_that_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="computer"):
        wake_engine(settings(tmp_path), ("computer",))
