"""Which voice speaks which language, by the settings."""

from collections.abc import Callable, Iterator
from pathlib import Path

from assistant.config.schema import Settings
from audio.tts import Speed, Voice, make_voice


def voices_of(settings: Settings, speed: Speed | None = None) -> Callable[[str], Voice]:
    """A function from a language code to its voice. Blocking when called: a model may load.

    `speed`: in the place of `voice.speed`.
    """
    choice = settings.voice
    # The model's own voice speaks only what the model says; our own lines need a local one.
    engine = "piper" if choice.engine == "gemini" else choice.engine

    def voice(language: str) -> Voice:
        name = choice.models.get(language) or choice.models.get(language.split("-")[0])
        model = _model_file(name, settings.data_folder) if name else None
        return make_voice(engine, language, model, choice.speed if speed is None else speed)

    return voice


def _model_file(name: str, data: Path) -> Path | None:
    """A path as it is; a voice's name in the data folder's `models`, if it was downloaded."""
    if name.endswith(".onnx") or "/" in name:
        return Path(name).expanduser()
    downloaded = data / "models" / f"{name}.onnx"
    return downloaded if downloaded.is_file() else None


class _SilentVoice:
    """Makes no sound: for turns whose answer is read, not heard."""

    name = "silent"
    rate = 16_000  # Hz

    def speak(self, text: str) -> Iterator[bytes]:
        return iter(())


def silent_voice(language: str) -> Voice:
    """A voice that says nothing, in every language."""
    return _SilentVoice()
