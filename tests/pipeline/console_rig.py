"""Hearth with its HTTP interface, and browsers that are signed in to the console."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.interfaces.http import Links
from assistant.interfaces.http_tokens import TokenFile
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from integrations.web.box import Role, Scope
from tests.pipeline.rig import offline_settings, states
from tests.ports import free_port

ADMIN = "t" * 32
LOCK = "lock.front_door"


@dataclass
class Page:
    """A browser that is signed in to the console."""

    client: httpx.AsyncClient

    async def type(self, text: str) -> dict[str, Any]:
        answer = await self.client.post("/v1/ask", json={"text": text})
        assert answer.status_code == 200, answer.text
        turn: dict[str, Any] = answer.json()
        return turn

    async def tap(self, entity_id: str, action: str, **more: str) -> dict[str, Any]:
        wanted = {"action": action, **more}
        answer = await self.client.post(f"/v1/house/{entity_id}", json=wanted)
        assert answer.status_code == 200, answer.text
        turn: dict[str, Any] = answer.json()
        return turn

    async def things(self, **query: str) -> dict[str, dict[str, Any]]:
        """Return the devices of the House page by id."""
        found = (await self.client.get("/v1/house", params=query)).json()
        rooms = [room for floor in found["floors"] for room in floor["rooms"]]
        return {one["id"]: one for room in rooms for one in room["things"]}

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
        return await self.answering(self.type(text), **given)

    async def answering(
        self, turn: Coroutine[Any, Any, dict[str, Any]], **given: Any
    ) -> dict[str, Any]:
        """Begin a turn and answer its question."""
        begun = asyncio.create_task(turn)
        await self.answer(await self.question(), **given)
        return await begun


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

    @asynccontextmanager
    async def person(self, role: Role) -> AsyncIterator[Page]:
        """Yield the page of a person who has opened a link."""
        code = Links(self.app.settings.data_folder).make(datetime.now(UTC), 10, role)
        async with self.client(**{"Sec-Fetch-Site": "same-origin"}) as client:
            signed_in = await client.post("/v1/session", json={"code": code})
            assert signed_in.status_code == 204
            yield Page(client)

    def token(self, *scopes: Scope) -> str:
        return TokenFile(self.app.settings.data_folder).make(
            "-".join(scopes), scopes, datetime.now(UTC)
        )


@asynccontextmanager
async def house(folder: Path, **sections: Any) -> AsyncIterator[House]:
    port = free_port()
    settings = offline_settings(folder, http={"port": port, "token": ADMIN}, **sections)
    sound = SoundState(None, OneOutput(NullPlayer(paced=False)))
    opened = open_app(settings, NullPlayer(paced=False), hears=True, resident=True)
    async with opened as app, open_interfaces(app, sound):
        yield House(app, port)
