"""Messages that Home Assistant sends to our device over the websocket.

`mobile_app/push_notification_channel` subscribes; each event is what an automation gave to the
notify action or entity, with `hass_confirm_id` beside it. Home Assistant keeps one channel for a
registration: a newer one, or a message that is not confirmed within 10 s, silently ends it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from integrations.home_assistant.commands import Commands
from integrations.home_assistant.shapes import mapping, text

CHANNEL = "mobile_app/push_notification_channel"


@dataclass(frozen=True, slots=True)
class Push:
    """One message. All of it is data that anybody in the house may have written."""

    confirm_id: str  # "" where none is asked for
    message: str  # "" where there is none
    title: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)  # free form, as the automation gave it


def read_push(event: Mapping[str, Any]) -> Push:
    """From an event of the channel; what is of the wrong type is left out."""
    return Push(
        text(event.get("hass_confirm_id")),
        text(event.get("message")),
        text(event.get("title")),
        mapping(event.get("data")),
    )


async def confirm(home: Commands, webhook_id: str, confirm_id: str) -> None:
    """Tell that the message is safe with us. Raises Refused where the channel has ended."""
    await home.command(
        "mobile_app/push_notification_confirm", webhook_id=webhook_id, confirm_id=confirm_id
    )
