"""Tests of the devices that Hearth uses by the settings, and of the reports of changes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pymicro_wakeword
import pytest

from assistant.config.schema import Settings
from assistant.sound import devices as module
from assistant.sound.devices import (
    known_words,
    models_folder,
    open_file_player,
    open_microphone,
    open_outputs,
    spare_voices_of,
    voices_of,
    wake_engine,
)
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import Presence
from audio.devices.watch import DeviceWatch
from audio.errors import InputUnusable
from audio.player import NullPlayer, OneOutput, Outputs
from audio.sound_files import read_wav
from audio.speaker import Speaker
from audio.tts import Speed
from audio.tts.tuned import TunedVoice, block_powers, speech_power
from audio.wake.micro import BUILT_IN, MicroWake
from tests.fakes.sound import FakeWatch
from tests.tiny_voice import make_tiny_voice

NOWHERE = OneOutput(NullPlayer(paced=False))


class Watch(FakeWatch):
    """A device watch without threads."""

    entered: list["Watch"]

    async def __aenter__(self) -> Self:
        Watch.entered.append(self)
        return self

    async def __aexit__(self, *error: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    Watch.entered = []
    monkeypatch.setattr(module, "DeviceWatch", Watch)


def settings(source: str) -> Settings:
    return Settings.model_validate({"audio": {"input": source}})


@pytest.mark.parametrize(
    ("source", "outputs", "hears", "watched"),
    [
        ("default", NOWHERE, True, 0),
        ("default", Speaker("box"), True, 1),
        ("null", Speaker("box"), False, 1),
        ("file:/tmp/words.wav", Speaker("box"), False, 1),
    ],
)
async def test_a_loudspeaker_hears_of_the_devices_with_or_without_a_microphone(
    source: str, outputs: Outputs, hears: bool, watched: int
) -> None:
    async with open_microphone(settings(source), outputs) as microphone:
        assert (microphone is not None) is hears
        assert [len(watch.calls) for watch in Watch.entered] == [watched]
    await outputs.close()
    assert not Watch.entered[0].calls


async def test_without_any_device_nothing_is_watched() -> None:
    async with open_microphone(settings("null"), NOWHERE) as microphone:
        assert microphone is None
    assert Watch.entered == []


class Echo(EchoWatch):
    """Records what it is to follow."""

    def __init__(self) -> None:
        self.followed: list[DeviceWatch] = []

    def follow(self, watch: DeviceWatch) -> None:
        self.followed.append(watch)


async def test_who_plans_for_the_echo_hears_of_the_devices() -> None:
    echo = Echo()
    async with open_microphone(settings("default"), NOWHERE, echo=echo):
        assert echo.followed == list[DeviceWatch](Watch.entered)


async def test_a_loudspeaker_that_is_looked_for_asks_the_microphone_to_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Callable[[], None]] = []
    monkeypatch.setattr(Presence, "follow", lambda presence, watch, ask: asked.append(ask))
    speaker = Speaker("box")
    async with open_microphone(settings("default"), speaker) as microphone:
        assert microphone is not None
        assert asked == [microphone.make_way]
    await speaker.close()


# The output of the answers, by the settings.


PCM = bytes(range(200)) * 8
RATE = 16_000


def settings_output(output: str) -> Settings:
    return Settings.model_validate({"audio": {"output": output, "lead_in_ms": 300}})


@pytest.mark.parametrize("by_option", [True, False])
async def test_a_file_takes_all_streams(tmp_path: Path, by_option: bool) -> None:
    path = tmp_path / "out.wav"
    output = "default" if by_option else f"file:{path}"
    async with open_outputs(settings_output(output), path if by_option else None) as outputs:
        for name in ("voice", "sounds"):
            await outputs.stream(name).play(PCM, RATE)
        outputs.duck(True)
    assert read_wav(path) == PCM * 2


async def test_null_is_nowhere() -> None:
    async with open_outputs(settings_output("null")) as outputs:
        assert isinstance(outputs, OneOutput)
        assert isinstance(outputs.stream("voice"), NullPlayer)


async def test_anything_else_is_a_device_which_is_not_opened_yet() -> None:
    async with open_outputs(settings_output("Kitchen speaker")) as outputs:
        assert isinstance(outputs, Speaker)
        assert not outputs.missing


async def test_a_file_player_opens_no_device(tmp_path: Path) -> None:
    async with open_file_player(None, paced=False) as player:
        await player.play(PCM, RATE)
    async with open_file_player(tmp_path / "out.wav", paced=False) as player:
        await player.play(PCM, RATE)
    assert read_wav(tmp_path / "out.wav") == PCM


# The voice of each language, and its values.


def settings_voices(folder: Path, **voice: Any) -> Settings:
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
    chosen = settings_voices(tmp_path, models={"es": {"model": model} if by == "table" else model})
    assert voices_of(chosen)(language).name == "piper:es_ES-tiny-low"


@pytest.mark.parametrize("name", ["es_ES-tiny-low", "/nowhere/x.onnx"])
def test_a_voice_that_is_not_there(tmp_path: Path, name: str) -> None:
    voices = voices_of(settings_voices(tmp_path, models={"es": name}))
    for language in ("es", "en"):
        with pytest.raises(InputUnusable, match=r"voice\.models"):
            voices(language)
    assert spare_voices_of(settings_voices(tmp_path))("es").name == "espeak:es"


@pytest.mark.parametrize("engine", ["piper", "gemini", "espeak"])
def test_what_we_say_ourselves_needs_a_local_voice(tmp_path: Path, engine: str) -> None:
    model = str(make_tiny_voice(tmp_path))
    voice = voices_of(settings_voices(tmp_path, engine=engine, models={"en": model}))("en")
    assert voice.name == ("espeak:en-us" if engine == "espeak" else "piper:tiny")


@pytest.mark.parametrize(
    ("general", "own", "asked", "times"),
    [(1.0, 2.0, None, 2.0), (2.0, 1.0, None, 2.0), (2.0, 2.0, None, 4.0), (4.0, 0.5, 2.0, 1.0)],
)
def test_speeds_are_multiplied(
    tmp_path: Path, general: float, own: float, asked: float | None, times: float
) -> None:
    model = str(make_tiny_voice(tmp_path))
    normal = said(voices_of(settings_voices(tmp_path, models={"en": model}))("en"))
    pace: Speed | None = None if asked is None else lambda: asked
    chosen = settings_voices(tmp_path, speed=general, models={"en": {"model": model, "speed": own}})
    assert len(said(voices_of(chosen, pace)("en"))) * times == len(normal)


def test_the_speed_of_the_moment_counts_for_kept_phrases_too(tmp_path: Path) -> None:
    pace = 1.0
    model = str(make_tiny_voice(tmp_path))
    voice = voices_of(settings_voices(tmp_path, models={"en": model}), lambda: pace)("en")
    normal = said(voice, "Done.")
    pace = 2.0
    assert 2 * len(said(voice, "Done.")) == len(normal)
    pace = 1.0
    assert len(said(voice, "Done.")) == len(normal)


def test_voices_are_equally_loud_but_for_their_volume(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    chosen = settings_voices(tmp_path, models={"en": model, "es": {"model": model, "volume": 0.5}})
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
    voices = voices_of(settings_voices(tmp_path, models=models))
    english, spanish = voices("en"), voices("es")
    assert english.name == spanish.name
    assert len(said(spanish, "Done.")) == 2 * len(said(english, "Done."))
    assert len(said(spanish, "Done.")) == 2 * len(said(english, "Done.")), "from memory, too"


def test_the_speaker_is_the_voice_s(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path, speakers=("amy", "bob")))

    def voice(speaker: Any) -> TunedVoice:
        return voices_of(
            settings_voices(tmp_path, models={"en": {"model": model, "speaker": speaker}})
        )("en")

    assert said(voice("bob"))
    assert said(voice(1))
    with pytest.raises(InputUnusable, match='no speaker "eve"'):
        voice("eve")


# The wake engine by the settings, and by choices that override them.


MODELS = Path(pymicro_wakeword.__file__).parent / "models"


def settings_wake_engine(folder: Path, **wake: Any) -> Settings:
    return Settings.model_validate({"assistant": {"data": str(folder)}, "wake": wake})


def add_model(folder: Path, name: str) -> None:
    models = models_folder(settings_wake_engine(folder))
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
    words = known_words(settings_wake_engine(tmp_path, words=["hey_jarvis", "/models/own.json"]))
    assert words[:2] == ("hey_jarvis", "/models/own.json")
    assert words[-1] == "hey_house"
    assert sorted(words) == sorted({*BUILT_IN, "hey_house", "/models/own.json"})


def test_without_a_choice_it_is_as_the_settings_say(tmp_path: Path) -> None:
    add_model(tmp_path, "stop")
    both = settings_wake_engine(
        tmp_path, words=["okay_nabu", {"model": "alexa", "sensitivity": "low"}]
    )
    engine = made(both)
    assert set(engine.thresholds) == {"okay_nabu", "alexa", "stop"}
    assert engine.thresholds["alexa"] > made(both, (), "normal").thresholds["alexa"]


@pytest.mark.parametrize("sensitivity", ["low", "high"])
def test_a_choice_is_of_every_word_and_keeps_the_stop_word(
    tmp_path: Path, sensitivity: str
) -> None:
    add_model(tmp_path, "stop")
    both = settings_wake_engine(
        tmp_path, words=["okay_nabu", {"model": "alexa", "sensitivity": "normal"}]
    )
    usual, chosen = made(both), made(both, ("alexa",), sensitivity)
    assert set(chosen.thresholds) == {"alexa", "stop"}
    assert (chosen.thresholds["alexa"] > usual.thresholds["alexa"]) is (sensitivity == "low")


def test_a_word_that_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(InputUnusable, match="computer"):
        wake_engine(settings_wake_engine(tmp_path), ("computer",))
