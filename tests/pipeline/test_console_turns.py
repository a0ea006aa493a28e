"""Tests of what is typed in the console: an administrator who is signed in is a person, whose calls
can be confirmed, undone and corrected; everybody else has the rights of a program."""

import asyncio
from pathlib import Path

import pytest

from assistant.interfaces.api import parts
from tests.pipeline.console_rig import ADMIN, house
from tests.pipeline.rig import states

PIN = "70718293"
UNLOCK = "unlock the front door"


async def test_what_an_administrator_types_can_be_confirmed_on_the_page(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.page() as page:
        turn = await page.confirmed(UNLOCK, yes=True)
        assert turn["answer"] == "Unlock the front door? OK, unlocking it."
        [call] = turn["tool_calls"]
        assert (call["decision"], call["status"]) == ("confirmed", "done")
        assert call["confirmed_by"] == "http:admin"
        assert at.lock in ("unlocking", "unlocked")


async def test_a_no_and_silence_leave_the_door_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(tmp_path) as at, at.page() as page:
        turn = await page.confirmed(UNLOCK, yes=False)
        assert turn["confirmation"]["verdict"] == "no"
        monkeypatch.setattr(parts, "ANSWER_S", 0.2)
        turn = await page.type(UNLOCK)
        assert turn["confirmation"]["verdict"] == "silence"
        assert at.lock == "locked"


@pytest.mark.parametrize(("pin", "lock"), [(PIN, ("unlocking", "unlocked")), ("1", ("locked",))])
async def test_a_pin_is_typed_on_the_page(tmp_path: Path, pin: str, lock: tuple[str, ...]) -> None:
    async with (
        house(tmp_path, policy={"secure": "pin", "pin": PIN}) as at,
        at.page() as page,
    ):
        turn = await page.confirmed(UNLOCK, yes=True, pin=pin)
        assert at.lock in lock
        assert pin not in str(turn["confirmation"])


async def test_the_page_and_the_room_share_one_conversation(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.page() as page:
        await page.type("turn on the kitchen light")
        told = await page.type("what did you do")
        assert "turned on the kitchen light" in told["answer"]
        await page.type("undo that")
        assert states(at.app)["light.kitchen"] == "off"
        await page.type("turn on the kitchen light")
        await page.type("no, the office light")
        after = states(at.app)
        assert (after["light.kitchen"], after["light.office"]) == ("off", "on")
        await page.type("remember that the bins go out on Tuesday")
        facts = (await page.client.get("/v1/memory")).json()
        assert ["bins" in one["text"] for one in facts] == [True]


async def test_a_stop_word_ends_a_question_without_a_turn(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.page() as page, at.page() as other:
        asked = asyncio.create_task(page.type(UNLOCK))
        await page.question()
        turn = await other.type("stop")
        assert (turn["turn_id"], turn["error"]) == (None, None)
        assert (await asked)["confirmation"]["verdict"] == "silence"
        assert at.lock == "locked"


async def test_two_pages_wait_for_each_other(tmp_path: Path) -> None:
    async with house(tmp_path) as at, at.page() as page, at.page() as other:
        asked = asyncio.create_task(page.type(UNLOCK))
        row = await page.question()
        waiting = asyncio.create_task(other.type("turn on the kitchen light"))
        assert await other.answer(row, yes=True) == "yes"
        assert (await asked)["confirmation"]["verdict"] == "yes"
        assert (await waiting)["tool_calls"][0]["status"] == "done"
        assert at.lock in ("unlocking", "unlocked")


async def test_without_admin_or_without_a_page_it_is_a_program(tmp_path: Path) -> None:
    async with house(tmp_path) as at:
        async with at.page(at.token("read", "ask")) as page:
            turn = await page.type(UNLOCK)
        assert [call["decision"] for call in turn["tool_calls"]] == ["needs_confirmation"]
        async with at.client(Authorization=f"Bearer {ADMIN}") as program:
            turn = (await program.post("/v1/ask", json={"text": UNLOCK})).json()
        assert [call["decision"] for call in turn["tool_calls"]] == ["needs_confirmation"]
        assert at.lock == "locked"
