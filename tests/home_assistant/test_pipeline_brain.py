"""Tests of spoken turns by the home: a Wyoming recogniser of the tests, and the home's engine.

And the other way round: the model hears, and a sentence of the home's own stays in the home.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.tools.house.intents import PROCESS, TRIGGER
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.assist import Pipeline, list_pipelines, transcribe
from integrations.home_assistant.client import HomeAssistant
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Step, Turn
from tests.simulators.threads import in_thread
from tests.simulators.wyoming_stt import Failure, WyomingStt

pytestmark = real_only
KITCHEN, GUESTS = "light.kitchen_lights", "input_boolean.guest_mode"
ON = "turn on the kitchen lights"
PARTY = "activate party mode in the kitchen"
CLOSED = [
    ("unlock the front door", "lock.front_door", "lock.lock", {"name": "Front Door"}),
    ("open the garage door", "cover.garage_door", "cover.close_cover", {"name": "Garage Door"}),
]
SECOND = bytes(32_000)  # of silence


@pytest.fixture(autouse=True)
def english(house: Address) -> None:
    if house.kind != "english":
        pytest.skip("these sentences are about the English house")


@pytest.fixture
async def stt(admin: Admin) -> AsyncIterator[WyomingStt]:
    """Yield a recogniser of the home, with a pipeline for each of its languages."""
    async with WyomingStt(lambda _: "", "en", "es") as server:
        entry = await admin.add_entry("wyoming", {"host": "127.0.0.1", "port": server.port})
        entities = await admin.ask("config/entity_registry/list")
        (engine,) = [one["entity_id"] for one in entities if one["config_entry_id"] == entry]
        made = [await _pipeline(admin, engine, language) for language in ("en", "es")]
        before = (await admin.ask("assist_pipeline/pipeline/list"))["preferred_pipeline"]
        await _prefer(admin, made[0])
        try:
            yield server
        finally:
            await _prefer(admin, before)
            for pipeline in made:
                await admin.ask("assist_pipeline/pipeline/delete", pipeline_id=pipeline)
            await admin.delete(f"/api/config/config_entries/entry/{entry}")


async def _pipeline(admin: Admin, engine: str, language: str) -> str:
    made = await admin.ask(
        "assist_pipeline/pipeline/create",
        name=f"Test {language}",
        language=language,
        conversation_engine="conversation.home_assistant",
        conversation_language=language,
        stt_engine=engine,
        stt_language=language,
        tts_engine=None,
        tts_language=None,
        tts_voice=None,
        wake_word_entity=None,
        wake_word_id=None,
    )
    return str(made["id"])


async def _prefer(admin: Admin, pipeline: str) -> None:
    await admin.ask("assist_pipeline/pipeline/set_preferred", pipeline_id=pipeline)


@pytest.fixture
async def home(house: Address) -> AsyncIterator[HomeAssistant]:
    """Yield the home as the user as whom Hearth signs in."""
    async with HomeAssistant(house.url, house.token) as home:
        yield home


@pytest.fixture
def hearth(house: Address, tmp_path: Path) -> Hearth:
    return Hearth(tmp_path, house.url, house.token, BRAIN__ORDER='["home-assistant"]')


def clip(words: str, folder: Path) -> str:
    return str(make_clip(SpokenCommand("clip", words, "rms"), folder))


async def sound() -> AsyncIterator[bytes]:
    yield SECOND
    yield SECOND


# ---- assumptions about a pipeline


async def test_the_sound_arrives_whole_in_the_pipelines_language(
    home: HomeAssistant, stt: WyomingStt
) -> None:
    stt.say(lambda heard: f"heard in {heard.language}")
    first, *_, spanish = await list_pipelines(home)
    assert (first.language, spanish.language) == ("en", "es")  # the preferred one, the newest one
    for pipeline in (first, spanish):
        assert await transcribe(home, pipeline, sound()) == f"heard in {pipeline.language}"
    assert [bytes(one.pcm) for one in stt.heard] == [SECOND * 2] * 2


async def test_what_a_recogniser_can_fail_of(home: HomeAssistant, stt: WyomingStt) -> None:
    pipeline, *_ = await list_pipelines(home)
    stt.say(lambda _: "")
    assert await transcribe(home, pipeline, sound()) == ""
    stt.say(lambda _: Failure("out of memory"))
    with pytest.raises(Refused):
        await transcribe(home, pipeline, sound())
    stt.say(lambda _: Failure())
    with pytest.raises(Refused):
        await transcribe(home, pipeline, sound())
    stt.say(lambda _: None)
    with pytest.raises(Unavailable):
        await transcribe(home, pipeline, sound(), limit_s=0.3)
    with pytest.raises(Refused):
        await transcribe(home, Pipeline("nothing", "en"), sound())
    stt.say(lambda _: "and on it goes")
    assert await transcribe(home, pipeline, sound()) == "and on it goes"


# ---- spoken turns by the home


async def test_a_spoken_turn_switches_a_light(
    hearth: Hearth, admin: Admin, stt: WyomingStt, tmp_path: Path
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    stt.say(lambda _: "Nabu, turn on the kitchen lights.")
    turn = await hearth.json("hear", clip(ON, tmp_path), "--fast")
    assert await admin.settles(KITCHEN, "on") == "on"
    assert (turn["brain"], turn["error"]) == ("home-assistant", None)
    assert turn["heard"] == "Nabu, turn on the kitchen lights."
    (call,) = turn["tool_calls"]
    assert (call["name"], call["status"]) == (PROCESS, "done")
    assert call["arguments"]["text"] == "turn on the kitchen lights."
    (heard,) = stt.heard
    assert heard.language == "en"
    assert 1.0 < len(heard.pcm) / len(SECOND) < 6.0


async def test_a_spoken_turn_in_spanish(
    hearth: Hearth, admin: Admin, stt: WyomingStt, tmp_path: Path
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    stt.say(lambda _: "Enciende Kitchen Lights")
    hearth.set(ASSISTANT__LANGUAGES='["es"]')
    turn = await hearth.json("hear", clip(ON, tmp_path), "--fast")
    assert await admin.settles(KITCHEN, "on") == "on"
    assert [one.language for one in stt.heard] == ["es"]
    assert (turn["brain"], turn["tool_calls"][0]["arguments"]["language"]) == (
        "home-assistant",
        "es",
    )


async def test_a_recogniser_that_fails_leaves_it_to_the_next_rung(
    hearth: Hearth, admin: Admin, stt: WyomingStt, tmp_path: Path
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    stt.say(lambda _: Failure("out of memory"))
    hearth.set(BRAIN__ORDER='["home-assistant","offline"]')
    turn = await hearth.json("hear", clip(ON, tmp_path), "--fast")
    assert await admin.settles(KITCHEN, "on") == "on"
    assert turn["error"] is None
    assert len(turn["tool_calls"]) == 1


@pytest.mark.parametrize(("text", "entity", "closing", "_"), CLOSED, ids=["unlock", "garage"])
async def test_nothing_is_opened_by_ear(
    hearth: Hearth,
    admin: Admin,
    stt: WyomingStt,
    tmp_path: Path,
    text: str,
    entity: str,
    closing: str,
    _: Any,
) -> None:
    await admin.call(closing, entity_id=entity)
    closed = await admin.settles(entity, "locked", "closed")
    stt.say(lambda _: text)
    turn = await hearth.json("hear", clip(text, tmp_path), "--fast")
    assert await admin.state(entity) == closed
    (call,) = turn["tool_calls"]
    assert (call["status"], call["tier"]) == ("not_run", "secure")


# ---- brain.prefer_local


async def prefer(
    hearth: Hearth, mode: str, steps: list[Step], *, ask: str = "", hear: str = ""
) -> dict[str, Any]:
    """Run one turn with the model first; a typed one that the home knows is not even sent."""
    turns = [Turn("text" if ask else "audio", steps, cut=None)] if steps else []
    with in_thread(GeminiSimulator(turns)) as gemini:
        hearth.to_gemini(gemini)
        hearth.set(BRAIN__PREFER_LOCAL=mode)
        words = ("ask", ask) if ask else ("hear", hear, "--fast")
        turn: dict[str, Any] = await hearth.json(*words)
        return turn


async def test_a_typed_sentence_of_an_automation_stays_in_the_home(
    hearth: Hearth, admin: Admin
) -> None:
    await admin.call("input_boolean.turn_off", entity_id=GUESTS)
    hearth.free(TRIGGER)
    turn = await prefer(hearth, "sentences", [], ask=PARTY)
    assert await admin.settles(GUESTS, "on") == "on"
    assert (turn["brain"], turn["answer"]) == ("home-assistant", "Party mode is on in the kitchen")


async def test_a_spoken_one_that_the_model_knows_nothing_of(
    hearth: Hearth, admin: Admin, tmp_path: Path
) -> None:
    await admin.call("input_boolean.turn_off", entity_id=GUESTS)
    hearth.free(TRIGGER)
    told: list[Step] = [Hear(PARTY), Say("I cannot do that."), Done()]
    turn = await prefer(hearth, "sentences", told, hear=clip(PARTY, tmp_path))
    assert await admin.settles(GUESTS, "on") == "on"
    assert turn["answer"] == "Party mode is on in the kitchen"
    assert len(turn["tool_calls"]) == 1


async def test_only_one_side_acts_and_the_models_call_is_answered(
    house: Address, hearth: Hearth, admin: Admin, tmp_path: Path
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    call = Call(
        house.tool("intent__HassTurnOn"), {"name": "Kitchen Lights"}, answer={"status": "done"}
    )
    told: list[Step] = [Hear(ON), call, Say("It is on."), Done()]
    hearth.hold_s = 10.0
    turn = await prefer(hearth, "always", told, hear=clip(ON, tmp_path))
    assert await admin.settles(KITCHEN, "on") == "on"
    assert [one["name"] for one in turn["tool_calls"]] == [PROCESS]
    assert turn["answer"] != "It is on."


@pytest.mark.parametrize("mode", ["never", "sentences"])
async def test_a_builtin_sentence_is_the_models(
    house: Address, hearth: Hearth, admin: Admin, tmp_path: Path, mode: str
) -> None:
    await admin.call("light.turn_off", entity_id=KITCHEN)
    call = Call(
        house.tool("intent__HassTurnOn"), {"name": "Kitchen Lights"}, answer={"status": "done"}
    )
    told: list[Step] = [Hear(ON), call, Say("It is on."), Done()]
    turn = await prefer(hearth, mode, told, hear=clip(ON, tmp_path))
    assert await admin.settles(KITCHEN, "on") == "on"
    assert (turn["brain"], turn["answer"]) == ("gemini-live", "It is on.")
    assert PROCESS not in [one["name"] for one in turn["tool_calls"]]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "spoken"])
@pytest.mark.parametrize(("text", "entity", "closing", "named"), CLOSED, ids=["unlock", "garage"])
async def test_nothing_is_opened_where_the_home_is_preferred(
    house: Address,
    hearth: Hearth,
    admin: Admin,
    tmp_path: Path,
    text: str,
    entity: str,
    closing: str,
    named: dict[str, Any],
    typed: bool,
) -> None:
    await admin.call(closing, entity_id=entity)
    closed = await admin.settles(entity, "locked", "closed")
    tool = house.tool(f"intent__HassTurn{'Off' if text.startswith('unlock') else 'On'}")
    told: list[Step] = [] if typed else [Hear(text)]
    told += [Call(tool, named), Say("I may not do that."), Done()]
    if typed:
        turn = await prefer(hearth, "always", told, ask=text)
    else:
        turn = await prefer(hearth, "always", told, hear=clip(text, tmp_path))
    assert await admin.state(entity) == closed
    assert {one["status"] for one in turn["tool_calls"]} == {"not_run"}
    assert turn["brain"] == "gemini-live"


async def test_a_sentence_that_the_policy_does_not_allow_is_the_models(
    hearth: Hearth, admin: Admin
) -> None:
    await admin.call("input_boolean.turn_off", entity_id=GUESTS)
    told: list[Step] = [Say("I may not do that."), Done()]
    turn = await prefer(hearth, "sentences", told, ask=PARTY)
    assert await admin.state(GUESTS) == "off"
    assert (turn["brain"], turn["answer"]) == ("gemini-live", "I may not do that.")
