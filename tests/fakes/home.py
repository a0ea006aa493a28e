"""Home Assistant's live picture, as far as a call looks at it."""

from collections.abc import Callable, Collection

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House


class StillHome(HomeAssistant):
    """A house in which nothing changes but what the test changes."""

    house: House = House()
    connected: bool = True

    def __init__(self, house: House | None = None, *, connected: bool = True) -> None:
        self.house = house or House()
        self.connected = connected

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        return predicate(self.house)
