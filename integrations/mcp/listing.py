"""Limit the size of tool results and tool lists, and remove secrets and duplicates from them."""

import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp.types import CallToolResult, TextContent, Tool

from integrations.mcp.servers import McpResult, McpTool, ServerSpec

MAX_TEXT = 200_000  # characters of a result; a brain gets far fewer
# Characters of a prompt. Home Assistant's lists every exposed entity (330,000 characters for 5,000
# entities), and an entity that is missing from it counts as not exposed.
MAX_PROMPT = 4_000_000
MAX_PARTS = 1_000
_MAX_KIND = 60  # characters of a type such as "image/png"


def as_result(answer: CallToolResult) -> McpResult:
    """Convert a call's result to text.

    Parts that are not text are replaced with a note. If the result is empty, the structured content
    is returned as JSON. Content beyond `MAX_TEXT` or `MAX_PARTS` is cut, with a note at the end.
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
    """Join the text parts of a prompt or resource with line breaks, up to `most` characters."""
    texts = (getattr(part, "text", "") for part in parts)
    return "\n".join(text for text in texts if text)[:most]


# Remove a server's own secrets from what it sends, because results, errors and descriptions reach
# models. A failing program may print its whole environment, and a web server the request's headers.


STARS = "***"
_SHORTEST = 8  # characters; "true" and "production" are not secrets
_NO_SECRETS = ("/", "~", "./", "http://", "https://")  # folders and URLs, which results need


class Hidden:
    """Removes a server's secrets from the data that the server sends."""

    def __init__(self, spec: ServerSpec) -> None:
        forms = {form for secret in _secrets(spec) for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))

    def text(self, text: str) -> str:
        """Replace the secrets in the text with asterisks."""
        for form in self._forms:
            text = text.replace(form, STARS)
        return text

    def result(self, result: McpResult) -> McpResult:
        return replace(result, text=self.text(result.text))

    def tool(self, tool: McpTool) -> McpTool:
        """Replace the secrets in a tool's texts and schema, but not in its name, which
        calls need."""
        return replace(
            tool,
            title=self.text(tool.title),
            description=self.text(tool.description),
            input_schema=self._value(tool.input_schema),
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(one) for one in value]
        if isinstance(value, dict):
            return {key: self._value(one) for key, one in value.items()}
        return value


def _secrets(spec: ServerSpec) -> set[str]:
    # Short values, paths and URLs don't count as secrets.
    given = {*spec.env.values(), *spec.headers.values()}
    address = urlsplit(spec.url)
    inside = {value for _, value in parse_qsl(address.query)} | {address.password or ""}
    found = given | {value.rpartition(" ")[2] for value in given} | inside
    return {one for one in found if len(one) >= _SHORTEST and not one.startswith(_NO_SECRETS)}


def _forms(secret: str) -> set[str]:
    # A program might print the secret in one of its escaped forms.
    return {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]}


_log = logging.getLogger(__name__)

MAX_TOOLS = 1_000  # tools per server
MAX_NAME = 200  # characters; a tool with a longer name is left out
MAX_DESCRIPTION = 8_000  # characters; the rest is cut
MAX_SCHEMA = 64_000  # characters of JSON; a tool with a longer schema is left out
MAX_ALL = 1_000_000  # characters of all tools of one server


class Listing:
    """Collects tools in order, leaving out those that are denied, duplicate, too large
    or too many."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._kept: dict[str, McpTool] = {}
        self._left_out: list[str] = []
        self._room = MAX_ALL
        self.seen = 0  # number of tools, kept or not

    def add(self, page: Iterable[Tool]) -> None:
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
        if self._left_out:
            _log.info(
                "%d tools of %s are left out, such as %r: they are duplicates, too large or too "
                "many",
                len(self._left_out),
                self._spec.name,
                self._left_out[0],
            )
        return list(self._kept.values())


def _size(tool: Tool) -> int | None:
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
