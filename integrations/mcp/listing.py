"""What is kept of the tools that a server lists: each name once, and nothing without measure."""

import json
import logging
from collections.abc import Iterable

from mcp.types import Tool

from integrations.mcp.servers import McpTool, ServerSpec

_log = logging.getLogger(__name__)

MAX_TOOLS = 1_000  # of one server
MAX_NAME = 200  # characters; a longer name is no name
MAX_DESCRIPTION = 8_000  # characters; what is beyond is cut
MAX_SCHEMA = 64_000  # characters of JSON; a tool with a longer schema is left out
MAX_ALL = 1_000_000  # characters of one server's tools together


class Listing:
    """The tools in their order, without those that are denied, doubled or beyond measure."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._kept: dict[str, McpTool] = {}
        self._left_out: list[str] = []
        self._room = MAX_ALL
        self.seen = 0  # tools, whether kept or not

    def add(self, page: Iterable[Tool]) -> None:
        """The next page; of what is not kept nothing stays in memory."""
        for tool in page:
            self.seen += 1
            if self._spec.denies(tool.name):
                continue
            size = _size(tool)
            full = len(self._kept) >= MAX_TOOLS or (size or 0) > self._room
            if size is None or full or tool.name in self._kept:
                self._left_out.append(tool.name[:MAX_NAME])
                continue
            self._room -= size
            self._kept[tool.name] = _tool(self._spec, tool)

    def tools(self) -> list[McpTool]:
        """What is kept of all pages."""
        if self._left_out:
            _log.info(
                "%d tools of %s are left out, such as %r: doubled, too many or too large",
                len(self._left_out),
                self._spec.name,
                self._left_out[0],
            )
        return list(self._kept.values())


def _size(tool: Tool) -> int | None:
    """In characters; None: it cannot be offered at all."""
    if not tool.name or len(tool.name) > MAX_NAME:
        return None
    try:
        schema = len(json.dumps(tool.input_schema))
    except (TypeError, ValueError, RecursionError):
        return None
    if schema > MAX_SCHEMA:
        return None
    return schema + len(tool.name) + min(len(tool.description or ""), MAX_DESCRIPTION)


def _tool(spec: ServerSpec, tool: Tool) -> McpTool:
    hints = tool.annotations
    title = tool.title or (hints.title if hints and hints.title else "") or tool.name
    return McpTool(
        server=spec.name,
        name=tool.name,
        title=title[:MAX_NAME],
        description=(tool.description or "")[:MAX_DESCRIPTION],
        input_schema=dict(tool.input_schema),
        read_only=bool(hints and hints.read_only_hint),
    )
