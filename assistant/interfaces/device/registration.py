"""The device's registration with Home Assistant: create, store and remove it, and set its area."""

import asyncio
import fcntl
import json
import logging
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import Clock
from assistant.domain.version import own_version
from assistant.tools.house.names import nearest
from integrations.errors import IntegrationError, Misconfigured, Refused, SignInAgain, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.house import Area
from integrations.home_assistant.mobile_app import Address, Appearance, Registered
from integrations.home_assistant.registry import read_areas
from integrations.home_assistant.websocket import Commands

NAME = "device.json"
_LOCK = "device.lock"
_LOOK_AGAIN_S = 0.1
_LOCK_S = 30.0  # seconds to wait for another process; registering takes one request
DEVICE_PAGE = "Settings > Devices & services > Devices > {name}"
ENTRY_PAGE = "Settings > Devices & services > Mobile App > {name} > Delete"
AREAS_NAMED = 8  # maximum number of areas that an error message lists
# Metadata key in MCP requests, supported since Home Assistant 2026.10.
META_KEY = "io.home-assistant/device_id"

_log = logging.getLogger(__name__)

Register = Callable[[Address, str, Appearance], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """A registration with a particular Home Assistant instance."""

    identifier: str  # Hearth's permanent id, so that it never becomes two devices
    url: str = ""  # `home_assistant.url` at registration
    webhook_id: str = field(default="", repr=False)  # a secret; "" while not registered
    device_id: str = ""  # in Home Assistant's device registry
    instance_id: str = ""  # the Home Assistant instance's id, "" if unknown
    user_id: str = ""  # the registering user; only they can open the push channel
    name: str = ""  # the last name sent
    version: str = ""  # the last version of Hearth sent


class DeviceFile:
    """The file with the registration, shared by all processes that use this data folder."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    @property
    def path(self) -> Path:
        return self._folder / NAME

    def read(self) -> DeviceRecord | None:
        """Return the registration, or None if there is no file. Raises ConfigError."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            return DeviceRecord(**{key: str(value) for key, value in kept.items()})
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        except (AttributeError, TypeError, ValueError):
            raise ConfigError(
                f"{self.path} is damaged; remove it, and `hearth run` registers the device again"
            ) from None

    def write(self, record: DeviceRecord) -> None:
        """Replace the file atomically. Raises ConfigError."""
        aside = self.path.with_suffix(".new")
        try:
            self._make_folder()
            aside.unlink(missing_ok=True)
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(record), file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error

    def forget(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from error

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Lock out other processes while the context is open. Raises ConfigError if the lock isn't
        free within 30 s."""
        try:
            self._make_folder()
            handle = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            patience = self._clock.monotonic() + _LOCK_S
            while not _taken(handle):
                if self._clock.monotonic() >= patience:
                    raise ConfigError(
                        f"Another hearth process holds {self._folder / _LOCK}; stop it, or wait"
                    )
                await self._clock.sleep(_LOOK_AGAIN_S)
            yield
        finally:
            os.close(handle)

    def _make_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _unusable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path} cannot be used ({error.strerror}); set assistant.data to a folder that "
            "you own"
        )


def new_record() -> DeviceRecord:
    return DeviceRecord(identifier=secrets.token_hex(16))


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class HouseDevice:
    """The device's id in Home Assistant. The daemon updates it; other processes read it from the
    file."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.file = DeviceFile(settings.data_folder, clock)
        self.device_id = ""  # in Home Assistant's device registry; "" if unregistered
        try:
            record = self.file.read()
        except ConfigError as error:  # everything else works without this file
            _log.warning("%s", error)
            return
        if record is not None and record.url == settings.home_assistant.url:
            self.device_id = record.device_id

    def registered_as(self, device_id: str) -> None:
        self.device_id = device_id

    def meta(self) -> Mapping[str, Any] | None:
        """Return the metadata to send with MCP requests to Home Assistant, or None if the device
        isn't registered."""
        return {META_KEY: self.device_id} if self.device_id else None


def appearance(settings: Settings) -> Appearance:
    """Return the device's name and version for Home Assistant. The name includes the area, because
    a home can have several devices."""
    told = f"{settings.assistant.name} {settings.assistant.area}".strip()
    return Appearance(name=" ".join(told.split()), version=own_version())


def address_of(settings: Settings) -> Address:
    home = settings.home_assistant
    return Address(home.url, home.token.get_secret_value(), home.verify_tls, home.ca_file)


async def ensure_registered(
    file: DeviceFile,
    home: Commands,
    address: Address,
    looks: Appearance,
    register: Register = mobile_app.register,
) -> DeviceRecord:
    """Return the registration, creating it if there is no valid one. A new registration replaces an
    old one of this device.

    Raises Misconfigured if the device is disabled in Home Assistant, ConfigError if the file can't
    be used, and other IntegrationErrors.
    """
    async with file.alone():
        await mobile_app.ready(home)
        user_id = await _user(home)
        record = await asyncio.to_thread(file.read)
        if record is None:
            record = new_record()
            # Save the id before registering, so that a retry doesn't create a second device.
            await asyncio.to_thread(file.write, record)
        found = await _living(home, record, user_id)
        if found is None:
            _log.info("registering as %s", looks.name)
            webhook_id = await register(address, record.identifier, looks)
            record = replace(record, webhook_id=webhook_id, user_id=user_id)
            # Save it now, so that an interruption doesn't lead to a second registration.
            await asyncio.to_thread(file.write, record)
            found = await mobile_app.look(home, webhook_id)
            if found is None:
                raise Unavailable("Home Assistant registered the device, but does not list it yet.")
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
    if not record.webhook_id:
        return None
    found = await mobile_app.look(home, record.webhook_id)
    if found is not None:
        return found if record.user_id == user_id else None
    device = await mobile_app.find_device(home, record.identifier)
    if device is not None and device.disabled:
        raise Misconfigured(
            f"The device {device.name} is disabled in Home Assistant: enable it under Settings > "
            "Devices & services > Mobile App, or remove it with hearth unregister."
        )
    return None


async def _user(home: Commands) -> str:
    try:
        return str((await home.command("auth/current_user"))["id"])
    except (KeyError, TypeError):
        raise Unavailable("Home Assistant does not say whose token this is.") from None


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """The device's configured and actual area."""

    wanted: Area | None  # `assistant.area`, or None if there is no such area
    present: Area | None
    areas: tuple[Area, ...]
    registered: bool  # the device is in the registry

    @property
    def agrees(self) -> bool:
        return self.wanted is not None and self.wanted == self.present


def find_area(areas: Iterable[Area], name: str) -> Area | None:
    """Return the area with this name, alias or id (ignoring case), or None."""
    wanted = name.strip().casefold()
    for area in areas:
        if wanted in (
            area.area_id,
            *(one.strip().casefold() for one in (area.name, *area.aliases)),
        ):
            return area
    return None


async def look_up(home: Commands, record: DeviceRecord | None, name: str) -> DevicePlace:
    """Read the device's area from Home Assistant. `name` is the configured area (`assistant.area`).
    Raises IntegrationError."""
    try:
        areas = read_areas(await home.command("config/area_registry/list"))
    except TypeError:
        raise Unavailable(
            "Home Assistant listed its areas in a form that Hearth does not understand."
        ) from None
    device = await mobile_app.find_device(home, record.identifier) if record else None
    present = areas.get(device.area_id or "") if device else None
    return DevicePlace(
        find_area(areas.values(), name), present, tuple(areas.values()), device is not None
    )


def no_such_area(name: str, place: DevicePlace) -> str:
    """Return the error message for an `assistant.area` that Home Assistant doesn't have."""
    names = [one for area in place.areas for one in (area.name, *area.aliases)]
    near = nearest(name, names)
    if near:
        hint = f'set assistant.area to "{near[0]}"'
    elif names:
        listed = ", ".join(area.name for area in place.areas[:AREAS_NAMED])
        hint = f"set assistant.area to one of its areas, such as {listed}"
    else:
        hint = "create the areas first: Settings > Areas, labels & zones"
    return f'Home Assistant has no area "{name}": {hint}.'


def move_by_hand(record: DeviceRecord, area: str) -> str:
    page = DEVICE_PAGE.format(name=record.name)
    return f"In Home Assistant, open {page}, choose the pencil, and set the area {area}."


async def move(home: Commands, record: DeviceRecord, area: Area) -> None:
    """Assign the device to an area, and hide its device tracker, which serves no purpose. Raises
    Refused if the token's user isn't an administrator."""
    await mobile_app.set_area(home, record.device_id, area.area_id)
    await mobile_app.hide_tracker(home, record.identifier)


async def is_admin(home: Commands) -> bool:
    """Return True if the token belongs to an administrator. Raises IntegrationError."""
    user = await home.command("auth/current_user")
    return isinstance(user, dict) and user.get("is_admin") is True


async def remove(home: Commands, record: DeviceRecord, address: Address) -> str:
    """Remove the device from Home Assistant. Returns "" if it is gone, otherwise a sentence that
    explains how to remove it by hand."""
    by_hand = f"remove it by hand: {ENTRY_PAGE.format(name=record.name)}"
    try:
        device = await mobile_app.find_device(home, record.identifier)
        if device is None:
            return ""
        for entry_id in device.entry_ids:
            await mobile_app.remove_entry(address, entry_id)
    except (Refused, SignInAgain):
        return f"Only an administrator can remove the device from Home Assistant; {by_hand}."
    except IntegrationError as error:
        return f"{error} So the device may still be in Home Assistant; {by_hand}."
    return ""
