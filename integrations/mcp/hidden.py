"""A server's own secrets taken out of what it says: results, errors and descriptions reach models.

A program in trouble may print its whole environment, a web server the request's headers.
"""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from integrations.mcp.servers import McpResult, McpTool, ServerSpec

STARS = "***"
_SHORTEST = 8  # characters; "true" and "production" are no secrets
_NO_SECRETS = ("/", "~", "./", "http://", "https://")  # folders and addresses, needed in results


class Hidden:
    """Knows the secrets of one server."""

    def __init__(self, spec: ServerSpec) -> None:
        forms = {form for secret in _secrets(spec) for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text with stars in the place of secrets."""
        for form in self._forms:
            text = text.replace(form, STARS)
        return text

    def result(self, result: McpResult) -> McpResult:
        """The same of an answer."""
        return replace(result, text=self.text(result.text))

    def tool(self, tool: McpTool) -> McpTool:
        """The same of what a server tells of a tool; its name stays, as it must be called by it."""
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
    """Environment, headers with and without their scheme, and keys in the address."""
    given = {*spec.env.values(), *spec.headers.values()}
    address = urlsplit(spec.url)
    inside = {value for _, value in parse_qsl(address.query)} | {address.password or ""}
    found = given | {value.rpartition(" ")[2] for value in given} | inside
    return {one for one in found if len(one) >= _SHORTEST and not one.startswith(_NO_SECRETS)}


def _forms(secret: str) -> set[str]:
    """As it is, and as it stands in a program's output."""
    return {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]}
