"""Tests of the home's own conversation engine: assumptions about it, and typed turns with it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.tools.house.intents import PROCESS, TRIGGER
from integrations.home_assistant.assist import Conversation, Recognized
from integrations.home_assistant.client import HomeAssistant
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth

pytestmark = real_only
KITCHEN, GUESTS = "light.kitchen_lights", "input_boolean.guest_mode"
PARTY = "activate party mode in the kitchen"
CLOSED = [
    ("unlock the front door", "lock.front_door", "lock.lock", "unlock"),
    ("open the garage door", "cover.garage_door", "cover.close_cover", "open"),
]


@pytest.fixture(autouse=True)
def english(house: Address) -> None:
    if house.kind != "english":
        pytest.skip("these sentences are about the English house")


@pytest.fixture
async def engine(house: Address) -> AsyncIterator[Conversation]:
    """Return the engine, as the user as whom Hearth signs in."""
    async with HomeAssistant(house.url, house.token) as home:
        yield Conversation(home)


@pytest.fixture
def hearth(house: Address, tmp_path: Path) -> Hearth:
    order = '["home-assistant"]'
    return Hearth(
        tmp_path, house.url, house.token, BRAIN__ORDER=order, ASSISTANT__LANGUAGES='["en","es"]'
    )


async def test_a_dry_run_tells_what_would_be_touched_and_touches_nothing(
    engine: Conversation, admin: Admin
) -> None:
    assert await engine.offered()
    await admin.call("light.turn_off", entity_id=KITCHEN)
    found = await engine.recognize(["turn on the kitchen lights"], "en")
    assert found == Recognized(
        "turn on the kitchen lights",
        "builtin",
        "HassTurnOn",
        {"name": "Kitchen Lights"},
        (KITCHEN,),
    )
    assert await admin.state(KITCHEN) == "off"


@pytest.mark.since(2026, 11)  # 2026.2 takes a joke for a question about the time
async def test_the_three_sources_of_a_sentence(engine: Conversation) -> None:
    trigger = await engine.recognize([PARTY], "en")
    assert trigger == Recognized(PARTY, "trigger")
    assert await engine.recognize(["tell me a joke"], "en") is None
    assert await engine.recognize(["turn on the flux capacitor"], "en") is None


async def test_what_would_open_names_the_door(engine: Conversation) -> None:
    found = await engine.recognize(["unlock the front door"], "en")
    assert found is not None
    assert (found.intent, found.targets) == ("HassTurnOff", ("lock.front_door",))


async def test_sentences_in_another_language(engine: Conversation) -> None:
    found = await engine.recognize(["enciende Kitchen Lights"], "es")
    assert found is not None
    assert found.targets == (KITCHEN,)
    assert await engine.recognize(["turn on the kitchen lights"], "xx") is None


async def test_a_language_that_is_unknown_is_no_match_and_no_error(engine: Conversation) -> None:
    assert await engine.recognize(["whatever"], "tlh") is None


async def test_saying_it_does_it(engine: Conversation, admin: Admin) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    reply = await engine.process("turn on the kitchen lights", "en")
    assert (reply.kind, reply.succeeded) == ("action_done", (KITCHEN,))
    assert reply.speech
    assert await admin.settles(KITCHEN, "on") == "on"


@pytest.mark.parametrize(
    "text", ["turn on the kitchen lights", "enciende Kitchen Lights"], ids=["english", "spanish"]
)
async def test_a_turn_switches_a_light(hearth: Hearth, admin: Admin, text: str) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    turn = await hearth.json("ask", text)
    assert await admin.settles(KITCHEN, "on") == "on"
    assert (turn["brain"], turn["error"]) == ("home-assistant", None)
    (call,) = turn["tool_calls"]
    assert (call["name"], call["status"], call["decision"]) == (PROCESS, "done", "allowed")
    assert [one["entity_id"] for one in call["observed"]] == [KITCHEN]
    assert turn["answer"]


@pytest.mark.since(2026, 11)
async def test_three_things_in_one_breath_are_three_items(hearth: Hearth, admin: Admin) -> None:
    before = int(await admin.state("todo.chores"))
    turn = await hearth.json("ask", "add sweeping, mopping and dusting to chores")
    assert int(await admin.state("todo.chores")) == before + 3
    (call,) = turn["tool_calls"]
    assert (call["status"], turn["answer"]) == ("done", f"Done. Chores: {before + 3}.")
    for item in ("Sweeping", "Mopping", "Dusting"):  # as the list writes them
        await admin.call("todo.remove_item", entity_id="todo.chores", item=item)


async def test_a_question_is_answered_by_the_home(hearth: Hearth, admin: Admin) -> None:
    await admin.call("lock.lock", entity_id="lock.front_door")
    await admin.settles("lock.front_door", "locked")
    turn = await hearth.json("ask", "is the front door locked")
    assert turn["answer"] == "Yes"
    assert [call["tier"] for call in turn["tool_calls"]] == ["read"]


@pytest.mark.parametrize(("text", "entity", "closing", "rule"), CLOSED, ids=["unlock", "garage"])
async def test_nothing_is_opened_where_nobody_can_be_asked(
    hearth: Hearth, admin: Admin, text: str, entity: str, closing: str, rule: str
) -> None:
    await admin.call(closing, entity_id=entity)
    closed = await admin.settles(entity, "locked", "closed")
    turn = await hearth.json("ask", text)
    assert await admin.state(entity) == closed
    (call,) = turn["tool_calls"]
    judged = ("not_run", "needs_confirmation", "secure")
    assert (call["status"], call["decision"], call["tier"]) == judged
    assert (call["rule"], call["entities"], call["confirmed_by"]) == (rule, [entity], "")
    assert hearth.code == 0


@pytest.mark.parametrize("freed", [False, True])
@pytest.mark.parametrize("costly", ["confirm", "allow"])
async def test_a_sentence_of_an_automation_needs_the_owners_word(
    hearth: Hearth, admin: Admin, costly: str, freed: bool
) -> None:
    await admin.call("input_boolean.turn_off", entity_id=GUESTS)
    hearth.set(POLICY__COSTLY=costly)
    if freed:
        hearth.free(TRIGGER)
    turn = await hearth.json("ask", PARTY)
    (call,) = turn["tool_calls"]
    if freed:
        assert await admin.settles(GUESTS, "on") == "on"
        assert turn["answer"] == "Party mode is on in the kitchen"
    else:
        assert await admin.state(GUESTS) == "off"
        assert (call["status"], call["decision"]) == ("not_run", "needs_confirmation")
        assert (call["rule"], call["confirmed_by"]) == ("sentence", "")


@pytest.mark.since(2026, 11)
async def test_what_the_engine_does_not_know_goes_to_the_next_rung(
    hearth: Hearth, admin: Admin
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    await admin.call("switch.turn_off", entity_id="switch.decorative_lights")
    hearth.set(BRAIN__ORDER='["home-assistant","offline"]')
    turn = await hearth.json("ask", "turn on the kitchen lights and turn on the decorative lights")
    assert turn["brain"] == "offline"
    assert await admin.settles(KITCHEN, "on") == "on"
