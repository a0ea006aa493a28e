"""Tests of changes while Hearth runs: restarts, hidden things and revoked tokens.

The simulated Gemini makes the requests; the house shows the results.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from assistant.domain.tool_call import Status
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, Power, real_only
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.line import Failed
from tests.home_assistant.real.places import read_instance
from tests.home_assistant.real.provision import person
from tests.pipeline.gemini_rig import scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Say, Step, Turn

pytestmark = real_only

LIGHT = {"name": "Bed Light"}
BED = "light.bed_light"
TURN_ON, TURN_OFF = "intent__HassTurnOn", "intent__HassTurnOff"
HUMIDITY = "humidifier__HassHumidifierSetpoint"
READY_S = 5.0  # after Home Assistant's return


def turn(*steps: Step) -> Turn:
    return Turn("text", [*steps, Done()])


@pytest.fixture
async def bed_light(house: Address, admin: Admin) -> AsyncIterator[Admin]:
    """Yield the light off and exposed, as it is again afterwards."""
    if house.kind != "english":
        pytest.skip("belongs to the english house")
    await admin.expose([BED], True)
    await admin.call("light.turn_off", entity_id=BED)
    assert await admin.settles(BED, "off") == "off"
    yield admin
    await admin.again()
    await admin.expose([BED], True)


def at_home(house: Address, **sections: Any) -> dict[str, Any]:
    """Return the settings of this house; only Gemini answers."""
    home = {"url": house.url, "token": house.token}
    return {"home_assistant": home, "brain": {"order": ["gemini-live"]}, **sections}


async def until(holds: Callable[[], bool], limit_s: float) -> float:
    """Return the seconds until it holds."""
    began = time.monotonic()
    async with asyncio.timeout(limit_s):
        while not holds():  # noqa: ASYNC110 - nothing tells when the picture is back
            await asyncio.sleep(0.02)
    return time.monotonic() - began


async def test_what_is_hidden_is_gone_from_the_next_conversation(
    house: Address, bed_light: Admin, tmp_path: Path
) -> None:
    service = GeminiSimulator([turn(Say("Yes.")), turn(Say("No."))])
    async with scene(tmp_path, service, resident=True, **at_home(house)) as on:
        await on.ask("is there a bed light")
        await bed_light.expose([BED], False)
        await on.falling_silent()
        await on.ask("is there a bed light now")
        first, second = (told(service, number) for number in (0, -1))
    assert "Bed Light" in first
    assert "Bed Light" not in second
    assert "Kitchen Lights" in second


def told(service: GeminiSimulator, number: int) -> str:
    """Return the instruction of one connection."""
    setup = service.connections[number].setup
    assert setup is not None
    return setup.instruction


async def test_a_whole_kind_of_thing_that_is_hidden_takes_its_tools_along(
    house: Address, bed_light: Admin, tmp_path: Path
) -> None:
    kind = [one for one in await bed_light.states() if one.startswith("humidifier.")]
    service = GeminiSimulator([turn(Say("Yes.")), turn(Say("No."))])
    try:
        settings = at_home(house, gemini={"menu": "whole"})  # else the tool is found by a search
        async with scene(tmp_path, service, resident=True, **settings) as on:
            await on.ask("can you make it less dry")
            await bed_light.expose(kind, False)
            await on.falling_silent()
            await on.ask("can you make it less dry now")
            before, after = (functions(service, number) for number in (0, -1))
    finally:
        await bed_light.expose(kind, True)
    assert house.tool(HUMIDITY) in before
    assert house.tool(HUMIDITY) not in after
    assert house.tool(TURN_ON) in after


def functions(service: GeminiSimulator, number: int) -> set[str]:
    """Return the names that one connection was offered."""
    setup = service.connections[number].setup
    assert setup is not None
    return {one.name for one in setup.tools.functions}


async def test_home_assistant_restarts_between_two_turns(
    house: Address, bed_light: Admin, power: Power, tmp_path: Path
) -> None:
    service = GeminiSimulator(
        [
            turn(Call(house.tool(TURN_ON), LIGHT, answer={"status": "done"}), Say("It is on.")),
            turn(Say("The house is away.")),  # no tool of the house is offered
            turn(Call(house.tool(TURN_OFF), LIGHT, answer={"status": "done"}), Say("It is off.")),
        ]
    )
    async with scene(tmp_path, service, resident=True, **at_home(house)) as on:
        await on.ask("turn on the bed light")
        assert await bed_light.settles(BED, "on") == "on"
        await power.off()
        away = await on.ask("turn off the bed light")
        assert away.record.answer == "The house is away."
        await power.on()
        home = on.app.home.client
        seconds = await until(lambda: home.connected and BED in home.house.entities, READY_S)
        await bed_light.again()
        await bed_light.call("light.turn_on", entity_id=BED)
        assert await bed_light.settles(BED, "on") == "on"
        back = await on.ask("turn off the bed light")
        assert await bed_light.settles(BED, "off") == "off"
    print(f"the picture was back {seconds:.1f} s after Home Assistant")
    assert [one.status for one in back.outcomes] == [Status.DONE]


async def test_home_assistant_restarts_in_the_middle_of_a_turn(
    house: Address, bed_light: Admin, power: Power, tmp_path: Path
) -> None:
    house.needs(2026, 2, "MCP without a stream, for which it waits 25 s before it stops")
    wanted = {"name": "HeatPump", "temperature": 22}
    heat = Call(house.tool("climate__HassClimateSetTemperature"), wanted)
    service = GeminiSimulator(
        [
            turn(
                Call(house.tool(TURN_ON), LIGHT, answer={"status": "done"}),
                replace(heat, answer={"status": "failed"}),
                Say("The light is on, the heating I could not reach."),
            ),
            turn(Call(house.tool(TURN_OFF), LIGHT), Say("It is off.")),
        ]
    )
    async with scene(tmp_path, service, resident=True, **at_home(house)) as on:
        async with asyncio.TaskGroup() as group, on.holding_the_house("Climate") as hold:
            asked = group.create_task(on.ask("turn on the bed light and heat to 22 degrees"))
            assert await bed_light.settles(BED, "on") == "on"
            await hold.reached.wait()
            await power.off()
        answer = asked.result()
        # What failed is told in our words, whatever the model says of it.
        said = answer.record.answer or ""
        assert said.startswith("Done. The bed light is on")
        assert "I can't reach Home Assistant right now" in said
        assert "The light is on" not in said
        assert [one.status for one in answer.outcomes] == [Status.DONE, Status.FAILED]
        await power.on()
        home = on.app.home.client
        await until(lambda: home.connected and BED in home.house.entities, READY_S)
        await bed_light.again()
        await bed_light.call("light.turn_on", entity_id=BED)
        assert await bed_light.settles(BED, "on") == "on"
        await on.ask("turn off the bed light")
        assert await bed_light.settles(BED, "off") == "off"
        assert [name for name, _ in on.house_calls] == [house.tool(TURN_ON), house.tool(TURN_OFF)]


async def test_a_revoked_token_is_one_clear_sentence(
    house: Address, bed_light: Admin, tmp_path: Path
) -> None:
    wrong = {"url": house.url, "token": "revoked"}
    service = GeminiSimulator(
        [turn(Call(house.tool(TURN_ON), LIGHT, undeclared=True), Say("I cannot reach the house."))]
    )
    async with scene(tmp_path, service, **at_home(house, home_assistant=wrong)) as on:
        await on.ask("turn on the bed light")
        (state,) = on.app.home.hub.states()
        problem = str(on.app.home.client.problem)
    assert not state.ok
    for sentence in (state.reason, problem):
        assert "home_assistant.token" in sentence
        assert "Security" in sentence  # the page in Home Assistant
        assert "revoked" not in sentence
    assert await bed_light.state(BED) == "off"


@pytest.mark.parametrize("way", ["deleted", "deactivated", "revoked"])
async def test_a_token_that_is_taken_away_meanwhile(
    house: Address, bed_light: Admin, tmp_path: Path, way: str
) -> None:
    user_id, token = await person(bed_light, "guest")
    given = at_home(house, home_assistant={"url": house.url, "token": token})
    service = GeminiSimulator(
        [
            turn(Call(house.tool(TURN_ON), LIGHT, answer={"status": "done"}), Say("It is on.")),
            turn(Call(house.tool(TURN_OFF), LIGHT, answer=is_no_success), Say("I cannot.")),
        ]
    )
    try:
        async with scene(tmp_path, service, resident=True, **given) as on:
            await on.ask("turn on the bed light")
            assert await bed_light.settles(BED, "on") == "on"
            await take_away(bed_light, house, user_id, token, way)
            attempts = Attempts()
            refused = await on.ask("turn off the bed light")
            (state,) = on.app.home.hub.states()
            assert attempts.refused <= 6  # one look by each way to the house, and no more
        assert [one.status for one in refused.outcomes] == [Status.FAILED]
        assert await bed_light.state(BED) == "on"
        told = await Hearth(tmp_path, house.url, token).text("tools")
    finally:
        with contextlib.suppress(Failed):  # it is gone
            await bed_light.ask("config/auth/delete", user_id=user_id)
    assert not state.ok
    for sentence in (state.reason, " ".join(told.split())):
        assert "home_assistant.token" in sentence
        assert "Security" in sentence
        assert token not in sentence


def is_no_success(answer: dict[str, Any]) -> bool:
    return bool(answer["status"] == "failed")


async def take_away(admin: Admin, house: Address, user_id: str, token: str, way: str) -> None:
    """Revoke it in one of the ways in which people do it."""
    if way == "deleted":
        await admin.ask("config/auth/delete", user_id=user_id)
    elif way == "deactivated":
        await admin.ask("config/auth/update", user_id=user_id, is_active=False)
    else:
        # With its token the guest's own connection ends.
        async with Admin(house.url, token) as guest:
            with contextlib.suppress(ConnectionClosed):
                await revoke(guest)


async def revoke(guest: Admin) -> None:
    """Revoke the token with which this very user signs in."""
    for known in await guest.ask("auth/refresh_tokens"):
        if known["client_name"] == "hearth":
            await guest.ask("auth/delete_refresh_token", refresh_token_id=known["id"])


class Attempts:
    """Counts how often the house has refused somebody since then, by its log."""

    def __init__(self) -> None:
        record = os.environ.get("HA_INSTANCE")
        self._log = Path(read_instance(Path(record)).log) if record else None
        self._before = self._count()

    @property
    def refused(self) -> int:
        return self._count() - self._before

    def _count(self) -> int:
        return self._log.read_text().count("invalid authentication") if self._log else 0
