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


class AgedPicture(LivePicture, Protocol):
    """The house, with the age of what is known of it."""

    async def look(self) -> float | None:
        """Seconds since it stopped being live: 0.0 while it is, None where there is none."""
        ...


def staleness(age_s: float) -> str:
    """Warning to a model that the picture is not live; "" where it is."""
    if age_s == 0:
        return ""
    minutes = int(age_s // 60)
    age = f"{minutes} minutes" if minutes > 1 else "one minute" if minutes else "under a minute"
    return (
        f"NOT LIVE. Contact with Home Assistant was lost {age} ago. These states are of that time "
        "and may be wrong by now: tell them in the past tense, with their age, never as present."
    )


def one_line(text: str) -> str:
    """A name or state as data: no line breaks, control or invisible signs, not without end."""
    return cleaning.one_line(text, MAX_TEXT)
