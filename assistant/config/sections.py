"""The settings of the house, of who understands, and of the ways in for programs and people."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from assistant.config.kinds import (
    NO_SECRET,
    Amount,
    BrainName,
    Callback,
    Count,
    Flag,
    HomeAddress,
    HttpToken,
    Language,
    ModelName,
    NameOrPath,
    OptionalLanguage,
    OptionalWebAddress,
    Port,
    Positive,
    Seconds,
    Section,
    Topic,
    TopicBase,
    at_least_one,
    nearest,
    no_repeats,
)


class Assistant(Section):
    """The name, languages and place of this box."""

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
    """The limits of what may leave the house."""

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
    """The brains that understand what was said."""

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
    """Yield what the profiles ask for that the rest of the settings does not have."""
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
    """The memory of past turns."""

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
