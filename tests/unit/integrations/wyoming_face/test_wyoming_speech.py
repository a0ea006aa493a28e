"""Our voice as a speech service over loopback, used as Home Assistant 2026.11 uses it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from wyoming.client import AsyncTcpClient
from wyoming.event import Event, async_write_event
from wyoming.tts import Synthesize, SynthesizeVoice

from integrations.web.requests import LONGEST_TEXT
from integrations.wyoming_face.server import WyomingServer, speech_info
from integrations.wyoming_face.session import NotSpoken, SpeechSession

INFO = speech_info("Hearth", {"hearth-en": ("en",), "hearth-es": ("es",)}, "1.0")


class FakeSpeech:
    """Speech in three pieces, or as set."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.pieces: tuple[bytes, ...] = (b"\1\0" * 6_000, b"\2\0" * 10)
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.ended = asyncio.Event()

    async def speak(self, text: str, voice: str) -> AsyncGenerator[tuple[bytes, int]]:
        self.asked.append((text, voice))
        if text == "sing":
            raise NotSpoken("There is no such voice.")
        try:
            for piece in self.pieces:
                yield piece, 16_000
                await self.go_on.wait()
        finally:
            self.ended.set()


@pytest.fixture
def speech() -> FakeSpeech:
    return FakeSpeech()


@asynccontextmanager
async def served(speech: FakeSpeech) -> AsyncIterator[AsyncTcpClient]:
    server = WyomingServer(
        "127.0.0.1", 0, lambda send: SpeechSession(send, INFO, speech.speak), "wyoming.tts_port"
    )
    async with (
        server,
        AsyncTcpClient("127.0.0.1", server.port) as client,
        asyncio.timeout(10),
    ):
        yield client


async def sound(client: AsyncTcpClient) -> list[Event]:
    events = []
    while (event := await client.read_event()) is not None:
        events.append(event)
        if event.type in ("audio-stop", "error"):
            break
    return events


async def test_it_tells_its_voices(speech: FakeSpeech) -> None:
    async with served(speech) as client:
        await client.write_event(Event("describe"))
        told = await client.read_event()
    assert told is not None
    (program,) = told.data["tts"]
    assert [(one["name"], one["languages"]) for one in program["voices"]] == [
        ("hearth-en", ["en"]),
        ("hearth-es", ["es"]),
    ]
    assert program["installed"]
    assert "satellite" not in told.data


@pytest.mark.parametrize("voice", ["hearth-es", ""])
async def test_a_text_becomes_sound(speech: FakeSpeech, voice: str) -> None:
    chosen = SynthesizeVoice(name=voice) if voice else None
    async with served(speech) as client:
        await client.write_event(Synthesize("La puerta está abierta.", chosen).event())
        events = await sound(client)
    kinds = [event.type for event in events]
    assert kinds == ["audio-start", "audio-chunk", "audio-chunk", "audio-chunk", "audio-stop"]
    assert events[0].data == {"rate": 16_000, "width": 2, "channels": 1}
    assert b"".join(event.payload or b"" for event in events) == b"".join(speech.pieces)
    assert speech.asked == [("La puerta está abierta.", voice)]


@pytest.mark.parametrize("text", ["", "  ", "x" * (LONGEST_TEXT + 1), "sing"])
async def test_what_cannot_be_said_is_told(speech: FakeSpeech, text: str) -> None:
    async with served(speech) as client:
        await client.write_event(Synthesize(text).event())
        assert [event.type for event in await sound(client)] == ["error"]
        await client.write_event(Synthesize("hello").event())  # it continues
        assert (await sound(client))[-1].type == "audio-stop"


async def test_without_sound_it_is_told_too(speech: FakeSpeech) -> None:
    speech.pieces = ()
    async with served(speech) as client:
        await client.write_event(Synthesize("…").event())
        assert [event.type for event in await sound(client)] == ["error"]


async def test_one_text_at_a_time(speech: FakeSpeech) -> None:
    speech.go_on.clear()
    async with served(speech) as client:
        await client.write_event(Synthesize("one").event())
        first = await client.read_event()
        assert first is not None
        assert first.type == "audio-start"
        await client.write_event(Synthesize("two").event())
        await client.write_event(Event("ping"))
        seen = [event.type for event in [await client.read_event() for _ in range(4)] if event]
        assert sorted(seen) == ["audio-chunk", "audio-chunk", "error", "pong"]
        speech.go_on.set()
        assert (await sound(client))[-1].type == "audio-stop"
    assert speech.asked == [("one", "")]


async def test_who_goes_away_ends_the_work(speech: FakeSpeech) -> None:
    speech.go_on.clear()
    async with served(speech) as client:
        await client.write_event(Synthesize("one").event())
        assert await client.read_event() is not None
        await client.disconnect()
        await speech.ended.wait()
        await client.connect()


async def test_who_takes_no_sound_is_sent_away_even_while_they_talk(speech: FakeSpeech) -> None:
    speech.pieces = (bytes(10_000_000),)
    server = WyomingServer(
        "127.0.0.1",
        0,
        lambda send: SpeechSession(send, INFO, speech.speak),
        "wyoming.tts_port",
        taken_within_s=0.05,
    )
    async with server, asyncio.timeout(10):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=4_096)
        await async_write_event(Synthesize("hello").event(), writer)
        with pytest.raises(ConnectionError):
            await _talk_without_end(writer)
        await speech.ended.wait()
        writer.transport.abort()


async def _talk_without_end(writer: asyncio.StreamWriter) -> None:
    while True:
        await async_write_event(Event("nothing-to-answer"), writer)
        await asyncio.sleep(0.005)
