"""`hearth tools approve` and `hearth tools rate`: the owner's decisions about changed tools, and
about entities whose effects are unknown or that could open the house."""

import argparse
import difflib
import re
import textwrap
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from assistant.app.home import HomeContext
from assistant.cli.console import Terminal
from assistant.cli.terminal import Failed, say, say_json
from assistant.domain.clock import Clock
from assistant.tools.catalog.approvals import Approvals, Waiting, fingerprint, pin_of
from assistant.tools.policy.openers import must_run
from assistant.tools.policy.ratings import (
    Rating,
    Ratings,
    may_open,
    rated_rows,
    unknown_effects,
    unrated,
)
from assistant.tools.policy.risk import height
from integrations.home_assistant.house import Entity, House

_GIVEN = re.compile(r"(?P<path>[^/]+/.+?)(?:@(?P<mark>[0-9a-f]{8,64}))?", re.S)
_PARTS = ("title", "description", "schema")
_SHORT = 8  # fingerprint digits that are shown
_WRAPPER = textwrap.TextWrapper(96, replace_whitespace=False, expand_tabs=False)


async def approve(home: HomeContext, chosen: Sequence[str], as_json: bool) -> int:
    """Approve the tools named in `chosen`. If it is empty, list the tools that are waiting for
    approval.

    A name has the form SERVER/NAME or SERVER/*. With @FINGERPRINT appended, a tool is approved only
    if it is still the version that was shown.
    """
    approvals = Approvals(home.store)
    tools, servers = await home.hub.tools(), home.hub.servers
    await approvals.look(tools, servers)  # approves a new server's tools without asking
    waiting = await approvals.waiting(tools, servers)
    taken: list[Waiting] = []
    for name in chosen:
        _look_at(name, home)
        taken += [one for one in _waiting_for(name, waiting) if one not in taken]
    if taken:
        await approvals.approve([one.tool for one in taken])
    shown = taken if chosen else waiting
    if as_json:
        say_json([_as_json(one, one in taken) for one in shown], ascii_only=True)
    else:
        for number, one in enumerate(shown):
            say(*([""] if number else []), *_changes(one))
        if not shown:
            say("No tools are waiting for approval.")
        if taken:
            say("", f"Approved as shown: {', '.join(one.path for one in taken)}")
    return 0


def _add_common(parser: argparse.ArgumentParser) -> None:
    given = argparse.SUPPRESS
    parser.add_argument(
        "--json", action="store_true", default=given, help="print the result as JSON"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", default=given, help="as above")
    parser.add_argument("--debug", action="store_true", default=given, help="as above")


def add_approve_parser(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "approve",
        help="review and approve changed tools from untrusted servers",
        epilog="Example: hearth tools approve notes/add_note",
    )
    parser.add_argument(
        "chosen",
        nargs="*",
        metavar="SERVER/NAME",
        help=(
            "a tool, or SERVER/* for all of a server's tools (default: list the tools waiting "
            "for approval)"
        ),
    )
    _add_common(parser)


def _look_at(name: str, home: HomeContext) -> None:
    server = name.partition("/")[0]
    states = {state.name: state for state in home.hub.states()}
    if server in states and not states[server].ok:
        raise Failed(f"{server} does not answer: {states[server].reason}")


def _waiting_for(name: str, waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return the waiting tools that match a name. Raises Failed if none match or one of them can't
    be approved."""
    given = _GIVEN.fullmatch(name)
    if given is None:
        raise Failed(f"{name} is not a tool: write SERVER/NAME or SERVER/*", 2)
    path, mark = given["path"], given["mark"]
    found = [one for one in waiting if one.path == path or fnmatchcase(one.path, path)]
    if not found:
        raise Failed(
            f"No tool {path} is waiting for approval; run hearth tools approve for the list"
        )
    for one in found:
        if not fingerprint(one.tool):
            raise Failed(f"{one.path} cannot be approved: its schema cannot be read")
        if mark and not fingerprint(one.tool).startswith(mark):
            raise Failed(f"{one.path} has changed since it was shown: review it again")
    return found


def _changes(one: Waiting) -> list[str]:
    before, now = _lines(one.pinned or {}), _lines(pin_of(one.tool))
    changes = difflib.unified_diff(before, now, "approved", "offered now", lineterm="", n=1)
    lines = list(changes) if one.pinned else now
    mark = fingerprint(one.tool)[:_SHORT]
    head = f"{one.path}: {one.reason.partition(';')[0]}"
    return [head, *(f"  {line}" for line in lines), f"  as {one.path}@{mark}"]


def _lines(seen: Mapping[str, str]) -> list[str]:
    lines = []
    for part in _PARTS:
        for line in seen.get(part, "").split("\n"):
            lines += [f"{part}: {piece}" for piece in _WRAPPER.wrap(line)]
    return lines


def _as_json(one: Waiting, approved: bool) -> dict[str, Any]:
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


LEARN_S = 3.0  # seconds to wait for reports about scripts
_LOOK_S = 0.1
_RATINGS = ", ".join(Rating)


async def rate(
    home: HomeContext, clock: Clock, chosen: Sequence[str], every: str | None, as_json: bool
) -> int:
    """Rate entities, and print those that can be rated.

    `chosen` is a name and a tier, for one entity. `every` is a tier for all scripts, scenes,
    buttons and automations whose effects are unknown, except those that could open the house.
    """
    if not home.client.connected:
        raise Failed(
            "Home Assistant is unreachable, so there is nothing to rate yet. Run `hearth doctor`."
        )
    if len(chosen) not in (0, 2) or (chosen and every is not None):
        raise Failed("Give a name and a tier, --all and a tier, or nothing", 2)
    ratings = Ratings(home.store)
    await ratings.load()
    await _learnt(home, clock)
    house = home.client.house
    if every is not None:
        rating = _rating(every)
        # Leaves out entities that could open the house: those must be rated individually.
        await ratings.rate({one.entity_id: rating for one in unknown_effects(house)})
    elif chosen:
        await ratings.rate({_rateable(chosen[0], chosen[1], house, ratings): _rating(chosen[1])})
    _print_rated(_things(house, ratings), house, ratings, as_json)
    return 0


def add_rate_parser(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "rate",
        help="rate devices that could open a door, and scripts and scenes with unknown effects",
        epilog='Example: hearth tools rate "Movie night" comfort',
    )
    parser.add_argument(
        "chosen", nargs="*", metavar="NAME RATING", help=f"its name or id, and one of {_RATINGS}"
    )
    parser.add_argument(
        "--all",
        dest="every",
        metavar="TIER",
        help="rate all scripts, scenes, buttons and automations with unknown effects at once",
    )
    _add_common(parser)


async def _learnt(home: HomeContext, clock: Clock) -> None:
    ends_s = clock.monotonic() + LEARN_S
    while clock.monotonic() < ends_s:
        if not home.client.house.unread:
            return
        await clock.sleep(_LOOK_S)


def _things(house: House, ratings: Ratings) -> list[Entity]:
    ids = {one.entity_id for one in (*unknown_effects(house), *may_open(house))}
    ids |= ratings.given.keys()
    return [one for one in house.entities.values() if one.entity_id in ids]


def _rateable(name: str, tier: str, house: House, ratings: Ratings) -> str:
    """Return the id of the entity with this name or id, if `tier` may be given to it. Raises Failed
    if none or several match."""
    listed = _things(house, ratings)
    running = [one for one in house.exposed() if must_run(one, house) and one not in listed]
    found = _called(name, [*listed, *running])
    if not found:
        raised = (one for one in house.exposed() if _is_raised(one, _rating(tier), house))
        found = _called(name, list(raised))
    if len(found) == 1:
        return found[0].entity_id
    if found:
        ids = ", ".join(one.entity_id for one in found)
        raise Failed(f"Several entities are called {name}: {ids}. Use an id instead", 2)
    raise Failed(
        f"Cannot rate {name} as {tier}; run hearth tools rate for what can be rated. The tier of "
        "anything known to open or unlock cannot be lowered",
        2,
    )


def _called(name: str, things: Sequence[Entity]) -> list[Entity]:
    wanted = name.strip().casefold()
    return [
        one
        for one in things
        if wanted in {known.strip().casefold() for known in (one.entity_id, *one.names)}
    ]


def _is_raised(entity: Entity, rating: Rating, house: House) -> bool:
    if rating in (Rating.PIN, Rating.NEVER):
        return True
    return height(rating.tier) > height(unrated(entity, house))


def _rating(text: str) -> Rating:
    if text not in tuple(Rating):
        raise Failed(f"{text} is not a rating; use one of {_RATINGS}", 2)
    return Rating(text)


def _print_rated(things: Sequence[Entity], house: House, ratings: Ratings, as_json: bool) -> None:
    given = ratings.given
    if as_json:
        say_json(rated_rows(things, house, given))
        return
    if not things:
        say(
            "There is nothing to rate: the effects of every script, scene and button are known, "
            "and so is what every cover and relay opens"
        )
        return
    table = Table("id", "name", "counts as", "seen to open", box=None, padding=(0, 2, 0, 0))
    for one in things:
        tier = given.get(one.entity_id) or f"{unrated(one, house)} (not rated)"
        seen = ", ".join(sorted(house.seen_opening.get(one.entity_id, ())))
        cells = (one.entity_id, one.name, tier, seen)
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells))
    Terminal().print(table)
