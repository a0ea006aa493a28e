"""What a server answered, as text."""

import json
from collections.abc import Iterable

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


def as_text(parts: Iterable[object]) -> str:
    """The texts of a prompt's or resource's parts, one below the other; others are left out."""
    texts = (getattr(part, "text", "") for part in parts)
    return "\n".join(text for text in texts if text)
