"""The menu as JSON, as `hearth tools --json` and the HTTP interface give it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from assistant.tools.menu import MenuEntry
from assistant.tools.rules import OwnerRule, called, naming

if TYPE_CHECKING:
    from integrations.mcp.servers import ServerState


def listed(
    servers: "Iterable[ServerState]", entries: Iterable[MenuEntry], rules: Sequence[OwnerRule] = ()
) -> dict[str, Any]:
    """All servers and tools. `rules`: the owner's."""
    return {
        "servers": [{"name": s.name, "ok": s.ok, "reason": s.reason or None} for s in servers],
        "tools": [tool_json(entry, rules) for entry in entries],
    }


def tool_json(entry: MenuEntry, rules: Sequence[OwnerRule] = ()) -> dict[str, Any]:
    """One tool, with what its declaration has lost."""
    return {
        "name": entry.declaration.name,
        "server": entry.server,
        "description": entry.declaration.description,
        "parameters": entry.declaration.parameters,
        "tier": entry.tier,
        "rule": rule_of(entry, rules),
        "approved": entry.approved,
        "hidden": entry.hidden,
        "losses": [
            *([f"not offered: {entry.why_hidden}"] if entry.hidden else []),
            *entry.declaration.losses,
        ],
    }


def rule_of(entry: MenuEntry, rules: Sequence[OwnerRule]) -> str:
    """What gave the tier; a rule of the owner's that names the tool comes first."""
    number = naming(rules, entry.names, entry.server)
    return entry.rule if number is None else called(number)
