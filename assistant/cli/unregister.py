"""`hearth unregister`: remove this device from Home Assistant."""

import argparse
import asyncio
from dataclasses import replace

from assistant.app.process import locked
from assistant.cli.console import Terminal
from assistant.cli.secret_input import AskAdmin, add_admin_argument, admin_asker
from assistant.cli.terminal import CliCommand
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sections import Mqtt
from assistant.domain.clock import SystemClock
from assistant.interfaces.device import registration as place
from assistant.interfaces.device.registration import DeviceFile, DeviceRecord, address_of
from assistant.interfaces.mqtt.interface import take_away
from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.mobile_app import Address

# For a damaged record, which contained the names of the MQTT topics.
_ENTITIES_STAY = (
    "Its MQTT entities stay in Home Assistant: delete the retained messages of its topics "
    "(docs/mqtt.md) at the broker."
)


async def unregister(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """Delete Hearth's registration and, if a token allows it, its device in Home Assistant. Raises
    ConfigError while `hearth run` uses the data folder, because `hearth run` would register the
    device again."""
    file = DeviceFile(settings.data_folder, SystemClock())
    with locked(settings.data_folder):
        try:
            record = file.read()
        except ConfigError as error:  # the record is damaged, so it can only be deleted
            console.print(str(error), soft_wrap=True)
            if settings.mqtt.host:
                console.print(_ENTITIES_STAY, soft_wrap=True)
            file.forget()
            return
        if record is None:
            console.print("This box is not registered in Home Assistant.")
            return
        told = await _remove(address_of(settings), record, ask_admin)
        at_broker = await remove_entities(settings.mqtt, record.identifier)
        # What is left there can be removed later only under the same identifier.
        if told or at_broker:
            file.write(DeviceRecord(record.identifier, name=record.name))
        else:
            file.forget()
    console.print(
        "Registration deleted. The next hearth run registers this box again.", soft_wrap=True
    )
    for still_to_do in filter(None, (told, at_broker)):
        console.print(still_to_do, soft_wrap=True)


async def remove_entities(mqtt: Mqtt, identifier: str) -> str:
    """Remove the device's entities from the MQTT broker. Returns what the user still has to do, or
    ""."""
    if not mqtt.host:
        return ""
    try:
        await take_away(mqtt, identifier)
    except IntegrationError as error:
        return (
            f"{error} So its MQTT entities stay in Home Assistant: "
            "run hearth unregister again once the broker is back."
        )
    return ""


async def _remove(address: Address, record: DeviceRecord, ask_admin: AskAdmin) -> str:
    tls = address.verify_tls, address.ca_file
    async with HomeAssistant(address.url, address.token, *tls) as home:
        told = await place.remove(home, record, address)
        if told and home.connected:
            admin = await asyncio.to_thread(ask_admin, "remove the device from Home Assistant")
            if admin:
                told = await place.remove(home, record, replace(address, token=admin))
    return told


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_admin_argument(parser, "remove the device from Home Assistant")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    await unregister(settings, admin_asker(arguments), Terminal(stderr=True))
    return 0


COMMAND = CliCommand(
    name="unregister",
    examples=("hearth unregister",),
    add_arguments=_arguments,
    run=_run,
)
