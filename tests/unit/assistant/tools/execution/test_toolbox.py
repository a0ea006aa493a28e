"""Tests of the common path of every call, with the embedded house over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.records import StoreError
from assistant.domain.tool_call import CallContext, Decision, Settlement, Status, Tier
from assistant.tools.policy import openers as must_run
from integrations.demo_home import DemoHome
from integrations.errors import Unavailable
from integrations.home_assistant.client import HomeAssistant
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import CallLost, McpTool, home_assistant_server
from tests.unit.assistant.tools.embedded import House, living


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with living() as living_house:
        yield living_house


async def test_a_call_is_done_observed_and_journaled(house: House) -> None:
    outcome = await house.do("HassTurnOn", {"name": "kitchen light"})
    assert outcome.name == "intent__HassTurnOn"
    assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.DONE)
    (seen,) = outcome.observed
    assert (seen.entity_id, seen.before, seen.after) == ("light.kitchen", "off", "on 100 %")
    assert outcome.as_asked
    assert outcome.sentence == "Done. The kitchen light is on at 100 %."
    assert [call.name for call in house.journal.started] == ["intent__HassTurnOn"]
    assert house.journal.finished == [outcome]
    assert house.journal.started[0].status is None


async def test_a_repeated_id_is_answered_from_the_ledger(house: House) -> None:
    first, second = await asyncio.gather(
        house.do("HassTurnOn", {"name": "Kitchen light"}, id="same"),
        house.do("HassTurnOn", {"name": "Kitchen light"}, id="same"),
    )
    assert first is second
    assert len(house.demo.calls) == 1


async def test_unlocking_is_denied_where_nobody_can_be_asked(house: House) -> None:
    outcome = await house.do("HassTurnOff", {"name": "Front door"})
    assert (outcome.decision, outcome.status) == (Decision.DENIED, Status.NOT_RUN)
    assert outcome.tier is Tier.SECURE
    assert "I can't ask for it" in outcome.sentence
    assert house.demo.calls == []
    assert house.journal.started == []
    assert house.journal.finished == [outcome]
    spanish = await house.do("HassTurnOff", {"name": "Front door"}, language="es")
    assert "no puedo preguntarlo" in spanish.sentence


async def test_a_script_is_judged_by_what_it_touches(house: House) -> None:
    outcome = await house.do("script__welcome_home", {})
    assert (outcome.decision, outcome.tier) == (Decision.DENIED, Tier.SECURE)
    assert house.demo.calls == []
    outcome = await house.do("script__movie_night", {"brightness": 30})
    assert (outcome.decision, outcome.tier) == (Decision.ALLOWED, Tier.COMFORT)


async def test_locking_is_free_and_on_its_way_counts(house: House) -> None:
    house.demo.house.write("lock.front_door", "unlocked")
    assert await house.home.wait_for(
        ["lock.front_door"], lambda now: now.entities["lock.front_door"].state == "unlocked", 1
    )
    outcome = await house.do("HassTurnOn", {"name": "Front door"})
    assert outcome.status is Status.DONE
    assert outcome.observed[0].after in ("locking", "locked")


async def test_a_call_without_a_place_stays_in_this_room(house: House) -> None:
    outcome = await house.do(
        "HassTurnOn", {"domain": ["light"]}, heard="turn on the lights", id="x"
    )
    assert outcome.arguments == {"domain": ["light"], "area": "Kitchen"}
    assert [seen.entity_id for seen in outcome.observed] == ["light.kitchen"]
    assert house.state("light.bedroom") == "off"


async def test_arguments_are_mended_or_corrected(house: House) -> None:
    outcome = await house.do("HassLightSet", {"name": "Kitchen light", "brightness": "30 %"})
    assert outcome.arguments["brightness"] == 30
    assert outcome.observed[0].after == "on 30 %"
    wrong = await house.do("HassLightSet", {"name": "Kitchen light", "brightness": "very"})
    assert (wrong.status, wrong.retryable) == (Status.NOT_RUN, True)
    assert "brightness" in wrong.sentence
    assert len(house.demo.calls) == 1


async def test_brightness_on_a_plain_lamp_is_not_claimed(house: House) -> None:
    outcome = await house.do("HassLightSet", {"name": "Lamp", "area": "Bedroom", "brightness": 30})
    assert outcome.status is Status.NOT_OBSERVED
    assert not outcome.as_asked
    assert outcome.sentence == "The lamp is on. I can only turn the lamp on or off."


async def test_the_servers_no_is_told_in_our_words_and_given_as_data(house: House) -> None:
    nowhere = {"name": "Lamp", "area": "Kitchen", "brightness": 5}
    outcome = await house.do("HassLightSet", nowhere)
    assert (outcome.status, outcome.retryable) == (Status.FAILED, False)
    assert outcome.sentence == "I can't find anything like that there."
    assert "given name 'Lamp', area 'Kitchen'" in outcome.data
    assert outcome.reason.startswith("No entities were in the area")


async def test_of_two_things_of_one_name_the_one_of_this_floor_is_meant(house: House) -> None:
    outcome = await house.do("HassTurnOn", {"name": "Lamp"})
    assert outcome.arguments == {"name": "Lamp", "area": "Living Room"}
    assert [one.entity_id for one in outcome.observed] == ["light.living_room_lamp"]


async def test_things_of_one_name_are_asked_about_where_no_room_settles_it() -> None:
    async with living("") as house:
        outcome = await house.do("HassTurnOn", {"name": "Lamp"})
        assert (outcome.status, outcome.decision) == (Status.NOT_RUN, Decision.DENIED)
        assert {"Bedroom", "Living Room"} <= set(outcome.valid_options)
        assert "Bedroom" in outcome.sentence
        assert house.demo.calls == []


@pytest.mark.parametrize("tool", ["HassTurnOn", "HassLightSet"])
async def test_an_unknown_name_brings_the_nearest(house: House, tool: str) -> None:
    more = {"brightness": 30} if tool == "HassLightSet" else {}
    outcome = await house.do(tool, {"name": "kichen lite", **more})
    assert outcome.status in (Status.NOT_RUN, Status.FAILED)
    assert outcome.retryable
    assert outcome.valid_options[0] == "Kitchen light"
    assert "Did you mean Kitchen light" in outcome.sentence


async def test_reading_brings_the_data(house: House) -> None:
    outcome = await house.do("GetLiveContext", {"name": "Front door"})
    assert (outcome.tier, outcome.status) == (Tier.READ, Status.DONE)
    assert "locked" in outcome.data
    assert house.journal.started == []


async def test_an_unknown_tool_and_a_hidden_one(house: House) -> None:
    for name in ("HassFly", "llm__GetDateTime"):
        outcome = await house.do(name, {})
        assert (outcome.decision, outcome.status) == (Decision.DENIED, Status.NOT_RUN)
    hidden = [entry.tool.name for entry in house.box.current_menu.entries if entry.hidden]
    assert hidden == ["llm__GetDateTime"]


@pytest.mark.parametrize(
    ("error", "status", "retryable"),
    [
        (TimeoutError(), Status.TIMEOUT, False),
        (CallLost("x"), Status.UNKNOWN, False),
        (Unavailable("x"), Status.FAILED, True),
    ],
)
async def test_a_broken_server_is_never_asked_twice(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: Status,
    retryable: bool,
) -> None:
    sent: list[str] = []

    async def fail(server: str, name: str, *_: Any, **__: Any) -> None:
        sent.append(name)
        raise error

    await house.box.menu()
    monkeypatch.setattr(house.hub, "call", fail)
    outcome = await house.do("HassTurnOn", {"name": "Kitchen light"})
    assert (outcome.status, outcome.retryable) == (status, retryable)
    assert sent == ["intent__HassTurnOn"]
    assert house.journal.finished[-1].status is status


async def test_a_cancelled_call_is_kept_as_unknown(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.Event()

    async def hang(*_: Any, **__: Any) -> None:
        running.set()
        await asyncio.Event().wait()

    await house.box.menu()
    monkeypatch.setattr(house.hub, "call", hang)
    task = asyncio.ensure_future(house.do("HassTurnOn", {"name": "Kitchen light"}, id="a"))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [outcome.status for outcome in house.journal.finished] == [Status.UNKNOWN]
    again = await house.do("HassTurnOn", {"name": "Kitchen light"}, id="a")
    assert again.status is Status.UNKNOWN


async def test_explain_runs_nothing(house: House) -> None:
    found = await house.box.explain("HassTurnOff", {"name": "Front door"}, "unlock")
    assert found is not None
    entry, verdict = found
    assert entry.tool.name == "intent__HassTurnOff"
    assert (verdict.rule, verdict.entities) == ("unlock", ("lock.front_door",))
    assert await house.box.explain("nope", {}) is None
    assert house.demo.calls == []


async def test_a_failed_list_is_told_by_name(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    real = house.hub.call

    async def partly(*args: Any, **more: Any) -> Any:
        result = await real(*args, **more)
        failed = '"failed": [{"name": "Old lamp", "type": "entity", "id": "light.old"}]'
        return replace(result, text=result.text.replace('"failed": []', failed))

    monkeypatch.setattr(house.hub, "call", partly)
    outcome = await house.do("HassTurnOn", {"name": "Kitchen light"})
    assert "the old lamp" in outcome.sentence
    assert "The kitchen light is on" in outcome.sentence


DANGER: list[tuple[str, dict[str, Any]]] = [
    ("HassTurnOff", {"name": "Front door\u00a0"}),
    ("HassTurnOff", {"name": "\u2007FRONT door\t"}),
    ("HassTurnOff", {"name": "Puerta PRINCIPAL"}),
    ("HassTurnOff", {"name": ["Front door"]}),
    ("HassTurnOff", {"name": "lock.front_door", "domain": []}),
    ("HassTurnOff", {"name": "all"}),
    ("HassTurnOff", {"name": "all\u00a0", "area": "entrada"}),
    ("HassTurnOff", {"area": "hall"}),
    ("HassTurnOff", {"area": "HALLWAY", "domain": ["light", "lock"]}),
    ("HassTurnOff", {"area": "Hall", "domain": '["lock"]'}),
    ("HassTurnOff", {"floor": "planta baja", "domain": "lock"}),
    ("HassTurnOff", {"domain": ["lock"]}),
    ("HassTurnOff", {"name": "Front door", "preferred_area_id": "hall"}),
    ("HassTurnOff", {"name": "Front door", "domain": "[" * 9000}),
    ("HassToggle", {"name": "Front door"}),
    ("HassSetPosition", {"name": "Front door", "position": 0}),
    ("HassTurnOn", {"name": "PUERTA del garaje"}),
    ("HassTurnOn", {"device_class": ["garage"]}),
    ("HassTurnOn", {"device_class": "garage", "area": "garaje"}),
    ("HassTurnOn", {"domain": ["cover"]}),
    ("HassTurnOn", {"floor": "Ground", "domain": ["cover"]}),
    ("HassOpenCover", {"name": "Garage door"}),
    ("HassSetPosition", {"name": "Garage door", "position": 1}),
    ("HassSetPosition", {"device_class": ["garage"], "position": "100 %"}),
    ("HassSetPosition", {"name": "all", "position": 100.0}),
    ("HassTurnOn", {"name": "Welcome home"}),
    ("HassTurnOn", {"name": "script.welcome_home", "domain": ["script"]}),
    ("HassTurnOn", {"domain": ["script"]}),
    ("HassTurnOn", {"name": "Welcomes homes"}),
    ("HassTurnOff", {"name": "the front door"}),
    ("HassTurnOff", {"name": "Front\u200b door"}),
    ("HassTurnOff", {"name": "Frónt dóor"}),
    ("HassTurnOff", {"name": "Front dor"}),
    ("HassTurnOff", {"name": "Hall"}),
    ("HassTurnOff", {"name": "the hall", "domain": ["lock"]}),
    ("HassTurnOff", {"area": "Hal", "domain": ["LOCK"]}),
    ("HassTurnOff", {"floor": "Hall"}),
    ("HassTurnOn", {"name": "Garage doors"}),
    ("script__movie_night", {"brightness": 5, "rooms": ["Hall"], "things": "lock.front_door"}),
    ("script__welcome_home", {"x": 1}),
    ("welcome_home", {}),
    ("HassMediaUnpause", {"name": "Welcome home", "domain": ["script"]}),
    ("vacuum__HassVacuumStart", {"name": "Front door", "domain": ["lock"]}),
]


async def test_nothing_opens_unlocks_or_runs_a_script(house: House) -> None:
    before = house.demo.states
    for tool, arguments in DANGER:
        for heard in ("do it", "turn all of it on and off in the whole house", None):
            await house.do(tool, arguments, heard=heard)
            kept = ("lock.", "cover.garage", "script.")
            now = house.demo.states
            assert {name: now[name] for name in now if name.startswith(kept)} == {
                name: before[name] for name in now if name.startswith(kept)
            }, (tool, arguments, heard)
            assert "last_triggered" not in house.demo.get("script.welcome_home").attributes


async def test_without_a_picture_nothing_opens_and_nothing_is_claimed() -> None:
    async with (
        DemoHome() as demo,
        McpHub([home_assistant_server(demo.url, demo.token)]) as hub,
        HomeAssistant(demo.url, "wrong") as blind,
    ):
        house = House(demo, blind, hub, "Kitchen")
        for arguments in ({"area": "Hall"}, {"name": "Front door"}, {"name": "all"}):
            outcome = await house.do("HassTurnOff", arguments, heard="turn off everything")
            assert outcome.decision is Decision.DENIED
        outcome = await house.do("HassTurnOn", {"name": "Kitchen light", "domain": ["light"]})
    assert outcome.status is Status.NOT_OBSERVED
    assert [name for name, _ in demo.calls] == ["intent__HassTurnOn"]


async def test_a_full_disk_neither_stops_a_call_nor_hides_what_it_did(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def full(*_: object) -> None:
        raise StoreError("The journal is full.")

    monkeypatch.setattr(house.journal, "start_call", full)
    monkeypatch.setattr(house.journal, "finish_call", full)
    outcome = await house.do("HassTurnOn", {"name": "Kitchen light"})
    assert outcome.status is Status.DONE
    refused = await house.do("HassTurnOff", {"name": "Front door"})
    assert refused.decision is Decision.DENIED
    assert "The journal is full." in caplog.text


async def test_a_house_that_was_away_at_first_is_asked_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing() -> list[McpTool]:
        return []

    with monkeypatch.context() as away:
        away.setattr(house.hub, "tools", nothing)
        own = [entry.server for entry in (await house.box.menu()).entries]
        assert set(own) == {"hearth"}
    outcome = await house.do("HassTurnOn", {"name": "Kitchen light"})
    assert outcome.status is Status.DONE


async def test_what_partly_failed_is_not_called_done(house: House) -> None:
    house.demo.fail_next("fan.ceiling_fan")
    arguments = {"area": "Office", "domain": ["light", "fan"]}
    outcome = await house.do("HassTurnOn", arguments)
    assert outcome.status is Status.FAILED
    assert "the ceiling fan" in outcome.sentence
    assert "office light" in outcome.sentence or "desk lamp" in outcome.sentence


async def test_what_no_state_can_tell_is_done_and_was_not_seen(house: House) -> None:
    await house.do("HassMediaUnpause", {"area": "Living Room"}, id="begin")
    outcome = await house.do("HassMediaNext", {"area": "Living Room"}, id="next")
    assert (outcome.status, outcome.as_asked) == (Status.DONE, False)


async def test_a_call_is_sent_in_parts_where_no_single_one_reaches_what_was_meant(
    house: House,
) -> None:
    said = "turn on the lights in the office and the garage except the desk lamp"
    outcome = await house.do("HassTurnOn", {"domain": ["light"]}, heard=said)
    assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.DONE)
    assert set(outcome.entities) == {"light.office", "light.garage"}
    assert house.state("light.office") == house.state("light.garage") == "on"
    assert house.state("light.desk_lamp") == house.state("light.hall") == "off"


async def test_of_several_parts_one_that_fails_is_told(house: House) -> None:
    house.demo.fail_next("light.garage")
    said = "turn on the lights in the office and the garage except the desk lamp"
    outcome = await house.do("HassTurnOn", {"domain": ["light"]}, heard=said)
    assert outcome.status is Status.FAILED
    assert house.state("light.office") == "on"


async def test_what_a_wide_call_left_on_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.do("HassTurnOn", {"name": "Coffee machine"}, id="on")
    monkeypatch.setattr(must_run, "_is_named", lambda names, *_: "Coffee machine" in names)
    outcome = await house.do("HassTurnOff", {"area": "Kitchen"}, heard="turn off the kitchen")
    assert (outcome.decision, outcome.left_on) == (Decision.ALLOWED, ("Coffee machine",))
    assert outcome.sentence.endswith("I left the coffee machine on.")
    assert house.state("switch.coffee_machine") == "on"


async def test_a_german_state_that_is_something_done_fits_its_sentence(house: House) -> None:
    warmer = {"name": "Bedroom thermostat", "temperature": 22}
    outcome = await house.do("HassClimateSetTemperature", warmer, language="de")
    assert outcome.sentence == "Erledigt. Der Bedroom thermostat ist im Heizbetrieb, 22 °C."


# --- a call that the model makes again under a new id


SHOPPING = {"name": "Shopping list"}


async def items(house: House) -> list[str]:
    outcome = await house.do("todo__get_items", {"todo_list": "Shopping list"})
    return [line for line in ("Milk", "Eggs") for _ in range(outcome.data.count(line))]


@pytest.mark.parametrize("together", [True, False])
async def test_a_repeated_call_is_answered_and_not_sent_again(house: House, together: bool) -> None:
    milk = {**SHOPPING, "item": "Milk"}
    if together:
        outcomes = await asyncio.gather(*(house.do("HassListAddItem", milk) for _ in range(3)))
    else:
        outcomes = [await house.do("HassListAddItem", milk) for _ in range(3)]
    assert [one.status for one in outcomes] == [Status.DONE] * 3
    assert [one.id for one in outcomes] == ["c1", "c2", "c3"]
    assert [one.rule for one in outcomes[1:]] == ["done_already"] * 2
    assert len({one.sentence for one in outcomes}) == 1
    assert await items(house) == ["Milk"]
    assert len(house.box.mutations("turn")) == 1


async def test_a_whole_list_that_is_added_again(house: House) -> None:
    for _ in range(2):
        for item in ("Milk", "eggs", "Eggs "):
            await house.do("HassListAddItem", {**SHOPPING, "item": item})
    assert len(house.box.mutations("turn")) == 2


@pytest.mark.parametrize(
    ("heard", "times"),
    [
        ("a bit louder", 1),
        ("turn the volume up twice", 2),
        ("sube el volumen dos veces", 2),
        (None, 1),
    ],
)
async def test_a_relative_change_counts_once_unless_the_person_wants_more(
    house: House, heard: str | None, times: int
) -> None:
    await house.do("HassTurnOn", {"name": "Living room speaker"}, heard="turn on the speaker")
    for _ in range(2):
        louder = {"name": "Living room speaker", "volume_step": "up"}
        await house.do("HassSetVolumeRelative", louder, heard=heard)
    calls = [one for one in house.box.mutations("turn") if one.name.endswith("VolumeRelative")]
    assert len(calls) == times


async def test_what_was_undone_in_between_is_done_again(house: House) -> None:
    for tool in ("HassTurnOn", "HassTurnOff", "HassTurnOn"):
        outcome = await house.do(tool, {"name": "Kitchen light"}, heard="on, off and on")
        assert (outcome.status, outcome.rule) == (Status.DONE, "comfort")
    assert house.state("light.kitchen") == "on"


async def test_a_call_that_failed_may_be_tried_again(house: House) -> None:
    house.demo.fail_next("light.kitchen")
    first = await house.do("HassTurnOn", {"name": "Kitchen light"})
    second = await house.do("HassTurnOn", {"name": "Kitchen light"})
    assert (first.status, second.status) == (Status.FAILED, Status.DONE)


async def test_a_question_is_not_put_again_for_what_was_confirmed(house: House) -> None:
    asks = CallContext(can_ask=True, spoken=True)
    first = await house.do("HassTurnOff", {"name": "Front door"}, situation=asks)
    question = house.box.question("turn", first.id)
    assert question is not None
    await house.box.settle(question, Settlement("yes", "voice"))
    again = await house.do("HassTurnOff", {"name": "Front door"}, situation=asks)
    assert (again.decision, again.rule) == (Decision.CONFIRMED, "done_already")
    assert len(house.box.mutations("turn")) == 1


async def test_the_next_turn_may_do_the_same(house: House) -> None:
    milk = {**SHOPPING, "item": "Milk"}
    await house.do("HassListAddItem", milk)
    house.turn = "next"
    assert (await house.do("HassListAddItem", milk)).rule != "done_already"
    assert await items(house) == ["Milk", "Milk"]
