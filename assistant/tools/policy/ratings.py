"""The owner's ratings of entities, which replace Hearth's own judgement of their risk."""

import logging
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from assistant.domain.records import SmallValues
from assistant.domain.tool_call import Demand, Mode, Tier
from assistant.tools.house.intents import Action
from assistant.tools.house.targets import consequences
from assistant.tools.policy.risk import (
    SECURE_RULES,
    UNKNOWN_EFFECTS,
    UNREAD,
    gate,
    height,
    is_settled,
    weigh,
)
from assistant.tools.policy.rules import Ruling, Rulings
from integrations.home_assistant.house import Entity, House

_WAYS = (Action.ON, Action.OFF, Action.TOGGLE)
_log = logging.getLogger(__name__)
RATINGS = "ratings"  # key in the store


class Rating(StrEnum):
    """A rating, which replaces Hearth's own judgement of an entity."""

    COMFORT = "comfort"
    COSTLY = "costly"
    SECURE = "secure"
    PIN = "pin"  # secure, and needs the PIN whatever the settings say
    NEVER = "never"  # secure, and never used

    @property
    def tier(self) -> Tier:
        return Tier.SECURE if self in _DEMANDS else Tier(self)


_DEMANDS: Mapping[Rating, Demand] = {Rating.PIN: "pin", Rating.NEVER: "deny"}
_BY_STRICTNESS = tuple(Rating)


class Ratings:
    """The owner's ratings by entity id, as last read from disk."""

    def __init__(self, kept: SmallValues) -> None:
        self._kept = kept
        self._given: Mapping[str, Rating] = {}
        self._tiers: Mapping[str, Tier] = {}
        self._demands: Mapping[str, Demand] = {}

    @property
    def given(self) -> Mapping[str, Rating]:
        return self._given

    @property
    def tiers(self) -> Mapping[str, Tier]:
        return self._tiers

    @property
    def demands(self) -> Mapping[str, Demand]:
        """The entities that need the PIN or are never used."""
        return self._demands

    async def load(self) -> None:
        """Read the ratings from disk. Raises StoreError."""
        self._use(read_ratings(await self._kept.kept(RATINGS)))

    async def rate(self, ratings: Mapping[str, Tier | Rating]) -> None:
        """Store ratings for these entities and keep all others. Raises StoreError."""
        # Read first, because another process may have changed ratings.
        await self.load()
        await self._write({**self._given, **{name: Rating(one) for name, one in ratings.items()}})

    async def withdraw(self, entity_ids: Iterable[str]) -> None:
        """Delete the ratings of these entities, except those that are `secure` or stricter. Raises
        StoreError."""
        await self.load()
        gone = {name for name in entity_ids if self._tiers.get(name) is not Tier.SECURE}
        if gone & self._given.keys():
            left = {name: one for name, one in self._given.items() if name not in gone}
            await self._write(left)

    async def _write(self, changed: Mapping[str, Rating]) -> None:
        await self._kept.keep(RATINGS, {name: str(one) for name, one in changed.items()})
        self._use(changed)

    def _use(self, ratings: Mapping[str, Rating]) -> None:
        if ratings != self._given:
            self._given = ratings
            self._tiers = {name: one.tier for name, one in ratings.items()}
            self._demands = {
                name: _DEMANDS[one] for name, one in ratings.items() if one in _DEMANDS
            }


def unknown_effects(house: House) -> list[Entity]:
    """Return the exposed scripts, scenes, buttons and automations with unknown effects."""
    rules = {*UNKNOWN_EFFECTS.values(), UNREAD}
    return [
        entity
        for entity in house.exposed()
        if entity.domain in UNKNOWN_EFFECTS
        and entity.entity_id not in house.unread
        and gate(entity, Action.ON, {}, house) in rules
    ]


def may_open(house: House) -> list[Entity]:
    """Return the exposed entities that Hearth treats as openers until the owner rates them."""
    return [entity for entity in house.exposed() if _is_unsettled(entity, house)]


def unrated(entity: Entity, house: House) -> Tier:
    """Return the tier that the entity would have without a rating, in its riskier direction."""
    tiers = (weigh(entity.entity_id, way, {}, house, {}).tier for way in _WAYS)
    return max(tiers, key=height)


def rated_rows(
    things: Iterable[Entity], house: House, ratings: Mapping[str, Rating]
) -> list[dict[str, Any]]:
    """Return these entities and their ratings as JSON objects."""
    return [
        {
            "entity_id": one.entity_id,
            "name": one.name,
            "tier": ratings.get(one.entity_id),
            "unrated": unrated(one, house),
            "seen_opening": sorted(house.seen_opening.get(one.entity_id, ())),
        }
        for one in things
    ]


def _is_unsettled(entity: Entity, house: House) -> bool:
    rule = gate(entity, Action.TOGGLE, {}, house)
    return rule in SECURE_RULES and not is_settled(entity, rule, house)


def read_ratings(value: Any) -> dict[str, Rating]:
    """Parse the stored ratings. Invalid ones are dropped, so that their entities count
    as unrated."""
    found: dict[str, Rating] = {}
    for name, rating in (value if isinstance(value, Mapping) else {}).items():
        try:
            found[str(name)] = Rating(rating)
        except ValueError:
            _log.warning("the rating of %s cannot be read", name)
    return found


def strictest(one: Mapping[str, Rating], other: Mapping[str, Rating]) -> dict[str, Rating]:
    """Return the demands of both: the entities that either of them never uses, or only with the
    PIN."""
    both = {name: _strictest(one.get(name), other.get(name)) for name in {**one, **other}}
    return {name: rating for name, rating in both.items() if rating in _DEMANDS}


def _strictest(*ratings: Rating | None) -> Rating:
    return max((one for one in ratings if one is not None), key=_BY_STRICTNESS.index)


def choices_of(
    entity: Entity, house: House, rulings: Rulings, mode: Mode
) -> list[tuple[Rating, Ruling]]:
    """Return the ratings that the owner can give to an entity, each with what it leads to.

    If several lead to the same, the lowest is returned, but rather one that doesn't depend on the
    settings.
    """
    found: dict[Ruling, Rating] = {}
    for rating in Rating:
        if not works(rating, entity, house, rulings):
            continue
        demand = _DEMANDS.get(rating)
        if demand is not None:
            found[Ruling(demand)] = rating
        else:
            found.setdefault(rulings.of(rating.tier, mode), rating)
    return [(rating, ruling) for ruling, rating in found.items()]


def works(rating: Rating, entity: Entity, house: House, rulings: Rulings) -> bool:
    """Return True if the entity would have the rating's tier, whatever it switches itself."""
    if rating is Rating.PIN and not rulings.has_pin:
        return False
    ratings = {entity.entity_id: rating.tier}
    tiers = (
        weigh(name, way, {}, house, ratings, follows=name != entity.entity_id).tier
        for action in _WAYS
        for name, way in consequences([entity.entity_id], action, house)
    )
    return max(tiers, key=height) is rating.tier
