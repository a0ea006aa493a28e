"""Whole turns in a real house: what was asked is done there, whatever the answer says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from assistant.demo.scenes import Spoken
from assistant.demo.speech import make_clip
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Turn
from tests.simulators.threads import in_thread

pytestmark = real_only


@dataclass(frozen=True)
class Asked:
    """A sentence, what a model makes of it, and what the house then shows."""

    name: str  # of the test
    house: str  # of ours
    text: str
    tool: str  # by the part of its name that stays
    arguments: Mapping[str, Any]
    entity: str
    shows: str | None = None  # a state
    attribute: tuple[str, Any] | None = None
    before: tuple[str, Mapping[str, Any]] | None = None  # an action, so that something changes
    spoken: bool = True  # a grammar of the device knows the sentence too

    def __str__(self) -> str:
        return self.name


def _light(entity: str, **data: Any) -> tuple[str, Mapping[str, Any]]:
    return ("light.turn_on" if data else "light.turn_off", {"entity_id": entity, **data})


KITCHEN = "light.kitchen_lights"
ENGLISH = [
    Asked(
        name="a light",
        house="english",
        text="turn on the kitchen lights",
        tool="HassTurnOn",
        arguments={"name": "Kitchen Lights"},
        entity=KITCHEN,
        shows="on",
        before=_light(KITCHEN),
    ),
    Asked(
        name="brightness",
        house="english",
        text="set the kitchen lights to 30 percent",
        tool="HassLightSet",
        arguments={"name": "Kitchen Lights", "brightness": 30},
        entity=KITCHEN,
        attribute=("brightness", 76),
        before=_light(KITCHEN, brightness=200),
    ),
    Asked(
        name="colour",
        house="english",
        text="set the kitchen lights to red",
        tool="HassLightSet",
        arguments={"name": "Kitchen Lights", "color": "red"},
        entity=KITCHEN,
        attribute=("rgb_color", [255, 0, 0]),
        before=_light(KITCHEN, rgb_color=[0, 0, 255]),
    ),
    Asked(
        name="climate",
        house="english",
        text="set the heatpump to 23 degrees",
        tool="HassClimateSetTemperature",
        arguments={"name": "HeatPump", "temperature": 23},
        entity="climate.heatpump",
        attribute=("temperature", 23.0),
        before=("climate.set_temperature", {"entity_id": "climate.heatpump", "temperature": 20}),
    ),
    Asked(
        name="volume",
        house="english",
        text="set the volume of walkman to 35 percent",
        tool="HassSetVolume",
        arguments={"name": "Walkman", "volume_level": 35},
        entity="media_player.walkman",
        attribute=("volume_level", 0.35),
        before=(
            "media_player.volume_set",
            {"entity_id": "media_player.walkman", "volume_level": 0.8},
        ),
    ),
    Asked(
        name="cover",
        house="english",
        text="close the living room window",
        tool="HassTurnOff",
        arguments={"name": "Living Room Window", "domain": ["cover"]},
        entity="cover.living_room_window",
        shows="closed",
        before=("cover.open_cover", {"entity_id": "cover.living_room_window"}),
    ),
    Asked(
        name="list",
        house="english",
        text="add milk to the shopping list",
        tool="HassListAddItem",
        arguments={"name": "Shopping list", "item": "milk"},
        entity="todo.shopping_list",
        shows="+1",
    ),
    Asked(
        name="script with a field",
        house="english",
        text="movie night at 12 percent",
        tool="movie_night",
        arguments={"brightness": 12},
        entity=KITCHEN,
        attribute=("brightness", 31),
        before=_light(KITCHEN, brightness=200),
        spoken=False,
    ),
]


@dataclass
class Home:
    """A house that is asked and looked at."""

    house: Address
    admin: Admin
    hearth: Hearth
    counts: dict[str, int] = field(default_factory=dict)

    async def prepare(self, asked: Asked) -> None:
        """So that what is asked for is not so yet."""
        if asked.before is not None:
            action, data = asked.before
            await self.admin.call(action, **data)
            await self.admin.settles(asked.entity, "on", "off", "open", "closed", "heat", "playing")
        if asked.shows == "+1":
            self.counts[asked.entity] = int(await self.admin.state(asked.entity))

    async def check(self, asked: Asked) -> None:
        """Look at the house, not at the answer."""
        if asked.shows == "+1":
            wanted = str(self.counts[asked.entity] + 1)
            assert await self.admin.settles(asked.entity, wanted) == wanted
        elif asked.shows is not None:
            seen = await self.admin.settles(asked.entity, asked.shows, limit_s=15.0)
            assert seen == asked.shows
        if asked.attribute is not None:
            name, value = asked.attribute
            assert await self.admin.attribute(asked.entity, name) == value


@pytest.fixture
def home(house: Address, admin: Admin, tmp_path: Path) -> Home:
    return Home(house, admin, Hearth(tmp_path, house.url, house.token))


def in_house(rows: list[Asked]) -> pytest.MarkDecorator:
    """The rows, each by its name."""
    return pytest.mark.parametrize("asked", rows, ids=str)


def only(home: Home, asked: Asked) -> None:
    """Skip what belongs to another house of ours."""
    if home.house.kind != asked.house:
        pytest.skip(f"belongs to the {asked.house} house")


@in_house([asked for asked in ENGLISH if asked.spoken])
async def test_ask_by_itself(home: Home, asked: Asked) -> None:
    only(home, asked)
    await home.prepare(asked)
    turn = await home.hearth.json("ask", asked.text)
    await home.check(asked)
    assert (turn["brain"], turn["error"]) == ("offline", None)
    assert {call["status"] for call in turn["tool_calls"]} == {"done"}


@in_house(ENGLISH)
async def test_ask_with_gemini(home: Home, asked: Asked) -> None:
    only(home, asked)
    await home.prepare(asked)
    tool = await tool_named(home, asked.tool)
    told = [Call(tool, dict(asked.arguments)), Say("That is done."), Done()]
    with in_thread(GeminiSimulator([Turn("text", told)])) as gemini:
        home.hearth.to_gemini(gemini)
        turn = await home.hearth.json("ask", asked.text)
    await home.check(asked)
    assert (turn["brain"], turn["answer"], turn["error"]) == ("gemini-live", "That is done.", None)
    (call,) = turn["tool_calls"]
    assert (call["status"], call["decision"]) == ("done", "allowed")


@pytest.mark.parametrize("brain", ["offline", "gemini-live"])
async def test_hear(home: Home, brain: str, tmp_path: Path) -> None:
    asked = ENGLISH[0]
    only(home, asked)
    await home.prepare(asked)
    clip = str(make_clip(Spoken("clip", asked.text, "rms"), tmp_path))
    if brain == "offline":
        turn = await home.hearth.json("hear", clip, "--fast")
    else:
        call = Call(await tool_named(home, asked.tool), dict(asked.arguments))
        told = [Hear(asked.text), call, Say("That is done."), Done()]
        with in_thread(GeminiSimulator([Turn("audio", told)])) as gemini:
            home.hearth.to_gemini(gemini)
            turn = await home.hearth.json("hear", clip, "--fast")
    await home.check(asked)
    assert (turn["brain"], turn["heard"], turn["error"]) == (brain, asked.text, None)


async def test_states_are_told_as_they_are(home: Home) -> None:
    only(home, ENGLISH[0])
    await home.admin.call("lock.lock", entity_id="lock.front_door")
    await home.admin.settles("lock.front_door", "locked")
    turn = await home.hearth.json("ask", "is the front door locked")
    assert turn["answer"] == "Yes, the front door is locked."


@pytest.mark.parametrize(
    ("text", "entity", "arguments"),
    [
        ("unlock the front door", "lock.front_door", {"name": "Front Door", "domain": ["lock"]}),
        ("open the garage door", "cover.garage_door", {"name": "Garage Door"}),
    ],
    ids=["unlock", "garage"],
)
@pytest.mark.parametrize("brain", ["offline", "gemini-live"])
async def test_nothing_is_opened_without_a_yes(
    home: Home, text: str, entity: str, arguments: dict[str, Any], brain: str
) -> None:
    only(home, ENGLISH[0])
    closing = "lock.lock" if entity.startswith("lock.") else "cover.close_cover"
    await home.admin.call(closing, entity_id=entity)
    closed = await home.admin.settles(entity, "locked", "closed")
    if brain == "offline":
        turn = await home.hearth.json("ask", text)
    else:
        tool = await tool_named(home, "HassTurnOff" if "unlock" in text else "HassTurnOn")
        told = [Call(tool, arguments), Say("I may not do that."), Done()]
        with in_thread(GeminiSimulator([Turn("text", told)])) as gemini:
            home.hearth.to_gemini(gemini)
            turn = await home.hearth.json("ask", text)
    assert await home.admin.state(entity) == closed
    assert {call["status"] for call in turn["tool_calls"]} == {"not_run"}


async def test_a_timer_of_home_assistants_rings_here(home: Home, tmp_path: Path) -> None:
    only(home, ENGLISH[0])
    sound = tmp_path / "spoken.wav"
    home.hearth.set(AUDIO__INPUT="null", AUDIO__OUTPUT=f"file:{sound}")
    async with home.hearth.running():
        await home.hearth.registered()
        tool = await tool_named(home, "HassStartTimer")
        told = [Call(tool, {"seconds": 2, "name": "tea"}), Say("Two seconds."), Done()]
        with in_thread(GeminiSimulator([Turn("text", told)])) as gemini:
            home.hearth.to_gemini(gemini)
            turn = await home.hearth.json("ask", "set a tea timer for two seconds")
        assert [call["status"] for call in turn["tool_calls"]] == ["done"]
        rung = await home.hearth.announced()
    assert "tea" in rung
    assert any(sound.read_bytes()[44:])  # not only silence


async def tool_named(home: Home, suffix: str) -> str:
    """The name under which this release offers a tool."""
    offered = (await home.hearth.json("tools"))["tools"]
    (name,) = [
        tool["name"]
        for tool in offered
        if tool["name"].rpartition("__")[2] == suffix and not tool["hidden"]
    ]
    return str(name)
