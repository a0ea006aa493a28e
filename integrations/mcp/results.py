"""What a server answered, as text."""

import json
from collections.abc import Iterable

from mcp.types import CallToolResult, TextContent

from integrations.mcp.servers import McpResult

MAX_TEXT = 200_000  # characters that are kept of an answer; a brain is given far fewer
# The same of a prompt: Home Assistant's lists every exposed thing, 330,000 characters for 5,000 of
# them, and what is not in it counts as not exposed.
MAX_PROMPT = 4_000_000
MAX_PARTS = 1_000
_MAX_KIND = 60  # characters of "image/png" and its like


def as_result(answer: CallToolResult) -> McpResult:
    """Text parts joined, other parts only named; structured content where there is no text.

    What is beyond `MAX_TEXT` or `MAX_PARTS` is cut, with a note at the end.
    """
    parts: list[str] = []
    for content in answer.content[:MAX_PARTS]:
        if isinstance(content, TextContent):
            parts.append(content.text)
        else:
            kind = getattr(content, "mime_type", None) or content.type
            parts.append(f"[{kind[:_MAX_KIND]} left out]")
    text = "\n".join(parts)
    if not text and answer.structured_content is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False)
    if len(text) > MAX_TEXT or len(answer.content) > MAX_PARTS:
        text = f"{text[:MAX_TEXT]}\n[the rest left out]"
    return McpResult(text, bool(answer.is_error))


def as_text(parts: Iterable[object], most: int = MAX_TEXT) -> str:
    """The texts of a prompt's or resource's parts, one below the other; others are left out.

    `most`: characters; the rest is cut.
    """
    texts = (getattr(part, "text", "") for part in parts)
    return "\n".join(text for text in texts if text)[:most]
