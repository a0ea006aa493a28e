"""The settings of sound: devices, wake words, voices, tones and the hours in which all is soft."""

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

OFF = "off"  # no quiet hours
Sensitivity = Literal["low", "normal", "high"]


class Audio(Section):
    """Microphone and speaker."""

    input: str = Field(
        default="default",
        description="The microphone, as `hearth devices` names it; `file:PATH` and `null` too.",
    )
    output: str = Field(
        default="default",
        description="The speaker, as `hearth devices` names it; `file:PATH` and `null` too.",
    )
    echo_cancellation: Literal["auto", "on", "off", "system"] = Field(
        default="auto", description="Whether Hearth removes its own voice from what it hears."
    )
    channel: int | None = Field(
        default=None,
        ge=1,
        description="The microphone's channel to listen to, counted from 1; "
        "unset: the mean of all.",
    )
    noise_suppression: bool = Field(
        default=False,
        description="Whether noise is removed before anything listens; needs the extra `echo`.",
    )
    automatic_gain: bool = Field(
        default=False,
        description="Whether a quiet microphone is made louder; needs the extra `echo`.",
    )
    lead_in_ms: int = Field(
        default=0,
        ge=0,
        le=2000,
        description="Silence before the first sound after a pause, for a speaker that sleeps "
        "and swallows it. Milliseconds.",
    )


class WakeWord(Section):
    """One wake word with its own values."""

    model: NameOrPath = Field(description="A built-in word or the path of a model file.")
    sensitivity: Sensitivity | None = Field(
        default=None, description="How easily this word wakes it; unset: `wake.sensitivity`."
    )
    profile: str = Field(
        default="",
        description="The profile (`[profiles.NAME]`) that a turn woken by this word starts with.",
    )


def _word_as_table(word: Any) -> Any:
    return {"model": word} if isinstance(word, str) else word


class Wake(Section):
    """The wake word."""

    engine: Literal["micro", "open"] = Field(
        default="micro", description="microWakeWord or openWakeWord."
    )
    words: Annotated[
        tuple[Annotated[WakeWord, BeforeValidator(_word_as_table)], ...],
        AfterValidator(at_least_one),
    ] = Field(
        default=(WakeWord(model="okay_nabu"),),
        description="Each a built-in word, the path of a model file, or a table "
        "`{model=, sensitivity=, profile=}`.",
    )
    sensitivity: Sensitivity = Field(default="normal", description="How easily it wakes.")
    verify: Literal["off", "soft"] = Field(
        default="off", description="Whether the other engine may veto a detection."
    )


class Media(Section):
    """The media players of the room while somebody speaks with Hearth."""

    during_turn: Literal["lower", "pause", "leave"] = Field(
        default="lower",
        description="What happens to those that play, from the wake word to the end of the "
        "sentence and while Hearth speaks; afterwards they are put back.",
    )
    lower_to: float = Field(
        default=0.3, ge=0.0, le=1.0, description="The part of a player's volume that is left."
    )


class Recordings(Section):
    """Sound kept to find out why it woke or did not; off unless `keep` is set."""

    keep: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="How many of the last wakes, near misses and turns are kept as WAV files, "
        "of each kind.",
    )
    keep_hours: int = Field(
        default=48, ge=1, description="Files older than so many hours are deleted."
    )


class QuietHours(Section):
    """Every day's hours in which nothing is loud; a timer rings as ever."""

    from_: OptionalTime = Field(
        default="",
        alias="from",
        description='When they begin, by the clock on the wall, such as "22:30"; empty: never.',
    )
    to: OptionalTime = Field(
        default="",
        description="When they end; may lie after midnight. The same as `from` is the whole day.",
    )
    volume: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.3,
        description="Meanwhile answers, announcements and tones are no louder than this part of "
        "the voice's own loudness.",
    )

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if bool(self.from_) != bool(self.to):
            raise ValueError("must have both from and to, or neither")
        return self

    def __str__(self) -> str:
        """As people choose them while it runs: "22:30-07:00", or "off"."""
        return f"{self.from_}-{self.to}" if self.from_ else OFF

    def at_hours(self, text: str) -> Self:
        """The same loudness at other hours. `text`: as `str` gives it."""
        begins, _, ends = ("", "", "") if text == OFF else text.partition("-")
        return self.model_copy(update={"from_": begins, "to": ends})

    def include(self, now: datetime) -> bool:
        """True if `now`, in local time, lies in them: their first minute does, their last does not.

        Only the time on the wall counts: an hour that the clocks skip has no moments, and one that
        they repeat is quiet both times.
        """
        if not self.from_:
            return False
        begins, ends = time.fromisoformat(self.from_), time.fromisoformat(self.to)
        wall = now.time()
        if begins < ends:
            return begins <= wall < ends
        return wall >= begins or wall < ends

    def loudest(self, now: datetime) -> float:
        """The volume that nothing may pass at that moment; 1.0 is the voice's own loudness."""
        return self.volume if self.include(now) else math.inf


class SoundChoice(Section):
    """The short sounds that are played."""

    wake: Flag = Field(
        default=True,
        description="After the wake word, where the sentence does not follow at once: I listen.",
    )
    end: Flag = Field(
        default=False, description="When the sentence is over: I have heard it, and listen no more."
    )
    open: Flag = Field(
        default=True,
        description="When the microphone stays open after an answer. Where a program opens it, by "
        "a question say, this sounds in any case.",
    )
    thinking: Flag = Field(
        default=True, description="A soft one every few seconds while an answer takes its time."
    )
    done: Flag = Field(
        default=True,
        description="In place of words where `voice.acknowledge` wants it; "
        "where it is off, words tell it after all.",
    )
    error: Flag = Field(
        default=True, description="In front of the words that tell that something went wrong."
    )
    unmeant: Flag = Field(
        default=True, description="What was heard was probably not meant for Hearth: no answer."
    )
    muted: Flag = Field(
        default=True, description="The microphone is closed, and when it is open again."
    )
    offline: Flag = Field(
        default=True,
        description="In front of the words that tell, once, that this device alone serves.",
    )
    announce: Flag = Field(
        default=True, description="In front of words that nobody asked for just now."
    )
    timer: Flag = Field(
        default=True,
        description="The ringing of a timer; where it is off, words alone tell that it is over, "
        "again and again until somebody hears them.",
    )

    @property
    def off(self) -> frozenset[str]:
        """The sounds of `audio.earcons` that are not played."""
        kept = {"mute": self.muted, "unmute": self.muted}
        kept |= {name: on for name, on in self.model_dump().items() if name != "muted"}
        return frozenset(name for name, on in kept.items() if not on)


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
    """The voices it speaks with."""

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
