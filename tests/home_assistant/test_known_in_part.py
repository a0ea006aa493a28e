"""Tests of a real house's scripts that open something: just after the start, and partly known.

`hearth ask` is a separate process each time: it asks before Home Assistant has reported what its
scripts do. Both tokens are tried: an administrator's may read configurations, Hearth's own may not.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import automation, scene, scripts
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth

pytestmark = [real_only, pytest.mark.since(2026, 11)]  # whose dry run knows scripts by their names

COLD = 100 if os.environ.get("LONG") == "1" else 10
DOOR, GARAGE, LAMP = "lock.front_door", "cover.garage_door", "light.kitchen_lights"
SHUT = {DOOR: "locked", GARAGE: "closed"}
LIT = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
EVERYTHING = {
    "alias": "Open everything",
    "sequence": [UNLOCK, {"action": "cover.open_cover", "target": {"entity_id": GARAGE}}],
}
RENDERED = {"entity_id": "{{ 'lock.front' ~ '_door' }}"}
FIELD: dict[str, Any] = {"door": {"selector": {"text": {}}}}
# What opens the door without a word of it in `search/related`, beside one harmless lamp.
IN_PART: dict[str, list[dict[str, Any]]] = {
    "calls": [LIT, {"action": "script.open_everything"}],
    "renders": [LIT, {"action": "lock.unlock", "target": RENDERED}],
    "names action": [LIT, {"action": "{{ 'lock.unlock' }}", "target": RENDERED}],
    "fires": [LIT, {"event": "hearth_open_up"}],
    "says": [LIT, {"action": "conversation.process", "data": {"text": "unlock the front door"}}],
    "cosy time": [LIT, {"event": "hearth_open_up"}, {"delay": 1}],
    "nested": [{"if": "{{ true }}", "then": [LIT, {"parallel": [{"event": "hearth_open_up"}]}]}],
}


def hearth(folder: Path, house: Address, admin: bool, **settings: str) -> Hearth:
    token = house.admin_token if admin else house.token
    given = {"BRAIN__ORDER": '["home-assistant"]', **settings}
    return Hearth(folder, house.url, token, **given)


def asks(answer: str) -> bool:
    """Return True for a question, also if it says what may happen: "Start calls? It may
    unlock …"."""
    return "?" in answer


async def shut(admin: Admin) -> None:
    """Close everything that is open."""
    await admin.call("lock.lock", entity_id=DOOR)
    await admin.call("cover.close_cover", entity_id=GARAGE)
    assert await admin.settles(DOOR, "locked") == "locked"
    assert await admin.settles(GARAGE, "closed", limit_s=20) == "closed"


async def opened(admin: Admin) -> set[str]:
    """Return what is no longer as `shut` left it, or is on its way."""
    return {name for name, state in SHUT.items() if await admin.state(name) != state}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("as_admin", [False, True])
async def test_no_cold_start_opens_anything(
    house: Address, admin: Admin, tmp_path: Path, as_admin: bool
) -> None:
    await shut(admin)
    program = hearth(tmp_path, house, as_admin, POLICY__COSTLY="allow")
    unasked, answers = 0, set[str]()
    async with scripts(admin, {"open_everything": EVERYTHING}):
        for _ in range(COLD):
            answers.add((await program.json("ask", "run open everything"))["answer"])
            if await opened(admin):
                unasked += 1
                await shut(admin)
    print(f"{unasked} of {COLD} cold starts opened unasked; said: {sorted(answers)}")
    assert unasked == 0
    assert all(asks(answer) for answer in answers), answers


@asynccontextmanager
async def known_in_part(admin: Admin) -> AsyncIterator[None]:
    """Keep the scripts of IN_PART, and the automation that waits for their event."""
    waits = {
        "triggers": [{"trigger": "event", "event_type": "hearth_open_up"}],
        "actions": [UNLOCK],
    }
    made = {
        key.replace(" ", "_"): {"alias": key, "sequence": steps} for key, steps in IN_PART.items()
    }
    async with automation(admin, waits), scripts(admin, {"open_everything": EVERYTHING, **made}):
        yield


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "settings", [{}, {"POLICY__COSTLY": "allow"}, {"POLICY__MODE": "trusting"}]
)
@pytest.mark.parametrize("as_admin", [False, True])
async def test_what_is_known_in_part_is_asked_about(
    house: Address, admin: Admin, tmp_path: Path, as_admin: bool, settings: dict[str, str]
) -> None:
    await shut(admin)
    program = hearth(tmp_path, house, as_admin, **settings)
    async with known_in_part(admin):
        for key in IN_PART:
            answer = (await program.json("ask", f"run {key}"))["answer"]
            assert asks(answer), (key, answer)
            assert not await opened(admin), key


@pytest.mark.timeout(300)
async def test_what_was_read_whole_is_judged_by_what_it_does(
    house: Address, admin: Admin, tmp_path: Path
) -> None:
    """With an administrator's token a lamp is free, and so is a script that locks the door."""
    await shut(admin)
    program = hearth(tmp_path, house, admin=True)
    made: dict[str, dict[str, Any]] = {
        "hearth_dim": {"alias": "Dim it", "sequence": [LIT]},
        "hearth_calm": {"alias": "Calm down", "sequence": [{"action": "script.hearth_dim"}]},
        "hearth_lock": {
            "alias": "Good night house",
            "sequence": [{"action": "lock.lock", "target": {"entity_id": DOOR}}],
        },
        "hearth_pick": {
            "alias": "Pick one",
            "fields": FIELD,
            "sequence": [{"action": "lock.unlock", "target": {"entity_id": "{{ door }}"}}],
        },
    }
    async with scripts(admin, made):
        for words in ("run dim it", "run calm down", "run good night house"):
            answer = (await program.json("ask", words))["answer"]
            assert not asks(answer), (words, answer)
        assert asks((await program.json("ask", "run pick one"))["answer"])
        own = hearth(tmp_path, house, admin=False)
        assert (await own.json("ask", "run dim it"))["answer"] == "Run the script Dim it?"
        await own.text("tools", "rate", "Dim it", "comfort")
        assert not asks((await own.json("ask", "run dim it"))["answer"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("as_admin", [False, True])
async def test_a_sentence_of_an_automation_that_unlocks(
    house: Address, admin: Admin, tmp_path: Path, as_admin: bool
) -> None:
    await shut(admin)
    program = hearth(tmp_path, house, as_admin, POLICY__COSTLY="allow")
    waits = {
        "triggers": [{"trigger": "conversation", "command": ["sesame [right] now"]}],
        "actions": [UNLOCK],
    }
    async with automation(admin, waits):
        for _ in range(3):
            answer = (await program.json("ask", "sesame now"))["answer"]
            assert asks(answer), answer
            assert not await opened(admin)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("as_admin", [False, True])
async def test_a_scene_is_asked_about_in_words_for_what_it_does(
    house: Address, admin: Admin, tmp_path: Path, as_admin: bool
) -> None:
    """An administrator's token may read the states that it sets: to lock the door is free."""
    await shut(admin)
    program = hearth(tmp_path, house, as_admin)
    lit = {LAMP: {"state": "on", "brightness": 50}}
    async with (
        scene(admin, "hearth_in", "Coming in", {**lit, DOOR: "unlocked"}),
        scene(admin, "hearth_out", "Going out", {**lit, DOOR: {"state": "locked"}}),
    ):
        coming = (await program.json("ask", "activate coming in"))["answer"]
        going = (await program.json("ask", "activate going out"))["answer"]
        if as_admin:
            assert "That will unlock the front door" in coming
            assert not asks(going), going
        else:
            assert "That could lock or unlock the front door" in coming
            assert "That could lock or unlock the front door" in going
        assert await admin.state(DOOR) == "locked"
