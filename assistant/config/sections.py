"""Settings for the home, the profiles, the journal and the interfaces."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

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
    OptionalLanguage,
    Port,
    Positive,
    Section,
    Thinking,
    Topic,
    TopicBase,
    at_least_one,
    no_repeats,
)


class Assistant(Section):
    """Name, languages and location of this device."""

    name: str = Field(default="Hearth", description="The assistant's name.")
    languages: Annotated[
        tuple[Language, ...], AfterValidator(at_least_one), AfterValidator(no_repeats)
    ] = Field(
        default=("en",),
        description="Languages that you speak to Hearth. The first language is the default.",
    )
    area: str = Field(
        default="",
        description=(
            "The Home Assistant area of this box. Hearth uses it for sentences that don't "
            "name a room."
        ),
    )
    place: str = Field(
        default="",
        description=(
            'Location of the house, such as "Lugo, Spain". Hearth uses it for questions about '
            "the weather and the neighbourhood."
        ),
    )
    persona: str = Field(
        default="",
        description="Personality and speaking style of the assistant, in your own words.",
    )
    follow_up: Literal["question", "always", "never"] = Field(
        default="question",
        description=(
            "Answers after which Hearth keeps listening without the wake word: only answers "
            "that ask a question (`question`), all answers (`always`) or no answers "
            "(`never`)."
        ),
    )
    data: str = Field(
        default="",
        description=(
            "Folder for all data that must survive a restart. If empty, Hearth uses "
            "`$STATE_DIRECTORY` or, if that isn't set, the folder `hearth` in the user's "
            "state folder."
        ),
    )


class HomeAssistant(Section):
    """The connection to Home Assistant."""

    url: HomeAddress = Field(
        default="http://homeassistant.local:8123",
        description=(
            'Address of Home Assistant. `"demo"` selects a simulated house inside Hearth.'
        ),
    )
    token: SecretStr = Field(default=NO_SECRET, description="A long-lived access token.")
    token_file: str = Field(default="", description="File that contains the token.")
    verify_tls: Flag = Field(default=True, description="Verify the https certificate.")
    ca_file: str = Field(default="", description="PEM file with your own certificate authority.")


class Profile(Section):
    """A profile called NAME. A wake word can select it, and so can people and programs while Hearth
    is running.

    If a key is empty, the corresponding general setting applies. A profile can't use more tools or
    brains than the general settings allow.
    """

    persona: str = Field(
        default="", description="Personality and speaking style, instead of `assistant.persona`."
    )
    language: OptionalLanguage = Field(
        default="",
        description="Default language of the profile, one of `assistant.languages`.",
    )
    thinking: Thinking = Field(
        default="",
        description="Amount of thinking for a hard question, instead of `gemini.thinking`.",
    )
    voice: str = Field(
        default="", description="Name of the model's own voice, instead of `gemini.voice`."
    )
    local_voice: NameOrPath = Field(
        default="",
        description=(
            "Name or file of a voice that replaces the local voice of the profile's language "
            "or, if the profile doesn't set a language, of the first language."
        ),
    )
    tools: tuple[str, ...] = Field(
        default=(),
        description=(
            "Names of the tools that the profile can use; `*` and `?` are wildcards. If "
            "empty, the profile can use all tools. The policy still applies to each call."
        ),
    )
    brain: Annotated[tuple[BrainName, ...], AfterValidator(no_repeats)] = Field(
        default=(),
        description=(
            "Brains from `brain.order` that the profile uses, in this order. If empty, it "
            "uses all of them."
        ),
    )


class Http(Section):
    """The HTTP interface for programs, and the console."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: Port = Field(default=8765, description="Port to listen on.")
    token: HttpToken = Field(
        default=NO_SECRET,
        description=(
            "The administrator's token (at least 16 characters) or its hash as `sha256:HEX`. "
            "If empty, Hearth uses the token that `hearth token create admin` creates."
        ),
    )
    token_file: str = Field(default="", description="File that contains the token.")
    tls_cert: str = Field(
        default="",
        description=(
            "PEM file with the certificate and its chain. If it is set, Hearth serves https."
        ),
    )
    tls_key: str = Field(
        default="",
        description=(
            "PEM file with the certificate's key. If empty, Hearth looks for the key in `tls_cert`."
        ),
    )
    ingress: Literal["off", "token", "home-assistant"] = Field(
        default="off",
        description=(
            "Access to the console from within Home Assistant (add-on only). With `off`, "
            "there is no access. With `token`, people sign in with a token. With "
            "`home-assistant`, every Home Assistant user, administrator or not, can read, ask "
            "and speak without signing in."
        ),
    )
    mcp_turns: Flag = Field(
        default=False,
        description=(
            "Let programs that use `/mcp` with the scope `read` see recent conversations "
            "(`get_last_turns`) and memories (through `ask`)."
        ),
    )
    mcp_callbacks: tuple[Callback, ...] = Field(
        default=(),
        description=(
            "Additional full addresses to which `/mcp/authorize` may redirect a browser. "
            "The addresses of My Home Assistant and of `home_assistant.url` are always "
            "allowed."
        ),
    )


class Mqtt(Section):
    """The MQTT broker through which Home Assistant can display and control Hearth."""

    host: str = Field(
        default="",
        description="Host name or address of the broker. If empty, Hearth doesn't use MQTT.",
    )
    port: Port = Field(default=1883, description="Port of the broker.")
    username: str = Field(default="", description="User name for the broker.")
    password: SecretStr = Field(default=NO_SECRET, description="Password for the broker.")
    password_file: str = Field(default="", description="File that contains the password.")
    tls: Flag = Field(default=False, description="Connect to the broker over TLS.")
    ca_file: str = Field(
        default="",
        description=(
            "PEM file with your own certificate authority. If empty, Hearth uses the system's "
            "authorities."
        ),
    )
    topic: TopicBase = Field(
        default="",
        description=(
            "Prefix of all topics, which must be different for each box. If empty, the prefix "
            "is `hearth/` followed by the box's id."
        ),
    )
    discovery_prefix: Topic = Field(
        default="homeassistant",
        description="Discovery prefix, which must be the same as in Home Assistant.",
    )
    may_unmute: Flag = Field(
        default=False,
        description=(
            "Let the MQTT switch unmute the microphone. Anyone who can write to the broker "
            "can then unmute it."
        ),
    )
    may_widen: Flag = Field(
        default=False,
        description=(
            "Let MQTT select a profile with more rights than the current profile. Anyone who "
            "can write to the broker can then select such a profile."
        ),
    )


class Journal(Section):
    """The record of past turns."""

    path: str = Field(
        default="",
        description="The database file. If empty, Hearth uses `hearth.db` in `assistant.data`.",
    )
    keep_days: Positive = Field(
        default=30, description="Number of days after which Hearth deletes turns."
    )
    transcript_hours: Count = Field(
        default=24,
        description=(
            "Number of hours after which Hearth erases the words of a turn. It keeps the "
            "turn's other data."
        ),
    )
    max_mb: Positive = Field(
        default=200,
        description=(
            "Maximum size of the database in megabytes. If the database grows larger, Hearth "
            "deletes the oldest data early, starting with the words."
        ),
    )


class Wyoming(Section):
    """Hearth as a Wyoming satellite of Home Assistant. The protocol has no authentication: anyone
    who can reach its ports can use it."""

    enabled: Flag = Field(default=False, description="Enable the satellite.")
    host: str = Field(
        default="127.0.0.1",
        description=(
            'Address to listen on. Use `"0.0.0.0"` if Home Assistant runs on another machine.'
        ),
    )
    port: Port = Field(default=10700, description="Port of the satellite.")
    tts_port: Port = Field(
        default=10701, description="Port on which Home Assistant can use Hearth's voice."
    )
    zeroconf: Flag = Field(
        default=True,
        description=(
            "Announce both ports on the network so that Home Assistant discovers them. Hearth "
            "never announces loopback addresses."
        ),
    )

    @model_validator(mode="after")
    def _two_ports(self) -> Self:
        if self.port == self.tts_port:
            raise ValueError("must have two different ports; port and tts_port are the same")
        return self
