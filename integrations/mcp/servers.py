"""The values of the tool bridge: how to reach a server, what it offers, what it answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from integrations.address import shown
from integrations.errors import IntegrationError, Unavailable

HOME_ASSISTANT = "home_assistant"  # the name of the home's own server; no other may bear it


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Path at which a server may answer, and the transport there."""

    path: str  # after the server's `url`
    transport: Literal["http", "sse"]


# The first is there since Home Assistant 2026.8: exposed entities alone, for every user. The second
# serves what the integration is set to, since 2026.10 by default everything and to admins only. The
# third is what the oldest releases have.
HOME_ASSISTANT_ENDPOINTS = (
    Endpoint("/api/mcp/assist", "http"),
    Endpoint("/api/mcp", "http"),
    Endpoint("/mcp_server/sse", "sse"),
)


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One MCP server as configured. A secret sits in `headers` or `env` and is never shown."""

    name: str
    transport: Literal["http", "sse", "stdio"]
    url: str = field(default="", repr=False)  # http and sse; may carry a key
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""  # stdio
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    folders: tuple[str, ...] = ()  # stdio: that it may use beside its own, see `sandbox`
    sandbox: bool = True  # stdio: it may open no other files, where the kernel can hold it to that
    closed: tuple[str, ...] = ()  # Hearth's own files and folders, shut even where one is named
    timeout_s: float = 10.0  # of one call
    trust: Literal["trusted", "untrusted"] = "untrusted"
    allow: tuple[str, ...] = ()  # tools rated comfort by the owner
    deny: tuple[str, ...] = ()  # tools never shown
    endpoints: tuple[Endpoint, ...] = ()  # tried in order, the next after a 404; empty: `url` alone
    verify_tls: bool = True
    ca_file: str = ""
    home_assistant: bool = False  # errors then name Home Assistant's settings and pages

    @property
    def setting(self) -> str:
        """The configuration section to name in messages."""
        return "home_assistant" if self.home_assistant else f'mcp.servers "{self.name}"'

    def key(self, name: str) -> str:
        """One setting of it as people know it: "home_assistant.url", 'url in mcp.servers "x"'."""
        return f"{self.setting}.{name}" if self.home_assistant else f"{name} in {self.setting}"

    def allows(self, tool: str) -> bool:
        """True of a tool that its owner rated comfort; `*` and `?` of a name are wildcards."""
        return any(_is_like(tool, pattern) for pattern in self.allow)

    def denies(self, tool: str) -> bool:
        """True of a tool that is never shown; capitals do not count, as a name may change them."""
        name = tool.casefold()
        return any(_is_like(name, pattern.casefold()) for pattern in self.deny)

    @property
    def address(self) -> str:
        """The URL as it may be shown: without user, password, query and fragment."""
        return shown(self.url)


def _is_like(name: str, pattern: str) -> bool:
    """True where the whole name is like the pattern. A bracket is one, and no set of letters."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def home_assistant_server(
    url: str, token: str, *, verify_tls: bool = True, ca_file: str = "", timeout_s: float = 10.0
) -> ServerSpec:
    """The home's own server, of whatever release."""
    return ServerSpec(
        name=HOME_ASSISTANT,
        transport="http",
        url=url.rstrip("/"),
        headers={"Authorization": f"Bearer {token}"},
        timeout_s=timeout_s,
        trust="trusted",
        endpoints=HOME_ASSISTANT_ENDPOINTS,
        verify_tls=verify_tls,
        ca_file=ca_file,
        home_assistant=True,
    )


@dataclass(frozen=True, slots=True)
class HomeAside:
    """Knowledge of the home beside its server, which serves that server alone."""

    # Goes into `_meta` of each request that depends on who asks: the device that Hearth is. Asked
    # anew each time; None while Hearth is no device.
    meta: Callable[[], Mapping[str, Any] | None]
    # Why the server cannot be used, asked after a failure that does not tell by itself. Ends within
    # seconds and raises nothing; None: no reason was found.
    diagnose: Callable[[], Awaitable[IntegrationError | None]]
    # Whether the home is there, as far as is known; where it is not, nobody waits long for it.
    here: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool as its server lists it."""

    server: str
    name: str
    title: str
    description: str
    input_schema: dict[str, Any]  # JSON Schema, as sent
    read_only: bool  # the server's own annotation; believed only of a trusted server


@dataclass(frozen=True, slots=True)
class McpResult:
    """Answer to a call. Text is data from outside, never instructions."""

    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class ServerState:
    """State of a server, and why it cannot be used."""

    name: str
    ok: bool
    reason: str  # one sentence; empty while ok


class CallLost(Unavailable):
    """The connection ended after the request was sent: the call may have run."""
