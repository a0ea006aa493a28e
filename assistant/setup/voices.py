"""Which voice a language gets that has none. Pure."""

from collections.abc import Iterable, Mapping

from assistant.config.schema import Settings
from assistant.models.manifest import ModelEntry

_QUALITIES = ("medium", "high", "low", "x_low")  # the best for a small box comes first


def voice_for(language: str, known: Iterable[ModelEntry]) -> ModelEntry | None:
    """The manifest's voice for "es" or "es-MX": the region's own, then medium, then free to use."""
    spoken, _, region = language.partition("-")
    voices = [
        entry for entry in known if entry.kind == "voice" and entry.language.split("_")[0] == spoken
    ]
    return min(
        voices,
        key=lambda entry: (
            entry.language.split("_")[-1] != region if region else False,
            _QUALITIES.index(entry.quality) if entry.quality in _QUALITIES else len(_QUALITIES),
            entry.noncommercial,
        ),
        default=None,
    )


def lacking(
    settings: Settings, languages: Iterable[str], known: Iterable[ModelEntry]
) -> dict[str, str]:
    """A voice's name for each of these languages that no voice is set for and one is known for."""
    entries, has = tuple(known), settings.voice.models
    found: dict[str, str] = {}
    for language in languages:
        if language in has or language.split("-")[0] in has:
            continue
        entry = voice_for(language, entries)
        if entry is not None:
            found[language] = entry.name
    return found


def all_voices(settings: Settings, added: Mapping[str, str]) -> dict[str, object]:
    """`voice.models` as the file must have it: a table there replaces the default's whole."""
    there: dict[str, object] = {
        language: voice.model
        if voice == type(voice)(model=voice.model)
        else voice.model_dump(exclude_defaults=True)
        for language, voice in settings.voice.models.items()
    }
    return there | dict(added)
