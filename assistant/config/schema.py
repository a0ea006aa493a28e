"""Every setting with its type, default and meaning; docs/configuration.md is made from it."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from assistant.config.kinds import (
    NO_SECRET,
    BrainName,
    Callback,
    Count,
    Flag,
    HomeAddress,
    HttpToken,
    Language,
    NameOrPath,
    PlainName,
    Port,
    Positive,
    Section,
    Topic,
    TopicBase,
    at_least_one,
    no_repeats,
)
from assistant.config.places import data_folder
from assistant.config.sections import (
    Gemini,
    Profile,
    QuietHours,
    SoundChoice,
    VoiceChoice,
    Wyoming,
    misfits,
    no_profile,
)
from assistant.config.tools import Limits, Mcp, Policy, Tools

Sensitivity = Literal["low", "normal", "high"]


class Assistant(Section):
    """Who Hearth is and where it stands."""

    name: str = Field(default="Hearth", description="What it calls itself.")
    languages: Annotated[
        tuple[Language, ...], AfterValidator(at_least_one), AfterValidator(no_repeats)
    ] = Field(
        default=("en",),
        description="Languages it is spoken to in; the first one counts where nothing else tells.",
    )
    area: str = Field(
        default="",
        description="The area of Home Assistant in which this box stands, "
        "for sentences that name no place.",
    )
    place: str = Field(
        default="",
        description="Where the house stands, as you would tell a guest, "
        'such as "Lugo, Spain"; for questions about the weather and the neighbourhood.',
    )
    persona: str = Field(default="", description="How it should speak, in your own words.")
    follow_up: Literal["question", "always", "never"] = Field(
        default="question",
        description="After which answers it listens again without the wake word: "
        "those that ask something, all, none.",
    )
    data: str = Field(
        default="",
        description="Folder of everything that must survive. Empty: `$STATE_DIRECTORY`, "
        "else `hearth` in the user's state folder.",
    )


class Privacy(Section):
    """What may leave the house."""

    accept_cloud: Flag = Field(
        default=False,
        description="Whether speech, and what is needed to serve it, may go to Google.",
    )
    share_heard: Flag = Field(
        default=False,
        description="Whether what was heard may be published to Home Assistant and MQTT.",
    )


class HomeAssistant(Section):
    """The house."""

    url: HomeAddress = Field(
        default="http://homeassistant.local:8123",
        description='Address of Home Assistant; "demo" is a simulated house inside Hearth.',
    )
    token: SecretStr = Field(default=NO_SECRET, description="A long-lived access token.")
    token_file: str = Field(default="", description="A file that holds the token.")
    verify_tls: Flag = Field(
        default=True, description="Whether an https certificate must be valid."
    )
    ca_file: str = Field(
        default="", description="Certificate authority of your own, as a PEM file."
    )


class BrainChoice(Section):
    """Who understands what was said."""

    order: Annotated[
        tuple[BrainName, ...], AfterValidator(at_least_one), AfterValidator(no_repeats)
    ] = Field(
        default=("gemini-live", "gemini-once", "home-assistant", "offline"),
        description="Tried in this order; what is not there is skipped.",
    )
    prefer_local: Literal["never", "sentences", "always"] = Field(
        default="never",
        description="Whether plain commands stay in the house: never, "
        "only Home Assistant's own sentences, or always when they are understood there.",
    )


class Offline(Section):
    """Recognition without the cloud."""

    recognizer: NameOrPath = Field(
        default="",
        description="Empty: the built-in English one. Else the address of a Wyoming server "
        "(`tcp://host:10300`) or the folder of a vosk or sherpa-onnx model.",
    )


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


class Http(Section):
    """The interface for programs and the console page."""

    host: str = Field(
        default="127.0.0.1", description="Address to listen on; loopback unless changed."
    )
    port: Port = Field(default=8765, description="Port to listen on.")
    token: HttpToken = Field(
        default=NO_SECRET,
        description="The administrator's token, of 16 characters or more, or its hash as "
        "`sha256:HEX`; empty: the one that `hearth setup --token admin` makes.",
    )
    token_file: str = Field(default="", description="A file that holds the token.")
    tls_cert: str = Field(
        default="", description="A certificate with its chain, as a PEM file: served by https."
    )
    tls_key: str = Field(
        default="", description="Its key, as a PEM file; empty: it is in `tls_cert` too."
    )
    ingress: Literal["off", "token", "home-assistant"] = Field(
        default="off",
        description="Whether the console is shown within Home Assistant (add-ons alone). `token`: "
        "people sign in there too; `home-assistant`: every user of Home Assistant, its "
        "administrators or not, may read, ask and speak without signing in.",
    )
    mcp_turns: Flag = Field(
        default=False,
        description="Whether programs that use `/mcp` with the scope `read` are told by "
        "`get_last_turns` what was said lately, and by `ask` what people asked to remember.",
    )
    mcp_callbacks: tuple[Callback, ...] = Field(
        default=(),
        description="Further addresses, whole, to which `/mcp/authorize` may send a browser back. "
        "My Home Assistant's and the one below `home_assistant.url` are always among them.",
    )


class Mqtt(Section):
    """A broker, if Home Assistant should see Hearth that way."""

    host: str = Field(default="", description="Its name or address; empty: not used.")
    port: Port = Field(default=1883, description="Its port.")
    username: str = Field(default="", description="User name.")
    password: SecretStr = Field(default=NO_SECRET, description="Password.")
    password_file: str = Field(default="", description="A file that holds the password.")
    tls: Flag = Field(default=False, description="Whether it is spoken to by TLS.")
    ca_file: str = Field(
        default="",
        description="Certificate authority of your own, as a PEM file; empty: the system's.",
    )
    topic: TopicBase = Field(
        default="",
        description="What its topics begin with; empty: `hearth/` and the box's own id. Of two "
        "boxes each needs one of its own.",
    )
    discovery_prefix: Topic = Field(
        default="homeassistant", description="As set in Home Assistant."
    )
    may_unmute: Flag = Field(
        default=False,
        description="Whether the switch may open a muted microphone too: whoever writes to the "
        "broker could.",
    )
    may_widen: Flag = Field(
        default=False,
        description="Whether a profile may be chosen there that may do more than the present one: "
        "whoever writes to the broker could.",
    )


class Journal(Section):
    """What is remembered of past turns."""

    path: str = Field(
        default="", description="The database; empty: `hearth.db` in `assistant.data`."
    )
    keep_days: Positive = Field(default=30, description="Days after which turns are forgotten.")
    transcript_hours: Count = Field(
        default=24, description="Hours after which their words are erased; the rows stay."
    )
    max_mb: Positive = Field(
        default=200,
        description="Megabytes that the database may have. What is oldest is forgotten earlier "
        "where it would have more, words before rows.",
    )


def _at(place: tuple[str | int, ...], sentence: str) -> InitErrorDetails:
    """A complaint about one key, from a check that looks at several sections."""
    kind = PydanticCustomError("value_error", "{error}", {"error": sentence})
    return InitErrorDetails(type=kind, loc=place, input=None)


class Settings(Section):
    """The whole configuration."""

    assistant: Assistant = Assistant()
    privacy: Privacy = Privacy()
    home_assistant: HomeAssistant = HomeAssistant()
    mcp: Mcp = Mcp()
    gemini: Gemini = Gemini()
    profiles: dict[PlainName, Profile] = Field(default={})
    brain: BrainChoice = BrainChoice()
    offline: Offline = Offline()
    audio: Audio = Audio()
    wake: Wake = Wake()
    media: Media = Media()
    recordings: Recordings = Recordings()
    voice: VoiceChoice = VoiceChoice()
    sounds: SoundChoice = SoundChoice()
    quiet_hours: QuietHours = QuietHours()
    policy: Policy = Policy()
    tools: Tools = Tools()
    limits: Limits = Limits()
    http: Http = Http()
    mqtt: Mqtt = Mqtt()
    wyoming: Wyoming = Wyoming()
    journal: Journal = Journal()
    _source: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _profiles_are_there(self) -> Self:
        wrong = [
            _at(("wake", "words", number, "profile"), no_profile(word.profile, self.profiles))
            for number, word in enumerate(self.wake.words)
            if word.profile and word.profile not in self.profiles
        ]
        there = (self.profiles, self.assistant.languages, self.brain.order)
        wrong += [_at(place, sentence) for place, sentence in misfits(*there)]
        if wrong:
            raise ValidationError.from_exception_data("Settings", wrong, hide_input=True)
        return self

    @property
    def data_folder(self) -> Path:
        """The folder of everything that must survive; it may not exist yet."""
        return Path(self.assistant.data) if self.assistant.data else data_folder(os.environ)

    @property
    def database(self) -> Path:
        """The store's file; a relative `journal.path` lies in the data folder."""
        return self.data_folder / Path(self.journal.path or "hearth.db").expanduser()

    @property
    def source(self) -> Path | None:
        """The file that these were read from, if any."""
        return self._source

    def read_from(self, file: Path | None) -> Self:
        """Return these settings, knowing the file that they were read from."""
        copy = self.model_copy()
        copy._source = file
        return copy
