"""The settings of tools: which servers there are, and what they may do."""

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

HOME_ASSISTANT = "home_assistant"  # what the house's own server is called in Hearth
HEARTH = "hearth"  # the server of Hearth's own tools
Ruling = Literal["allow", "confirm", "pin", "phone", "deny"]


class McpServer(Section):
    """One further server of tools."""

    name: PlainName = Field(description="Its name in Hearth: letters, digits, `-` and `_`.")
    transport: Literal["stdio", "http", "sse"] = Field(
        default="stdio", description="A program that Hearth starts, or a server on the network."
    )
    command: str = Field(default="", description="stdio: the program.")
    args: Texts = Field(default=(), description="stdio: its arguments.")
    env: dict[str, SecretStr] = Field(
        default={}, description="stdio: its environment, beside PATH, HOME and LANG."
    )
    env_file: str = Field(
        default="", description="A file with further lines `NAME=value` for `env`."
    )
    cwd: str = Field(default="", description="stdio: the folder in which it runs.")
    folders: Texts = Field(
        default=(),
        description="stdio: folders that it may use beside `cwd` and those that `args` and `env` "
        "name.",
    )
    sandbox: Flag = Field(
        default=True,
        description="stdio: whether it may open those folders alone, on a kernel with Landlock.",
    )
    url: OptionalWebAddress = Field(default="", description="http and sse: its address.")
    headers: dict[str, SecretStr] = Field(
        default={}, description="http and sse: headers of each request."
    )
    headers_file: str = Field(
        default="", description="A file with further lines `Name: value` for `headers`."
    )
    verify_tls: Flag = Field(
        default=True, description="http and sse: whether an https certificate must be valid."
    )
    ca_file: str = Field(
        default="", description="http and sse: certificate authority of your own, as a PEM file."
    )
    trust: Literal["untrusted", "trusted"] = Field(
        default="untrusted",
        description="Whether its descriptions and results are believed. "
        "Changed tools of an untrusted server wait for `hearth tools approve`.",
    )
    allow: Texts = Field(
        default=(),
        description="Tools that may run like switching a light; `*` and `?` are wildcards.",
    )
    deny: Texts = Field(
        default=(), description="Tools that are not offered; `*` and `?` are wildcards."
    )
    timeout_s: Seconds = Field(default=10.0, description="Seconds that one call may take.")

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
    """Further servers of tools, beside the house."""

    servers: Annotated[tuple[McpServer, ...], AfterValidator(_different_names)] = Field(
        default=(), description="One `[[mcp.servers]]` table for each server."
    )


class PolicyRule(Section):
    """One rule; the fields that are given must all match, with `*` and `?` as wildcards."""

    entity: str = Field(default="", description="Entity id.")
    area: str = Field(default="", description="Area, by id, name or alias.")
    label: str = Field(
        default="", description="Label of the thing, its device or its area, by id or name."
    )
    domain: str = Field(default="", description="Domain, such as `lock`.")
    tool: str = Field(
        default="", description="Tool, by its whole name or what follows the last `__`."
    )
    server: str = Field(default="", description="Server of the tool.")
    direction: Literal["open", "close"] | None = Field(
        default=None, description="Only opening and unlocking, or only closing and locking."
    )
    from_: TimeOfDay | None = Field(
        default=None, alias="from", description="Start of the time of day."
    )
    to: TimeOfDay | None = Field(default=None, description="Its end; may lie after midnight.")
    satellite: str = Field(
        default="",
        description="Name or area of the box that heard the sentence, or a program that asks, such "
        'as "mcp:agent".',
    )
    decide: Ruling = Field(description="What then happens.")

    @model_validator(mode="after")
    def _whole_span(self) -> Self:
        if (self.from_ is None) != (self.to is None):
            raise ValueError("must have both from and to, or neither")
        return self


class Policy(Section):
    """Rules for what may be done, and what is asked first."""

    mode: Literal["trusting", "normal", "ask", "guest"] = Field(
        default="normal", description="How much is done without asking."
    )
    secure: Ruling = Field(
        default="confirm", description="Unlocking, opening doors, disarming, sirens."
    )
    costly: Ruling = Field(
        default="confirm",
        description="Ovens, strong heating, water, vacuum, mower. `allow` does not free scripts, "
        "scenes and automations that are known in part.",
    )
    pin: Pin = Field(
        default=NO_SECRET, description="4 to 12 digits, asked for where the decision is `pin`."
    )
    pin_file: str = Field(default="", description="A file that holds the PIN.")
    phone: NotifyName = Field(
        default="",
        description="Notify action of the phone that is asked where the decision is `phone`, "
        "such as `mobile_app_pixel`.",
    )
    rules: tuple[PolicyRule, ...] = Field(
        default=(),
        description="One `[[policy.rules]]` table for each rule; the first that matches wins.",
    )

    @model_validator(mode="after")
    def _pin_and_phone_when_asked_for(self) -> Self:
        decisions = {self.secure, self.costly, *(rule.decide for rule in self.rules)}
        if "pin" in decisions and not self.pin.get_secret_value():
            raise ValueError("must have a pin, because something in it is decided by pin")
        if "phone" in decisions and not self.phone:
            raise ValueError("must have a phone, because something in it is decided by phone")
        return self


class Tools(Section):
    """Tools of Hearth's own that are there only where they are asked for."""

    web_fetch: Flag = Field(
        default=False,
        description="Whether a model may read pages of the internet. The address that it writes "
        "leaves the house.",
    )


class Limits(Section):
    """Limits of one turn, and of one day."""

    mutations_per_turn: Positive = Field(
        default=8, description="Calls in one turn that change something."
    )
    rounds_per_turn: Positive = Field(default=4, description="Rounds in one turn with such calls.")
    calls_per_turn: Positive = Field(default=24, description="Calls in one turn in all.")
    comfort_per_minute: Positive = Field(
        default=60, description="Calls a minute that switch ordinary things; 30 of them at once."
    )
    costly_per_hour: Positive = Field(
        default=12, description="Costly calls an hour, asked about or not; 4 of them at once."
    )
    secure_per_hour: Positive = Field(
        default=6, description="Secure calls an hour, asked about or not; 3 of them at once."
    )
    daily_cost_usd: Amount = Field(
        default=1.0, description="What a day may cost; then it goes on locally."
    )
