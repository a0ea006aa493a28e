"""Where secrets are sent: one that stays on a box stays for the place alone that it was given for.

An export brings addresses without their secrets. Whoever made it must not get this box's token by
naming another house.
"""

from collections.abc import Mapping
from typing import Any

from assistant.config.schema import Settings
from assistant.config.tools import McpServer

# What tells the place, and whether it is known to be that place. A secret of any other section is
# sent nowhere.
_OF_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "home_assistant": ("url", "verify_tls", "ca_file"),
    "gemini": ("base_url", "ca_file"),
    "mqtt": ("host", "port", "tls", "ca_file"),
}
_OF_SERVERS = ("transport", "command", "args", "cwd", "url", "verify_tls", "ca_file")


def same_place(section: str, before: Settings, after: Settings) -> bool:
    """Whether the secrets of a section would go where they went."""
    keys = _OF_SECTIONS.get(section, ())
    return _values(getattr(before, section), keys) == _values(getattr(after, section), keys)


def address(section: str, settings: Settings) -> Any:
    """Of what a section's secrets are sent to; None: of nothing."""
    keys = _OF_SECTIONS.get(section, ())
    return getattr(getattr(settings, section), keys[0]) if keys else None


def same_servers(before: Settings, after: Settings) -> frozenset[str]:
    """The MCP servers that are what they were: the same program, or at the same address."""
    there = {server.name: _of(server) for server in before.mcp.servers}
    return frozenset(
        server.name for server in after.mcp.servers if there.get(server.name) == _of(server)
    )


def _of(server: McpServer) -> list[Any]:
    return _values(server, _OF_SERVERS)


def _values(table: object, keys: tuple[str, ...]) -> list[Any]:
    return [getattr(table, key) for key in keys]
