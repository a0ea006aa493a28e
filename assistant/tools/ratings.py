"""How the owner rated things of which nobody knows what they do, or what they may open."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.domain.records import SmallValues, StoreError
from assistant.journal.store import Store
from assistant.tools.gates import UNKNOWN_EFFECTS, UNREAD, gate, is_settled
from assistant.tools.intents import Action
from assistant.tools.weighing import SECURE_RULES, height, weigh
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.owner import OwnedTasks

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


#
# What switches were seen to open: told to the picture of the house, and kept over a restart.
#
# Home Assistant's own picture learns it (`integrations.home_assistant.runs.Switches`). Here it is
# written down, so that a switch which unlocked the door last month is asked about today. A rating
# that its owner gave before is void then, since it was given in the belief that nothing opens; one
# that is given afterwards counts.


RETRY_S = 30.0  # after which a write that failed is tried again
Openings = Mapping[str, frozenset[str]]  # what each was seen to open, by entity id


class SeenOpening:
    """Context in which what is learned is written down."""

    def __init__(self, home: HomeAssistant, store: Store, ratings: Ratings, clock: Clock) -> None:
        self._home = home
        self._store = store
        self._ratings = ratings
        self._clock = clock
        self._unwritten: dict[str, frozenset[str]] = {}
        self._came = asyncio.Event()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        """Recall what earlier processes have seen. Raises StoreError."""
        self._home.learn_openings(await self._store.openings(), self._take)
        await self._owner.__aenter__()
        self._owner.start_on(self._came, self._write_on, "what switches open")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write down what is left."""
        await self._owner.__aexit__(kind, error, trace)
        await self._write()

    def _take(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            _log.info("%s was seen to open %s", entity_id, ", ".join(sorted(opened)))
        self._add(fresh)
        self._came.set()

    def _add(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            self._unwritten[entity_id] = self._unwritten.get(entity_id, frozenset()) | opened

    async def _write_on(self) -> None:
        if not await self._write():
            await self._clock.sleep(RETRY_S)
            self._came.set()

    async def _write(self) -> bool:
        """Add what is new to the disk. False: that failed, and it is kept for another try."""
        fresh, self._unwritten = self._unwritten, {}
        if not fresh:
            return True
        try:
            known = await self._store.openings()
            await self._ratings.withdraw(fresh.keys() - known.keys())
            await self._store.add_openings(fresh)
        except StoreError as error:
            if not error.told:
                _log.warning("What switches open cannot be written down: %s", error)
            self._add(fresh)
            return False
        return True
