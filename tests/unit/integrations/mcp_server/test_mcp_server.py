"""`/mcp` over loopback, used by the mcp SDK's client at old and new protocol versions."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, Field

from integrations.mcp_server.server import TOOLS, McpServer, tool_schema
from integrations.serving import serving
from integrations.web.api import web_app
from integrations.web.box import Busy, Caller, NotPossible
from integrations.web.guard import Guard
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    QuestionAnswer,
    QuestionRequest,
    TimerRequest,
)
from tests.unit.integrations.web.doubles import TOKEN, FakeBox, FakeTokens, patient_guard

ALL = ["ask", "announce", "ask_question", "set_timer", "get_last_turns"]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@asynccontextmanager
async def served(
    box: FakeBox, *, guard: Guard | None = None, turns: bool = True
) -> AsyncIterator[str]:
    """Yield the server's address."""
    async with (
        McpServer(box, guard or patient_guard(), "1.0", turns=turns) as server,
        serving(web_app(server.routes()), "127.0.0.1", 0) as port,
    ):
        yield f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def client(url: str, token: str = TOKEN, mode: Any = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=10) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as session,
    ):
        yield session


async def call(box: FakeBox, tool: str, arguments: dict[str, Any], token: str = TOKEN) -> Any:
    async with served(box) as url, client(url, token) as session:
        return await session.call_tool(tool, arguments)


def text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.fixture
def box() -> FakeBox:
    return FakeBox()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_old_and_new_clients_are_served(box: FakeBox, mode: str) -> None:
    async with served(box) as url, client(url, mode=mode) as session:
        tools = (await session.list_tools()).tools
        result = await session.call_tool("announce", {"text": "The washing is done."})
    assert [tool.name for tool in tools] == ALL
    assert result.structured_content == {"id": "20261122-1"}
    assert not result.is_error
    assert box.asked == [AnnounceRequest(text="The washing is done.")]


@pytest.mark.parametrize(
    ("token", "names"),
    [
        ("", ALL),
        ("-ask", ["ask"]),
        ("-speak", ["announce", "ask_question", "set_timer"]),
        ("-read", ["get_last_turns"]),
    ],
)
async def test_a_token_sees_what_it_may(box: FakeBox, token: str, names: list[str]) -> None:
    async with served(box) as url, client(url, TOKEN + token) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == names


async def test_what_was_said_is_not_offered_unless_set(box: FakeBox) -> None:
    async with served(box, turns=False) as url, client(url) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == ALL[:-1]
        result = await session.call_tool("get_last_turns", {})
    assert (result.is_error, text(result)) == (True, "There is no such tool.")
    assert box.asked == []


async def test_another_tool_is_refused(box: FakeBox) -> None:
    result = await call(box, "announce", {"text": "Hello"}, f"{TOKEN}-ask")
    assert (result.is_error, text(result)) == (
        True,
        "This tool needs a token with the scope speak.",
    )
    assert box.asked == []


class TestTools:
    async def test_ask(self, box: FakeBox) -> None:
        result = await call(box, "ask", {"text": "is the door shut?"}, f"{TOKEN}-ask")
        assert text(result) == "Yes."
        assert result.structured_content["turn_id"] == "20261122-3"
        assert box.asked == [(AskRequest(text="is the door shut?"), "mcp:ask")]

    async def test_a_turn_that_failed_is_an_error(self, box: FakeBox) -> None:
        async def ask(wanted: AskRequest, caller: Caller) -> dict[str, Any]:
            return {"answer": None, "error": {"kind": "timeout", "message": "Nobody answered."}}

        box.ask = ask  # type: ignore[method-assign]
        result = await call(box, "ask", {"text": "hello"})
        assert (result.is_error, text(result)) == (True, "Nobody answered.")

    async def test_ask_question(self, box: FakeBox) -> None:
        wanted = {
            "question": "Close the blinds?",
            "answers": [{"id": "yes", "sentences": ["yes [please]"]}],
            "timeout_s": 8,
            "schema": {"type": "object"},
        }
        result = await call(box, "ask_question", wanted)
        answer = {"result": "answered", "id": "yes", "sentence": "yes", "slots": {}}
        answer |= {"turn_id": ""}
        assert result.structured_content == answer
        assert json.loads(text(result)) == answer
        assert box.asked == [QuestionRequest.model_validate(wanted)]

    async def test_set_timer(self, box: FakeBox) -> None:
        result = await call(box, "set_timer", {"seconds": 600, "name": "pasta"})
        assert (result.structured_content["id"], json.loads(text(result))["id"]) == ("t1", "t1")
        assert box.asked == [TimerRequest(seconds=600, name="pasta")]

    async def test_get_last_turns(self, box: FakeBox) -> None:
        result = await call(box, "get_last_turns", {"limit": 3}, f"{TOKEN}-read")
        (turn,) = result.structured_content["turns"]
        assert (turn["heard"], turn["answer"], turn["caller"]) == ("yes?", "Yes.", "http:admin")
        assert "cost_usd" not in turn
        assert box.asked == [("turns", 3, None)]


class TestTrouble:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({}, "text or media"),
            ({"text": "x", "volume": 7}, "volume"),
            ({"text": "x", "secret": "1"}, "Unknown key; the valid keys are"),
            ({"text": 5}, "text"),
        ],
    )
    async def test_wrong_arguments_are_one_sentence(
        self, box: FakeBox, arguments: dict[str, Any], said: str
    ) -> None:
        result = await call(box, "announce", arguments)
        assert result.is_error
        assert said in text(result)
        assert "secret" not in text(result)
        assert box.asked == []

    @pytest.mark.parametrize("error", [NotPossible("Not so."), Busy("Not now.")])
    async def test_what_the_box_refuses(self, box: FakeBox, error: Exception) -> None:
        box.fails = error
        result = await call(box, "announce", {"text": "Hello"})
        assert (result.is_error, text(result)) == (True, str(error))

    async def test_a_fault_of_ours_tells_nothing_of_what_was_sent(
        self, box: FakeBox, caplog: pytest.LogCaptureFixture
    ) -> None:
        box.fails = RuntimeError("the PIN 813794260538")
        result = await call(box, "announce", {"text": "Hello"})
        assert result.is_error
        assert "813794260538" not in text(result) + caplog.text
        assert "the tool announce failed with RuntimeError" in caplog.text

    async def test_who_goes_away_is_not_waited_for(self, box: FakeBox) -> None:
        asked, ended = asyncio.Event(), asyncio.Event()

        async def question(wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError

        box.question = question  # type: ignore[method-assign]
        async with served(box) as url:
            headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream, */*"}
            body = _request("tools/call", {"name": "ask_question", "arguments": {"question": "a"}})
            async with httpx.AsyncClient() as http:
                gone = asyncio.create_task(http.post(url, json=body, headers=headers, timeout=10))
                async with asyncio.timeout(20):
                    await asked.wait()
                gone.cancel()
            async with asyncio.timeout(20):
                await ended.wait()


class TestWire:
    @pytest.mark.parametrize(
        ("accept", "media"),
        [
            ("application/json", "application/json"),
            ("application/json, text/event-stream", "text/event-stream"),
        ],
    )
    async def test_json_or_a_stream_as_the_client_wants(
        self, box: FakeBox, accept: str, media: str
    ) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept}
        async with served(box) as url, httpx.AsyncClient() as http:
            answer = await http.post(url, json=PING, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(media)
        assert '"result":{}' in answer.text

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 401),
            ({"Authorization": "Bearer wrong"}, 401),
            ({"Authorization": f"Bearer {TOKEN}", "Host": "hearth.example"}, 421),
            ({"Authorization": f"Bearer {TOKEN}", "Content-Length": "70000"}, 413),
        ],
    )
    async def test_who_and_how_much(
        self, box: FakeBox, headers: dict[str, str], status: int
    ) -> None:
        large = b"x" * int(headers.get("Content-Length", 0))
        async with served(box) as url, httpx.AsyncClient() as http:
            answer = await http.post(url, content=large or json.dumps(PING), headers=headers)
        assert answer.status_code == status
        assert answer.json()["error"]["kind"]
        assert TOKEN not in answer.text

    async def test_too_often(self, box: FakeBox) -> None:
        guard = Guard(FakeTokens(), now=lambda: 0.0, calls_at_once=2)
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}
        async with served(box, guard=guard) as url, httpx.AsyncClient() as http:
            seen = [(await http.post(url, json=PING, headers=headers)).status_code for _ in "123"]
        assert seen == [200, 200, 429]

    @pytest.mark.parametrize("method", ["GET", "DELETE"])
    async def test_there_are_no_sessions(self, box: FakeBox, method: str) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with served(box) as url, httpx.AsyncClient() as http:
            answer = await http.request(method, url, headers=headers)
        assert answer.status_code == 405

    @pytest.mark.parametrize("body", ["", "no json", "[]", '{"id": 1}', '{"jsonrpc": "2.0"}'])
    async def test_what_is_no_message(self, box: FakeBox, body: str) -> None:
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json",
            "Content-Type": "application/json",
        }
        async with served(box) as url, httpx.AsyncClient() as http:
            answer = await http.post(url, content=body, headers=headers)
            again = await http.post(url, json=PING, headers=headers)
        assert answer.status_code == 400
        assert again.status_code == 200


def _request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


# Arguments of the tools, as clients see them.


class Inner(BaseModel):
    """An inner model."""

    title: str  # a field of that name is not the title of a schema
    number: Annotated[int, Field(ge=1)] = 3


class Outer(BaseModel):
    """An outer model."""

    inner: list[Inner]
    maybe: Inner | None = None
    either: int | str = 1


TOLD = {"inner": "Things.", "maybe": "One more.", "either": "A number or a word."}


def test_a_model_becomes_a_plain_schema() -> None:
    thing = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "number": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
    }
    assert tool_schema(Outer, TOLD) == {
        "type": "object",
        "properties": {
            "inner": {"type": "array", "items": thing, "description": "Things."},
            "maybe": {**thing, "description": "One more."},
            "either": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "default": 1,
                "description": "A number or a word.",
            },
        },
        "required": ["inner"],
        "additionalProperties": False,
    }


def test_a_field_of_which_nothing_is_told_is_an_error() -> None:
    with pytest.raises(KeyError):
        tool_schema(Outer, {"inner": "Things."})


def test_the_tools_are_plain_too() -> None:
    for tool in TOOLS:
        written = json.dumps(tool.schema)
        assert not any(
            word in written for word in ("$ref", "$defs", '"null"', '"title":', '"pattern":')
        )
