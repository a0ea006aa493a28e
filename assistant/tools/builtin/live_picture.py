"""What the tools that look at the house have in common."""

from typing import Protocol

from integrations import cleaning
from integrations.home_assistant.house import House

MAX_TEXT = 300  # characters of one name or state


class LivePicture(Protocol):
    """The house (`integrations.home_assistant.client.HomeAssistant`)."""

    @property
    def house(self) -> House:
        """The newest picture."""
        ...

    @property
    def connected(self) -> bool:
        """Whether it is being kept up to date."""
        ...


def one_line(text: str) -> str:
    """A name or state as data: no line breaks, control or invisible signs, not without end."""
    return cleaning.one_line(text, MAX_TEXT)
