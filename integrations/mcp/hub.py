"""All MCP servers behind one interface. A failing server does not affect the others."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from integrations.errors import IntegrationError, Misconfigured, Unavailable
from integrations.home_assistant.services import without_snapshots
from integrations.mcp.listing import Hidden
from integrations.mcp.servers import HomeAside, McpResult, McpTool, ServerSpec, ServerState
from integrations.mcp.session import McpSession
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)

LISTING_S = 1.0  # limit for servers other than Home Assistant's, which may take as long as it needs
# limit for Home Assistant's server while Home Assistant is known to be unreachable; it may be back
AWAY_S = 3.0
# pause after a failed listing while Home Assistant is unreachable, so that a turn waits only once
AGAIN_S = 5.0


class McpHub:
    """Lists and calls the tools of all servers.

    Entering the context does not connect to any server, so it cannot fail. `home` is used only for
    Home Assistant's own server. Raises ValueError if two servers have the same name.
    """

    def __init__(self, servers: Sequence[ServerSpec], *, home: HomeAside | None = None) -> None:
        if len({spec.name for spec in servers}) < len(servers):
            raise ValueError("two servers have the same name")
        self._sessions = {
            spec.name: McpSession(spec, home if spec.home_assistant else None) for spec in servers
        }
        self._home = home
        self._hidden = {spec.name: Hidden(spec) for spec in servers}
        self._owners = OwnedTasks()
        self._listings: dict[str, asyncio.Task[None]] = {}  # the newest listing by server
        self._tools: dict[str, list[McpTool]] = {}  # the last list by server
        self._failed_s: dict[str, float] = {}  # time of the last failed listing (monotonic)
        self._unheard: set[str] = set()  # servers that were unreachable at the last listing

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
        return {name: session.spec for name, session in self._sessions.items()}

    def states(self) -> list[ServerState]:
        """Return the state of each server, in the order of the configuration."""
        return [session.state for session in self._sessions.values()]

    def openings(self) -> dict[str, int]:
        """Return how many sessions were opened with each server since Hearth started."""
        return {name: session.openings for name, session in self._sessions.items()}

    async def tools(self, wait_s: float = LISTING_S) -> list[McpTool]:
        """Return the tools of all servers. `states` shows which servers did not answer.

        If a server takes longer than `wait_s`, its previous list is used. Home Assistant's own
        server may take as long as it needs; while Home Assistant is known to be unreachable, its
        tools are left out after a few seconds.
        """
        began_s = time.monotonic()
        under_way = {name: self._listing(name) for name in self._sessions}
        homes = [task for name, task in under_way.items() if self.servers[name].home_assistant]
        if homes:
            await asyncio.wait(homes, timeout=None if self._here else max(AWAY_S, wait_s))
        if len(homes) < len(under_way):
            left_s = max(0.0, wait_s - (time.monotonic() - began_s))
            await asyncio.wait(under_way.values(), timeout=left_s)
        silent = {name for name, task in under_way.items() if task in homes and not task.done()}
        there = [name for name in self._sessions if name not in silent]
        return [tool for name in there for tool in self._tools.get(name, ())]

    def answered(self, name: str) -> bool:
        """Return True if the server answered the last request for its tools, even with an error."""
        task = self._listings.get(name)
        return task is not None and task.done() and name not in self._unheard

    def _listing(self, name: str) -> asyncio.Task[None]:
        task = self._listings.get(name)
        if task is None or (task.done() and not self._just_away(name)):
            task = self._owners.start(self._list(self._sessions[name]), f"mcp-{name}-tools")
            self._listings[name] = task
        return task

    @property
    def _here(self) -> bool:
        return self._home is None or self._home.here()

    def _just_away(self, name: str) -> bool:
        # A turn waits for Home Assistant's server only once while Home Assistant is unreachable.
        if not self.servers[name].home_assistant or self._here:
            return False
        return time.monotonic() - self._failed_s.get(name, -AGAIN_S) < AGAIN_S

    async def _list(self, session: McpSession) -> None:
        name = session.spec.name
        try:
            hidden = self._hidden[name]
            self._tools[name] = [hidden.tool(tool) for tool in await session.list_tools()]
            self._failed_s.pop(name, None)
            self._unheard.discard(name)
        except IntegrationError as error:
            self._tools[name] = []
            self._failed_s[name] = time.monotonic()
            if isinstance(error, Unavailable):
                self._unheard.add(name)
            else:
                self._unheard.discard(name)
        # A server's untrusted data may cause any error, which must affect only that server.
        except Exception:
            _log.exception("The tools of %s cannot be read", name)
            self._tools[name] = []

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        """Call a tool once. If the tool itself fails, the result has `is_error` set.

        `meta` is added to the request's `_meta`. Without `timeout_s`, the server's own setting
        applies. Raises TimeoutError when that time is over, IntegrationError if the call did not
        run, and its subclass CallLost if it may have run.
        """
        session = self._session(server)
        limit_s = session.spec.timeout_s if timeout_s is None else timeout_s
        return self._hidden[server].result(await session.call(name, arguments, limit_s, meta))

    async def prompt(self, server: str) -> str | None:
        """Return the server's first prompt, or None if it has none. Raises IntegrationError."""
        session = self._session(server)
        told = self._hidden[server].text(await session.prompt() or "") or None
        return without_snapshots(told) if told and session.spec.home_assistant else told

    async def read(self, server: str, uri: str) -> str:
        """Return the text of one of the server's resources. Raises IntegrationError."""
        return self._hidden[server].text(await self._session(server).read(uri))

    def _session(self, server: str) -> McpSession:
        if server not in self._sessions:
            raise Misconfigured(f'mcp.servers has no server called "{server}".')
        return self._sessions[server]
