"""What others need of the connection (`integrations.home_assistant.client.HomeAssistant`)."""

from typing import Any, Protocol


class Commands(Protocol):
    """Whoever sends websocket commands."""

    async def command(self, kind: str, **fields: Any) -> Any:
        """One command and its result. Raises IntegrationError."""
        ...


class LiveLink(Commands, Protocol):
    """One that may be gone for a while."""

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        ...
