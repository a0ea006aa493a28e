"""Tests of one process as programs see it: HTTP and MCP on one port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from tests.pipeline.rig import offline_settings, states
from tests.ports import free_port

TOKEN = "t" * 32
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def faces(folder: Path) -> AsyncIterator[tuple[App, httpx.AsyncClient]]:
    """Yield a process without a microphone, and the HTTP client of a program with the token."""
    http = {"port": free_port(), "token": TOKEN}
    settings = offline_settings(folder, http=http)
    sound = SoundState(None, OneOutput(NullPlayer(paced=False)))
    async with (
        open_app(settings, NullPlayer(paced=False), hears=False, resident=True) as app,
        open_interfaces(app, sound) as opened,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{opened.port}", headers=BEARER, timeout=20
        ) as client,
    ):
        yield app, client


async def test_what_one_process_says_of_itself(tmp_path: Path) -> None:
    async with faces(tmp_path) as (_, client):
        health = (await client.get("/healthz", headers={"Authorization": ""})).text
        state = (await client.get("/v1/state")).json()
        found = (await client.get("/v1/doctor")).json()
        paths = (await client.get("/v1/openapi.json")).json()["paths"]
        cloud = (await client.post("/v1/doctor/cloud")).json()
    assert state["health"] == health == "ok"
    assert state["settings"]["volume"] == {"value": 1.0}
    assert {"journal", "home assistant"} <= {finding["check"] for finding in found}
    assert "/v1/question" in paths
    assert not cloud["live"]
    assert [one["detail"] for one in cloud["checks"]] == ["Gemini is not used"]


async def test_a_typed_turn_is_done_and_told_and_not_spoken(tmp_path: Path) -> None:
    async with faces(tmp_path) as (app, client):
        async with client.stream("GET", "/v1/events") as events:
            lines = events.aiter_lines()
            assert (await anext(lines)).startswith("id:")
            asked = client.post("/v1/ask", json={"text": "turn on the kitchen light"})
            turn = (await asked).json()
            told = [line async for line in _until(lines, "event: answer")]
        assert states(app)["light.kitchen"].startswith("on")
        kept = (await client.get(f"/v1/turns/{turn['turn_id']}")).json()
        refused = (await client.post("/v1/ask", json={"text": "unlock the front door"})).json()
        assert states(app)["lock.front_door"] == "locked"
        assert (await client.get("/v1/confirmations")).json() == []
    assert turn["spoken"] == {"clauses": [], "audio_ms": 0.0}
    assert (kept["caller"], kept["heard"]) == ("http:admin", "turn on the kitchen light")
    assert "event: tool_call" in told
    assert refused["tool_calls"][0]["decision"] in ("needs_confirmation", "denied")


async def test_an_announcement_is_said_and_told(tmp_path: Path) -> None:
    async with faces(tmp_path) as (app, client):
        answer = await client.post("/v1/announce", json={"text": "Dinner."})
        assert answer.status_code == 202
        assert app.daemon is not None
        async with asyncio.timeout(60):
            assert await app.daemon.desk.over(answer.json()["id"])
        last = (await client.get("/v1/turns", params={"limit": 1})).json()[0]
    assert (last["source"], last["clauses"], last["caller"]) == (
        "announcement",
        ["Dinner."],
        "http:admin",
    )


async def test_nobody_is_asked_without_a_microphone(tmp_path: Path) -> None:
    async with faces(tmp_path) as (_, client):
        question = {"question": "Shall I?", "answers": [{"id": "yes", "sentences": ["yes"]}]}
        asked = await client.post("/v1/question", json=question)
        listened = await client.post("/v1/listen")
    assert (asked.status_code, listened.status_code) == (422, 409)
    assert "microphone" in asked.json()["error"]["message"]


async def test_a_timer_is_set_listed_and_ended(tmp_path: Path) -> None:
    async with faces(tmp_path) as (_, client):
        made = await client.post("/v1/timers", json={"seconds": 600, "name": "pasta"})
        assert made.status_code == 201, made.text
        rows = (await client.get("/v1/timers")).json()
        gone = await client.delete(f"/v1/timers/{rows[0]['id']}")
        left = (await client.get("/v1/timers")).json()
    assert (rows[0]["name"], rows[0]["caller"], left) == ("pasta", "http:admin", [])
    assert gone.status_code in (200, 204)


async def test_own_sentences_are_understood_at_once_and_open_nothing(tmp_path: Path) -> None:
    async with faces(tmp_path) as (app, client):

        async def ask(text: str) -> dict[str, Any]:
            return dict((await client.post("/v1/ask", json={"text": text})).json())

        before = await ask("flurbish")
        own = {"said": "flurbish", "means": "turn on my favourite lamp"}
        made = await client.post("/v1/sentences", json=own)
        alias = {"said": "my favourite lamp", "means": "kitchen light", "kind": "name"}
        await client.post("/v1/sentences", json=alias)
        door = {"said": "open sesame", "means": "unlock the front door"}
        await client.post("/v1/sentences", json=door)
        done, refused = await ask("Flurbish!"), await ask("open sesame")
        assert states(app)["light.kitchen"].startswith("on")
        assert states(app)["lock.front_door"] == "locked"
        off = await ask("turn off my favourite lamp")
        assert states(app)["light.kitchen"].startswith("off")
        gone = await client.delete(f"/v1/sentences/{made.json()['id']}")
        after = await ask("flurbish")
        rows = (await client.get("/v1/turns")).json()
    assert (made.status_code, gone.status_code) == (201, 204)
    assert [call["status"] for turn in (done, off) for call in turn["tool_calls"]] == ["done"] * 2
    assert done["heard"] == "Flurbish!"  # what was said stays as it was
    assert refused["tool_calls"][0]["decision"] in ("needs_confirmation", "denied")
    assert before["tool_calls"] == after["tool_calls"] == []
    told = {row["heard"]: row["understood"] for row in rows}
    assert (told["flurbish"], told["Flurbish!"]) == (False, True)


async def test_an_agent_uses_the_voice(tmp_path: Path) -> None:
    async with (
        faces(tmp_path) as (_, client),
        httpx2.AsyncClient(headers=BEARER, timeout=20) as http,
    ):
        url = f"{client.base_url}/mcp"
        async with Client(streamable_http_client(url, http_client=http)) as agent:
            names = {tool.name for tool in (await agent.list_tools()).tools}
            said = await agent.call_tool("ask", {"text": "is the front door locked"})
    assert names == {"ask", "announce", "ask_question", "set_timer"}
    assert not said.is_error


async def _until(lines: AsyncIterator[str], last: str) -> AsyncIterator[str]:
    async with asyncio.timeout(60):
        async for line in lines:
            yield line
            if line == last:
                return
