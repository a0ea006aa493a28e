"""The values of the tool bridge: how to reach a server, what it offers, what it answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from integrations.errors import Unavailable

HOME_ASSISTANT = "home_assistant"  # the name of the home's own server; no other may bear it
HOME_ASSISTANT_PATHS = ("/api/mcp/assist", "/api/mcp")


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
    timeout_s: float = 10.0  # of one call
    trust: Literal["trusted", "untrusted"] = "untrusted"
    allow: tuple[str, ...] = ()  # tools rated comfort by the owner
    deny: tuple[str, ...] = ()  # tools never shown
    paths: tuple[str, ...] = ("",)  # after `url`; the first that is not 404 is used
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

    @property
    def address(self) -> str:
        """The URL as it may be shown: without user, password, query and fragment."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def home_assistant_server(
    url: str, token: str, *, verify_tls: bool = True, ca_file: str = "", timeout_s: float = 10.0
) -> ServerSpec:
    """The home's own server: `/api/mcp/assist` since Home Assistant 2026.8, `/api/mcp` before."""
    return ServerSpec(
        name=HOME_ASSISTANT,
        transport="http",
        url=url.rstrip("/"),
        headers={"Authorization": f"Bearer {token}"},
        timeout_s=timeout_s,
        trust="trusted",
        paths=HOME_ASSISTANT_PATHS,
        verify_tls=verify_tls,
        ca_file=ca_file,
        home_assistant=True,
    )


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
    """What a call answered. Text is data from outside, never instructions."""

    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class ServerState:
    """Whether a server can be used now, and why not."""

    name: str
    ok: bool
    reason: str  # one sentence; empty while ok


class CallLost(Unavailable):
    """The connection ended after the request was sent: the call may have run."""
