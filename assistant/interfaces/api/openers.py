"""What may open the house, for people who rate it in the console or by a program."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.domain.outcome import Tier
from assistant.tools.ratings import Ratings, may_open, rated_rows
from integrations.home_assistant.house import House
from integrations.web.box import Unknown


class Openers:
    """The list of them, and their ratings."""

    def __init__(self, house: Callable[[], House], ratings: Ratings) -> None:
        self._house = house
        self._ratings = ratings

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Each with what it counts as, by its rating or without; JSON objects."""
        house = self._house()
        return rated_rows(may_open(house), house, self._ratings.tiers)

    async def rate(self, entity_id: str, tier: Tier) -> None:
        """Rate one of them. Raises Unknown and StoreError."""
        if entity_id not in {one.entity_id for one in may_open(self._house())}:
            raise Unknown("Nothing of that id may open something and waits for a rating.")
        await self._ratings.rate({entity_id: tier})
