"""Home Assistant's live picture, as far as a call looks at it."""

from collections.abc import Callable, Collection

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House


class StillHome(HomeAssistant):
    """A house in which nothing changes but what the test changes. No command is answered."""

    house: House = House()
    connected: bool = True
    age_s: float | None = 0.0

    def __init__(
        self,
        house: House | None = None,
        *,
        connected: bool = True,
        age_s: float | None = 0.0,
    ) -> None:
        """`age_s`: since when the picture is not live; None: there never was one."""
        self.house = house or House()
        self.connected = connected and age_s == 0.0
        self.age_s = age_s

    async def look(self) -> float | None:
        return self.age_s

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        return predicate(self.house)
