"""Tests of the House page's data: what it shows of the demo house, and taps with each role's
rights."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assistant.brains.offline.brain import OfflineBrain
from assistant.domain.brain import PEOPLE
from assistant.domain.tool_call import Mode
from integrations.web.box import Role
from tests.pipeline.console_rig import ADMIN, LOCK, House, Page, house
from tests.pipeline.rig import states

PIN = "70718293"
BOTH = {"languages": ["en", "es"]}


def offline(at: House) -> OfflineBrain:
    brain = at.app.brains.chain.slots[0].brain
    assert isinstance(brain, OfflineBrain)
    return brain


async def test_the_house_is_shown_by_floor_and_room(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.person("family") as page:
        found = (await page.client.get("/v1/house")).json()
        floors = {one["name"]: [room["name"] for room in one["rooms"]] for one in found["floors"]}
        assert list(floors) == ["Ground", "Upper", None]
        assert floors["Upper"] == ["Bedroom", "Office"]
        assert (found["language"], found["notice"], found["hidden"]) == ("en", "", 2)
        things = await page.things()
        light, door = things["light.dining_room"], things[LOCK]
        assert (light["name"], light["says"]) == ("Dining room light", "on, 71 %")
        assert light["tap"] == {"action": "off", "how": "free"}
        assert door["says"] == "locked"
        assert door["tap"] == {"action": "unlock", "how": "asks"}
        assert door["treatment"]["why"] == "Unlock the front door?"
        assert things["climate.bedroom"]["says"] == "18 °C, set to 18.5 °C"
        assert things["sensor.kitchen_humidity"]["tap"] is None
        assert things["script.movie_night"]["tap"] is None  # it needs a brightness
        assert "light.workbench" not in things
        spanish = await page.things(language="es")
        assert spanish[LOCK]["says"] == "cerrada con llave"
        assert (await page.client.get("/v1/house?language=xx")).json()["language"] == "en"


async def test_every_example_is_understood_offline(tmp_path: Path) -> None:
    async with house(tmp_path, assistant={"data": str(tmp_path / "data"), **BOTH}) as at:
        brain, menu = offline(at), await at.app.home.tools.menu()
        async with at.person("owner") as page:
            for language in BOTH["languages"]:
                for name, thing in (await page.things(language=language)).items():
                    for text in thing["examples"]:
                        read = await brain.read(text, language, PEOPLE)
                        plan = brain.plan(read, menu)
                        assert isinstance(plan, list), (text, plan)
                        assert len(plan) == 1, text
                        meant = plan[0][0].entity_ids
                        alone = name.startswith(("weather.", "todo."))
                        assert meant == (name,) or alone, (text, meant)


@pytest.mark.parametrize("role", ["owner", "family", "guest"])
async def test_everybody_switches_a_light_and_people_undo_it(tmp_path: Path, role: Role) -> None:
    async with house(tmp_path) as at, at.person(role) as page:
        turn = await page.tap("light.hall", "on")
        assert turn["heard"] == "turn on the hall light"
        assert turn["answer"] == "Turned on the hall light."
        [call] = turn["tool_calls"]
        assert (call["decision"], call["status"]) == ("allowed", "done")
        assert states(at.app)["light.hall"] == "on"
        assert (await page.things())["light.hall"]["tap"]["action"] == "off"
        await page.type("undo that")
        assert (states(at.app)["light.hall"] == "off") is (role != "guest")


@pytest.mark.parametrize("role", ["owner", "family"])
async def test_people_confirm_what_opens_the_house(tmp_path: Path, role: Role) -> None:
    async with house(tmp_path) as at, at.person(role) as page:
        turn = await page.answering(page.tap(LOCK, "unlock"), yes=False)
        assert turn["confirmation"]["verdict"] == "no"
        assert at.lock == "locked"
        turn = await page.answering(page.tap(LOCK, "unlock"), yes=True)
        assert (
            turn["tool_calls"][0]["confirmed_by"] == f"http:{role if role == 'family' else 'admin'}"
        )
        assert at.lock in ("unlocking", "unlocked")


async def test_guests_and_programs_have_the_rights_of_their_typed_commands(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        async with at.person("guest") as page:
            assert (await page.things())[LOCK]["tap"] == {"action": "unlock", "how": "never"}
            turn = await page.tap(LOCK, "unlock")
            assert [call["decision"] for call in turn["tool_calls"]] == ["needs_confirmation"]
        for token, status in ((ADMIN, 200), (at.token("ask"), 200), (at.token("read"), 403)):
            async with at.client(Authorization=f"Bearer {token}") as program:
                tapped = await program.post(f"/v1/house/{LOCK}", json={"action": "unlock"})
                assert tapped.status_code == status
                if status == 200:
                    [call] = tapped.json()["tool_calls"]
                    assert call["decision"] == "needs_confirmation"
        assert at.lock == "locked"


@pytest.mark.parametrize(
    ("entity_id", "action", "status"),
    [
        ("light.nowhere", "on", 404),
        ("light.workbench", "on", 404),  # not exposed
        ("sun.sun", "on", 404),
        ("light.hall", "open", 422),
        ("light.hall", "dance", 422),
        ("sensor.kitchen_humidity", "on", 422),
        ("script.movie_night", "run", 422),  # it needs a brightness
    ],
)
async def test_what_cannot_be_tapped(
    tmp_path: Path, entity_id: str, action: str, status: int
) -> None:
    async with house(tmp_path) as at, at.person("owner") as page:
        answer = await page.client.post(f"/v1/house/{entity_id}", json={"action": action})
        assert answer.status_code == status, answer.text


async def test_a_stricter_mode_shows_at_once(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.person("owner") as page:
        assert (await page.things())["light.hall"]["tap"]["how"] == "free"
        await at.app.home.policy_contexts.modes.set(Mode.ASK)
        assert (await page.things())["light.hall"]["tap"]["how"] == "asks"
        await at.app.home.policy_contexts.modes.set(Mode.GUEST)
        assert (await page.things())[LOCK]["tap"]["how"] == "never"


async def test_the_owner_rates_a_device_and_it_counts_at_once(tmp_path: Path) -> None:
    policy = {"secure": "pin", "pin": PIN}
    async with house(tmp_path, policy=policy) as at, at.person("owner") as page:

        async def rate(entity_id: str, tier: str) -> int:
            body = {"tier": tier}
            return (await page.client.post(f"/v1/house/{entity_id}/rating", json=body)).status_code

        light = (await page.things())["light.hall"]
        assert light["rating"] is None
        assert {one["how"]: one["rating"] for one in light["choices"]} == {
            "free": "comfort",
            "asks": "costly",
            "pin": "pin",
            "never": "never",
        }
        assert await rate("light.hall", "never") == 204
        light = (await page.things())["light.hall"]
        assert (light["rating"], light["treatment"]["how"]) == ("never", "never")
        assert light["treatment"]["why"] == "I'm not allowed to change the hall light."
        turn = await page.tap("light.hall", "on")
        assert [call["decision"] for call in turn["tool_calls"]] == ["denied"]
        turn = await page.type("turn on the hall light")
        assert turn["answer"] == "I'm not allowed to change the hall light."
        assert states(at.app)["light.hall"] == "off"

        assert await rate("light.hall", "pin") == 204
        turn = await page.answering(page.tap("light.hall", "on"), yes=True, pin=PIN)
        assert turn["tool_calls"][0]["decision"] == "confirmed"
        assert states(at.app)["light.hall"] == "on"
        assert await rate("light.hall", "comfort") == 204
        assert (await page.things())["light.hall"]["tap"]["how"] == "free"

        assert await rate(LOCK, "comfort") == 422
        assert await rate("light.workbench", "never") == 404
        assert await rate("light.hall", "always") == 422
        assert await rate(LOCK, "never") == 204
        turn = await page.tap(LOCK, "unlock")
        assert [call["decision"] for call in turn["tool_calls"]] == ["denied"]
        assert (await page.things())[LOCK]["treatment"]["how"] == "never"
        async with at.person("family") as ana:
            assert "choices" not in (await ana.things())[LOCK]


@pytest.mark.parametrize("role", ["family", "guest"])
async def test_changes_are_told_to_those_who_ask_for_them(tmp_path: Path, role: Role) -> None:
    async with house(tmp_path) as at, at.person(role) as page, at.person("owner") as other:
        told = asyncio.create_task(first_event(page, "?kind=house"))
        plain = asyncio.create_task(first_event(other, "", "state"))
        await asyncio.sleep(0.2)
        await other.tap("light.hall", "on")
        changed = (await asyncio.wait_for(told, 10))["changed"]
        assert set(changed) <= {"light.hall"}  # empty: the registry has changed too, by the undo
        await asyncio.wait_for(plain, 10)


async def first_event(page: Page, query: str, kind: str = "house") -> Any:
    """Return the data of the first event, which must be of this kind."""
    async with page.client.stream("GET", f"/v1/events{query}") as events:
        async for line in events.aiter_lines():
            if line.startswith("event: "):
                assert line == f"event: {kind}"
            if line.startswith("data: "):
                return json.loads(line.removeprefix("data: "))
    raise EOFError
