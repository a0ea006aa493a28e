"""Makes the face from the settings, and takes away what it has left at the broker."""

import asyncio

from assistant.config.schema import Settings
from assistant.config.sections import Mqtt
from assistant.domain.clock import Clock
from assistant.interfaces.device.record import DeviceFile, new_record
from assistant.interfaces.device.sensors import appearance
from assistant.interfaces.mqtt.entities import Looks, retained
from assistant.interfaces.mqtt.face import Dial, MqttInterface
from assistant.interfaces.mqtt.publishing import Parts, topics_of
from assistant.speech.catalogue import Catalogue
from integrations.mqtt import Broker, MqttClient, Publication, publish_last


def mqtt_face(
    settings: Settings,
    identifier: str,
    parts: Parts,
    catalogue: Catalogue,
    clock: Clock,
    dial: Dial = MqttClient,
) -> MqttInterface:
    """To be entered by the process that stays, where `mqtt.host` is set. `identifier`: see
    `own_identifier`."""
    languages = settings.assistant.languages
    looks = appearance(settings)
    return MqttInterface(
        dial,
        broker_of(settings.mqtt),
        topics_of(settings.mqtt, identifier),
        Looks(looks.name, looks.version, looks.manufacturer, looks.model, settings.assistant.area),
        parts,
        lambda key: catalogue.say(key, languages[0]),
        clock,
        follow_up=settings.assistant.follow_up,
        words=settings.privacy.share_heard,
        may_unmute=settings.mqtt.may_unmute,
        may_widen=settings.mqtt.may_widen,
    )


def broker_of(mqtt: Mqtt) -> Broker:
    """As the settings have it."""
    return Broker(
        mqtt.host,
        mqtt.port,
        mqtt.username,
        mqtt.password.get_secret_value(),
        mqtt.tls,
        mqtt.ca_file,
    )


async def own_identifier(file: DeviceFile) -> str:
    """The box's own id, made now where it has none. Raises ConfigError."""
    async with file.alone():
        record = await asyncio.to_thread(file.read)
        if record is None:
            record = new_record()
            await asyncio.to_thread(file.write, record)
        return record.identifier


async def take_away(mqtt: Mqtt, identifier: str) -> None:
    """Nothing of this box stays at the broker or in Home Assistant. Raises IntegrationError."""
    topics = topics_of(mqtt, identifier)
    kept = (topics.config, *retained(topics), topics.availability)
    gone = [Publication(topic, "", retain=True) for topic in kept]
    await publish_last(broker_of(mqtt), topics.client, gone)
