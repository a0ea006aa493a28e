"""Two clients for the simulator: the real google-genai, and bare frames for what it never sends."""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import websockets
from google import genai
from google.genai import types
from google.genai.live import AsyncSession
from httpx2 import AsyncHTTPTransport

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.wire import camel

MODEL = "gemini-3.8-live"
PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
LIGHT = {
    "name": "HassTurnOn",
    "description": "Turns something on",
    "parameters": {"type": "OBJECT", "properties": {"name": {"type": "STRING"}}},
    "behavior": "BLOCKING",
}


@asynccontextmanager
async def real_client(service: GeminiSimulator, **options: Any) -> AsyncIterator[genai.Client]:
    """google-genai, told where the simulator is; `options` go to websockets' `connect`."""
    context = _trusting(service)
    client = genai.Client(
        api_key=service.key,
        http_options=types.HttpOptions(
            base_url=service.url,
            api_version="v1beta",
            async_client_args={
                "ssl": context,
                # With a transport of ours it takes httpx2 even where aiohttp is installed.
                "transport": AsyncHTTPTransport(verify=context),
                "close_timeout": 2,
                **options,
            },
            retry_options=types.HttpRetryOptions(attempts=1),
        ),
    )
    try:
        yield client
    finally:
        await client.aio.aclose()
        client.close()


def live_config(**changes: Any) -> types.LiveConnectConfig:
    """The configuration that gemini-3.8-live is to be used with."""
    usual: dict[str, Any] = {
        "response_modalities": ["AUDIO"],
        "system_instruction": "Be brief.",
        "tools": [{"function_declarations": [LIGHT]}],
        "session_resumption": {},
        "input_audio_transcription": {"custom_vocabulary": ["kitchen light"]},
        "output_audio_transcription": {},
        "realtime_input_config": {
            "automatic_activity_detection": {"disabled": True},
            "activity_handling": "START_OF_ACTIVITY_INTERRUPTS",
            "turn_coverage": "TURN_INCLUDES_ONLY_ACTIVITY",
        },
        "context_window_compression": {
            "trigger_tokens": 10_000,
            "sliding_window": {"target_tokens": 4_000},
        },
    }
    return types.LiveConnectConfig.model_validate({**usual, **changes})


@asynccontextmanager
async def real_session(
    service: GeminiSimulator, model: str = MODEL, **changes: Any
) -> AsyncIterator[AsyncSession]:
    """A Live session of the real client."""
    async with (
        real_client(service) as client,
        client.aio.live.connect(model=model, config=live_config(**changes)) as session,
    ):
        yield session


async def speak(session: AsyncSession, pcm: bytes, piece_s: float = 0.04) -> None:
    """One activity with this sound in it."""
    await session.send_realtime_input(activity_start=types.ActivityStart())
    size = round(piece_s * 16_000) * 2
    for start in range(0, len(pcm), size):
        blob = types.Blob(data=pcm[start : start + size], mime_type="audio/pcm;rate=16000")
        await session.send_realtime_input(audio=blob)
    await session.send_realtime_input(activity_end=types.ActivityEnd())


async def ask(session: AsyncSession, text: str) -> None:
    """One typed turn."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    await session.send_client_content(turns=content, turn_complete=True)


async def reply(session: AsyncSession) -> list[types.LiveServerMessage]:
    """All messages up to the end of the turn."""
    async with asyncio.timeout(20):
        return [message async for message in session.receive()]


def transcript(messages: list[types.LiveServerMessage]) -> str:
    """Return the text that the model has said."""
    contents = [message.server_content for message in messages if message.server_content]
    spoken = [content.output_transcription for content in contents if content.output_transcription]
    return "".join(piece.text or "" for piece in spoken)


class Bare:
    """A websocket that sends any JSON."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.socket = socket

    async def send(self, message: Any) -> Self:
        """Send one message, or a text as it is."""
        await self.socket.send(message if isinstance(message, str) else json.dumps(message))
        return self

    async def receive(self) -> dict[str, Any]:
        """The next message."""
        async with asyncio.timeout(20):
            message: dict[str, Any] = json.loads(await self.socket.recv())
            return message

    async def closed(self) -> tuple[int, str]:
        """Read to the end; close code and reason."""
        try:
            while True:
                await self.receive()
        except websockets.ConnectionClosed as error:
            return (error.rcvd.code, error.rcvd.reason) if error.rcvd else (1006, "")


@asynccontextmanager
async def bare(
    service: GeminiSimulator, *, key: str | None = None, path: str = PATH, **options: Any
) -> AsyncIterator[Bare]:
    """An upgraded websocket, before its setup."""
    async with websockets.connect(
        f"wss://127.0.0.1:{service.port}{path}",
        ssl=_trusting(service),
        additional_headers={"x-goog-api-key": service.key if key is None else key},
        close_timeout=2,
        **options,
    ) as socket:
        yield Bare(socket)


def setup(**changes: Any) -> dict[str, Any]:
    """The message that sets a session up; a change of None takes the field out."""
    usual: dict[str, Any] = {
        "model": f"models/{MODEL}",
        "generationConfig": {"responseModalities": ["AUDIO"]},
        "tools": [{"functionDeclarations": [LIGHT]}],
        "realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}},
        "inputAudioTranscription": {},
        "outputAudioTranscription": {},
    }
    fields = {camel(key): value for key, value in {**usual, **changes}.items()}
    return {"setup": {key: value for key, value in fields.items() if value is not None}}


@asynccontextmanager
async def bare_session(service: GeminiSimulator, **changes: Any) -> AsyncIterator[Bare]:
    """A websocket whose setup is complete."""
    async with bare(service) as socket:
        await socket.send(setup(**changes))
        assert await socket.receive() == {"setupComplete": {}}
        yield socket


def audio(pcm: bytes, mime: str = "audio/pcm;rate=16000") -> dict[str, Any]:
    """Sound, as a message."""
    data = base64.b64encode(pcm).decode()
    return {"realtimeInput": {"audio": {"data": data, "mimeType": mime}}}


def typed(text: str) -> dict[str, Any]:
    """A typed turn, as a message."""
    turn = {"role": "user", "parts": [{"text": text}]}
    return {"clientContent": {"turns": [turn], "turnComplete": True}}


START: dict[str, Any] = {"realtimeInput": {"activityStart": {}}}
END: dict[str, Any] = {"realtimeInput": {"activityEnd": {}}}


def _trusting(service: GeminiSimulator) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(service.ca_file))
