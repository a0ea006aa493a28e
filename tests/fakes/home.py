"""Fakes of Home Assistant's live picture."""

from collections.abc import Callable, Collection

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House


class StillHome(HomeAssistant):
    """A house that only the test changes. It answers no command."""

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
        """`age_s` is the age of the picture; None: there never was one."""
        self.house = house or House()
        self.connected = connected and age_s == 0.0
        self.age_s = age_s

    async def look(self) -> float | None:
        return self.age_s

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        return predicate(self.house)
