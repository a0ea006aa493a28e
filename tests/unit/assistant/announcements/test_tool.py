"""Tests of the announcement tool: the devices that speak, and the report of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assistant.announcements.tools import MAX_MESSAGE, Announcer, Mouthpiece, mouthpieces, rooms_of
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.house import Area, Entity, Floor, House
from integrations.home_assistant.reasons import Unanswered
from tests.fakes.home import StillHome

PLAYS, PLAYS_AND_GOES_ON = 512, 512 | 1 << 20
AREAS = (
    Area("kitchen", "Kitchen", ("Cocina",), "ground"),
    Area("living", "Living room", (), "ground"),
    Area("bedroom", "Bedroom", (), "upper"),
    Area("garage", "Garage"),
)
FLOORS = (Floor("ground", "Ground floor"), Floor("upper", "Upstairs", ("Arriba",)))


def satellite(name: str, area: str | None, features: int = 1, state: str = "idle") -> Entity:
    return Entity(
        f"assist_satellite.{name}",
        name.title(),
        state,
        area_id=area,
        features=features,
        exposed=False,
        device_id=f"device-{name}",
    )


def player(name: str, area: str, features: int = PLAYS, **more: Any) -> Entity:
    values = {"state": "idle", **more}
    return Entity(f"media_player.{name}", name.title(), area_id=area, features=features, **values)


VOICE = Entity("tts.piper", "Piper", "unknown", exposed=False)
PUCK, ROVER = satellite("puck", "bedroom"), satellite("rover", None)
SPEAKER = player("speaker", "living")


def house(*entities: Entity) -> House:
    return House(
        floors={floor.floor_id: floor for floor in FLOORS},
        areas={area.area_id: area for area in AREAS},
        entities={entity.entity_id: entity for entity in entities},
    )


class Home(StillHome):
    """A home that records what it is asked to say."""

    def __init__(self, *entities: Entity) -> None:
        super().__init__(house(*entities))
        self.platforms: dict[str, str] | None = {}  # None if the token may not read them
        self.fails: dict[str, Exception] = {}  # keyed by entity id
        self.hangs: set[str] = set()
        self.said: list[tuple[str, Any, Any]] = []

    async def command(self, kind: str, **fields: Any) -> Any:
        if kind == "config/entity_registry/get_entries":
            if self.platforms is None:
                raise Refused("Unauthorized.")
            return {one: {"platform": self.platforms.get(one)} for one in fields["entity_ids"]}
        assert kind == "call_service"
        (first, *_) = targets = fields["target"]["entity_id"]
        if first in self.fails:
            raise self.fails[first]
        data = fields["service_data"]
        action = f"{fields['domain']}.{fields['service']}"
        assert data["message"]
        self.said.append((action, targets, data.get("media_player_entity_id")))
        if first in self.hangs:
            await asyncio.Event().wait()
        return {}


class Stage:
    """The tool in the kitchen, with a voice."""

    def __init__(self, announcer: Announcer, here: list[tuple[str, str]]) -> None:
        self.announcer = announcer
        self.here = here

    async def say(
        self, message: str = "Dinner!", language: str = "en", **more: str
    ) -> BuiltInResult:
        run = self.announcer.tool().run
        return await run({"message": message, **more}, BuiltInRequest("a", "t", None, language))


@asynccontextmanager
async def stage(
    home: Home, *, speaks: bool = True, area: str = "Kitchen", wait_s: float = 20.0
) -> AsyncIterator[Stage]:
    said: list[tuple[str, str]] = []
    here = (lambda text, language: said.append((text, language))) if speaks else None
    own = "device-own"
    async with Announcer(home, Catalogue(), area, lambda: own, here, wait_s=wait_s) as announcer:
        yield Stage(announcer, said)


BY_PUCK = ("assist_satellite.announce", ["assist_satellite.puck"], None)
BY_ROVER = ("assist_satellite.announce", ["assist_satellite.rover"], None)
BY_SPEAKER = ("tts.speak", ["tts.piper"], "media_player.speaker")


@pytest.mark.parametrize(
    ("room", "said", "here", "sentence"),
    [
        (
            "",
            [BY_SPEAKER, BY_PUCK, BY_ROVER],
            True,
            "I've announced that in this room, the living room, the bedroom and the rover.",
        ),
        ("here", [], True, "OK, I'll say it here right away."),
        ("cocina", [], True, "OK, I'll say it here right away."),
        ("bedroom", [BY_PUCK], False, "I've announced that in the bedroom."),
        ("Arriba", [BY_PUCK], False, "I've announced that in the bedroom."),
        (
            "Ground floor",
            [BY_SPEAKER],
            True,
            "I've announced that in this room and the living room.",
        ),
    ],
)
async def test_where_it_is_said(room: str, said: list[Any], here: bool, sentence: str) -> None:
    home = Home(PUCK, ROVER, SPEAKER, VOICE, satellite("kitchen", "kitchen"))
    async with stage(home) as on:
        result = await on.say(room=room) if room else await on.say()
        assert home.said == said
        assert on.here == ([("Dinner!", "en")] if here else [])
        assert (result.sentence, result.failed) == (sentence, False)


async def test_a_process_that_does_not_speak_leaves_this_room_to_others() -> None:
    home = Home(satellite("kitchen", "kitchen"), PUCK)
    async with stage(home, speaks=False) as on:
        assert "the kitchen" in (await on.say(room="here")).sentence
        assert "Kitchen y Bedroom" in (await on.say(language="es")).sentence
        assert on.here == []


@pytest.mark.parametrize("area", ["", "Nowhere"])
async def test_a_box_of_no_room_still_speaks(area: str) -> None:
    home = Home(PUCK)
    async with stage(home, area=area) as on:
        assert (await on.say(room="here")).sentence == "OK, I'll say it here right away."
        assert (await on.say()).sentence == "I've announced that in this room and the bedroom."
        assert "the bedroom" in (await on.say(room="bedroom")).sentence
        assert len(on.here) == 2
    async with stage(home, area=area, speaks=False) as on:
        assert (await on.say(room="here")).failed


@pytest.mark.parametrize(
    ("room", "says", "options"),
    [
        ("garage", "no speaker in the garage that I can use", ()),
        ("atic", "a room called atic", ("Kitchen",)),
        ("bedrom", "a room called bedrom", ("Bedroom",)),
    ],
)
async def test_where_nothing_can_be_said(room: str, says: str, options: tuple[str, ...]) -> None:
    home = Home(PUCK)
    async with stage(home) as on:
        result = await on.say(room=room)
        assert result.failed
        assert says in result.sentence
        assert result.valid_options[:1] == options
        assert (home.said, on.here) == ([], [])


async def test_a_home_that_is_away_or_mute_says_it_here_alone() -> None:
    for home in (Home(), Home(PUCK)):
        home.connected = not home.house.entities
        async with stage(home) as on:
            assert (await on.say()).sentence == "I've announced that in this room."
        async with stage(home, speaks=False) as on:
            result = await on.say()
            assert result.failed
            assert "no speaker in your home" in result.sentence
    async with stage(home) as on:
        assert (await on.say("\u200b ")).failed


async def test_what_fails_is_named() -> None:
    home = Home(PUCK, ROVER, SPEAKER, VOICE)
    home.fails = {PUCK.entity_id: Refused("No."), "tts.piper": Unavailable("Away.")}
    async with stage(home) as on:
        result = await on.say()
        assert result.sentence == (
            "I've announced that in this room and the rover. "
            "I couldn't announce that in the living room and the bedroom."
        )
        assert not result.failed
        alone = await on.say(room="bedroom")
        assert (alone.sentence, alone.failed) == ("I couldn't announce that in the bedroom.", True)


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        (Unanswered("No answer.", timed_out=True), False),
        (Unanswered("The connection closed.", timed_out=False), True),
    ],
)
async def test_a_long_announcement_is_not_waited_for(error: Exception, failed: bool) -> None:
    home = Home(PUCK)
    home.fails = {PUCK.entity_id: error}
    async with stage(home) as on:
        assert (await on.say(room="bedroom")).failed is failed
    home.fails, home.hangs = {}, {PUCK.entity_id}
    async with stage(home, wait_s=0.05) as on:
        assert (await on.say(room="bedroom")).sentence == "I've announced that in the bedroom."


async def test_telephones_do_not_ring() -> None:
    home = Home(PUCK, ROVER)
    home.platforms = {PUCK.entity_id: "voip"}
    async with stage(home) as on:
        await on.say()
        assert home.said == [BY_ROVER]
        home.platforms = None
        await on.say()
        assert home.said == [BY_ROVER, BY_PUCK, BY_ROVER]


async def test_a_message_is_one_clean_line() -> None:
    async with stage(Home()) as on:
        await on.say("Dinner\nis\x00 " + "x" * 900, room="here")
        ((text, _),) = on.here
        assert text.startswith("Dinner is x")
        assert len(text) <= MAX_MESSAGE


async def test_it_is_offered_where_anything_speaks_and_does_a_tool_of_the_homes() -> None:
    async with stage(Home()) as on:
        tool = on.announcer.tool()
        assert tool.needed()
        assert tool.replaces == {"HassBroadcast"}
    async with stage(Home(), speaks=False) as on:
        assert not on.announcer.tool().needed()
    async with stage(Home(PUCK), speaks=False) as on:
        assert on.announcer.tool().needed()


@pytest.mark.parametrize(
    ("entities", "found"),
    [
        ([PUCK, player("box", "bedroom"), VOICE], [("Bedroom", ("assist_satellite.puck",), "")]),
        ([satellite("deaf", "bedroom", features=2)], []),
        ([satellite("gone", "bedroom", state="unavailable")], []),
        ([satellite("own", "bedroom")], []),
        ([SPEAKER], []),
        ([SPEAKER, VOICE], [("Living room", (), "media_player.speaker")]),
        ([SPEAKER, Entity("tts.cloud", "Cloud", "unavailable")], []),
        ([player("mute", "living", features=4), VOICE], []),
        ([player("hidden", "living", exposed=False), VOICE], []),
        ([player("tv", "living", device_class="tv", state="off"), VOICE], []),
        (
            [player("tv", "living", device_class="tv", state="on"), VOICE],
            [("Living room", (), "media_player.tv")],
        ),
        (
            [player("tv", "living", device_class="tv"), SPEAKER, VOICE],
            [("Living room", (), "media_player.speaker")],
        ),
        (
            [SPEAKER, player("good", "living", PLAYS_AND_GOES_ON, state="off"), VOICE],
            [("Living room", (), "media_player.good")],
        ),
        (
            [satellite("a", "living"), satellite("b", "living")],
            [("Living room", ("assist_satellite.a", "assist_satellite.b"), "")],
        ),
    ],
)
def test_what_speaks_in_a_room(entities: list[Entity], found: list[Any]) -> None:
    told = mouthpieces(house(*entities), None, own_device="device-own")
    assert [(one.name, one.satellites, one.player) for one in told] == found


def test_a_satellite_of_no_room_speaks_when_all_do() -> None:
    assert mouthpieces(house(ROVER), None) == [Mouthpiece("Rover", "", (ROVER.entity_id,))]
    assert mouthpieces(house(ROVER), ["kitchen"]) == []


@pytest.mark.parametrize(
    ("place", "areas"),
    [
        ("KITCHEN", ["kitchen"]),
        ("kitchen", ["kitchen"]),
        ("cócina", ["kitchen"]),
        ("upstairs", ["bedroom"]),
        ("ground floor", ["kitchen", "living"]),
        ("attic", []),
        ("", []),
    ],
)
def test_which_rooms_a_name_means(place: str, areas: list[str]) -> None:
    assert rooms_of(house(), place) == areas
