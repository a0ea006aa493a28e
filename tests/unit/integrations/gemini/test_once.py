"""Plain requests with the real google-genai client, against a service on loopback."""

import asyncio
import base64
import io
import struct
import subprocess
import sys
import wave
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest
from httpx2 import ConnectTimeout

from integrations.errors import (
    Blocked,
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Unavailable,
)
from integrations.gemini.access import Access
from integrations.gemini.declarations import convert
from integrations.gemini.events import FunctionCall, TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.models import model_row
from integrations.gemini.once import (
    OnceCalls,
    OnceClient,
    OnceConversation,
    OnceEnd,
    OnceEvent,
    OnceSetup,
    OnceText,
)
from tests.simulators.certificate import Certificate
from tests.unit.integrations.gemini.loopback import KEY
from tests.unit.integrations.gemini.rest import (
    Drop,
    Json,
    Refuse,
    Service,
    Stall,
    Step,
    parts,
    serving,
    text,
)

ROW, _ = model_row("gemini-3.8-flash")
LIGHT = convert(
    "HassTurnOn",
    "Turns something on",
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
)
USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 20,
    "promptTokensDetails": [
        {"modality": "AUDIO", "tokenCount": 60},
        {"modality": "TEXT", "tokenCount": 40},
    ],
}


@pytest.fixture
async def rest(certificate: Certificate) -> AsyncIterator[Service]:
    async with serving(certificate) as running:
        yield running


@pytest.fixture
async def client(rest: Service) -> AsyncIterator[OnceClient]:
    async with aclosing(OnceClient(rest.access)) as client:
        yield client


def talk(client: OnceClient, **setup: object) -> OnceConversation:
    values = {"row": ROW, "instruction": "Be brief.", "declarations": (LIGHT,), **setup}
    conversation = client.converse(OnceSetup(**values))  # type: ignore[arg-type]
    conversation.read("turn on the light")
    return conversation


def told(events: Sequence[OnceEvent]) -> list[OnceEvent]:
    """Return the events without the estimated token counts."""
    return [one for one in events if not (isinstance(one, TokensUsed) and one.estimated)]


async def take(conversation: OnceConversation, *, may_call: bool = True) -> list[OnceEvent]:
    async with aclosing(conversation.stream(may_call=may_call)) as stream:
        return [event async for event in stream]


async def test_a_text_is_asked_and_answered(rest: Service, client: OnceClient) -> None:
    rest.reply(text("The li"), text("ght is on."), text("", finish="STOP", usage=USAGE))
    assert await take(talk(client)) == [
        OnceText("The li"),
        OnceText("ght is on."),
        TokensUsed(100, 27, {"input_audio": 60, "input_text": 40}),
        OnceEnd("STOP"),
    ]
    (path,) = rest.paths
    assert path == "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert rest.headers[0]["x-goog-api-key"] == KEY
    (request,) = rest.requests
    assert request["contents"] == [{"parts": [{"text": "turn on the light"}], "role": "user"}]
    assert request["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert request["generationConfig"] == {"thinkingConfig": {"thinking_level": "LOW"}}
    (tool,) = request["tools"]
    (function,) = tool["functionDeclarations"]
    assert function["name"] == "HassTurnOn"
    assert function["parameters"]["properties"]["name"]["type"] == "STRING"


async def test_a_recording_arrives_bit_for_bit(rest: Service, client: OnceClient) -> None:
    rest.reply(text("Fine.", finish="STOP"))
    pcm = struct.pack("<8000h", *(index * 7 % 65_536 - 32_768 for index in range(8_000)))
    conversation = client.converse(OnceSetup(ROW, ""))
    conversation.hear(pcm)
    await take(conversation)
    (request,) = rest.requests
    blob = request["contents"][0]["parts"][0]["inlineData"]
    assert blob["mime_type"] == "audio/wav"
    with wave.open(io.BytesIO(base64.urlsafe_b64decode(blob["data"]))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert file.readframes(file.getnframes()) == pcm
    assert "systemInstruction" not in request
    assert "tools" not in request


@pytest.mark.parametrize(
    ("model", "wish", "sent"),
    [
        ("gemini-3.8-flash", "", {"thinkingConfig": {"thinking_level": "LOW"}}),
        ("gemini-3.8-flash", "high", {"thinkingConfig": {"thinking_level": "HIGH"}}),
        ("a-model-of-tomorrow", "high", {}),
    ],
)
async def test_thinking_as_the_row_allows(
    rest: Service, client: OnceClient, model: str, wish: str, sent: Json
) -> None:
    rest.reply(text("Fine."))
    row, _ = model_row(model, "once")
    await take(talk(client, row=row, thinking=wish))
    assert rest.requests[0]["generationConfig"] == sent


async def test_calls_are_given_at_the_end_and_the_answer_is_echoed_as_it_came(
    rest: Service, client: OnceClient
) -> None:
    signed = {"functionCall": {"name": "HassTurnOn", "args": {"name": "lamp"}, "id": "f1"}}
    signed["thoughtSignature"] = "c2lnbmVk"  # type: ignore[assignment]
    second = {"functionCall": {"name": "HassTurnOn", "args": {}, "id": "f2"}}
    empty_but_signed = {"text": "", "thoughtSignature": "ZW1wdHk="}
    rest.reply(
        parts({"text": "One moment."}),
        parts(signed),
        parts(second),
        parts(empty_but_signed, finish="STOP"),
        parts({"text": ""}),
    )
    rest.reply(text("Both are on.", finish="STOP"))
    conversation = talk(client)
    assert told(await take(conversation)) == [
        OnceText("One moment."),
        OnceCalls(
            (
                FunctionCall("f1", "HassTurnOn", {"name": "lamp"}),
                FunctionCall("f2", "HassTurnOn", {}),
            )
        ),
        OnceEnd("STOP"),
    ]
    conversation.answer(
        [
            FunctionAnswer("f1", "HassTurnOn", {"status": "done"}),
            FunctionAnswer("f2", "HassTurnOn", {"status": "failed"}),
        ]
    )
    assert told(await take(conversation)) == [OnceText("Both are on."), OnceEnd("STOP")]
    _, answer, results = rest.requests[1]["contents"]
    assert answer == {
        "role": "model",
        "parts": [{"text": "One moment."}, signed, second, empty_but_signed],
    }
    assert results["role"] == "user"
    assert [part["functionResponse"] for part in results["parts"]] == [
        {"id": "f1", "name": "HassTurnOn", "response": {"status": "done"}},
        {"id": "f2", "name": "HassTurnOn", "response": {"status": "failed"}},
    ]


async def test_calls_without_ids_get_their_own_and_are_answered_without(
    rest: Service, client: OnceClient
) -> None:
    nameless = {"functionCall": {"name": "HassTurnOn", "args": {}}}
    rest.reply(parts(nameless, nameless))
    rest.reply(parts(nameless))
    conversation = talk(client)
    first = await take(conversation)
    assert isinstance(first[0], OnceCalls)
    ids = [call.id for call in first[0].calls]
    conversation.answer([FunctionAnswer(each, "HassTurnOn", {}) for each in ids])
    second = await take(conversation)
    assert isinstance(second[0], OnceCalls)
    ids += [call.id for call in second[0].calls]
    assert len(set(ids)) == 3
    results = rest.requests[1]["contents"][2]["parts"]
    assert all("id" not in part["functionResponse"] for part in results)


async def test_a_last_round_may_be_without_calls(rest: Service, client: OnceClient) -> None:
    rest.reply(text("Fine."))
    await take(talk(client), may_call=False)
    assert rest.requests[0]["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


async def test_thoughts_are_not_the_answer(rest: Service, client: OnceClient) -> None:
    rest.reply(parts({"text": "Let me see.", "thought": True}, {"text": "Yes."}))
    assert told(await take(talk(client))) == [OnceText("Yes."), OnceEnd(None)]


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ([Refuse(404, "models/x is not found for API version v1beta")], Retired, "once_model"),
        ([Refuse(404, "Not Found")], Misconfigured, "base_url"),
        ([Refuse(429, "Resource has been exhausted")], Exhausted, "quota"),
        ([Refuse(401, "who are you")], SignInAgain, "api_key"),
        ([Refuse(403, "The caller does not have permission")], SignInAgain, "api_key"),
        ([Refuse(400, "API key not valid. Please pass one.")], SignInAgain, "api_key"),
        ([Refuse(400, "Request contains an invalid argument.")], Refused, "invalid argument"),
        ([Refuse(503, "The model is overloaded.")], Unavailable, "overloaded"),
        ([Refuse(500, "Internal")], Unavailable, "500"),
        ([Drop()], Unavailable, "reached"),
        ([text("Half a"), Drop()], Unavailable, "reached"),
        ([{"promptFeedback": {"blockReason": "SAFETY"}}], Blocked, "SAFETY"),
        ([text("Half a"), parts(finish="PROHIBITED_CONTENT")], Blocked, "PROHIBITED_CONTENT"),
    ],
    ids=str,
)
async def test_every_failure_by_its_way_of_recovery(
    rest: Service,
    client: OnceClient,
    steps: list[Step],
    error: type[IntegrationError],
    words: str,
) -> None:
    rest.reply(*steps)
    with pytest.raises(error, match=words) as raised:
        await take(talk(client))
    assert type(raised.value) is error
    assert KEY not in str(raised.value)


async def test_nobody_there(certificate: Certificate) -> None:
    access = Access(KEY, "https://127.0.0.1:9", str(certificate.ca_file))
    async with aclosing(OnceClient(access)) as client:
        with pytest.raises(Unavailable):
            await take(talk(client))


async def test_without_a_key_it_says_where_to_get_one() -> None:
    async with aclosing(OnceClient(Access(""))) as client:
        with pytest.raises(SignInAgain, match="aistudio"):
            await take(talk(client))


@pytest.mark.parametrize("before", [[], [text("Half a")]])
async def test_silence_is_not_waited_out(rest: Service, before: list[Json]) -> None:
    rest.reply(*before, Stall())
    events: list[OnceEvent] = []

    async def gather(conversation: OnceConversation) -> None:
        async for event in conversation.stream():
            events.append(event)

    async with aclosing(OnceClient(rest.access, patience_s=1.0)) as client:
        with pytest.raises(Unavailable) as raised:
            await gather(talk(client))
    assert isinstance(raised.value.__cause__, TimeoutError)
    assert isinstance(events[-1], TokensUsed), "the service may have charged for it"
    assert events[-1].estimated
    await rest.left.wait()


async def test_a_connection_that_does_not_come_about_is_given_up_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("integrations.gemini.access.CONNECT_S", 0.1)

    gone = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)  # not a byte of TLS
        writer.close()
        gone.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        aclosing(OnceClient(Access(KEY, f"https://127.0.0.1:{port}"), 60.0)) as client,
    ):
        with pytest.raises(Unavailable, match="did not answer in time") as raised:
            await take(talk(client))
        await gone.wait()
    assert isinstance(raised.value.__cause__, ConnectTimeout)


async def test_what_a_failed_request_cost_is_told(rest: Service, client: OnceClient) -> None:
    rest.reply(text("Half a", usage=USAGE), parts(finish="SAFETY"))
    async with aclosing(talk(client).stream()) as stream:
        assert await anext(stream) == OnceText("Half a")
        used = TokensUsed(100, 27, {"input_audio": 60, "input_text": 40})
        assert await anext(stream) == used
        with pytest.raises(Blocked):
            await anext(stream)


async def test_an_answer_that_is_left_is_closed(rest: Service, client: OnceClient) -> None:
    rest.reply(text("Half a"), Stall())
    async with aclosing(talk(client).stream()) as stream:
        assert await anext(stream) == OnceText("Half a")
        await rest.stalling.wait()
    await rest.left.wait()
    rest.reply(text("Fine."))
    left, text_, own, end = await take(talk(client))
    assert (text_, end) == (OnceText("Fine."), OnceEnd(None))
    assert isinstance(left, TokensUsed)
    assert isinstance(own, TokensUsed)
    assert (left.estimated, own.estimated) == (True, True)
    assert left.input_tokens == own.input_tokens > 30, "the request of the answer that was left"


async def test_a_cancelled_request_leaves_nothing_but_its_cost_behind(
    rest: Service, client: OnceClient
) -> None:
    rest.reply(Stall())
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(take(talk(client)))
        await rest.stalling.wait()
        waiting.cancel()
    assert waiting.cancelled()
    await rest.left.wait()
    rest.reply(text("Fine."))
    left, _, own, _ = await take(talk(client))
    assert isinstance(left, TokensUsed)
    assert isinstance(own, TokensUsed)
    assert (left.estimated, left.output_tokens) == (True, 0)
    assert left.input_tokens == own.input_tokens > 30, "the service may have charged for it"


async def test_a_request_that_is_cancelled_before_it_is_sent_is_free(
    rest: Service, client: OnceClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: OnceClient) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(OnceClient, "sdk", never)
        waiting = asyncio.create_task(take(talk(client)))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    rest.reply(text("Fine.", usage=USAGE))
    assert len([one for one in await take(talk(client)) if isinstance(one, TokensUsed)]) == 1


async def test_an_answer_whose_turn_is_cancelled_is_counted(
    rest: Service, client: OnceClient
) -> None:
    rest.reply(text("Half a", usage=USAGE), Stall())
    async with aclosing(talk(client).stream()) as stream:
        await anext(stream)
        waiting = asyncio.create_task(anext(stream))
        await rest.stalling.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
    rest.reply(text("Fine.", usage=USAGE))
    used = TokensUsed(100, 27, {"input_audio": 60, "input_text": 40})
    assert [one for one in await take(talk(client)) if isinstance(one, TokensUsed)] == [used, used]


async def test_two_conversations_share_one_client(rest: Service, client: OnceClient) -> None:
    rest.reply(text("One."))
    rest.reply(text("Two."))
    await asyncio.gather(take(talk(client)), take(talk(client)))
    assert await client.sdk() is await client.sdk()


def test_what_is_said_needs_no_import_of_the_sdk() -> None:
    """The import takes most of a second, which would block the event loop."""
    script = """
import sys
from integrations.gemini.access import Access
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.models import model_row
from integrations.gemini.once import OnceClient, OnceSetup
row, _ = model_row("gemini-3.8-flash", "once")
conversation = OnceClient(Access("k")).converse(OnceSetup(row, ""))
conversation.hear(bytes(320))
conversation.read("hello")
conversation.answer([FunctionAnswer("1", "f", {})])
sys.exit("google.genai" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
