"""Models in a folder: found by name, listed, and refused if broken."""

from pathlib import Path

import pymicro_wakeword
import pyopen_wakeword
import pytest

from audio.errors import InputUnusable
from audio.wake import added_words, make_wake_engine

MICRO = Path(pymicro_wakeword.__file__).parent / "models"
OPEN = Path(pyopen_wakeword.__file__).parent / "models"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with models of both engines, a voice, and unusable files."""
    (tmp_path / "hello_house.json").write_text(
        (MICRO / "alexa.json").read_text().replace('"alexa.tflite"', '"hello_house.tflite"')
    )
    (tmp_path / "hello_house.tflite").write_bytes((MICRO / "alexa.tflite").read_bytes())
    (tmp_path / "hey_house.tflite").write_bytes((OPEN / "alexa.tflite").read_bytes())
    (tmp_path / "broken.tflite").write_bytes(b"not a model")
    (tmp_path / "broken_too.tflite").write_bytes((MICRO / "alexa.tflite").read_bytes()[:5_000])
    (tmp_path / "broken_too.json").write_text("{}")
    (tmp_path / "en_US-voice.onnx.json").write_text("{}")
    (tmp_path / "en_US-voice.onnx").write_bytes(b"")
    return tmp_path


def test_what_lies_there(folder: Path) -> None:
    assert added_words("micro", folder) == ("broken_too", "hello_house")
    assert added_words("open", folder) == ("broken", "hey_house")
    assert added_words("open", folder / "missing") == ()
    assert added_words("micro", None) == ()


@pytest.mark.parametrize(("engine", "word"), [("micro", "hello_house"), ("open", "hey_house")])
def test_it_is_a_word_by_its_name_beside_the_built_in(engine: str, word: str, folder: Path) -> None:
    made = make_wake_engine(engine, [word, "okay_nabu"], folder=folder)
    assert list(made.scores) == [word, "okay_nabu"]
    made.close()


@pytest.mark.parametrize(
    ("engine", "word", "sentence"),
    [
        (
            "micro",
            "hey_house",
            '"hey_house" in wake.words is not an available wake word: use okay_nabu, hey_jarvis, '
            "hey_mycroft, alexa, broken_too, hello_house, or the path of a .json model, or put "
            "one into {}.",
        ),
        (
            "open",
            "hello_house",
            '"hello_house" in wake.words is not an available wake word: use okay_nabu, '
            "hey_jarvis, hey_mycroft, alexa, hey_rhasspy, broken, hey_house, or the path of a "
            ".tflite model, or put one into {}.",
        ),
        (
            "open",
            "broken",
            "The wake-word model {}/broken.tflite is missing or damaged: download it again or use "
            "another one.",
        ),
        (
            "micro",
            "broken_too",
            "The wake-word model {}/broken_too.json is not a microWakeWord manifest: download it "
            "again or use another one.",
        ),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(
    engine: str, word: str, sentence: str, folder: Path
) -> None:
    with pytest.raises(InputUnusable) as caught:
        make_wake_engine(engine, ["okay_nabu", word], folder=folder)
    assert str(caught.value) == sentence.format(folder)
