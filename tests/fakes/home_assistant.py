"""A Home Assistant without a connection; its house is given, and a subclass answers commands."""

from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House


class FakeHomeAssistant(HomeAssistant):
    """Override `command`, `stream` or `follow` if they are called."""

    def __init__(self, house: House | None = None, *, connected: bool = True) -> None:
        super().__init__("http://house.invalid", "token")
        self.given = house or House()
        self.is_connected = connected

    @property
    def house(self) -> House:
        return self.given

    @property
    def connected(self) -> bool:
        return self.is_connected
