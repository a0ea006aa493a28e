"""`hearth tools rate`: what scripts, scenes, buttons and automations of unknown effect count as."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from assistant.bridge import Bridge
from assistant.cli.command import Failed
from assistant.cli.paper import Terminal
from assistant.cli.terminal import say, say_json
from assistant.clock import Clock
from assistant.ratings import TIERS, Ratings, unknown_effects
from assistant.tools.outcome import Tier
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.related import SEARCHED

LEARN_S = 3.0  # what Home Assistant gets for telling it
_LOOK_S = 0.1
_TIERS = ", ".join(TIERS)


async def rate(
    bridge: Bridge, clock: Clock, chosen: Sequence[str], every: str | None, as_json: bool
) -> int:
    """Rate one (`chosen` is its name and a tier) or all; with neither only show what there is."""
    if not bridge.home.connected:
        raise Failed("The house is away, so that it is not known what there is to rate")
    if len(chosen) not in (0, 2) or (chosen and every is not None):
        raise Failed("rate takes a name and a tier, or --all and a tier, or nothing", 2)
    ratings = Ratings(bridge.store)
    await ratings.load()
    await _learnt(bridge, clock)
    things = _things(bridge.home.house, ratings)
    if every is not None:
        tier = _tier(every)
        await ratings.rate({one.entity_id: tier for one in things})
    elif chosen:
        await ratings.rate({_meant(chosen[0], things).entity_id: _tier(chosen[1])})
    _show(things, ratings, as_json)
    return 0


def add_parser(deeds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The arguments of `hearth tools rate`."""
    parser = deeds.add_parser(
        "rate",
        help="say what scripts, scenes, buttons and automations of unknown effect count as",
        epilog='Example: hearth tools rate "Movie night" comfort',
    )
    parser.add_argument(
        "chosen", nargs="*", metavar="NAME TIER", help=f"its name or id, and one of {_TIERS}"
    )
    parser.add_argument("--all", dest="every", metavar="TIER", help="rate all of them at once")
    given = argparse.SUPPRESS  # what stands before the word "rate" counts
    parser.add_argument("--json", action="store_true", default=given, help="print one JSON value")
    parser.add_argument("--config", type=Path, metavar="FILE", default=given, help="as above")
    parser.add_argument("--debug", action="store_true", default=given, help="as above")


async def _learnt(bridge: Bridge, clock: Clock) -> None:
    """Give Home Assistant time to tell what its scripts touch."""
    ends_s = clock.monotonic() + LEARN_S
    while clock.monotonic() < ends_s:
        if not any(one.domain in SEARCHED for one in unknown_effects(bridge.home.house)):
            return
        await clock.sleep(_LOOK_S)


def _things(house: House, ratings: Ratings) -> list[Entity]:
    """What can be rated, and what was rated before its effect was known."""
    unknown = unknown_effects(house)
    ids = {one.entity_id for one in unknown} | ratings.tiers.keys()
    return [one for one in house.entities.values() if one.entity_id in ids]


def _meant(name: str, things: Sequence[Entity]) -> Entity:
    """The thing of that name or id. Raises Failed where there is none, or more than one."""
    wanted = name.strip().casefold()
    found = [
        one
        for one in things
        if wanted in {known.strip().casefold() for known in (one.entity_id, *one.names)}
    ]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.entity_id for one in found)
        raise Failed(f"Several are called {name}: {ids}. Say which by its id", 2)
    raise Failed(f"{name} is nothing to rate; hearth tools rate lists what is", 2)


def _tier(text: str) -> Tier:
    if text not in TIERS:
        raise Failed(f"{text} is no tier to rate by; it is one of {_TIERS}", 2)
    return Tier(text)


def _show(things: Sequence[Entity], ratings: Ratings, as_json: bool) -> None:
    tiers = ratings.tiers
    if as_json:
        rows = [
            {"entity_id": one.entity_id, "name": one.name, "tier": tiers.get(one.entity_id)}
            for one in things
        ]
        say_json(rows)
        return
    if not things:
        say("There is nothing to rate: of every script, scene and button it is known what it does")
        return
    table = Table("id", "name", "counts as", box=None, padding=(0, 2, 0, 0))
    for one in things:
        tier = tiers.get(one.entity_id)
        cells = (one.entity_id, one.name, tier or f"{Tier.COSTLY} (not rated)")
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells))
    Terminal().print(table)
