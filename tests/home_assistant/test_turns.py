"""Tests of whole turns in a real house: the request is done there, whatever the answer says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip
from tests.home_assistant.admin import Admin
from tests.home_assistant.asked import ENGLISH, SPANISH, Asked
from tests.home_assistant.conftest import Address, real_only
from tests.home_assistant.hearth import Hearth
from tests.home_assistant.home import Home
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Turn
from tests.simulators.threads import in_thread

pytestmark = real_only

LANGUAGES = {"english": '["en"]', "spanish": '["es","en"]'}
# house -> what is said, the entity, what closes it, the tool and its arguments
OPENING: dict[str, list[tuple[str, str, str, str, dict[str, Any]]]] = {
    "english": [
        (
            "unlock the front door",
            *("lock.front_door", "lock.lock", "HassTurnOff"),
            {"name": "Front Door", "domain": ["lock"]},
        ),
        (
            "open the garage door",
            *("cover.garage_door", "cover.close_cover", "HassTurnOn"),
            {"name": "Garage Door"},
        ),
    ],
    "spanish": [
        (
            "abre la puerta principal",
            *("lock.front_door", "lock.lock", "HassTurnOff"),
            {"name": "Puerta principal", "domain": ["lock"]},
        ),
        (
            "abre la puerta del garaje",
            *("cover.garage_door", "cover.close_cover", "HassTurnOn"),
            {"name": "Puerta del garaje"},
        ),
    ],
}


@pytest.fixture
def home(house: Address, admin: Admin, tmp_path: Path) -> Home:
    if house.kind not in LANGUAGES:
        pytest.skip("the sentences are about the houses of ours")
    languages = LANGUAGES[house.kind]
    hearth = Hearth(tmp_path, house.url, house.token, ASSISTANT__LANGUAGES=languages)
    return Home(house, admin, hearth)


def only(home: Home, house: str) -> None:
    """Skip the test in another house of the tests."""
    if home.house.kind != house:
        pytest.skip(f"belongs to the {house} house")


EVERYTHING = ENGLISH + SPANISH


@pytest.mark.parametrize("asked", [asked for asked in EVERYTHING if asked.spoken], ids=str)
async def test_ask_by_itself(home: Home, asked: Asked) -> None:
    only(home, asked.house)
    await home.prepare(asked)
    turn = await home.hearth.json("ask", asked.text)
    await home.check(asked)
    assert (turn["brain"], turn["error"]) == ("offline", None)
    assert {call["status"] for call in turn["tool_calls"]} == {"done"}


@pytest.mark.parametrize("asked", EVERYTHING, ids=str)
async def test_ask_with_gemini(home: Home, asked: Asked) -> None:
    only(home, asked.house)
    await home.prepare(asked)
    call = await home.call(asked.tool, asked.arguments, status="done")
    turn = await home.served(asked.text, call, Say("That is done."))
    await home.check(asked)
    assert (turn["brain"], turn["answer"], turn["error"]) == ("gemini-live", "That is done.", None)
    (call,) = turn["tool_calls"]
    assert (call["status"], call["decision"]) == ("done", "allowed")


@pytest.mark.parametrize("brain", ["offline", "gemini-live"])
async def test_hear(home: Home, brain: str, tmp_path: Path) -> None:
    asked = ENGLISH[0]
    only(home, asked.house)
    await home.prepare(asked)
    spoken = SpokenCommand("clip", asked.text, "rms")
    clip = str(await asyncio.to_thread(make_clip, spoken, tmp_path))
    if brain == "offline":
        turn = await home.hearth.json("hear", clip, "--fast")
    else:
        call = await home.call(asked.tool, asked.arguments)
        told = [Hear(asked.text), call, Say("That is done."), Done()]
        with in_thread(GeminiSimulator([Turn("audio", told)])) as gemini:
            home.hearth.to_gemini(gemini)
            turn = await home.hearth.json("hear", clip, "--fast")
    await home.check(asked)
    assert (turn["brain"], turn["heard"], turn["error"]) == (brain, asked.text, None)


@pytest.mark.parametrize(
    ("house_name", "text", "closed", "open_"),
    [
        (
            "english",
            "is the front door locked",
            "Yes, the front door is locked.",
            "No, the front door is unlocked.",
        ),
        ("spanish", "¿está cerrada la puerta principal?", "Sí, ", "No, "),
    ],
    ids=["english", "spanish"],
)
async def test_states_are_told_as_they_are(
    home: Home, house_name: str, text: str, closed: str, open_: str
) -> None:
    only(home, house_name)
    for action, state, answer in (
        ("lock.unlock", "unlocked", open_),
        ("lock.lock", "locked", closed),
    ):
        await home.admin.call(action, entity_id="lock.front_door")
        assert await home.admin.settles("lock.front_door", state) == state
        turn = await home.hearth.json("ask", text)
        assert turn["answer"].startswith(answer)


@pytest.mark.parametrize("which", [0, 1], ids=["unlock", "garage"])
@pytest.mark.parametrize("brain", ["offline", "gemini-live"])
async def test_nothing_is_opened_without_a_yes(home: Home, which: int, brain: str) -> None:
    text, entity, closing, suffix, arguments = OPENING[home.house.kind][which]
    await home.admin.call(closing, entity_id=entity)
    closed = await home.admin.settles(entity, "locked", "closed", limit_s=15.0)
    if brain == "offline":
        turn = await home.hearth.json("ask", text)
    else:
        call = await home.call(suffix, arguments)
        turn = await home.served(text, call, Say("I may not do that."))
    assert await home.admin.state(entity) == closed
    (told,) = turn["tool_calls"]  # nobody is there to be asked
    assert (told["status"], told["decision"]) == ("not_run", "needs_confirmation")
    assert (told["tier"], told["entities"], told["confirmed_by"]) == ("secure", [entity], "")
    assert turn["error"] is None


@pytest.mark.parametrize("which", [0, 1], ids=["unlock", "garage"])
@pytest.mark.parametrize("order", ['["gemini-live","home-assistant"]', '["gemini-live","offline"]'])
async def test_nothing_is_opened_while_gemini_is_away(home: Home, which: int, order: str) -> None:
    """There is no key; the home is preferred, so any other brain gets the sentence."""
    text, entity, closing, _, _ = OPENING[home.house.kind][which]
    await home.admin.call(closing, entity_id=entity)
    closed = await home.admin.settles(entity, "locked", "closed", limit_s=15.0)
    home.hearth.set(BRAIN__ORDER=order, BRAIN__PREFER_LOCAL="always", PRIVACY__ACCEPT_CLOUD="true")
    turn = await home.hearth.json("ask", text)
    assert await home.admin.state(entity) == closed
    assert turn["answer"]
    assert {call["status"] for call in turn["tool_calls"]} <= {"not_run"}


# What Home Assistant's own engine takes.
TEA = {
    "english": "set a timer for 2 seconds called tea",
    "spanish": "pon un temporizador de 2 segundos llamado tea",
}


@pytest.mark.parametrize("whose", ["hearth", "home"])
async def test_a_timer_rings_here(home: Home, tmp_path: Path, whose: str) -> None:
    """Hearth's own, from another process; and one that the home's engine starts for our device."""
    sound = tmp_path / "spoken.wav"
    home.hearth.set(AUDIO__INPUT="null", AUDIO__OUTPUT=f"file:{sound}")
    if whose == "home":
        home.house.needs(2026, 11, "timers of the device that a sentence comes from")
        home.hearth.set(BRAIN__ORDER='["home-assistant"]')
    async with home.hearth.running():
        await home.hearth.registered()
        if whose == "home":
            turn = await home.hearth.json("ask", TEA[home.house.kind])
        else:
            told = Call("start_timer", {"seconds": 2, "name": "tea"}), Say("Two seconds.")
            turn = await home.served("set a tea timer for two seconds", *told)
        assert [call["status"] for call in turn["tool_calls"]] == ["done"]
        rung = await home.hearth.announced()
    assert "tea" in rung
    assert any(sound.read_bytes()[44:])  # not only silence
