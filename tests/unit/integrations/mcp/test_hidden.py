"""What a server says has no secret of its own in it, and is else as it was."""

import json

import pytest

from integrations.mcp.listing import Hidden
from integrations.mcp.servers import McpResult, McpTool, ServerSpec

KEY = "k3y-'of'-\"the\"-vault"
SPEC = ServerSpec(
    "vault",
    "http",
    url="https://someone:passw0rd-far@127.0.0.1/mcp?key=in-the-address&page=2",
    headers={"Authorization": "Bearer t0ken-of-far", "X-Mode": "true"},
    env={"KEY": KEY, "MODE": "on", "FOLDER": "/home/somebody/vault"},
)
HIDDEN = Hidden(SPEC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"KEY={KEY}!", "KEY=***!"),
        (str({"KEY": KEY}), "{'KEY': '***'}"),
        (json.dumps({"KEY": KEY}), '{"KEY": "***"}'),
        ("authorization: Bearer t0ken-of-far", "authorization: ***"),
        ("the token t0ken-of-far is old", "the token *** is old"),
        ("GET /mcp?key=in-the-address&page=2", "GET /mcp?key=***&page=2"),
        ("someone:passw0rd-far@127.0.0.1", "someone:***@127.0.0.1"),
        ("it is true that /home/somebody/vault/a.md is on", None),
        ("", None),
    ],
)
def test_texts(said: str, told: str | None) -> None:
    assert HIDDEN.text(said) == (said if told is None else told)
    assert HIDDEN.result(McpResult(said, True)) == McpResult(said if told is None else told, True)


def test_what_is_told_of_a_tool() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x", KEY], "default": 3}}}
    tool = McpTool("vault", "t", f"T {KEY}", f"Uses {KEY}.", schema, read_only=True)
    hidden = HIDDEN.tool(tool)
    assert (hidden.title, hidden.description, hidden.name) == ("T ***", "Uses ***.", "t")
    assert hidden.input_schema["properties"]["a"] == {"enum": ["x", "***"], "default": 3}
    plain = McpTool("vault", "t", "T", "Does it.", {"type": "object"}, read_only=True)
    assert HIDDEN.tool(plain) == plain
