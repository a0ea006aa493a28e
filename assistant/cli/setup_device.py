"""The part of `hearth setup` that makes this box a device of Home Assistant, or ends that."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from assistant.app.lock import locked
from assistant.cli.paper import Terminal
from assistant.cli.setup_mqtt import forget_entities
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.device import place
from assistant.interfaces.device.record import DeviceFile, DeviceRecord
from assistant.interfaces.device.register import address_of, appearance, ensure_registered
from integrations.errors import IntegrationError
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.commands import Commands
from integrations.home_assistant.mobile_app import Address

# Under which name they stand there was in the record.
_ENTITIES_STAY = (
    "Its MQTT entities stay in Home Assistant: delete the retained messages of its topics "
    "(docs/mqtt.md) at the broker."
)

# What for -> an administrator's token, "" for none. May wait for a person: it runs in a thread.
AskAdmin = Callable[[str], str]


async def become_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """Register, and put the device into its area if that may be done; say what came of it."""
    address = address_of(settings)
    file = DeviceFile(settings.data_folder, SystemClock())
    try:
        async with _connected(address) as home:
            record = await ensure_registered(file, home, address, appearance(settings))
            registered = "Registered in Home Assistant as the device [green]{name}[/]."
            console.tell(registered, name=record.name, fold=True)
            told = await _settle_area(home, record, address, settings.assistant.area, ask_admin)
            if told:
                console.print(told, soft_wrap=True)
    except IntegrationError as error:
        console.print(f"Not registered as a device: {error}", soft_wrap=True)


async def forget_device(settings: Settings, ask_admin: AskAdmin, console: Terminal) -> None:
    """End the registration: ours always, Home Assistant's entry where a token may.

    Raises ConfigError while `hearth run` holds the data folder: it would register again at once.
    """
    file = DeviceFile(settings.data_folder, SystemClock())
    with locked(settings.data_folder):
        try:
            record = file.read()
        except ConfigError as error:  # damaged; that it goes is all that can be done
            console.print(str(error), soft_wrap=True)
            if settings.mqtt.host:
                console.print(_ENTITIES_STAY, soft_wrap=True)
            file.forget()
            return
        if record is None:
            console.print("This box is not registered as a device.")
            return
        told = await _remove(address_of(settings), record, ask_admin)
        at_broker = await forget_entities(settings.mqtt, record.identifier)
        # What may live on is taken away, or its place taken, under the same name only.
        if told or at_broker:
            file.write(DeviceRecord(record.identifier, name=record.name))
        else:
            file.forget()
    console.print("The registration is forgotten here; the next hearth run makes a new one.")
    for still_to_do in filter(None, (told, at_broker)):
        console.print(still_to_do, soft_wrap=True)


async def _remove(address: Address, record: DeviceRecord, ask_admin: AskAdmin) -> str:
    """What a person still has to do, "" for nothing."""
    async with _connected(address) as home:
        told = await place.remove(home, record, address)
        if told and home.connected:
            admin = await asyncio.to_thread(ask_admin, "remove the device from Home Assistant")
            if admin:
                told = await place.remove(home, record, replace(address, token=admin))
    return told


async def _settle_area(
    home: Commands, record: DeviceRecord, address: Address, area: str, ask_admin: AskAdmin
) -> str:
    """What a person still has to do, "" for nothing. Raises IntegrationError."""
    if not area:
        return "No area is set; name the room this box stands in as assistant.area."
    found = await place.look_up(home, record, area)
    if found.agrees:
        return ""
    if found.wanted is None:
        return place.no_such_area(area, found)
    if await place.is_admin(home):
        await place.move(home, record, found.wanted)
        return ""
    purpose = f"put this box into {found.wanted.name} in Home Assistant"
    admin = await asyncio.to_thread(ask_admin, purpose)
    if admin:
        try:
            async with _connected(replace(address, token=admin)) as as_admin:
                await place.move(as_admin, record, found.wanted)
                return ""
        except IntegrationError as error:
            return f"{error} {place.move_by_hand(record, found.wanted.name)}"
    return place.move_by_hand(record, found.wanted.name)


def _connected(address: Address) -> HomeAssistant:
    return HomeAssistant(address.url, address.token, address.verify_tls, address.ca_file)
