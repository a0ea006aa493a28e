"""Settings for tools: MCP servers, the policy and limits."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from assistant.config.kinds import (
    NO_SECRET,
    Amount,
    Flag,
    NotifyName,
    OptionalWebAddress,
    Pin,
    PlainName,
    Positive,
    Seconds,
    Section,
    Texts,
    TimeOfDay,
    no_repeats,
)

HOME_ASSISTANT = "home_assistant"  # name of Home Assistant's own server
HEARTH = "hearth"  # name under which Hearth's own tools are listed
Ruling = Literal["allow", "confirm", "pin", "phone", "deny"]


class McpServer(Section):
    """An additional tool server."""

    name: PlainName = Field(
        description="Name of the server in Hearth. It can contain letters, digits, `-` and `_`."
    )
    transport: Literal["stdio", "http", "sse"] = Field(
        default="stdio",
        description=(
            "Connection to the server: `stdio` for a program that Hearth starts, `http` or "
            "`sse` for a server on the network."
        ),
    )
    command: str = Field(default="", description="Program to start (only for `stdio`).")
    args: Texts = Field(default=(), description="Arguments of the program (only for `stdio`).")
    env: dict[str, SecretStr] = Field(
        default={},
        description=(
            "Environment variables of the program, in addition to PATH, HOME and LANG (only "
            "for `stdio`)."
        ),
    )
    env_file: str = Field(
        default="",
        description="File with additional variables for `env`, as lines of the form `NAME=value`.",
    )
    cwd: str = Field(default="", description="Working directory of the program (only for `stdio`).")
    folders: Texts = Field(
        default=(),
        description=(
            "Folders that the program can use, in addition to `cwd` and the folders named in "
            "`args` and `env` (only for `stdio`)."
        ),
    )
    sandbox: Flag = Field(
        default=True,
        description=(
            "Restrict the program to these folders if the kernel supports Landlock (only for "
            "`stdio`)."
        ),
    )
    url: OptionalWebAddress = Field(
        default="", description="Address of the server (only for `http` and `sse`)."
    )
    headers: dict[str, SecretStr] = Field(
        default={}, description="Headers for each request (only for `http` and `sse`)."
    )
    headers_file: str = Field(
        default="",
        description=(
            "File with additional headers for `headers`, as lines of the form `Name: value`."
        ),
    )
    verify_tls: Flag = Field(
        default=True, description="Verify the https certificate (only for `http` and `sse`)."
    )
    ca_file: str = Field(
        default="",
        description="PEM file with your own certificate authority (only for `http` and `sse`).",
    )
    trust: Literal["untrusted", "trusted"] = Field(
        default="untrusted",
        description=(
            "Whether you trust the server's descriptions and results. If an `untrusted` "
            "server changes a tool, Hearth disables the tool until you approve it with "
            "`hearth tools approve`."
        ),
    )
    allow: Texts = Field(
        default=(),
        description=(
            "Tools that Hearth runs as freely as it switches a light; `*` and `?` are wildcards."
        ),
    )
    deny: Texts = Field(
        default=(), description="Tools to hide from the model; `*` and `?` are wildcards."
    )
    timeout_s: Seconds = Field(default=10.0, description="Timeout of a call, in seconds.")

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.transport == "stdio" and not self.command:
            raise ValueError('must have a command, because its transport is "stdio"')
        if self.transport != "stdio" and not self.url:
            raise ValueError(f'must have a url, because its transport is "{self.transport}"')
        return self


def _different_names(servers: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
    names = tuple(server.name for server in servers)
    if HOME_ASSISTANT in names:
        raise ValueError(f'must not use the name "{HOME_ASSISTANT}", which is the house\'s own')
    if HEARTH in names:
        raise ValueError(f'must not use the name "{HEARTH}", which is for Hearth\'s own tools')
    no_repeats(names)
    return servers


class Mcp(Section):
    """Tool servers in addition to Home Assistant's."""

    servers: Annotated[tuple[McpServer, ...], AfterValidator(_different_names)] = Field(
        default=(), description="Tool servers, one `[[mcp.servers]]` table each."
    )


class PolicyRule(Section):
    """A policy rule. It applies if all of its fields match; `*` and `?` are wildcards."""

    entity: str = Field(default="", description="Id of the entity that the call affects.")
    area: str = Field(default="", description="Area of the entity, by id, name or alias.")
    label: str = Field(
        default="", description="Label of the entity, its device or its area, by id or name."
    )
    domain: str = Field(default="", description="Domain of the entity, such as `lock`.")
    tool: str = Field(
        default="", description="Name of the tool, in full or only the part after the last `__`."
    )
    server: str = Field(default="", description="Name of the tool's server.")
    direction: Literal["open", "close"] | None = Field(
        default=None,
        description=(
            "Direction of the change. `open` matches only opening and unlocking; `close` "
            "matches only closing and locking."
        ),
    )
    from_: TimeOfDay | None = Field(
        default=None, alias="from", description="Start of the time of day, in local time."
    )
    to: TimeOfDay | None = Field(
        default=None,
        description="End of the time of day, in local time, which can be after midnight.",
    )
    satellite: str = Field(
        default="",
        description=(
            "Name or area of the box that heard the sentence, or the program that sent it, "
            'such as "mcp:agent".'
        ),
    )
    decide: Ruling = Field(description="Decision for calls that match the rule.")

    @model_validator(mode="after")
    def _whole_span(self) -> Self:
        if (self.from_ is None) != (self.to is None):
            raise ValueError("must have both from and to, or neither")
        return self


class Policy(Section):
    """Rules that decide which calls run immediately, which calls need confirmation, and which
    calls are refused."""

    mode: Literal["trusting", "normal", "ask", "guest"] = Field(
        default="normal",
        description=(
            "Overall strictness: `trusting` asks less often, `ask` asks more often, and "
            "`guest` allows only `comfort` calls and timers."
        ),
    )
    secure: Ruling = Field(
        default="confirm",
        description="Decision for unlocking, opening doors, disarming and sirens.",
    )
    costly: Ruling = Field(
        default="confirm",
        description=(
            "Decision for ovens, strong heating, water, vacuums and mowers. `allow` doesn't "
            "include scripts, scenes and automations whose effects are only partly known."
        ),
    )
    pin: Pin = Field(default=NO_SECRET, description="PIN of 4 to 12 digits for `pin` decisions.")
    pin_file: str = Field(default="", description="File that contains the PIN.")
    phone: NotifyName = Field(
        default="",
        description=(
            "Notify action of the phone for `phone` decisions, such as `mobile_app_pixel`."
        ),
    )
    rules: tuple[PolicyRule, ...] = Field(
        default=(),
        description=(
            "Policy rules, one `[[policy.rules]]` table each. The first matching rule applies."
        ),
    )

    @model_validator(mode="after")
    def _pin_and_phone_when_asked_for(self) -> Self:
        decisions = {self.secure, self.costly, *(rule.decide for rule in self.rules)}
        if "pin" in decisions and not self.pin.get_secret_value():
            raise ValueError("must have a pin, because one of its decisions is pin")
        if "phone" in decisions and not self.phone:
            raise ValueError("must have a phone, because one of its decisions is phone")
        return self


class Tools(Section):
    """Hearth's own optional tools."""

    web_fetch: Flag = Field(
        default=False,
        description="Let a model read web pages. The requested address is sent over the internet.",
    )


class Limits(Section):
    """Limits per turn, per hour and per day."""

    mutations_per_turn: Positive = Field(
        default=8, description="Maximum number of calls in a turn that change something."
    )
    rounds_per_turn: Positive = Field(
        default=4, description="Maximum number of rounds with such calls in a turn."
    )
    calls_per_turn: Positive = Field(default=24, description="Maximum number of calls in a turn.")
    comfort_per_minute: Positive = Field(
        default=60,
        description="Maximum number of `comfort` calls per minute, with bursts of up to 30.",
    )
    costly_per_hour: Positive = Field(
        default=12,
        description=(
            "Maximum number of `costly` calls per hour, confirmed or not, with bursts of up to 4."
        ),
    )
    secure_per_hour: Positive = Field(
        default=6,
        description=(
            "Maximum number of `secure` calls per hour, confirmed or not, with bursts of up to 3."
        ),
    )
    daily_cost_usd: Amount = Field(
        default=1.0,
        description=(
            "Maximum cloud cost per day in USD. After that, Hearth continues without the "
            "cloud until midnight."
        ),
    )
