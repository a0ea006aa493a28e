"""The part of `hearth setup --forget` that takes the box's entities away from the broker."""

from assistant.config.schema import Mqtt
from assistant.interfaces.mqtt.make import take_away
from integrations.errors import IntegrationError


async def forget_entities(mqtt: Mqtt, identifier: str) -> str:
    """What a person still has to do, "" for nothing."""
    if not mqtt.host:
        return ""
    try:
        await take_away(mqtt, identifier)
    except IntegrationError as error:
        return (
            f"{error} So its MQTT entities stay in Home Assistant: "
            "run hearth setup --forget again once the broker is there."
        )
    return ""
