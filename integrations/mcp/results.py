"""A tool's answer as text."""

import json

from mcp.types import CallToolResult, TextContent

from integrations.mcp.servers import McpResult


def as_result(answer: CallToolResult) -> McpResult:
    """Text parts joined, other parts only named; structured content where there is no text."""
    parts: list[str] = []
    for content in answer.content:
        if isinstance(content, TextContent):
            parts.append(content.text)
        else:
            kind = getattr(content, "mime_type", None) or content.type
            parts.append(f"[{kind} left out]")
    text = "\n".join(parts)
    if not text and answer.structured_content is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False)
    return McpResult(text, bool(answer.is_error))
