"""`hearth tools rate`: what things count as of which nobody knows what they do or may open."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from assistant.app.home import HomeContext
from assistant.cli.console import Terminal
from assistant.cli.terminal import Failed, say, say_json
from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.tools.policy.choices import (
    TIERS,
    Ratings,
    may_open,
    rated_rows,
    unknown_effects,
    unrated,
)
from assistant.tools.policy.openers import must_run
from assistant.tools.policy.risk import height
from integrations.home_assistant.house import Entity, House

LEARN_S = 3.0  # what Home Assistant gets for telling it
_LOOK_S = 0.1
_TIERS = ", ".join(TIERS)


async def rate(
    bridge: HomeContext, clock: Clock, chosen: Sequence[str], every: str | None, as_json: bool
) -> int:
    """Rate one (`chosen` is its name and a tier) or all; with neither only show what there is."""
    if not bridge.home.connected:
        raise Failed("The house is away, so that it is not known what there is to rate")
    if len(chosen) not in (0, 2) or (chosen and every is not None):
        raise Failed("rate takes a name and a tier, or --all and a tier, or nothing", 2)
    ratings = Ratings(bridge.store)
    await ratings.load()
    await _learnt(bridge, clock)
    house = bridge.home.house
    if every is not None:
        tier = _tier(every)
        # What may open the house is freed one by one, never with all the rest.
        await ratings.rate({one.entity_id: tier for one in unknown_effects(house)})
    elif chosen:
        await ratings.rate({_meant(chosen[0], chosen[1], house, ratings): _tier(chosen[1])})
    _show(_things(house, ratings), house, ratings, as_json)
    return 0


def add_parser(deeds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The arguments of `hearth tools rate`."""
    parser = deeds.add_parser(
        "rate",
        help="say what things count as: scripts of unknown effect, and what may open a door",
        epilog='Example: hearth tools rate "Movie night" comfort',
    )
    parser.add_argument(
        "chosen", nargs="*", metavar="NAME TIER", help=f"its name or id, and one of {_TIERS}"
    )
    parser.add_argument(
        "--all",
        dest="every",
        metavar="TIER",
        help="rate all scripts, scenes, buttons and automations of unknown effect at once",
    )
    given = argparse.SUPPRESS  # what stands before the word "rate" counts
    parser.add_argument("--json", action="store_true", default=given, help="print one JSON value")
    parser.add_argument("--config", type=Path, metavar="FILE", default=given, help="as above")
    parser.add_argument("--debug", action="store_true", default=given, help="as above")


async def _learnt(bridge: HomeContext, clock: Clock) -> None:
    """Give Home Assistant time to tell what its scripts do."""
    ends_s = clock.monotonic() + LEARN_S
    while clock.monotonic() < ends_s:
        if not bridge.home.house.unread:
            return
        await clock.sleep(_LOOK_S)


def _things(house: House, ratings: Ratings) -> list[Entity]:
    """What can be rated, and what was rated before its effect was known."""
    ids = {one.entity_id for one in (*unknown_effects(house), *may_open(house))}
    ids |= ratings.tiers.keys()
    return [one for one in house.entities.values() if one.entity_id in ids]


def _meant(name: str, tier: str, house: House, ratings: Ratings) -> str:
    """The id of the thing of that name or id: of those to be rated, those that must run by their
    name alone, else one that is to be asked about more than now.

    Raises Failed where there is none, or more than one.
    """
    listed = _things(house, ratings)
    running = [one for one in house.exposed() if must_run(one, house) and one not in listed]
    found = _called(name, [*listed, *running])
    if not found:
        raised = (one for one in house.exposed() if _is_raised(one, _tier(tier), house))
        found = _called(name, list(raised))
    if len(found) == 1:
        return found[0].entity_id
    if found:
        ids = ", ".join(one.entity_id for one in found)
        raise Failed(f"Several are called {name}: {ids}. Say which by its id", 2)
    raise Failed(
        f"{name} is nothing to rate as {tier}; hearth tools rate lists what is. "
        "No rating lowers what is known to open or unlock",
        2,
    )


def _called(name: str, things: Sequence[Entity]) -> list[Entity]:
    wanted = name.strip().casefold()
    return [
        one
        for one in things
        if wanted in {known.strip().casefold() for known in (one.entity_id, *one.names)}
    ]


def _is_raised(entity: Entity, tier: Tier, house: House) -> bool:
    return height(tier) > height(unrated(entity, house))


def _tier(text: str) -> Tier:
    if text not in TIERS:
        raise Failed(f"{text} is no tier to rate by; it is one of {_TIERS}", 2)
    return Tier(text)


def _show(things: Sequence[Entity], house: House, ratings: Ratings, as_json: bool) -> None:
    tiers = ratings.tiers
    if as_json:
        say_json(rated_rows(things, house, tiers))
        return
    if not things:
        say(
            "There is nothing to rate: of every script, scene and button it is known what it does, "
            "and of every cover and relay what it opens"
        )
        return
    table = Table("id", "name", "counts as", "seen to open", box=None, padding=(0, 2, 0, 0))
    for one in things:
        tier = tiers.get(one.entity_id) or f"{unrated(one, house)} (not rated)"
        seen = ", ".join(sorted(house.seen_opening.get(one.entity_id, ())))
        cells = (one.entity_id, one.name, tier, seen)
        table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in cells))
    Terminal().print(table)
