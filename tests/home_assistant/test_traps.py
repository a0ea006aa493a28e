"""Tests of the reports when Home Assistant says yes and nothing, or something else, has
happened."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pytest

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import PolicyContext, Status, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.movements import MovementWatch
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.names import capitalised, spoken_things
from assistant.tools.policy.fields import ask_scripts
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.context import read_context
from integrations.home_assistant.house import Entity
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import HOME_ASSISTANT, home_assistant_server
from tests.fakes.journal import FakeJournal
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.talk import Talk
from tests.home_assistant.things import Thing, dimming_script, look, put_back

JAMMING = "lock.poorly_installed_door"
_WATCHED_S = 15.0  # a lock of Home Assistant's own demonstration takes two


def _is(state: str) -> Callable[[Entity], bool]:
    return lambda entity: entity.state == state


@dataclass
class Hands:
    """Makes calls as a brain does, from the kitchen."""

    box: Toolbox
    home: HomeAssistant
    ratings: dict[str, Tier]  # as the owner rated what, by entity id

    def __post_init__(self) -> None:
        self._ids = count()

    async def do(self, tool: str, **arguments: Any) -> ToolOutcome:
        """Make one call."""
        call = ToolCall(f"c{next(self._ids)}", tool, arguments)
        return await self.box.call(call, "turn", "do it")

    async def sees(self, entity_id: str, shows: Callable[[Entity], bool]) -> None:
        """Wait until the live picture has caught up."""
        assert await self.home.wait_for(
            [entity_id], lambda house: shows(house.entities[entity_id]), _WATCHED_S
        )


@pytest.fixture
async def hands(house: Address) -> AsyncIterator[Hands]:
    async with (
        McpHub([home_assistant_server(house.url, house.token)]) as hub,
        HomeAssistant(house.url, house.token) as home,
    ):
        home.learn_exposure(read_context(await hub.prompt(HOME_ASSISTANT) or ""))
        ratings: dict[str, Tier] = {}
        box = Toolbox(
            hub,
            home,
            FakeJournal(),
            Catalogue(),
            SystemClock(),
            area="Kitchen",
            ask_scripts=partial(ask_scripts, home.command),
            moment=lambda: PolicyContext(ratings=ratings),
        )
        await box.menu()
        yield Hands(box, home, ratings)


async def test_an_argument_that_there_is_not_is_a_correction(
    hands: Hands, person: Talk, admin: Admin
) -> None:
    light = (await look(person, admin)).light()
    outcome = await hands.do("HassTurnOn", name=light.name, sparkle=3)
    assert outcome.status is Status.NOT_RUN
    assert "there is no argument sparkle" in outcome.sentence
    assert await admin.state(light.entity_id) == light.state


def _only_switches(thing: Thing) -> bool:
    modes = thing.attributes.get("supported_color_modes")
    return modes == ["onoff"] and thing.state in ("on", "off") and bool(thing.area_id)


async def test_a_lamp_that_cannot_be_dimmed_is_not_called_dimmed(
    hands: Hands, person: Talk, admin: Admin
) -> None:
    things = await look(person, admin)
    lamp = next((one for one in things.all if one.exposed and _only_switches(one)), None)
    if lamp is None:
        pytest.skip("each lamp of this house can be dimmed")
    async with put_back(admin, lamp):
        area = things.areas[lamp.area_id]["name"]
        outcome = await hands.do("HassLightSet", name=lamp.name, area=area, brightness=30)
        assert await admin.settles(lamp.entity_id, "on") == "on"
    assert outcome.status is Status.NOT_OBSERVED
    name = spoken_things([lamp.name]).english
    told = f"{capitalised(name)} is on. I can only turn {name} on or off."
    assert outcome.sentence == told


@pytest.mark.since(2026, 2)  # the tool
async def test_a_volume_that_nobody_tells_of_is_seen(
    hands: Hands, person: Talk, admin: Admin
) -> None:
    def steps(thing: Thing) -> bool:
        features = thing.attributes.get("supported_features", 0)
        tells = "volume_level" in thing.attributes
        return thing.state == "playing" and bool(features & 4) and tells

    def loud(thing: Entity) -> bool:
        return thing.attributes.get("volume_level") == 1.0

    player = (await look(person, admin)).find("media_player", steps)
    was = player.attributes["volume_level"]
    try:
        await admin.call("media_player.volume_set", entity_id=player.entity_id, volume_level=1.0)
        await hands.sees(player.entity_id, loud)
        lower = await hands.do("HassSetVolumeRelative", name=player.name, volume_step="down")
        assert await admin.attribute(player.entity_id, "volume_level") < 1.0
        await hands.do("HassSetVolumeRelative", name=player.name, volume_step="up")
        limit = await hands.do("HassSetVolumeRelative", name=player.name, volume_step="up")
    finally:
        await admin.call("media_player.volume_set", entity_id=player.entity_id, volume_level=was)
    assert (lower.status, limit.status) == (Status.DONE, Status.DONE)
    assert '"success": []' in lower.data
    assert lower.observed[0].after != "playing 100 %"
    name = spoken_things([player.name]).english
    assert limit.sentence == f"Done. {capitalised(name)} is playing at 100 %."


@pytest.mark.since(2026, 11)  # the tool
async def test_a_broadcast_that_nobody_took(hands: Hands) -> None:
    outcome = await hands.do("HassBroadcast", message="dinner")
    assert outcome.status is Status.NOT_OBSERVED
    assert "nobody heard it" in outcome.sentence


async def test_a_script_is_not_run_for_a_room_that_there_is_not(
    house: Address, hands: Hands, person: Talk, admin: Admin
) -> None:
    script = await dimming_script(person, await look(person, admin))
    triggered = await admin.attribute(script.entity_id, "last_triggered")
    outcome = await hands.do(
        house.tool(f"script__{script.action}"), **{script.percent: 20, script.rooms: ["Narnia"]}
    )
    assert outcome.status is Status.NOT_RUN
    assert "there is no area Narnia" in outcome.sentence
    assert await admin.attribute(script.entity_id, "last_triggered") == triggered


async def test_of_a_script_it_is_told_that_it_was_started_and_what_followed(
    house: Address, hands: Hands, person: Talk, admin: Admin
) -> None:
    script = await dimming_script(person, await look(person, admin))
    # A user who is no administrator may not read what it does, so its owner has said it.
    hands.ratings[script.entity_id] = Tier.COMFORT
    async with put_back(admin, script.light):
        await admin.call("light.turn_off", entity_id=script.light.entity_id)
        await hands.sees(script.light.entity_id, _is("off"))
        outcome = await hands.do(house.tool(f"script__{script.action}"), **{script.percent: 20})
    assert outcome.status is Status.DONE
    assert outcome.sentence.startswith(f"Done. I've started {script.name}")


@pytest.mark.since(2026, 11)  # the tool that takes an item off
async def test_three_things_are_three_items(hands: Hands, person: Talk, admin: Admin) -> None:
    shopping = (await look(person, admin)).find("todo", lambda thing: thing.state.isdecimal())
    items = ["sweep", "mop", "dust"]
    outcome = await hands.do("HassListAddItem", name=shopping.name, item="sweep, mop and dust")
    after = int(await admin.state(shopping.entity_id))
    assert outcome.status is Status.DONE
    assert after == int(shopping.state) + 3
    done = await hands.do("HassListCompleteItem", name=shopping.name, item="sweep, mop and dust")
    assert int(await admin.state(shopping.entity_id)) == int(shopping.state)
    assert done.status is Status.DONE
    # What is done already counts for nothing in the list's state; it goes all the same.
    for item in items:
        gone = await hands.do("HassListRemoveItem", name=shopping.name, item=item)
        assert gone.status is Status.DONE


@pytest.mark.since(2026, 2)  # the tool
async def test_stopping_what_stands_still_tells_how_it_stands(
    hands: Hands, person: Talk, admin: Admin
) -> None:
    def stops(thing: Thing) -> bool:
        return thing.state in ("open", "closed") and bool(
            thing.attributes["supported_features"] & 8
        )

    cover = (await look(person, admin)).find("cover", stops)
    outcome = await hands.do("HassStopMoving", name=cover.name)
    assert outcome.status is Status.DONE
    name = spoken_things([cover.name]).english
    verb = "are" if name.endswith("s") else "is"  # "the living room blinds are open"
    assert outcome.sentence.startswith(f"Done. {capitalised(name)} {verb} {cover.state}")


# --- things that only Home Assistant's own demo has


@pytest.fixture
def english(house: Address) -> None:
    if house.kind != "english":
        pytest.skip("these things are in the English house")


@real_only
async def test_a_lock_that_jams_on_its_way_is_told_afterwards(
    hands: Hands, admin: Admin, english: None
) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    await admin.call("lock.unlock", entity_id=JAMMING)
    await hands.sees(JAMMING, _is("unlocked"))
    async with MovementWatch(
        hands.home, Catalogue(), lambda text, _: told.put_nowait(text)
    ) as watch:
        hands.box.tell(watch.follow)
        outcome = await hands.do("HassTurnOn", name="Poorly Installed Door")
        assert outcome.sentence == "Done. The poorly installed door is locking."
        async with asyncio.timeout(_WATCHED_S):
            assert await told.get() == "The poorly installed door didn't lock. It's jammed."
    await admin.call("lock.unlock", entity_id=JAMMING)


@real_only
async def test_a_slow_lock_is_done_once_it_moves_and_its_end_is_told(
    hands: Hands, admin: Admin, english: None
) -> None:
    front = "lock.front_door"
    await admin.call("lock.unlock", entity_id=front)
    await hands.sees(front, _is("unlocked"))
    told: list[str] = []
    async with MovementWatch(hands.home, Catalogue(), lambda text, _: told.append(text)) as watch:
        hands.box.tell(watch.follow)
        outcome = await hands.do("HassTurnOn", name="Front Door")
        assert outcome.sentence == "Done. The front door is locking."
        await hands.sees(front, _is("locked"))
        await hands.box.menu()  # the watch has had its turn
    assert told == ["The front door is locked now."]


@real_only
async def test_what_cannot_be_reached_is_named(hands: Hands, admin: Admin, english: None) -> None:
    late = "I tried, but I can't reach the attic light."
    for where in ({"name": "Attic light"}, {"area": "Attic", "domain": ["light"]}):
        outcome = await hands.do("HassTurnOn", **where)
        assert (outcome.status, outcome.sentence) == (Status.NOT_OBSERVED, late)
    before = await admin.states()
    lights = [name for name in before if name.startswith("light.")]
    await admin.call("scene.create", scene_id="traps", snapshot_entities=lights)
    try:
        mixed = await hands.do("HassTurnOn", floor="Upper", domain=["light"])
    finally:
        await admin.call("scene.turn_on", entity_id="scene.traps")
        await admin.call("scene.delete", entity_id="scene.traps")
    assert mixed.status is Status.NOT_OBSERVED
    assert mixed.sentence.endswith(late)
    assert re.search(r"the bed light[^;.]* (is|are) on", mixed.sentence)
