"""The menus that real Home Assistants answered: all of it is told but for one odd argument."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from integrations.gemini.declarations import convert
from tests.shared_data import shared
from tests.unit.integrations.gemini.declared import accepted

# Home Assistant says of it no more than what it is for.
UNTYPED = ("is_volume_muted: any value, but no object can be given",)


def tools(*parts: str) -> Iterator[dict[str, Any]]:
    """The tools of one recorded reply."""
    content = json.loads(shared(*parts).read_text())
    found = content["result"]["tools"] if isinstance(content, dict) else content
    assert found
    yield from found


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        (("data", "ha-mcp-tools-list.json"), 16),
        (("home-assistant", "tools-list-assist.json"), 32),
        (("home-assistant", "tools-timers.json"), 8),
    ],
)
def test_every_tool_is_declared(parts: tuple[str, ...], count: int) -> None:
    listed = list(tools(*parts))
    assert len(listed) == count
    for tool in listed:
        declaration = accepted(convert(tool["name"], tool["description"], tool["inputSchema"]))
        assert declaration.name == tool["name"]
        arguments = tool["inputSchema"]["properties"]
        declared = (declaration.parameters or {}).get("properties", {})
        assert list(declared) == list(arguments)
        assert declaration.losses == (UNTYPED if "is_volume_muted" in arguments else ())
        assert declaration.renamed == {}
        required = tool["inputSchema"].get("required", [])
        assert (declaration.parameters or {}).get("required", []) == required
