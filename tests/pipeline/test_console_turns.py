"""Tests of what is typed in the console: an administrator who is signed in is a person, whose calls
can be confirmed, undone and corrected; everybody else has the rights of a program."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.interfaces.api import parts
from assistant.interfaces.http_tokens import TokenFile
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from integrations.web.box import Scope
from tests.pipeline.rig import offline_settings, states
from tests.ports import free_port

ADMIN, PIN = "t" * 32, "70718293"
UNLOCK, LOCK = "unlock the front door", "lock.front_door"


@dataclass
class Page:
    """A browser that is signed in to the console."""

    client: httpx.AsyncClient

    async def type(self, text: str) -> dict[str, Any]:
        answer = await self.client.post("/v1/ask", json={"text": text})
        assert answer.status_code == 200, answer.text
        turn: dict[str, Any] = answer.json()
        return turn

    async def question(self) -> dict[str, Any]:
        """Return the pending confirmation as soon as there is one."""
        for _ in range(500):
            rows: list[dict[str, Any]] = (await self.client.get("/v1/confirmations")).json()
            if rows:
                return rows[0]
            await asyncio.sleep(0.02)
        raise TimeoutError

    async def answer(self, row: dict[str, Any], **given: Any) -> str:
        told = await self.client.post(f"/v1/confirmations/{row['id']}", json=given)
        verdict: str = told.json()["verdict"]
        return verdict

    async def confirmed(self, text: str, **given: Any) -> dict[str, Any]:
        """Type a command and answer the question about it."""
        turn = asyncio.create_task(self.type(text))
        await self.answer(await self.question(), **given)
        return await turn


@dataclass
class House:
    app: App
    port: int

    @property
    def lock(self) -> str:
        return states(self.app)[LOCK]

    def client(self, **headers: str) -> httpx.AsyncClient:
        url = f"http://127.0.0.1:{self.port}"
        return httpx.AsyncClient(base_url=url, timeout=20, headers=headers)

    @asynccontextmanager
    async def page(self, token: str = ADMIN) -> AsyncIterator[Page]:
        async with self.client(**{"Sec-Fetch-Site": "same-origin"}) as client:
            signed_in = await client.post("/v1/session", json={"token": token})
            assert signed_in.status_code == 204
            yield Page(client)

    def token(self, *scopes: Scope) -> str:
        return TokenFile(self.app.settings.data_folder).make("panel", scopes, datetime.now(UTC))


@asynccontextmanager
async def house(folder: Path, **sections: Any) -> AsyncIterator[House]:
    port = free_port()
    settings = offline_settings(folder, http={"port": port, "token": ADMIN}, **sections)
    sound = SoundState(None, OneOutput(NullPlayer(paced=False)))
    opened = open_app(settings, NullPlayer(paced=False), hears=True, resident=True)
    async with opened as app, open_interfaces(app, sound):
        yield House(app, port)


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
