"""What in a home can speak, beside this box: satellites, and players with a voice to play. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.tools.mend import folded
from integrations.home_assistant.house import Entity, House

_ANNOUNCE = 1  # of AssistSatelliteEntityFeature
_PLAY_MEDIA, _MEDIA_ANNOUNCE = 512, 1 << 20  # of MediaPlayerEntityFeature
_SCREENS = ("tv", "receiver", "projector")  # device classes: what would have to be switched on
_GONE = "unavailable"


@dataclass(frozen=True, slots=True)
class Mouthpiece:
    """Where something can be said: a room, or a satellite that stands in none."""

    name: str
    area_id: str  # "" for none
    satellites: tuple[str, ...] = ()  # entity ids
    player: str = ""  # entity id, where no satellite is


def mouthpieces(
    house: House,
    areas: Sequence[str] | None,
    left_out: Collection[str] = (),
    own_device: str = "",
) -> list[Mouthpiece]:
    """One for each of these areas that has any; None: everywhere, also where there is no area.

    A room's satellites speak, else one of its players, if the home has a voice for it. `left_out`:
    satellites that are not to be used. What belongs to `own_device` never is.
    """
    speakers = [
        one
        for one in _satellites(house)
        if one.entity_id not in left_out and (not own_device or one.device_id != own_device)
    ]
    found = []
    for area_id in house.areas if areas is None else areas:
        name = house.areas[area_id].name
        here = tuple(one.entity_id for one in speakers if one.area_id == area_id)
        player = "" if here or not speech(house) else _player(house, area_id)
        if here or player:
            found.append(Mouthpiece(name, area_id, here, player))
    if areas is None:
        nowhere = (one for one in speakers if one.area_id not in house.areas)
        found += [Mouthpiece(one.name, "", (one.entity_id,)) for one in nowhere]
    return found


def satellites(house: House) -> list[str]:
    """Entity ids of all that take announcements now."""
    return [one.entity_id for one in _satellites(house)]


def speech(house: House) -> str:
    """The home's own voice, for players; "" for none."""
    for entity in house.entities.values():
        if entity.domain == "tts" and entity.state != _GONE:
            return entity.entity_id
    return ""


def rooms_of(house: House, place: str) -> list[str]:
    """The ids of the areas that a name means: one of an area, or of a floor. None for ""."""
    wanted = folded(place)
    if not wanted:
        return []
    areas = [
        area.area_id
        for area in house.areas.values()
        if area.area_id == place or wanted in map(folded, (area.name, *area.aliases))
    ]
    floors = {
        floor.floor_id
        for floor in house.floors.values()
        if wanted in map(folded, (floor.name, *floor.aliases))
    }
    return areas or [area.area_id for area in house.areas.values() if area.floor_id in floors]


def _satellites(house: House) -> list[Entity]:
    return [
        entity
        for entity in house.entities.values()
        if entity.domain == "assist_satellite"
        and entity.state != _GONE
        and entity.features & _ANNOUNCE
    ]


def _player(house: House, area_id: str) -> str:
    """The one player of a room that is best for it, of those that the assistant may see."""
    fit = [
        entity
        for entity in house.exposed()
        if entity.domain == "media_player"
        and entity.area_id == area_id
        and entity.state != _GONE
        and entity.features & _PLAY_MEDIA
        and (entity.device_class not in _SCREENS or entity.state not in ("off", "standby"))
    ]
    best = sorted(fit, key=_unfitness)
    return best[0].entity_id if best else ""


def _unfitness(player: Entity) -> tuple[bool, bool, bool]:
    """First what goes on playing afterwards, then what is no screen, then what is on."""
    return (
        not player.features & _MEDIA_ANNOUNCE,
        player.device_class in _SCREENS,
        player.state == "off",
    )
