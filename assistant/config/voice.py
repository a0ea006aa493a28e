"""The settings of the voices."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from assistant.config.kinds import Language, NameOrPath, Section, Speed, Volume


def _speaker_as_text(speaker: Any) -> Any:
    is_number = isinstance(speaker, int) and not isinstance(speaker, bool)
    return str(speaker) if is_number else speaker


class VoiceModel(Section):
    """The voice of one language with its own values."""

    model: NameOrPath = Field(
        default="", description="piper: a voice's name or the path of a voice file."
    )
    speaker: Annotated[str, BeforeValidator(_speaker_as_text)] = Field(
        default="",
        description="piper: one of the voice's speakers, by name or number; empty: its first.",
    )
    speed: Speed = Field(default=1.0, description="Multiplied with `voice.speed`.")
    volume: Volume = Field(default=1.0, description="1.0 is as loud as the other voices.")


def _voice_as_table(voice: Any) -> Any:
    return {"model": voice} if isinstance(voice, str) else voice


class VoiceChoice(Section):
    """How it speaks."""

    engine: Literal["piper", "espeak", "gemini"] = Field(
        default="piper", description="The local voices piper and espeak, or the model's own."
    )
    models: dict[Language, Annotated[VoiceModel, BeforeValidator(_voice_as_table)]] = Field(
        default={"en": VoiceModel(model="en_US-lessac-medium")},
        description="The voice for each language: piper's name or the path of a voice file, "
        "or a table `{model=, speaker=, speed=, volume=}`.",
    )
    speed: Speed = Field(default=1.0, description="1.0 is the voice's own pace.")
    volume: Volume = Field(
        default=1.0, description="1.0 is the loudness to which all voices are brought."
    )
    acknowledge: Literal["auto", "sound", "words"] = Field(
        default="words",
        description="How a command that was seen to be done is answered: in words; by a tone "
        "(`sound`); by a tone where it was done in the room `assistant.area` (`auto`). "
        "Whatever else there is to tell or to ask is told in words.",
    )
