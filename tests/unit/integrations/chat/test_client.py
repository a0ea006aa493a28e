"""Tests of the chat API's client, with the stand-in on loopback."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, get_args

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from integrations.chat.client import MAX_TEXT, ChatClient, ChatConversation, ChatServer, tool_of
from integrations.chat.faults import Endless, Malformed
from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Unavailable,
)
from integrations.gemini.declarations import convert
from integrations.gemini.events import FunctionCall, TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.once import OnceCalls, OnceEnd, OnceEvent, OnceText
from tests.ports import closed_port
from tests.simulators.chat_server import MODEL, ChatServerSimulator, Kind
from tests.simulators.script import (
    Call,
    CallTogether,
    Done,
    Drop,
    HttpError,
    Inner,
    Raw,
    Say,
    Stall,
)

LIGHT = convert(
    "HassTurnOn",
    "Turns something on",
    {
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"]},
            "domain": {"type": "array", "items": {"type": "string", "enum": ["light", "fan"]}},
        },
        "required": ["name"],
    },
)
KINDS = get_args(Kind)


@asynccontextmanager
async def talk(server: ChatServerSimulator, **changes: Any) -> AsyncIterator[ChatConversation]:
    given = {"url": server.url, "model": MODEL, **changes}
    async with aclosing(ChatClient(ChatServer(**given))) as client:
        conversation = client.converse("Be brief.", (LIGHT,))
        conversation.read("turn on the light")
        yield conversation


async def take(conversation: ChatConversation, *, may_call: bool = True) -> list[OnceEvent]:
    async with aclosing(conversation.stream(may_call=may_call)) as stream:
        return [event async for event in stream]


def text(events: list[OnceEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, OnceText))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_text_streams(kind: Kind) -> None:
    async with (
        ChatServerSimulator([Say("Está encendida.\u2028Sí.")], kind=kind) as server,
        talk(server) as conversation,
    ):
        *texts, used, end = await take(conversation)
        assert text(texts) == "Está encendida.\u2028Sí."
        assert len(texts) > 1
        assert isinstance(used, TokensUsed)
        assert used.output_tokens == 7
        assert end == OnceEnd("stop")
    (asked,) = server.requests
    assert (asked.instruction, asked.said, asked.tools) == (
        "Be brief.",
        "turn on the light",
        ("HassTurnOn",),
    )


@pytest.mark.parametrize("kind", KINDS)
async def test_parallel_calls_are_answered_together(kind: Kind) -> None:
    arguments = {"name": "Küche", "domain": ["light"]}
    made = CallTogether(
        Call("HassTurnOn", arguments, answer={"status": "done"}),
        Call("HassTurnOn", {"name": "Fan"}, answer={"status": "failed"}),
    )
    async with (
        ChatServerSimulator([Say("I will. "), made], [Say("Half done.")], kind=kind) as server,
        talk(server) as conversation,
    ):
        events = await take(conversation)
        (calls,) = (event.calls for event in events if isinstance(event, OnceCalls))
        assert [call.arguments for call in calls] == [arguments, {"name": "Fan"}]
        conversation.answer(
            [
                FunctionAnswer(call.id, call.name, {"status": status})
                for call, status in zip(calls, ("done", "failed"), strict=True)
            ]
        )
        assert text(await take(conversation)) == "Half done."


async def test_in_the_last_round_there_are_no_tools_to_call() -> None:
    async with ChatServerSimulator([Say("No.")]) as server, talk(server) as conversation:
        await take(conversation, may_call=False)
    assert server.requests[0].tools == ()


@pytest.mark.parametrize("kind", KINDS)
async def test_thoughts_are_not_the_answer(kind: Kind) -> None:
    reply = [Inner("The person wants light."), Say("<think>\nWell, I"), Say("…</think>\n\nYes.")]
    async with ChatServerSimulator(reply, kind=kind) as server, talk(server) as conversation:
        assert text(await take(conversation)).strip() == "Yes."


@pytest.mark.parametrize(("thinks", "sent"), [(False, True), (True, False)])
async def test_a_model_is_asked_not_to_think(thinks: bool, sent: bool) -> None:
    async with (
        ChatServerSimulator([Say("Yes.")]) as server,
        talk(server, thinks=thinks) as conversation,
    ):
        await take(conversation)
    raw = server.requests[0].raw
    assert ("reasoning_effort" in raw, "chat_template_kwargs" in raw) == (sent, sent)


async def test_calls_without_ids_get_their_own() -> None:
    function = {"name": "HassTurnOn", "arguments": {"name": "Lamp"}}
    frame = {"choices": [{"delta": {"tool_calls": [{"function": function}] * 2}}]}
    async with (
        ChatServerSimulator([Raw(frame), Done()]) as server,
        talk(server) as conversation,
    ):
        events = await take(conversation)
    (calls,) = (event.calls for event in events if isinstance(event, OnceCalls))
    first, second = calls
    assert first == FunctionCall(first.id, "HassTurnOn", {"name": "Lamp"})
    assert first.id != second.id


def call_with(arguments: str) -> Raw:
    function = {"name": "HassTurnOn", "arguments": arguments}
    return Raw({"choices": [{"delta": {"tool_calls": [{"id": "c", "function": function}]}}]})


@pytest.mark.parametrize(
    ("reply", "error", "says"),
    [
        ([HttpError(500, "llama runner process has terminated")], Unavailable, "runner process"),
        ([Say("Half a"), HttpError(500, "out of memory")], Unavailable, "out of memory"),
        ([HttpError(500, "no user query found in messages")], Misconfigured, "8192"),
        ([HttpError(418, "no tea")], Refused, "no tea"),
        ([Drop()], Unavailable, "broke"),
        ([Say("Half a"), Drop()], Unavailable, "broke"),
        ([call_with('{"name": "La'), Done()], Malformed, "aren't JSON"),
        ([call_with('["Lamp"]'), Done()], Malformed, "aren't JSON"),
        ([call_with('{"a": "' + "x" * 60_000), Done()], Malformed, "too long"),
        ([Say("la " * (MAX_TEXT // 2)), Done()], Endless, "didn't stop talking"),
        ([Say("Once upon a"), Done(reason="length")], Endless, "too long"),
    ],
    ids=str,
)
async def test_how_an_answer_fails(
    reply: list[Any], error: type[IntegrationError], says: str
) -> None:
    async with ChatServerSimulator(reply) as server, talk(server) as conversation:
        with pytest.raises(error, match=says) as raised:
            await take(conversation)
    assert type(raised.value) is error


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"tools": False}, Misconfigured, "can't call tools"),
        ({"key": "secret"}, SignInAgain, "local.api_key"),
        ({"loading": True}, Unavailable, "Loading model"),
    ],
    ids=str,
)
async def test_what_each_server_refuses(
    kind: Kind, given: dict[str, Any], error: type[IntegrationError], says: str
) -> None:
    async with (
        ChatServerSimulator(kind=kind, **given) as server,
        talk(server, api_key="wrong") as conversation,
    ):
        with pytest.raises(error, match=says):
            await take(conversation)


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm"])
async def test_a_request_that_is_too_long(kind: Kind) -> None:
    async with (
        ChatServerSimulator(kind=kind, context=10) as server,
        talk(server) as conversation,
    ):
        with pytest.raises(Misconfigured, match="8192 tokens or more"):
            await take(conversation)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_model_that_is_not_there(kind: Kind) -> None:
    async with (
        ChatServerSimulator(kind=kind, models=("a", "b")) as server,
        talk(server) as conversation,
    ):
        with pytest.raises(Retired, match=f"no model {MODEL}"):
            await take(conversation)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_address_without_the_api(kind: Kind) -> None:
    async with ChatServerSimulator(kind=kind) as server:
        url = server.url.replace("/v1", "/api")
        async with talk(server, url=url) as conversation:
            with pytest.raises(Misconfigured, match=r"check local\.url"):
                await take(conversation)


async def test_another_program_at_the_address() -> None:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<html>Router</html>", content_type="text/html")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", page)
    async with TestServer(application) as server:
        url = str(server.make_url("/v1"))
        async with talk(ChatServerSimulator(), url=url) as conversation:
            with pytest.raises(Misconfigured, match=r"check local\.url"):
                await take(conversation)


async def test_an_address_without_a_path_is_completed() -> None:
    async with ChatServerSimulator([Say("Yes.")], key="k") as server:
        url = server.url.removesuffix("/v1")
        async with talk(server, url=f"{url}/", api_key="k") as conversation:
            assert text(await take(conversation)) == "Yes."


async def test_a_server_that_is_away() -> None:
    with closed_port() as port:
        url = f"http://127.0.0.1:{port}/v1"
        async with talk(ChatServerSimulator(), url=url) as conversation:
            with pytest.raises(Unavailable, match=f"{url} can't be reached"):
                await take(conversation)


@pytest.mark.parametrize("before", [[], [Inner("Hm.")], [Say("Well")]], ids=str)
async def test_a_server_that_is_silent(before: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("integrations.chat.client.PATIENCE_S", 0.2)
    async with (
        ChatServerSimulator([*before, Stall()]) as server,
        talk(server, first_s=0.2) as conversation,
    ):
        with pytest.raises(Unavailable, match="in time") as raised:
            await take(conversation)
    assert isinstance(raised.value.__cause__, TimeoutError)


async def test_the_key_is_in_no_error() -> None:
    secret = "k-9f8e7d"
    async with (
        ChatServerSimulator([HttpError(400, f"bad {secret} here")], key=secret) as server,
        talk(server, api_key=secret) as conversation,
    ):
        with pytest.raises(Refused) as raised:
            await take(conversation)
    assert secret not in str(raised.value)
    assert secret not in repr(ChatServer(server.url, MODEL, secret))
    async with talk(server, api_key="ключ") as conversation:
        with pytest.raises(Misconfigured, match="characters that can't be sent"):
            await take(conversation)


def test_a_tool_in_plain_json_schema() -> None:
    function = tool_of(LIGHT)["function"]
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "domain": {"type": "array", "items": {"type": "string", "enum": ["light", "fan"]}},
        },
        "required": ["name"],
    }
    assert tool_of(convert("Stop", "Stops.", {}))["function"]["parameters"]["type"] == "object"
