"""Which voice speaks which language, by the settings."""

from collections.abc import Callable, Iterator
from pathlib import Path

from assistant.config.schema import Settings
from assistant.config.sections import VoiceModel
from audio.errors import InputUnusable
from audio.tts import (
    Chunk,
    Leveller,
    PhraseCache,
    Speed,
    TunedVoice,
    Voice,
    make_voice,
    speed_now,
)


def voices_of(
    settings: Settings, speed: Speed | None = None, *, ahead: bool = False
) -> Callable[[str], TunedVoice]:
    """A function from a language code to its voice. Blocking when called: a model may load.

    It raises AudioError where there is no usable voice. The voices are equally loud and keep short
    phrases; they belong to one thread. `speed`: in the place of `voice.speed`. `ahead`: the process
    stays, and what the next clause needs may be started before it is asked for.
    """
    # The model's own voice speaks only what the model says; our own lines need a local one.
    engine = "piper" if settings.voice.engine == "gemini" else settings.voice.engine
    return _tuned(engine, settings, speed, ahead=ahead)


def spare_voices_of(settings: Settings, speed: Speed | None = None) -> Callable[[str], TunedVoice]:
    """The same with espeak-ng, for languages whose own voice fails."""
    return _tuned("espeak", settings, speed)


def _tuned(
    engine: str, settings: Settings, speed: Speed | None, *, ahead: bool = False
) -> Callable[[str], TunedVoice]:
    common: Speed = settings.voice.speed if speed is None else speed
    leveller, cache = Leveller(), PhraseCache()

    def voice(language: str) -> TunedVoice:
        choice = _choice(settings, language)
        model = _model_file(choice.model, settings.data_folder) if choice.model else None
        if engine == "piper" and choice.model and model is None:
            raise InputUnusable(
                f"The voice {choice.model} is not here; run: hearth models download "
                f'{choice.model}, or name another in voice.models, or set voice.engine = "espeak".'
            )

        def pace() -> float:
            return speed_now(common) * choice.speed

        return TunedVoice(
            make_voice(engine, language, model, pace, choice.speaker, ahead=ahead),
            leveller,
            cache,
            identity=f"{engine} {language} {model}",
            speaker=choice.speaker,
            speed=pace,
            volume=choice.volume,
        )

    return voice


def _choice(settings: Settings, language: str) -> VoiceModel:
    models = settings.voice.models
    return models.get(language) or models.get(language.split("-")[0]) or VoiceModel()


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

    def speak(self, text: str) -> Iterator[Chunk]:
        return iter(())


def silent_voice(language: str) -> Voice:
    """A voice that says nothing, in every language."""
    return _SilentVoice()
