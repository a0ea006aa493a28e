"""The tools that a brain may ask for, under the names that the model sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assistant.tools.builtin.protocol import HEARTH, BuiltIn
from assistant.tools.intents import INTENTS, Action, suffix
from assistant.tools.outcome import Tier
from integrations.gemini.declarations import Declaration, convert
from integrations.mcp.servers import McpTool, ServerSpec

MAX_TOOLS = 512  # declarations that the Gemini API takes


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One tool with all that is decided about it before any call."""

    server: str
    tool: McpTool
    declaration: Declaration  # its `name` is unique in the menu
    tier: Tier  # before the arguments are known: the least it can be
    rule: str  # what gave that tier
    of_home: bool = True  # its server is the home's own, whose tools are known by name
    rated: bool = False  # named in the server's `allow`
    hidden: bool = False  # not offered: a built-in does it
    approved: bool = True
    built_in: BuiltIn | None = None  # Hearth runs it itself

    @property
    def suffix(self) -> str:
        """The tool's own name, without a prefix of Home Assistant's."""
        return suffix(self.tool.name)

    @property
    def reads_only(self) -> bool:
        """It changes nothing, as a trusted server says."""
        return self.tier is Tier.READ


@dataclass(frozen=True, slots=True)
class Menu:
    """All tools at one moment."""

    entries: tuple[MenuEntry, ...] = ()
    _by_name: Mapping[str, MenuEntry] = field(default_factory=dict, repr=False, compare=False)

    def find(self, name: str) -> MenuEntry | None:
        """The offered entry of that name, or the home's own behind a prefix (`intent__`)."""
        exact = self._by_name.get(name)
        if exact is not None and not exact.hidden:
            return exact
        home = (entry for entry in self.offered() if entry.of_home)
        return next((entry for entry in home if entry.suffix == name), None)

    def offered(self) -> list[MenuEntry]:
        """What the model is shown."""
        return [entry for entry in self.entries if not entry.hidden]


def build_menu(
    tools: Sequence[McpTool],
    servers: Mapping[str, ServerSpec],
    built_in: Sequence[BuiltIn] = (),
) -> Menu:
    """Declare every tool under a unique legal name; hide what doubles a built-in (by suffix).

    The built-ins come first, under their own names.
    """
    entries = [_own(tool) for tool in built_in]
    by_name = {entry.declaration.name: entry for entry in entries}
    own_names = frozenset(by_name)
    shown = len(entries)
    for tool in tools:
        spec = servers[tool.server]
        name = _unique(tool, spec, by_name)
        doubled = spec.home_assistant and suffix(tool.name) in own_names
        tier, rule = _first_tier(tool, spec)
        entry = MenuEntry(
            server=tool.server,
            tool=tool,
            declaration=convert(name, tool.description, tool.input_schema),
            tier=tier,
            rule=rule,
            of_home=spec.home_assistant,
            rated=tool.name in spec.allow,
            hidden=doubled or shown >= MAX_TOOLS,
        )
        shown += not entry.hidden
        entries.append(entry)
        by_name[entry.declaration.name] = entry
    return Menu(tuple(entries), by_name)


def _own(tool: BuiltIn) -> MenuEntry:
    """The entry of a built-in."""
    reads = tool.tier is Tier.READ
    schema = dict(tool.schema)
    return MenuEntry(
        server=HEARTH,
        tool=McpTool(HEARTH, tool.name, tool.name, tool.description, schema, reads),
        declaration=convert(tool.name, tool.description, schema),
        tier=tool.tier,
        rule="built-in",
        of_home=False,
        built_in=tool,
    )


def _unique(tool: McpTool, spec: ServerSpec, taken: Mapping[str, MenuEntry]) -> str:
    """The tool's own name, with the server's in front where the name is another's.

    Those of Home Assistant's tools are its alone, also while it is away and offers none.
    """
    names = [tool.name, f"{tool.server}__{tool.name}"]
    for name in names if spec.home_assistant or suffix(tool.name) not in INTENTS else names[1:]:
        legal = convert(name, "", {}).name
        if legal not in taken:
            return legal
    number = 2
    while f"{legal[:120]}_{number}" in taken:
        number += 1
    return f"{legal[:120]}_{number}"


def _first_tier(tool: McpTool, spec: ServerSpec) -> tuple[Tier, str]:
    """The tier as far as the tool alone tells; what a call touches may raise it."""
    if spec.trust == "trusted" and tool.read_only:
        return Tier.READ, "read-only"
    if tool.name in spec.allow:
        return Tier.COMFORT, "allow"
    intent = INTENTS.get(suffix(tool.name)) if spec.home_assistant else None
    if intent is None:
        return Tier.COSTLY, "script" if is_script(tool.name) else "unknown"
    if intent.action is Action.START:
        return Tier.COSTLY, "runs-on"
    return Tier.COMFORT, "by-target"


def is_script(name: str) -> bool:
    """Whether a tool of Home Assistant is someone's script."""
    return name.startswith(("script__", "intent_script__"))
