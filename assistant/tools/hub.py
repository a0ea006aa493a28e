"""What the toolbox needs of the tool servers."""

from collections.abc import Mapping
from typing import Any, Protocol

from integrations.mcp.servers import McpResult, McpTool, ServerSpec


class Hub(Protocol):
    """The servers (`integrations.mcp.hub.McpHub`)."""

    @property
    def servers(self) -> dict[str, ServerSpec]:
        """The servers by name."""
        ...

    async def tools(self) -> list[McpTool]:
        """All tools, listed anew."""
        ...

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        """Call one tool once. Raises TimeoutError, CallLost or IntegrationError."""
        ...
