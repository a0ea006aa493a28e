"""How the owner rated things of which nobody knows what they do, or what they may open."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import SmallValues
from assistant.tools.gates import UNKNOWN_EFFECTS, UNREAD, gate, is_settled
from assistant.tools.intents import Action
from assistant.tools.weighing import SECURE_RULES, height, weigh
from integrations.home_assistant.house import Entity, House

NAME = "ratings"  # under which they are kept
TIERS = (Tier.COMFORT, Tier.COSTLY, Tier.SECURE)

_log = logging.getLogger(__name__)


class Ratings:
    """The ratings by entity id, as of the last look at the disk."""

    def __init__(self, kept: SmallValues) -> None:
        self._kept = kept
        self._tiers: Mapping[str, Tier] = {}

    @property
    def tiers(self) -> Mapping[str, Tier]:
        """By entity id."""
        return self._tiers

    async def load(self) -> None:
        """Read them from the disk. Raises StoreError."""
        self._tiers = read_tiers(await self._kept.kept(NAME))

    async def rate(self, tiers: Mapping[str, Tier]) -> None:
        """Rate these, and leave the others as they are. Raises StoreError."""
        # Read first: another process may have rated something meanwhile.
        await self.load()
        await self._write({**self._tiers, **tiers})

    async def withdraw(self, entity_ids: Iterable[str]) -> None:
        """Drop what these were rated, but for `secure`. Raises StoreError."""
        await self.load()
        gone = {name for name in entity_ids if self._tiers.get(name) is not Tier.SECURE}
        if gone & self._tiers.keys():
            left = {name: tier for name, tier in self._tiers.items() if name not in gone}
            await self._write(left)

    async def _write(self, changed: Mapping[str, Tier]) -> None:
        await self._kept.keep(NAME, {name: str(tier) for name, tier in changed.items()})
        self._tiers = changed


def unknown_effects(house: House) -> list[Entity]:
    """List the exposed scripts, scenes, buttons and automations of which not all is known that they
    do."""
    rules = {*UNKNOWN_EFFECTS.values(), UNREAD}
    return [
        entity
        for entity in house.exposed()
        if entity.domain in UNKNOWN_EFFECTS
        and entity.entity_id not in house.unread
        and gate(entity, Action.ON, {}, house) in rules
    ]


def may_open(house: House) -> list[Entity]:
    """The exposed things that may let somebody in or silence an alarm, as far as a rating of their
    owner's settles it: covers without a class, relays by their name, what was seen to open."""
    return [entity for entity in house.exposed() if _is_unsettled(entity, house)]


def unrated(entity: Entity, house: House) -> Tier:
    """What it counts as without a rating, switched the way that asks most."""
    ways = (Action.ON, Action.OFF, Action.TOGGLE)
    tiers = (weigh(entity.entity_id, way, {}, house, {}).tier for way in ways)
    return max(tiers, key=height)


def rated_rows(
    things: Iterable[Entity], house: House, tiers: Mapping[str, Tier]
) -> list[dict[str, Any]]:
    """What programs are told of things that can be rated: JSON objects."""
    return [
        {
            "entity_id": one.entity_id,
            "name": one.name,
            "tier": tiers.get(one.entity_id),
            "unrated": unrated(one, house),
            "seen_opening": sorted(house.seen_opening.get(one.entity_id, ())),
        }
        for one in things
    ]


def _is_unsettled(entity: Entity, house: House) -> bool:
    rule = gate(entity, Action.TOGGLE, {}, house)
    return rule in SECURE_RULES and not is_settled(entity, rule, house)


def read_tiers(value: Any) -> dict[str, Tier]:
    """Read what the store keeps; what cannot be read is left out, so that it is asked about."""
    found: dict[str, Tier] = {}
    for name, tier in (value if isinstance(value, Mapping) else {}).items():
        try:
            found[str(name)] = Tier(tier)
        except ValueError:
            _log.warning("the rating of %s cannot be read", name)
    return {name: tier for name, tier in found.items() if tier in TIERS}
