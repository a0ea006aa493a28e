"""The `announce` tool: speak a message on this device and on satellites and players in the house.

It replaces Home Assistant's HassBroadcast, which can't be limited to a room, ignores media players
and reports success even if the house has no satellite.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    failure,
    one_line,
    schema,
    text,
)
from assistant.tools.house.intents import BROADCAST
from assistant.tools.house.names import folded, nearest, spoken_place, spoken_places
from assistant.tools.house.targets import find_area
from integrations.errors import IntegrationError
from integrations.home_assistant.house import Entity, House, mapping
from integrations.home_assistant.reasons import Unanswered
from integrations.home_assistant.services import Services
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant

# Other devices that can speak: satellites, and players if the house has a TTS voice. Pure.


_ANNOUNCE = 1  # from AssistSatelliteEntityFeature
_PLAY_MEDIA, _MEDIA_ANNOUNCE = 512, 1 << 20  # from MediaPlayerEntityFeature
_SCREENS = ("tv", "receiver", "projector")  # device classes that are not turned on for a message
_GONE = "unavailable"


@dataclass(frozen=True, slots=True)
class Mouthpiece:
    """A room in which messages can be spoken, or a satellite that isn't in a room."""

    name: str
    area_id: str  # "" if there is none
    satellites: tuple[str, ...] = ()  # entity ids
    player: str = ""  # entity id, used if there is no satellite


def mouthpieces(
    house: House,
    areas: Sequence[str] | None,
    left_out: Collection[str] = (),
    own_device: str = "",
) -> list[Mouthpiece]:
    """Return where messages can be spoken in these areas, or in the whole house if `areas` is None.

    A media player is used only in a room without satellites, and only if the house has a
    text-to-speech voice. Satellites in `left_out` and those of `own_device` are ignored.
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
    """Return the entity ids of the available satellites that support announcements."""
    return [one.entity_id for one in _satellites(house)]


def speech(house: House) -> str:
    """Return the entity id of a text-to-speech voice, or "" if there is none."""
    for entity in house.entities.values():
        if entity.domain == "tts" and entity.state != _GONE:
            return entity.entity_id
    return ""


def rooms_of(house: House, place: str) -> list[str]:
    """Return the ids of the areas that the name of an area or floor refers to, or [] if there are
    none."""
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
    return (
        not player.features & _MEDIA_ANNOUNCE,
        player.device_class in _SCREENS,
        player.state == "off",
    )


ANNOUNCE = "announce"
MAX_MESSAGE = 500  # characters; about half a minute of speech
HERE = frozenset({"here", "this room", "aqui", "esta habitacion"})  # in the form of `folded`
WAIT_S = 3.0  # seconds to wait for a refusal; satellites respond only after speaking

_log = logging.getLogger(__name__)


class Announcer(Opened):
    """Speaks messages in rooms. Use it as a context manager; it owns the announcements
    in progress."""

    def __init__(
        self,
        home: "HomeAssistant",
        catalogue: Catalogue,
        area: str,
        device_id: Callable[[], str],
        here: Callable[[str, str], None] | None = None,
        *,
        wait_s: float = WAIT_S,
    ) -> None:
        """`area` is this device's room. `device_id` returns the device's id in Home Assistant, or
        "". `here` speaks in this room; it is None if this process does not speak."""
        self._home = home
        self._services = Services(home)
        self._catalogue = catalogue
        self._area = area
        self._device_id = device_id
        self._wait_s = wait_s
        self._tasks = OwnedTasks()
        self._here = here

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._tasks)

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=ANNOUNCE,
            description="Says something aloud in one room or in the whole home, to people who are "
            "elsewhere in the house. Not for phones or your own answer.",
            schema=schema(
                {
                    "message": text("Word for word, in the listeners' language."),
                    "room": text('A room or floor, "here", or left out: the whole home.'),
                },
                "message",
            ),
            tier=Tier.COMFORT,
            run=self._run,
            programs=False,
            sounds=True,
            replaces=frozenset({BROADCAST}),
            needed=lambda: self._here is not None or bool(mouthpieces(self._home.house, None)),
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        message = one_line(str(arguments["message"])[:MAX_MESSAGE])
        if not message:
            return failure(self._catalogue, "announce.empty", request)
        room, house = str(arguments.get("room", "")).strip(), self._home.house
        area = find_area(house, self._area) if self._area else None
        own = area.area_id if area is not None else ""
        areas: list[str] | None = None  # everywhere
        if folded(room) in HERE:
            areas = [own] if own else []
        elif room:
            areas = rooms_of(house, room)
            if not areas:
                return self._unknown(room, request)
        here = self._here if areas is None or own in areas or not areas else None
        if here is not None and areas is not None and len(areas) <= 1:
            here(message, request.language)
            return BuiltInResult(self._catalogue.say("announce.here", request.language))
        targets = await self._targets(areas, besides=own if here is not None else "")
        said, failed = await self._say(targets, message)
        if here is not None:
            here(message, request.language)
            said = [self._catalogue.say("announce.this_room", request.language), *said]
        return self._told(said, failed, room, request)

    async def _targets(self, areas: Sequence[str] | None, besides: str) -> list[Mouthpiece]:
        house = self._home.house
        if not self._home.connected:
            return []
        left_out = await self._telephones(satellites(house))
        found = mouthpieces(house, areas, left_out, self._device_id())
        return [one for one in found if not besides or one.area_id != besides]

    async def _telephones(self, entity_ids: Sequence[str]) -> frozenset[str]:
        if not entity_ids:
            return frozenset()
        try:
            entries = await self._home.command(
                "config/entity_registry/get_entries", entity_ids=list(entity_ids)
            )
        except IntegrationError as error:
            _log.info("cannot tell which satellites are telephones: %s", error)
            return frozenset()
        rows = mapping(entries)
        return frozenset(one for one in rows if mapping(rows[one]).get("platform") == "voip")

    async def _say(
        self, targets: Sequence[Mouthpiece], message: str
    ) -> tuple[list[str], list[str]]:
        if not targets:
            return [], []
        works = [
            self._tasks.start(self._speak(target, message), f"announce {target.name}")
            for target in targets
        ]
        await asyncio.wait(works, timeout=self._wait_s)
        well = [not work.done() or work.result() for work in works]
        named = list(zip(targets, well, strict=True))
        return (
            [one_line(target.name) for target, fine in named if fine],
            [one_line(target.name) for target, fine in named if not fine],
        )

    async def _speak(self, target: Mouthpiece, message: str) -> bool:
        try:
            if target.satellites:
                await self._services.call(
                    "assist_satellite",
                    "announce",
                    {"message": message},
                    entities=target.satellites,
                )
            else:
                await self._services.call(
                    "tts",
                    "speak",
                    {"message": message, "media_player_entity_id": target.player},
                    entities=[speech(self._home.house)],
                )
        except Unanswered as error:
            return error.timed_out  # on a timeout, a long message is still being spoken
        except IntegrationError as error:
            _log.warning("the announcement was not said in %s: %s", target.name, error)
            return False
        return True

    def _told(
        self, said: Sequence[str], failed: Sequence[str], room: str, request: BuiltInRequest
    ) -> BuiltInResult:
        say, language = self._catalogue.say, request.language
        here = say("announce.this_room", language)
        done = say("announce.said", language, where=spoken_places(said, here)) if said else ""
        if failed:
            not_done = say("announce.not_said", language, where=spoken_places(failed, here))
            return BuiltInResult(f"{done} {not_done}".strip(), failed=not said)
        if not said:
            key = "announce.nobody_there" if room else "announce.nobody"
            return failure(self._catalogue, key, request, room=spoken_place(one_line(room)))
        return BuiltInResult(done)

    def _unknown(self, room: str, request: BuiltInRequest) -> BuiltInResult:
        house = self._home.house
        names = [area.name for area in house.areas.values()]
        names += [floor.name for floor in house.floors.values()]
        options = nearest(room, names) or tuple(names[:8])
        return failure(self._catalogue, "announce.no_room", request, options, room=one_line(room))
