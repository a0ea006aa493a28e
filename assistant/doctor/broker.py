"""The check of the MQTT broker, where one is set."""

import secrets

from assistant.doctor.finding import Check, Found, bad, good
from assistant.doctor.scene import Scene
from assistant.interfaces.mqtt.make import broker_of
from integrations.errors import IntegrationError
from integrations.mqtt import publish_last

_MEND = "mend that, and Home Assistant has Hearth's MQTT entities again"


async def _broker(scene: Scene) -> Found:
    mqtt = scene.settings.mqtt
    if not mqtt.host:
        return good("none is set (mqtt.host)")
    try:
        # Under a name of its own: a running Hearth stays connected.
        await publish_last(broker_of(mqtt), f"hearth-doctor-{secrets.token_hex(4)}", ())
    except IntegrationError as error:
        return bad(str(error), _MEND)
    return good(f"lets Hearth in at {mqtt.host}:{mqtt.port}")


CHECKS: tuple[Check[Scene], ...] = (Check("broker", _broker),)
