"""`hearth tools approve`: looks at tools that have changed, and takes them as they are now."""

import argparse
import difflib
import re
import textwrap
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assistant.app.home import HomeContext
from assistant.cli.terminal import Failed, say, say_json
from assistant.tools.catalog.approvals import Approvals, Waiting, fingerprint, pin_of

_GIVEN = re.compile(r"(?P<path>[^/]+/.+?)(?:@(?P<mark>[0-9a-f]{8,64}))?", re.S)
_PARTS = ("title", "description", "schema")
_SHORT = 8  # digits of a fingerprint that are shown
_WRAPPER = textwrap.TextWrapper(96, replace_whitespace=False, expand_tabs=False)


async def approve(bridge: HomeContext, chosen: Sequence[str], as_json: bool) -> int:
    """Approve the waiting tools that `chosen` names; with none, only show what waits.

    Each is SERVER/NAME or SERVER/*, with @ and the fingerprint that was shown behind it where
    nothing else than that may be approved.
    """
    approvals = Approvals(bridge.store)
    tools, servers = await bridge.hub.tools(), bridge.hub.servers
    await approvals.look(tools, servers)  # a server's first tools are pinned, not asked about
    waiting = await approvals.waiting(tools, servers)
    taken: list[Waiting] = []
    for name in chosen:
        _look_at(name, bridge)
        taken += [one for one in _meant(name, waiting) if one not in taken]
    if taken:
        await approvals.approve([one.tool for one in taken])
    shown = taken if chosen else waiting
    if as_json:
        say_json([_plain(one, one in taken) for one in shown], ascii_only=True)
    else:
        for number, one in enumerate(shown):
            say(*([""] if number else []), *_told(one))
        if not shown:
            say("No tool waits to be approved.")
        if taken:
            say("", f"Approved as shown: {', '.join(one.path for one in taken)}")
    return 0


def add_parser(deeds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The arguments of `hearth tools approve`."""
    parser = deeds.add_parser(
        "approve",
        help="look at tools of untrusted servers that have changed, and approve them",
        epilog="Example: hearth tools approve notes/add_note",
    )
    parser.add_argument(
        "chosen",
        nargs="*",
        metavar="SERVER/NAME",
        help="the tool, or SERVER/* for all of a server; none: list what waits",
    )
    given = argparse.SUPPRESS  # what stands before the word "approve" counts
    parser.add_argument("--json", action="store_true", default=given, help="print one JSON value")
    parser.add_argument("--config", type=Path, metavar="FILE", default=given, help="as above")
    parser.add_argument("--debug", action="store_true", default=given, help="as above")


def _look_at(name: str, bridge: HomeContext) -> None:
    """Raises Failed where the server of that tool does not answer."""
    server = name.partition("/")[0]
    states = {state.name: state for state in bridge.hub.states()}
    if server in states and not states[server].ok:
        raise Failed(f"{server} does not answer: {states[server].reason}")


def _meant(name: str, waiting: Sequence[Waiting]) -> list[Waiting]:
    """The tools of that name that wait. Raises Failed where there is none, or it is another."""
    given = _GIVEN.fullmatch(name)
    if given is None:
        raise Failed(f"{name} is no tool: write SERVER/NAME or SERVER/*", 2)
    path, mark = given["path"], given["mark"]
    found = [one for one in waiting if one.path == path or fnmatchcase(one.path, path)]
    if not found:
        raise Failed(f"No tool {path} waits to be approved; hearth tools approve lists those")
    for one in found:
        if not fingerprint(one.tool):
            raise Failed(f"{one.path} cannot be approved: its schema cannot be read")
        if mark and not fingerprint(one.tool).startswith(mark):
            raise Failed(f"{one.path} is not as it was shown: look at it again")
    return found


def _told(one: Waiting) -> list[str]:
    """What changed, line by line."""
    before, now = _lines(one.pinned or {}), _lines(pin_of(one.tool))
    changes = difflib.unified_diff(before, now, "approved", "offered now", lineterm="", n=1)
    lines = list(changes) if one.pinned else now
    mark = fingerprint(one.tool)[:_SHORT]
    head = f"{one.path}: {one.reason.partition(';')[0]}"
    return [head, *(f"  {line}" for line in lines), f"  as {one.path}@{mark}"]


def _lines(seen: Mapping[str, str]) -> list[str]:
    """Title, description and schema as lines for a terminal."""
    lines = []
    for part in _PARTS:
        for line in seen.get(part, "").split("\n"):
            lines += [f"{part}: {piece}" for piece in _WRAPPER.wrap(line)]
    return lines


def _plain(one: Waiting, approved: bool) -> dict[str, Any]:
    now = pin_of(one.tool)
    return {
        "server": one.tool.server,
        "name": one.tool.name,
        "approved": approved,
        "reason": one.reason.partition(";")[0],
        "fingerprint": fingerprint(one.tool),
        "before": {part: one.pinned.get(part, "") for part in _PARTS} if one.pinned else None,
        "now": {part: now[part] for part in _PARTS},
    }
