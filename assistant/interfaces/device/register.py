"""Registers this box with Home Assistant, once, and finds out whether that still holds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from assistant.config.schema import Settings
from assistant.domain.version import own_version
from assistant.interfaces.device.record import DeviceFile, DeviceRecord, new_record
from integrations.errors import Misconfigured, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.commands import Commands
from integrations.home_assistant.mobile_app import Address, Appearance, Registered

_log = logging.getLogger(__name__)

Register = Callable[[Address, str, Appearance], Awaitable[str]]


def appearance(settings: Settings) -> Appearance:
    """How this box shows in Home Assistant: two boxes of one house differ by their rooms."""
    told = f"{settings.assistant.name} {settings.assistant.area}".strip()
    return Appearance(name=" ".join(told.split()), version=own_version())


def address_of(settings: Settings) -> Address:
    """Home Assistant as the settings name it."""
    home = settings.home_assistant
    return Address(home.url, home.token.get_secret_value(), home.verify_tls, home.ca_file)


async def ensure_registered(
    file: DeviceFile,
    home: Commands,
    address: Address,
    looks: Appearance,
    register: Register = mobile_app.register,
) -> DeviceRecord:
    """The registration, made now where there is none that lives. Then the device is there.

    It is made anew where the entry was deleted, where this is another Home Assistant, or where the
    token is another user's. Our identifier stays, so that the first is replaced, if it still is
    there. An entry that a person has disabled is left alone.

    Raises ConfigError for the file; Unavailable, Misconfigured, SignInAgain and Refused.
    """
    async with file.alone():
        await mobile_app.ready(home)
        user_id = await _user(home)
        record = await asyncio.to_thread(file.read)
        if record is None:
            record = new_record()
            # Before anything is registered under it: what happens in between makes no second one.
            await asyncio.to_thread(file.write, record)
        found = await _living(home, record, user_id)
        if found is None:
            _log.info("registering as %s", looks.name)
            webhook_id = await register(address, record.identifier, looks)
            record = replace(record, webhook_id=webhook_id, user_id=user_id)
            # At once: what happens to Home Assistant now makes no second registration.
            await asyncio.to_thread(file.write, record)
            found = await mobile_app.look(home, webhook_id)
            if found is None:
                raise Unavailable("Home Assistant took the device, but does not know it yet.")
        elif (record.name, record.version) != (looks.name, looks.version):
            await mobile_app.update(home, record.webhook_id, looks)
        now = replace(
            record,
            url=address.url,
            device_id=found.device_id,
            instance_id=found.instance_id,
            name=looks.name,
            version=looks.version,
        )
        if now != await asyncio.to_thread(file.read):
            await asyncio.to_thread(file.write, now)
        return now


async def _living(home: Commands, record: DeviceRecord, user_id: str) -> Registered | None:
    """The registration that the record speaks of, None where a new one must be made."""
    if not record.webhook_id:
        return None
    found = await mobile_app.look(home, record.webhook_id)
    if found is not None:
        return found if record.user_id == user_id else None
    device = await mobile_app.find_device(home, record.identifier)
    if device is not None and device.disabled:
        raise Misconfigured(
            f"The device {device.name} is disabled in Home Assistant: enable it under Settings > "
            "Devices & services > Mobile App, or remove it with hearth setup --forget."
        )
    return None


async def _user(home: Commands) -> str:
    try:
        return str((await home.command("auth/current_user"))["id"])
    except (KeyError, TypeError):
        raise Unavailable("Home Assistant does not tell whose token this is.") from None
