"""Settings for sound: recognition, devices, wake words, media, voices, tones and quiet hours."""

import math
from datetime import datetime, time
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from assistant.config.kinds import (
    Flag,
    Language,
    NameOrPath,
    OptionalTime,
    Section,
    Speed,
    Volume,
    at_least_one,
)

OFF = "off"  # text for no quiet hours
Sensitivity = Literal["low", "normal", "high"]


class Offline(Section):
    """Local speech recognition."""

    recognizer: NameOrPath = Field(
        default="",
        description=(
            "Address of a Wyoming server (`tcp://host:10300`), or folder of a vosk or "
            "sherpa-onnx model. If empty, Hearth uses the built-in English recogniser."
        ),
    )


class Audio(Section):
    """Microphone and loudspeaker."""

    input: str = Field(
        default="default",
        description=(
            "Name of the microphone as shown by `hearth devices`, `file:PATH` to read a WAV "
            "file, or `null` for no microphone."
        ),
    )
    output: str = Field(
        default="default",
        description=(
            "Name of the loudspeaker as shown by `hearth devices`, `file:PATH` to write a WAV "
            "file, or `null` for no loudspeaker."
        ),
    )
    echo_cancellation: Literal["auto", "on", "off", "system"] = Field(
        default="auto",
        description=(
            "Remove Hearth's own voice from the microphone signal. `auto` measures the echo "
            "first; `system` leaves it to the sound server."
        ),
    )
    channel: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Microphone channel to use, counted from 1. If unset, Hearth uses the mean of all "
            "channels."
        ),
    )
    noise_suppression: bool = Field(
        default=False,
        description="Remove noise from the microphone signal. Requires the extra `echo`.",
    )
    automatic_gain: bool = Field(
        default=False,
        description="Amplify a quiet microphone. Requires the extra `echo`.",
    )
    lead_in_ms: int = Field(
        default=0,
        ge=0,
        le=2000,
        description=(
            "Milliseconds of silence before the first sound after a pause, for loudspeakers "
            "that wake up slowly and cut off the first word."
        ),
    )


class WakeWord(Section):
    """A wake word with its own settings."""

    model: NameOrPath = Field(description="Name of a built-in wake word or path of a model file.")
    sensitivity: Sensitivity | None = Field(
        default=None,
        description="Sensitivity of this wake word. If unset, `wake.sensitivity` applies.",
    )
    profile: str = Field(
        default="",
        description="Profile (`[profiles.NAME]`) for turns that begin with this wake word.",
    )


def _word_as_table(word: Any) -> Any:
    return {"model": word} if isinstance(word, str) else word


class Wake(Section):
    """Wake words and how they are detected."""

    engine: Literal["micro", "open"] = Field(
        default="micro",
        description="Detection engine: microWakeWord (`micro`) or openWakeWord (`open`).",
    )
    words: Annotated[
        tuple[Annotated[WakeWord, BeforeValidator(_word_as_table)], ...],
        AfterValidator(at_least_one),
    ] = Field(
        default=(WakeWord(model="okay_nabu"),),
        description=(
            "Wake words. Each entry is a built-in word, the path of a model file, or a table "
            "`{model=, sensitivity=, profile=}`."
        ),
    )
    sensitivity: Sensitivity = Field(
        default="normal",
        description=(
            "Sensitivity of the detection. A higher sensitivity makes it easier to wake "
            "Hearth but causes more false alarms."
        ),
    )
    verify: Literal["off", "soft"] = Field(
        default="off",
        description=(
            "Second check of each detection. With `soft`, the other engine can reject the "
            "detection."
        ),
    )


class Media(Section):
    """Handling of the room's media players during a conversation."""

    during_turn: Literal["lower", "pause", "leave"] = Field(
        default="lower",
        description=(
            "What Hearth does with players that are on, from the wake word to the end of the "
            "sentence and while Hearth is speaking: it can `lower` their volume, `pause` "
            "them, or `leave` them alone. Afterwards, Hearth restores the players."
        ),
    )
    lower_to: float = Field(
        default=0.3,
        ge=0.0,
        le=1.0,
        description="With `lower`, Hearth reduces a player's volume to this fraction.",
    )


class Recordings(Section):
    """Recordings that show why Hearth did or didn't react to a wake word. Hearth records only if
    `keep` is set."""

    keep: int = Field(
        default=0,
        ge=0,
        le=1000,
        description=(
            "Number of detected wake words, near misses and turns that Hearth keeps as WAV "
            "files (each counted separately)."
        ),
    )
    keep_hours: int = Field(
        default=48, ge=1, description="Number of hours after which Hearth deletes recordings."
    )


class QuietHours(Section):
    """Hours in which Hearth speaks and plays sounds quietly. Timers still ring at full loudness."""

    from_: OptionalTime = Field(
        default="",
        alias="from",
        description='Start in local time, such as "22:30". If empty, there are no quiet hours.',
    )
    to: OptionalTime = Field(
        default="",
        description=(
            "End in local time, which can be after midnight. If it is the same time as "
            "`from`, quiet hours last all day."
        ),
    )
    volume: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.3,
        description=(
            "Maximum loudness of answers, announcements and tones during quiet hours, as a "
            "fraction of the normal loudness."
        ),
    )

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if bool(self.from_) != bool(self.to):
            raise ValueError("must have both from and to, or neither")
        return self

    def __str__(self) -> str:
        """Format the hours as users set them at run time: "22:30-07:00" or "off"."""
        return f"{self.from_}-{self.to}" if self.from_ else OFF

    def at_hours(self, text: str) -> Self:
        """Return a copy with the hours in `text`, which is in the format of `str()`: "22:30-07:00"
        or "off"."""
        begins, _, ends = ("", "", "") if text == OFF else text.partition("-")
        return self.model_copy(update={"from_": begins, "to": ends})

    def include(self, now: datetime) -> bool:
        """Return True if the local time `now` is in the quiet hours, which include `from` but not
        `to`."""
        if not self.from_:
            return False
        begins, ends = time.fromisoformat(self.from_), time.fromisoformat(self.to)
        wall = now.time()
        if begins < ends:
            return begins <= wall < ends
        return wall >= begins or wall < ends

    def loudest(self, now: datetime) -> float:
        """Return the maximum volume at the local time `now`: `volume` in quiet hours, otherwise
        infinity."""
        return self.volume if self.include(now) else math.inf


class SoundChoice(Section):
    """Tones that signal what Hearth is doing."""

    wake: Flag = Field(
        default=True,
        description=(
            "Play a tone after the wake word, if the sentence doesn't follow immediately, to "
            "show that Hearth is listening."
        ),
    )
    end: Flag = Field(
        default=False,
        description=(
            "Play a tone at the end of the sentence to show that Hearth has stopped listening."
        ),
    )
    open: Flag = Field(
        default=True,
        description=(
            "Play a tone if the microphone stays open after an answer. The tone is always "
            "played if a program opens the microphone, for example to ask a question."
        ),
    )
    thinking: Flag = Field(
        default=True,
        description="Play a soft tone every few seconds while Hearth is preparing an answer.",
    )
    done: Flag = Field(
        default=True,
        description=(
            "Play a tone instead of words if `voice.acknowledge` allows it. If false, "
            "Hearth uses words."
        ),
    )
    error: Flag = Field(default=True, description="Play a tone before Hearth reports a failure.")
    unmeant: Flag = Field(
        default=True, description="Play a tone if the speech was probably not meant for Hearth."
    )
    muted: Flag = Field(
        default=True, description="Play a tone when the microphone is muted or unmuted."
    )
    offline: Flag = Field(
        default=True,
        description=(
            "Play a tone before Hearth says (only once) that it is working without the cloud "
            "for now."
        ),
    )
    announce: Flag = Field(default=True, description="Play a tone before announcements.")
    timer: Flag = Field(
        default=True,
        description=(
            "Ring when a timer ends. If false, Hearth repeats the timer's words until "
            "somebody reacts."
        ),
    )

    @property
    def off(self) -> frozenset[str]:
        """Names of the sounds in `audio.earcons` that are turned off."""
        kept = {"mute": self.muted, "unmute": self.muted}
        kept |= {name: on for name, on in self.model_dump().items() if name != "muted"}
        return frozenset(name for name, on in kept.items() if not on)


def _speaker_as_text(speaker: Any) -> Any:
    is_number = isinstance(speaker, int) and not isinstance(speaker, bool)
    return str(speaker) if is_number else speaker


class VoiceModel(Section):
    """A language's voice with its own settings."""

    model: NameOrPath = Field(
        default="", description="Name of a voice or path of a voice file (only for `piper`)."
    )
    speaker: Annotated[str, BeforeValidator(_speaker_as_text)] = Field(
        default="",
        description=(
            "Name or number of one of the voice's speakers (only for `piper`). If empty, "
            "Hearth uses the first speaker."
        ),
    )
    speed: Speed = Field(
        default=1.0, description="Speaking speed of this voice, multiplied by `voice.speed`."
    )
    volume: Volume = Field(
        default=1.0, description="Loudness of this voice. 1.0 is as loud as the other voices."
    )


def _voice_as_table(voice: Any) -> Any:
    return {"model": voice} if isinstance(voice, str) else voice


class VoiceChoice(Section):
    """Hearth's voices."""

    engine: Literal["piper", "espeak", "gemini"] = Field(
        default="piper",
        description=(
            "Speech engine. `piper` and `espeak` run locally; `gemini` is the model's own voice."
        ),
    )
    models: dict[Language, Annotated[VoiceModel, BeforeValidator(_voice_as_table)]] = Field(
        default={"en": VoiceModel(model="en_US-lessac-medium")},
        description=(
            "Voice for each language: the name of a piper voice, the path of a voice file, "
            "or a table `{model=, speaker=, speed=, volume=}`."
        ),
    )
    speed: Speed = Field(default=1.0, description="Speaking speed. 1.0 is the voice's own speed.")
    volume: Volume = Field(
        default=1.0, description="Loudness. 1.0 is the common level of all voices."
    )
    acknowledge: Literal["auto", "sound", "words"] = Field(
        default="words",
        description=(
            "How Hearth confirms a command after it has verified the effect: in words "
            "(`words`), by a tone (`sound`), or by a tone only if the effect was in "
            "`assistant.area` (`auto`). All other answers use words."
        ),
    )
