"""Which room the device stands in as Home Assistant sees it, and how it is removed there."""

from collections.abc import Iterable
from dataclasses import dataclass

from assistant.interfaces.device.record import DeviceRecord
from assistant.tools.nearest import nearest
from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.home_assistant import mobile_app
from integrations.home_assistant.commands import Commands
from integrations.home_assistant.house import Area
from integrations.home_assistant.mobile_app import Address
from integrations.home_assistant.registry import read_areas

DEVICE_PAGE = "Settings > Devices & services > Devices > {name}"
ENTRY_PAGE = "Settings > Devices & services > Mobile App > {name} > Delete"
AREAS_NAMED = 8  # of a house that has more rooms than fit into one sentence


@dataclass(frozen=True, slots=True)
class DevicePlace:
    """Where the device is, and where it should be."""

    wanted: Area | None  # `assistant.area`, None where the house has no such area
    present: Area | None
    areas: tuple[Area, ...]
    registered: bool  # whether the device is in the registry at all

    @property
    def agrees(self) -> bool:
        """Whether Home Assistant has it in the area of the settings."""
        return self.wanted is not None and self.wanted == self.present


def find_area(areas: Iterable[Area], name: str) -> Area | None:
    """The area of that name, alias or id; case does not count."""
    wanted = name.strip().casefold()
    for area in areas:
        if wanted in (
            area.area_id,
            *(one.strip().casefold() for one in (area.name, *area.aliases)),
        ):
            return area
    return None


async def look_up(home: Commands, record: DeviceRecord | None, name: str) -> DevicePlace:
    """Ask Home Assistant. `name`: `assistant.area`. Raises IntegrationError."""
    try:
        areas = read_areas(await home.command("config/area_registry/list"))
    except TypeError:
        raise Unavailable("Home Assistant lists its areas in an unknown form.") from None
    device = await mobile_app.find_device(home, record.identifier) if record else None
    present = areas.get(device.area_id or "") if device else None
    return DevicePlace(
        find_area(areas.values(), name), present, tuple(areas.values()), device is not None
    )


def no_such_area(name: str, place: DevicePlace) -> str:
    """What to say of an `assistant.area` that the house does not have."""
    names = [one for area in place.areas for one in (area.name, *area.aliases)]
    near = nearest(name, names)
    if near:
        hint = f'set assistant.area to "{near[0]}"'
    elif names:
        listed = ", ".join(area.name for area in place.areas[:AREAS_NAMED])
        hint = f"set assistant.area to one of its areas, such as {listed}"
    else:
        hint = "make the areas first: Settings > Areas, labels & zones"
    return f'Home Assistant has no area "{name}": {hint}.'


def move_by_hand(record: DeviceRecord, area: str) -> str:
    """How a person puts the device into its room."""
    page = DEVICE_PAGE.format(name=record.name)
    return f"In Home Assistant, open {page}, choose the pencil, and set the area {area}."


async def move(home: Commands, record: DeviceRecord, area: Area) -> None:
    """Put the device into the area, and switch off its useless tracker. For administrators.

    Raises Refused for others.
    """
    await mobile_app.set_area(home, record.device_id, area.area_id)
    await mobile_app.hide_tracker(home, record.identifier)


async def is_admin(home: Commands) -> bool:
    """Whether the token is an administrator's. Raises IntegrationError."""
    user = await home.command("auth/current_user")
    return isinstance(user, dict) and user.get("is_admin") is True


async def remove(home: Commands, record: DeviceRecord, address: Address) -> str:
    """Remove the device from Home Assistant, if the address's token may.

    Returns "" when it is gone, else one sentence that says what a person does instead.
    """
    by_hand = f"remove it by hand: {ENTRY_PAGE.format(name=record.name)}"
    try:
        device = await mobile_app.find_device(home, record.identifier)
        if device is None:
            return ""
        for entry_id in device.entry_ids:
            await mobile_app.remove_entry(address, entry_id)
    except (Refused, SignInAgain):
        return f"Only an administrator may remove the device from Home Assistant; {by_hand}."
    except IntegrationError as error:
        return f"{error} So the device may still stand there; {by_hand}."
    return ""
