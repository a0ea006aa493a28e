"""Conversion of the service's messages to events, with the real client and a real socket."""

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest

from integrations.errors import Exhausted, IntegrationError, Refused, Unavailable
from integrations.gemini.events import (
    CallWithoutId,
    Closed,
    FunctionCall,
    FunctionCalls,
    FunctionCallsCancelled,
    GenerationComplete,
    GoAway,
    Grounded,
    InnerText,
    InputText,
    Interrupted,
    LiveEvent,
    OutputAudio,
    OutputText,
    TokensUsed,
    TurnComplete,
    seconds,
)
from integrations.gemini.live import MAX_STRANGE_FRAMES, LiveClient
from integrations.gemini.models import model_row
from integrations.gemini.setup import LiveSetup
from tests.unit.integrations.gemini.loopback import Json, Peer, Service

SETUP = LiveSetup(model_row("gemini-3.8-live")[0], "Be brief.", ())
PCM = bytes(range(256)) * 4 + b"\xfb\xff\xfe\x3e"  # its base64 contains both characters that differ


@pytest.fixture
async def client(service: Service) -> AsyncIterator[LiveClient]:
    async with LiveClient(service.access) as opened:
        yield opened


async def told(service: Service, client: LiveClient, *frames: Json) -> list[LiveEvent]:
    """Return the events for these frames, up to the mark that follows them."""
    events: list[LiveEvent] = []
    arrived = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send(*frames, {"goAway": {"timeLeft": "123s"}})
        await peer.gone()

    def on_event(event: LiveEvent) -> None:
        if event == GoAway(123.0):
            arrived.set()
        elif not arrived.is_set():
            events.append(event)

    service.play(script)
    session = await client.connect(SETUP, on_event)
    async with asyncio.timeout(20):
        await arrived.wait()
    await session.close()
    return events


def content(**fields: object) -> Json:
    return {"serverContent": fields}


def parts(*each: Json) -> Json:
    return {"parts": list(each)}


def sound(pcm: bytes, mime: str = "audio/pcm;rate=24000") -> Json:
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(pcm).decode()}}


def call(number: str, **arguments: object) -> Json:
    return {"id": number, "name": "turn_on", "args": arguments}


USAGE = {
    "promptTokenCount": 120,
    "toolUsePromptTokenCount": 5,
    "responseTokenCount": 40,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 172,
    "promptTokensDetails": [
        {"modality": "TEXT", "tokenCount": 50},
        {"modality": "AUDIO", "tokenCount": 60},
    ],
    "toolUsePromptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
    "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 38}],
}
USED = TokensUsed(125, 47, {"input_text": 55, "input_audio": 60, "output_audio": 38}, 172)

ONE_FRAME: list[tuple[Json, list[LiveEvent]]] = [
    (content(inputTranscription={"text": "turn on"}), [InputText("turn on")]),
    (
        content(inputTranscription={"text": "hola", "languageCode": "es-ES", "finished": True}),
        [InputText("hola", "es-ES")],
    ),
    (content(inputTranscription={"finished": True}), []),
    (content(interimInputTranscription={"text": "tur"}), []),
    (content(outputTranscription={"text": "Done"}), [OutputText("Done", with_sound=False)]),
    (content(modelTurn=parts(sound(PCM))), [OutputAudio(PCM, 24_000)]),
    (content(modelTurn=parts(sound(PCM, "audio/pcm"))), [OutputAudio(PCM, 24_000)]),
    (content(modelTurn=parts(sound(PCM, "audio/pcm;rate=16000"))), [OutputAudio(PCM, 16_000)]),
    (content(modelTurn=parts(sound(PCM, "image/png"))), []),
    (
        content(modelTurn=parts({"text": "hm", "thought": True}, {"text": "print()"})),
        [InnerText("hm", True), InnerText("print()", False)],
    ),
    (content(interrupted=True), [Interrupted()]),
    (content(generationComplete=True), [GenerationComplete()]),
    (content(turnComplete=True), [TurnComplete()]),
    (content(turnComplete=True, interactionStatus="IN_PROGRESS"), [TurnComplete(idle=False)]),
    (content(turnComplete=True, interactionStatus="IDLE"), [TurnComplete()]),
    (
        content(turnComplete=True, turnCompleteReason="RESPONSE_REJECTED"),
        [TurnComplete(reason="RESPONSE_REJECTED")],
    ),
    (
        content(turnComplete=True, turnCompleteReason="TURN_COMPLETE_REASON_UNSPECIFIED"),
        [TurnComplete()],
    ),
    (
        content(turnComplete=True, turnCompleteReason="A_NEW_REASON"),
        [TurnComplete(reason="A_NEW_REASON")],
    ),
    (content(groundingMetadata={"webSearchQueries": ["x"]}, waitingForInput=True), [Grounded()]),
    (content(somethingNew={"a": 1}), []),
    (
        {"toolCall": {"functionCalls": [call("a", name="kitchen"), call("b")]}},
        [FunctionCalls((FunctionCall("a", "turn_on", {"name": "kitchen"}),
                        FunctionCall("b", "turn_on", {})))],
    ),
    ({"toolCall": {"functionCalls": [{"name": "turn_on", "args": {}}]}}, [CallWithoutId()]),
    ({"toolCallCancellation": {"ids": ["a", "b"]}}, [FunctionCallsCancelled(("a", "b"))]),
    ({"goAway": {"timeLeft": "0.2s"}}, [GoAway(0.2)]),
    ({"goAway": {}}, [GoAway(60.0)]),
    ({"usageMetadata": USAGE}, [USED]),
    ({"usageMetadata": {"totalTokenCount": 0}}, [TokensUsed(0, 0)]),
    ({"voiceActivity": {"type": "ACTIVITY_START", "audioOffset": "1.2s"}}, []),
    ({"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}, []),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "events"), ONE_FRAME)
async def test_one_frame(
    service: Service, client: LiveClient, frame: Json, events: list[LiveEvent]
) -> None:
    assert await told(service, client, frame) == events


async def test_the_order_within_a_frame(service: Service, client: LiveClient) -> None:
    frame = {
        "usageMetadata": USAGE,
        "goAway": {"timeLeft": "9s"},
        "toolCallCancellation": {"ids": ["z"]},
        "toolCall": {"functionCalls": [call("b")]},
        **content(
            turnComplete=True,
            generationComplete=True,
            interrupted=True,
            outputTranscription={"text": "Done"},
            modelTurn=parts(sound(PCM), {"functionCall": call("a")}, {"text": "t"}),
            inputTranscription={"text": "on"},
        ),
    }
    assert await told(service, client, frame) == [
        InputText("on"),
        OutputAudio(PCM, 24_000),
        InnerText("t", False),
        OutputText("Done", with_sound=True),
        FunctionCalls((FunctionCall("a", "turn_on", {}), FunctionCall("b", "turn_on", {}))),
        FunctionCallsCancelled(("z",)),
        Interrupted(),
        GenerationComplete(),
        TurnComplete(),
        GoAway(9.0),
        USED,
    ]


async def test_a_call_told_twice_is_one(service: Service, client: LiveClient) -> None:
    frames = (
        content(modelTurn=parts({"functionCall": call("a")})),
        {"toolCall": {"functionCalls": [call("a"), call("b")]}},
        {"toolCall": {"functionCalls": [call("b")]}},
    )
    assert await told(service, client, *frames) == [
        FunctionCalls((FunctionCall("a", "turn_on", {}),)),
        FunctionCalls((FunctionCall("b", "turn_on", {}),)),
    ]


async def test_what_comes_after_the_turn_arrives(service: Service, client: LiveClient) -> None:
    frames = (
        content(turnComplete=True),
        content(outputTranscription={"text": "late"}),
        content(turnComplete=True, interactionStatus="IDLE"),
        content(inputTranscription={"text": "later"}),
    )
    assert await told(service, client, *frames) == [
        TurnComplete(),
        OutputText("late", with_sound=False),
        TurnComplete(),
        InputText("later"),
    ]


@pytest.mark.parametrize(
    ("duration", "expected"),
    [("50s", 50.0), ("0.2s", 0.2), ("0s", 0.0), ("1.000000001s", 1.000000001), ("", 60.0),
     (None, 60.0), ("soon", 60.0), ("-1s", 60.0)],
)  # fmt: skip
def test_durations(duration: str | None, expected: float) -> None:
    assert seconds(duration, 60.0) == expected


STRANGE: Json = {"somethingNew": {"a": 1}}
KNOWN = content(generationComplete=True)


@pytest.mark.parametrize(
    "strange", [STRANGE, {"error": {"code": 500}}, {"goAway": "soon"}, {"toolCall": [1]}]
)
async def test_a_message_that_cannot_be_read_is_passed_over(
    service: Service, client: LiveClient, strange: Json
) -> None:
    burst = [strange] * MAX_STRANGE_FRAMES
    events = await told(service, client, *burst, KNOWN, *burst, KNOWN)
    assert events == [GenerationComplete(), GenerationComplete()]


@pytest.mark.parametrize(
    ("frames", "close", "error"),
    [
        ([STRANGE] * (MAX_STRANGE_FRAMES + 1), None, Unavailable),
        ([{"error": {"code": 400}}], (1007, "Request contains an invalid argument."), Refused),
        ([{"code": 429, "message": "slow down"}], None, Exhausted),
        (["}{"], (1011, "gone"), Unavailable),
    ],
    ids=["strange without end", "an error and a close", "an error with a code", "no JSON"],
)
async def test_what_ends_a_session(
    service: Service,
    client: LiveClient,
    frames: list[Json | str],
    close: tuple[int, str] | None,
    error: type[IntegrationError],
) -> None:
    ended: asyncio.Future[Closed] = asyncio.get_running_loop().create_future()

    def on_event(event: LiveEvent) -> None:
        if isinstance(event, Closed):
            ended.set_result(event)

    async def script(peer: Peer) -> None:
        await peer.accept()
        for frame in frames:
            await (peer.send_raw(frame) if isinstance(frame, str) else peer.send(frame))
        await (peer.close(*close) if close else peer.gone())

    service.play(script)
    await client.connect(SETUP, on_event)
    async with asyncio.timeout(20):
        assert type((await ended).error) is error
