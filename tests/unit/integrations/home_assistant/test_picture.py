"""The picture at 5,000 entities; a House that was given out never changes."""

import time
from typing import Any

from integrations.home_assistant.effects import Effects
from integrations.home_assistant.picture import Picture
from integrations.home_assistant.registry import Registries
from integrations.home_assistant.runs import MAX_RUNS

SCRIPT = "script.film"
LIGHT, LOCK = frozenset({"light.l1"}), frozenset({"lock.front"})
LIGHT_ALONE, LOCK_ALONE = (Effects(dict.fromkeys(one, "either")) for one in (LIGHT, LOCK))
LARGE = 5_000
CHANGES = 1_000


def state(number: int, said: str = "on") -> dict[str, Any]:
    return {"entity_id": f"light.l{number}", "state": said, "attributes": {}, "last_updated": "x"}


def test_a_look_after_each_change_of_a_large_house_is_cheap() -> None:
    picture = Picture()
    picture.begin_load()
    picture.end_load(Registries(), [state(number) for number in range(LARGE)])
    first = picture.house
    began = time.perf_counter()
    for number in range(CHANGES):
        picture.change(
            {"data": {"entity_id": f"light.l{number}", "new_state": state(number, "off")}}
        )
        assert picture.house is picture.house
    each_ms = (time.perf_counter() - began) * 1000 / CHANGES
    # measured: 0.03; 100 changes a second then take less than a tenth of the time
    assert each_ms < 1.0
    assert first.entities["light.l0"].state == "on"
    assert picture.house.entities["light.l0"].state == "off"


def scripted() -> Picture:
    """Make a house whose script is known to affect a light."""
    picture = Picture()
    picture.begin_load()
    picture.end_load(Registries(), [{"entity_id": SCRIPT, "state": "off"}])
    assert picture.unsearched == {SCRIPT}
    picture.next_unread(9)
    picture.learn_effects({SCRIPT: LIGHT_ALONE})
    return picture


def edit(picture: Picture) -> None:
    """Send the events for a script that was edited."""
    for said in ("unavailable", "off"):
        new = {"entity_id": SCRIPT, "state": said}
        picture.change({"data": {"entity_id": SCRIPT, "new_state": new}})


def test_what_an_edited_script_touched_is_void_at_once() -> None:
    picture = scripted()
    edit(picture)
    assert picture.house.touches == {}
    assert picture.unsearched == {SCRIPT}


def test_an_answer_that_an_edit_overtook_is_void() -> None:
    picture = scripted()
    edit(picture)
    picture.learn_effects({SCRIPT: LIGHT_ALONE})  # requested before the edit
    assert picture.house.touches == {}
    picture.next_unread(9)
    picture.learn_effects({SCRIPT: LOCK_ALONE})
    assert picture.house.touches == {SCRIPT: LOCK}


def test_at_a_new_connection_nobody_knows_what_scripts_touch() -> None:
    picture = scripted()
    picture.begin_load()
    picture.end_load(Registries(), [{"entity_id": SCRIPT, "state": "off"}])
    assert picture.house.touches == {}


def test_a_script_that_runs_is_no_edited_one() -> None:
    picture = scripted()
    running = {"entity_id": SCRIPT, "state": "on"}
    picture.change({"data": {"entity_id": SCRIPT, "new_state": running}})
    assert picture.house.touches == {SCRIPT: LIGHT}


def tell(picture: Picture, entity_id: str, said: str, context: str, parent: str = "") -> None:
    new = {"entity_id": entity_id, "state": said, "context": {"id": context, "parent_id": parent}}
    picture.change({"data": {"entity_id": entity_id, "new_state": new}})


def test_a_door_that_a_script_was_seen_to_open_is_touched_by_it() -> None:
    """For example by another script that it calls as an action, which nothing else reveals."""
    picture = scripted()
    tell(picture, SCRIPT, "on", "run")
    tell(picture, "script.inner", "on", "run")
    tell(picture, "light.hall", "on", "run")
    tell(picture, "lock.front", "unlocking", "run")
    tell(picture, SCRIPT, "off", "run")
    assert picture.house.touches == {SCRIPT: LIGHT | LOCK}
    picture.learn_effects({SCRIPT: LIGHT_ALONE})  # requested again
    assert picture.house.touches == {SCRIPT: LIGHT | LOCK}
    picture.begin_load()
    picture.end_load(Registries(), [{"entity_id": SCRIPT, "state": "off"}])
    picture.next_unread(9)
    picture.learn_effects({SCRIPT: LIGHT_ALONE})  # after a new connection
    assert picture.house.touches == {SCRIPT: LIGHT | LOCK}
    edit(picture)
    picture.next_unread(9)
    picture.learn_effects({SCRIPT: LIGHT_ALONE})
    assert picture.house.touches == {SCRIPT: LIGHT}


def test_what_a_script_sets_off_is_its_doing() -> None:
    """An automation that waits for the script's event runs in its own context."""
    picture = scripted()
    tell(picture, SCRIPT, "on", "run")
    tell(picture, "automation.gate", "on", "answer", "run")
    tell(picture, "cover.gate", "opening", "answer", "run")
    assert picture.house.touches[SCRIPT] == LIGHT | {"cover.gate"}


def test_what_others_do_is_not_the_scripts_doing() -> None:
    picture = scripted()
    tell(picture, SCRIPT, "on", "run")
    tell(picture, "lock.front", "unlocked", "somebody")
    tell(picture, "automation.evening", "on", "evening")
    tell(picture, SCRIPT, "on", "evening")  # one of the automation's actions
    tell(picture, "lock.front", "unlocked", "evening")
    assert picture.house.touches == {SCRIPT: LIGHT}


def test_only_the_newest_runs_are_remembered() -> None:
    picture = scripted()
    tell(picture, SCRIPT, "on", "first")
    for number in range(MAX_RUNS):
        tell(picture, "script.other", "on", f"run {number}")
    tell(picture, "lock.front", "unlocked", "first")
    assert picture.house.touches == {SCRIPT: LIGHT}
