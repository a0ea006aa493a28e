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
        description="Name of the server in Hearth: letters, digits, `-` and `_`."
    )
    transport: Literal["stdio", "http", "sse"] = Field(
        default="stdio",
        description=(
            "`stdio`: a program that Hearth starts. `http`, `sse`: a server on the network."
        ),
    )
    command: str = Field(default="", description="stdio: the program.")
    args: Texts = Field(default=(), description="stdio: its arguments.")
    env: dict[str, SecretStr] = Field(
        default={}, description="stdio: its environment, in addition to PATH, HOME and LANG."
    )
    env_file: str = Field(default="", description="File with further lines `NAME=value` for `env`.")
    cwd: str = Field(default="", description="stdio: its working directory.")
    folders: Texts = Field(
        default=(),
        description=(
            "stdio: folders it may use, in addition to `cwd` and those named in `args` and `env`."
        ),
    )
    sandbox: Flag = Field(
        default=True,
        description="stdio: restrict it to those folders, on a kernel with Landlock.",
    )
    url: OptionalWebAddress = Field(default="", description="http and sse: its address.")
    headers: dict[str, SecretStr] = Field(
        default={}, description="http and sse: headers of each request."
    )
    headers_file: str = Field(
        default="", description="File with further lines `Name: value` for `headers`."
    )
    verify_tls: Flag = Field(default=True, description="http and sse: check the https certificate.")
    ca_file: str = Field(
        default="", description="http and sse: certificate authority of your own, as a PEM file."
    )
    trust: Literal["untrusted", "trusted"] = Field(
        default="untrusted",
        description=(
            "Whether to believe its descriptions and results. If an `untrusted` server "
            "changes a tool, the tool is off until `hearth tools approve`."
        ),
    )
    allow: Texts = Field(
        default=(),
        description=(
            "Tools that may run as freely as switching a light; `*` and `?` are wildcards."
        ),
    )
    deny: Texts = Field(
        default=(), description="Tools that are not offered; `*` and `?` are wildcards."
    )
    timeout_s: Seconds = Field(default=10.0, description="Timeout of one call, in seconds.")

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
        default=(), description="One `[[mcp.servers]]` table per server."
    )


class PolicyRule(Section):
    """A policy rule. It applies if all of its fields match; `*` and `?` are wildcards."""

    entity: str = Field(default="", description="Entity id.")
    area: str = Field(default="", description="Area, by id, name or alias.")
    label: str = Field(
        default="", description="Label of the entity, its device or its area, by id or name."
    )
    domain: str = Field(default="", description="Domain, such as `lock`.")
    tool: str = Field(
        default="", description="Tool, by its full name or the part after the last `__`."
    )
    server: str = Field(default="", description="Server of the tool.")
    direction: Literal["open", "close"] | None = Field(
        default=None,
        description="`open`: only opening and unlocking. `close`: only closing and locking.",
    )
    from_: TimeOfDay | None = Field(
        default=None, alias="from", description="Start of the time of day."
    )
    to: TimeOfDay | None = Field(
        default=None, description="End of the time of day; it can be after midnight."
    )
    satellite: str = Field(
        default="",
        description=(
            "Name or area of the box that heard the sentence, or the program that asks, "
            'such as "mcp:agent".'
        ),
    )
    decide: Ruling = Field(description="What to do with a matching call.")

    @model_validator(mode="after")
    def _whole_span(self) -> Self:
        if (self.from_ is None) != (self.to is None):
            raise ValueError("must have both from and to, or neither")
        return self


class Policy(Section):
    """Rules for which calls run immediately, which need confirmation, and which are refused."""

    mode: Literal["trusting", "normal", "ask", "guest"] = Field(
        default="normal", description="How much happens without asking."
    )
    secure: Ruling = Field(
        default="confirm", description="For unlocking, opening doors, disarming, and sirens."
    )
    costly: Ruling = Field(
        default="confirm",
        description=(
            "For ovens, strong heating, water, vacuum and mower. `allow` doesn't include "
            "scripts, scenes and automations whose effects are only partly known."
        ),
    )
    pin: Pin = Field(default=NO_SECRET, description="4 to 12 digits, for `pin` decisions.")
    pin_file: str = Field(default="", description="File that contains the PIN.")
    phone: NotifyName = Field(
        default="",
        description=(
            "Notify action of the phone to ask for `phone` decisions, such as `mobile_app_pixel`."
        ),
    )
    rules: tuple[PolicyRule, ...] = Field(
        default=(),
        description="One `[[policy.rules]]` table per rule. The first match wins.",
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
        description="Let a model read web pages. The address that it writes leaves the house.",
    )


class Limits(Section):
    """Limits per turn, per hour and per day."""

    mutations_per_turn: Positive = Field(
        default=8, description="Calls per turn that change something."
    )
    rounds_per_turn: Positive = Field(default=4, description="Rounds of such calls per turn.")
    calls_per_turn: Positive = Field(default=24, description="All calls per turn.")
    comfort_per_minute: Positive = Field(
        default=60, description="Calls per minute that switch ordinary things, up to 30 at once."
    )
    costly_per_hour: Positive = Field(
        default=12, description="Costly calls per hour, confirmed or not, up to 4 at once."
    )
    secure_per_hour: Positive = Field(
        default=6, description="Secure calls per hour, confirmed or not, up to 3 at once."
    )
    daily_cost_usd: Amount = Field(
        default=1.0,
        description=(
            "Maximum cloud cost per day in USD; after that, Hearth goes on without the cloud."
        ),
    )
