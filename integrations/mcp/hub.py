"""All MCP servers behind one door; one that fails never hurts the others."""

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from integrations.errors import IntegrationError, Misconfigured
from integrations.mcp.servers import HomeAside, McpResult, McpTool, ServerSpec, ServerState
from integrations.mcp.session import Session
from integrations.owner import OwnedTasks


class McpHub:
    """Enter it, then list and call. Entering connects to nothing yet and cannot fail."""

    def __init__(self, servers: Sequence[ServerSpec], *, home: HomeAside | None = None) -> None:
        """`home` serves the home's own server alone.

        Raises ValueError where two of `servers` have the same name.
        """
        if len({spec.name for spec in servers}) < len(servers):
            raise ValueError("two servers have the same name")
        self._sessions = {
            spec.name: Session(spec, home if spec.home_assistant else None) for spec in servers
        }
        self._owners = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owners.__aenter__()
        for name, session in self._sessions.items():
            self._owners.start(session.run(), f"mcp-{name}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._owners.__aexit__(kind, error, traceback)

    @property
    def servers(self) -> dict[str, ServerSpec]:
        """The servers by name."""
        return {name: session.spec for name, session in self._sessions.items()}

    def states(self) -> list[ServerState]:
        """Each server's state, in the order of the configuration."""
        return [session.state for session in self._sessions.values()]

    async def tools(self) -> list[McpTool]:
        """The tools of every server that answers, listed anew; `states` says which did not."""
        lists = await asyncio.gather(*(_listed(session) for session in self._sessions.values()))
        return [tool for tools in lists for tool in tools]

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        """Call one tool once. A tool's own failure is a result with `is_error`.

        `meta` is added to what the home's server gets in `_meta` of every request.
        Raises TimeoutError after `timeout_s` (the server's setting if None), IntegrationError where
        the call did not run, and its subclass CallLost where nobody knows.
        """
        session = self._session(server)
        limit_s = session.spec.timeout_s if timeout_s is None else timeout_s
        return await session.call(name, arguments, limit_s, meta)

    async def prompt(self, server: str) -> str | None:
        """The server's own prompt, of Home Assistant the house's names. Raises IntegrationError."""
        return await self._session(server).prompt()

    async def read(self, server: str, uri: str) -> str:
        """The text of one of the server's resources, read anew. Raises IntegrationError."""
        return await self._session(server).read(uri)

    def _session(self, server: str) -> Session:
        if server not in self._sessions:
            raise Misconfigured(f'There is no MCP server "{server}" in mcp.servers.')
        return self._sessions[server]


async def _listed(session: Session) -> list[McpTool]:
    """This server's tools, or none: its state then says why."""
    try:
        return await session.list_tools()
    except IntegrationError:
        return []
