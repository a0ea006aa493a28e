"""Data classes of the MCP client: server settings, tools, results and states."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from integrations.address import shown
from integrations.errors import IntegrationError, Unavailable

HOME_ASSISTANT = "home_assistant"  # name of the home's own server; no other server may have it


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path at which a server may answer, and the transport to use there."""

    path: str  # appended to the server's `url`
    transport: Literal["http", "sse"]


# The first endpoint exists since Home Assistant 2026.8. It serves only exposed entities, and every
# user may use it. The second serves what the integration is configured for (since 2026.10
# everything by default), but only to administrators. The third is for the oldest releases.
HOME_ASSISTANT_ENDPOINTS = (
    Endpoint("/api/mcp/assist", "http"),
    Endpoint("/api/mcp", "http"),
    Endpoint("/mcp_server/sse", "sse"),
)


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A configured MCP server. Its secrets in `headers`, `env` and `url` must not be shown."""

    name: str
    transport: Literal["http", "sse", "stdio"]
    url: str = field(default="", repr=False)  # http and sse; may contain a key
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""  # stdio
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    folders: tuple[str, ...] = ()  # stdio: additional folders that it may open, see `sandbox`
    sandbox: bool = True  # stdio: restrict which files it can open, if the kernel supports that
    closed: tuple[str, ...] = ()  # Hearth's own files and folders, which always stay closed
    timeout_s: float = 10.0  # limit for one call
    trust: Literal["trusted", "untrusted"] = "untrusted"
    allow: tuple[str, ...] = ()  # tools rated comfort by the owner
    deny: tuple[str, ...] = ()  # tools that are never shown
    # tried in order, each after a 404 from the previous one; (): only `url`
    endpoints: tuple[Endpoint, ...] = ()
    verify_tls: bool = True
    ca_file: str = ""
    home_assistant: bool = False  # True: errors name Home Assistant's settings and pages

    @property
    def setting(self) -> str:
        return "home_assistant" if self.home_assistant else f'mcp.servers "{self.name}"'

    def key(self, name: str) -> str:
        """Return the full name of a setting, for messages, such as 'url in mcp.servers "notes"'."""
        return f"{self.setting}.{name}" if self.home_assistant else f"{name} in {self.setting}"

    def allows(self, tool: str) -> bool:
        """Return True if the owner rated the tool as `comfort`, by its name or a pattern."""
        return any(_is_like(tool, pattern) for pattern in self.allow)

    def denies(self, tool: str) -> bool:
        """Return True if the tool must never be shown."""
        # Case is ignored, because a server could change it.
        name = tool.casefold()
        return any(_is_like(name, pattern.casefold()) for pattern in self.deny)

    @property
    def address(self) -> str:
        # The result can be used in messages: it has no username, password, query or fragment.
        return shown(self.url)


def _is_like(name: str, pattern: str) -> bool:
    # Brackets are literal.
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def home_assistant_server(
    url: str, token: str, *, verify_tls: bool = True, ca_file: str = "", timeout_s: float = 10.0
) -> ServerSpec:
    """Return the specification of Home Assistant's own MCP server."""
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
    """Functions of the Home Assistant connection that the client of its MCP server needs."""

    # Returns what identifies Hearth's device, for `_meta` of each request that depends on the
    # caller. Called for each request. Returns None while Hearth is not registered as a device.
    meta: Callable[[], Mapping[str, Any] | None]
    # Returns why the server cannot be used, or None if no reason was found. Called after a failure
    # without a clear reason. It ends within seconds and never raises.
    diagnose: Callable[[], Awaitable[IntegrationError | None]]
    # Returns False while Home Assistant is known to be unreachable, so that no caller waits long.
    here: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its server lists it."""

    server: str
    name: str
    title: str
    description: str
    input_schema: dict[str, Any]  # JSON Schema, as sent
    read_only: bool  # the server's annotation; trusted only from a trusted server


@dataclass(frozen=True, slots=True)
class McpResult:
    """The result of a call. Its text is untrusted and must never be followed as an instruction."""

    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's availability: `ok`, or the reason why it cannot be used."""

    name: str
    ok: bool
    reason: str  # a sentence; "" if ok


class CallLost(Unavailable):
    """The connection closed after the request was sent, so the call may have run."""
