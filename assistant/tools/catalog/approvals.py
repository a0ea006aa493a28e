"""The owner's approvals of tools from untrusted servers, and consents from people who answered
"yes, always".

A tool's description that changes later could give the model new orders. Hearth therefore records
("pins") a server's tools when it first sees them, and withholds tools that change or are added
later until the owner approves them.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from integrations.cleaning import one_line
from integrations.mcp.servers import McpTool, ServerSpec

KEPT = "approvals"  # name of the pins in the store
MAX_PINS = 500  # tools of one server
_MAX_TEXT = 8_000  # characters of a description or schema that are kept for display
# Reason for holding a tool back, as a phrase, by server and name.
Held = Mapping[tuple[str, str], str]
NOTHING_HELD: Held = {}
Pins = dict[str, dict[str, dict[str, str]]]  # server -> tool -> pinned properties
_UNREADABLE = "the approvals cannot be read, so a change would go unnoticed"
_TWICE = "its server offers several tools with this name"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    tool: McpTool
    # Title, description and schema as approved; None for a new tool.
    pinned: Mapping[str, str] | None
    reason: str  # phrase for the menu

    @property
    def path(self) -> str:
        return f"{self.tool.server}/{self.tool.name}"


class Approvals:
    """Compares the tools that servers offer with the tools that were approved."""

    def __init__(self, store: SmallValues) -> None:
        self._store = store
        self._one_at_a_time = asyncio.Lock()
        self._blind = False  # a read error has already been logged
        self._seen: dict[str, dict[str, str]] = {}  # tools of trusted servers, in this process

    async def look(self, tools: Sequence[McpTool], servers: Mapping[str, ServerSpec]) -> Held:
        """Pin the tools of new untrusted servers, and return the tools to withhold."""
        self._watch(tools, servers)
        doubtful = _doubtful(tools, servers)
        if not doubtful:
            return NOTHING_HELD
        try:
            async with self._one_at_a_time:
                pins = await self._pins()
                fresh = _unseen(doubtful, pins)
                if fresh:
                    pins |= fresh
                    await self._store.keep(KEPT, pins)
        except (StoreError, ValueError) as error:
            if not self._blind:
                _log.error("Tools of untrusted servers are held: %s", error)
            self._blind = True
            return {(tool.server, tool.name): _UNREADABLE for tool in doubtful}
        self._blind = False
        return {(one.tool.server, one.tool.name): one.reason for one in _waiting(doubtful, pins)}

    async def waiting(
        self, tools: Sequence[McpTool], servers: Mapping[str, ServerSpec]
    ) -> list[Waiting]:
        """Return the tools that are waiting for approval, in the order of `tools`. Raises
        StoreError."""
        return _waiting(_doubtful(tools, servers), await self._pins_or_none())

    async def approve(self, chosen: Collection[McpTool]) -> None:
        """Approve these tools as they are now. Raises StoreError."""
        async with self._one_at_a_time:
            pins = await self._pins_or_none()
            for tool in chosen:
                pins.setdefault(tool.server, {})[_writable(tool.name)] = pin_of(tool)
            await self._store.keep(KEPT, pins)

    async def _pins(self) -> Pins:
        kept = await self._store.kept(KEPT)
        if kept is None:
            return {}
        if not _are_pins(kept):
            raise ValueError("the stored approvals cannot be read; approve the tools again")
        return dict(kept)

    async def _pins_or_none(self) -> Pins:
        try:
            return await self._pins()
        except ValueError as error:
            _log.error("%s", error)
            return {}

    def _watch(self, tools: Sequence[McpTool], servers: Mapping[str, ServerSpec]) -> None:
        """Log changes to the tools of trusted servers, which need no approval."""
        for server, spec in servers.items():
            now = {tool.name: fingerprint(tool) for tool in tools if tool.server == server}
            before = self._seen.get(server)
            if not is_trusted(spec) or not now or before == now:
                continue
            self._seen[server] = now
            if before is not None:
                names = {name for name, _ in before.items() ^ now.items()}
                told = ", ".join(one_line(name, 80) for name in sorted(names)[:20])
                _log.info("The tools of %s have changed: %s", server, told)


def is_trusted(spec: ServerSpec) -> bool:
    """Return True for Home Assistant's server and for servers that are trusted in the settings."""
    return spec.home_assistant or spec.trust == "trusted"


def fingerprint(tool: McpTool) -> str:
    """Return a hash of a tool's name, title, description and schema, or "" if the schema can't be
    encoded."""
    try:
        text = json.dumps(
            [tool.name, tool.title, tool.description, tool.input_schema], sort_keys=True
        )
    except (TypeError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def _doubtful(tools: Iterable[McpTool], servers: Mapping[str, ServerSpec]) -> list[McpTool]:
    return [tool for tool in tools if not is_trusted(servers[tool.server])]


def _unseen(tools: Iterable[McpTool], pins: Pins) -> Pins:
    fresh: Pins = {}
    twice: set[tuple[str, str]] = set()
    for tool in tools:
        if tool.server in pins:
            continue
        mine = fresh.setdefault(tool.server, {})
        name, seen = _writable(tool.name), fingerprint(tool)
        known = mine.get(name)
        if known is not None and known["hash"] != seen:
            twice.add((tool.server, name))
        if known is None and len(mine) < MAX_PINS and seen:
            mine[name] = pin_of(tool)
    for server, name in twice:
        del fresh[server][name]
    return fresh


def _waiting(tools: Sequence[McpTool], pins: Pins) -> list[Waiting]:
    offered: dict[tuple[str, str], set[str]] = {}
    for tool in tools:
        offered.setdefault((tool.server, tool.name), set()).add(fingerprint(tool))
    held = []
    for tool in tools:
        pinned = pins.get(tool.server, {}).get(_writable(tool.name))
        seen = fingerprint(tool)
        if len(offered[tool.server, tool.name]) > 1:
            held.append(Waiting(tool, pinned, _TWICE))
        elif not seen or pinned is None or pinned["hash"] != seen:
            what = (
                "changed since it was approved" if pinned else "new since its server was approved"
            )
            path = f"{tool.server}/{one_line(tool.name, 80)}"
            held.append(Waiting(tool, pinned, f"{what}; hearth tools approve {path}"))
    return held


def pin_of(tool: McpTool) -> dict[str, str]:
    """Return a tool's pin: its `hash`, and its `title`, `description` and `schema` for display."""
    seen = fingerprint(tool)
    schema = tool.input_schema if seen else {}
    texts = {
        "title": tool.title,
        "description": tool.description,
        "schema": json.dumps(schema, ensure_ascii=False, indent=2, sort_keys=True),
    }
    return {"hash": seen} | {part: _writable(text[:_MAX_TEXT]) for part, text in texts.items()}


def _writable(text: str) -> str:
    """Escape lone surrogates, which JSON can contain but a file can't."""
    return text.encode("utf-8", "backslashreplace").decode()


def _are_pins(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(mine, dict)
        and all(isinstance(pin, dict) and isinstance(pin.get("hash"), str) for pin in mine.values())
        for mine in value.values()
    )


# "Yes, always": calls that need no confirmation until midnight.
_NAME = "consents"
MAX_CONSENTS = 100  # the oldest are dropped first


def kind_of(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a short hash of a call's server, tool and arguments."""
    told = json.dumps([server, tool, arguments], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:24]


class Consents:
    """Consents that people gave by answering "yes, always". A consent is valid until midnight, for
    the same tool with the same arguments."""

    def __init__(self, kept: SmallValues, clock: Clock) -> None:
        self._kept = kept
        self._clock = clock

    async def give(self, kind: str) -> None:
        """Let calls of this kind run without confirmation until midnight. Raises StoreError."""
        now = self._clock.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
        known = {**await self._known(), kind: [now.isoformat(), midnight.isoformat()]}
        await self._kept.keep(_NAME, dict(list(known.items())[-MAX_CONSENTS:]))

    async def covers(self, kind: str) -> bool:
        """Return True if the person has consented to calls of this kind today. Raises
        StoreError."""
        span = (await self._known()).get(kind)
        if not (isinstance(span, list) and len(span) == 2):
            return False
        try:
            since, until = (datetime.fromisoformat(moment) for moment in span)
            # Setting the clock back must not extend a consent.
            return since <= self._clock.now() < until
        except (TypeError, ValueError):
            return False

    async def _known(self) -> dict[str, Any]:
        known = await self._kept.kept(_NAME)
        return dict(known) if isinstance(known, Mapping) else {}
