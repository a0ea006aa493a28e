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


def as_tools(spec: ServerSpec, found: Iterable[Tool]) -> list[McpTool]:
    """The tools in their order, without those that are denied, doubled or beyond measure."""
    kept: dict[str, McpTool] = {}
    left_out: list[str] = []
    room = MAX_ALL
    for tool in found:
        if tool.name in spec.deny:
            continue
        size = _size(tool)
        if tool.name in kept or size is None or size > room or len(kept) >= MAX_TOOLS:
            left_out.append(tool.name[:MAX_NAME])
            continue
        room -= size
        kept[tool.name] = _tool(spec, tool)
    if left_out:
        _log.info(
            "%d tools of %s are left out, such as %r: doubled, too many or too large",
            len(left_out),
            spec.name,
            left_out[0],
        )
    return list(kept.values())


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
