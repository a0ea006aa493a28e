"""The settings of Google's models."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from assistant.config.kinds import (
    NO_SECRET,
    Amount,
    BrainName,
    Count,
    Flag,
    Language,
    ModelName,
    NameOrPath,
    OptionalLanguage,
    OptionalTime,
    OptionalWebAddress,
    Port,
    Seconds,
    Section,
    Speed,
    Volume,
    no_repeats,
)
from assistant.config.suggest import nearest

Thinking = Literal["", "low", "medium", "high"]


class Gemini(Section):
    """Google's models; used only with `privacy.accept_cloud = true`."""

    api_key: SecretStr = Field(
        default=NO_SECRET, description="The key; `GEMINI_API_KEY` and `GOOGLE_API_KEY` serve too."
    )
    api_key_file: str = Field(default="", description="A file that holds the key.")
    model: ModelName = Field(
        default="gemini-3.8-live", description="The model that is spoken with."
    )
    once_model: ModelName = Field(
        default="gemini-3.8-flash", description="The model that is sent one recording at a time."
    )
    base_url: OptionalWebAddress = Field(default="", description="Another address of the service.")
    ca_file: str = Field(
        default="", description="Certificate authority for `base_url`, as a PEM file."
    )
    api_version: str = Field(default="v1beta", description="Version of the interface.")
    google_search: Flag = Field(default=False, description="Whether the model may search the web.")
    voice: str = Field(
        default="",
        description='The model\'s own voice, such as `Kore`, for `voice.engine = "gemini"`. '
        "Empty: the service chooses.",
    )
    thinking: Thinking = Field(
        default="",
        description="How long a model may think about a hard question. Empty: medium. "
        "Plain commands are never thought about longer than the model must.",
    )
    keep_warm_s: Amount = Field(
        default=180.0, description="Seconds that a connection stays open after its last use."
    )
    fresh_after_s: Seconds = Field(
        default=600.0,
        description="Seconds of quiet after which a conversation is forgotten and begins anew.",
    )
    late_text_ms: Count = Field(
        default=300,
        description="Milliseconds that the end of an answer's text is waited for "
        "after the answer's end.",
    )
    connect_timeout_s: Seconds = Field(default=5.0, description="Seconds that connecting may take.")
    first_event_timeout_s: Seconds = Field(
        default=6.0,
        description="Seconds that the first sign of an answer may take after the sentence's end.",
    )


# The settings of the profiles, manners in which turns are held, and whether they fit the rest.


class Profile(Section):
    """A manner, chosen by a wake word or while it runs, by NAME; an empty key: as without one.

    It can take away from what the settings allow and never adds to it.
    """

    persona: str = Field(
        default="", description="How it should speak, instead of `assistant.persona`."
    )
    language: OptionalLanguage = Field(
        default="",
        description="Which of `assistant.languages` counts where nothing else tells.",
    )
    thinking: Thinking = Field(default="", description="Instead of `gemini.thinking`.")
    voice: str = Field(default="", description="Instead of `gemini.voice`.")
    local_voice: NameOrPath = Field(
        default="",
        description="Instead of the local voice of its language (of the first one, where it names "
        "none): a voice's name or the path of a voice file.",
    )
    tools: tuple[str, ...] = Field(
        default=(),
        description="The tools that may be used, by name, `*` and `?` allowed; empty: all. The "
        "policy decides about each call as ever.",
    )
    brain: Annotated[tuple[BrainName, ...], AfterValidator(no_repeats)] = Field(
        default=(),
        description="The brains of `brain.order` that are asked, in this order; empty: all.",
    )


Complaint = tuple[tuple[str, ...], str]  # the place in the file, and the end of a sentence


def misfits(
    profiles: Mapping[str, Profile], languages: Collection[str], brains: Collection[str]
) -> Iterator[Complaint]:
    """What the profiles ask for that the rest of the settings does not have."""
    for name, profile in profiles.items():
        if profile.language and profile.language not in languages:
            known = ", ".join(languages)
            yield ("profiles", name, "language"), f"must be one of assistant.languages: {known}"
        for brain in profile.brain:
            if brain not in brains:
                hint = ", ".join(brains)
                yield ("profiles", name, "brain"), f"must name brains of brain.order alone: {hint}"


def no_profile(name: str, known: Collection[str]) -> str:
    """The end of a sentence about a profile that is not there."""
    near = nearest(name, known)
    hint = f'; did you mean "{near}"?' if near else f"; add a table [profiles.{name}]"
    return f'must name a profile, and there is no "{name}"{hint}'


# The settings of the hours in which Hearth speaks softly.


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


# The section of the settings that says which short sounds are played.


class SoundChoice(Section):
    """Which short sounds are played."""

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


# The settings of the voices.


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


# The settings of the satellite that Home Assistant sees by the Wyoming protocol.


class Wyoming(Section):
    """The box as a satellite in Home Assistant. It needs no token: who reaches it can use it."""

    enabled: Flag = Field(default=False, description="Whether it is served.")
    host: str = Field(
        default="127.0.0.1",
        description='Address to listen on; "0.0.0.0" where Home Assistant runs elsewhere.',
    )
    port: Port = Field(default=10700, description="Port of the satellite.")
    tts_port: Port = Field(
        default=10701, description="Port at which Home Assistant gets Hearth's voice."
    )
    zeroconf: Flag = Field(
        default=True,
        description="Whether the network is told of both, so that Home Assistant offers them; "
        "never of a loopback address.",
    )

    @model_validator(mode="after")
    def _two_ports(self) -> Self:
        if self.port == self.tts_port:
            raise ValueError("must have two ports: port and tts_port are the same")
        return self
