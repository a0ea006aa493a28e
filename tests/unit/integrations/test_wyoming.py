"""The Wyoming client against a small server on loopback that checks what it gets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from wyoming.event import Event, async_read_event, async_write_event

from integrations.errors import IntegrationError, Misconfigured, Refused, Unavailable
from integrations.wyoming import WyomingRecognizer, parse_address
from tests.ports import closed_port

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
PCM = bytes(range(256)) * 40  # 320 ms: three whole chunks and a part


def sends(*events: Event) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        for event in events:
            await async_write_event(event, writer)

    return answer


@asynccontextmanager
async def server(answer: Answer, *, hang_up: bool = True) -> AsyncIterator[tuple[int, list[Event]]]:
    """Read up to audio-stop, answer, and close or wait for the client. Yields port and events."""
    read: list[Event] = []
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while event := await async_read_event(reader):
                read.append(event)
                if event.type == "audio-stop":
                    await answer(writer)
                    if hang_up:
                        break
        finally:
            writer.close()
            done.set()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1], read
        await done.wait()


async def test_the_sound_goes_out_whole_and_the_text_comes_back() -> None:
    answer = sends(
        Event("transcript-start", {}),
        Event("transcript-chunk", {"text": "Enciende"}),
        Event("transcript", {"text": "Enciende la luz."}),
    )
    async with server(answer) as (port, read):
        assert (
            await WyomingRecognizer("127.0.0.1", port, "es").transcribe(PCM) == "Enciende la luz."
        )
    kinds = [event.type for event in read]
    assert kinds == ["transcribe", "audio-start", *["audio-chunk"] * 4, "audio-stop"]
    assert read[0].data["language"] == "es"
    chunks = [event for event in read if event.type == "audio-chunk"]
    assert b"".join(event.payload or b"" for event in chunks) == PCM
    assert max(len(event.payload or b"") for event in chunks) == 3200
    for event in read[1:-1]:
        assert event.data == {"rate": 16_000, "width": 2, "channels": 1}


async def test_the_language_may_be_left_to_the_server() -> None:
    async with server(sends(Event("transcript", {"text": ""}))) as (port, read):
        assert await WyomingRecognizer("127.0.0.1", port, None).transcribe(b"") == ""
    assert "language" not in read[0].data


async def nothing(writer: asyncio.StreamWriter) -> None:
    """Send nothing."""


async def rubbish(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


async def half(writer: asyncio.StreamWriter) -> None:
    writer.write(b'{"type": "transcript", "data_length": 100}\n{"te')
    await writer.drain()


async def a_list(writer: asyncio.StreamWriter) -> None:
    writer.write(b"[1, 2]\n")
    await writer.drain()


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (nothing, Unavailable, "closed the connection without a transcript"),
        (rubbish, Unavailable, "closed the connection without a transcript"),
        (half, Unavailable, "cannot be reached: "),
        (a_list, Misconfigured, "does not speak the Wyoming protocol"),
        (sends(Event("transcript", {"words": 1})), Misconfigured, "a transcript without text"),
        (
            sends(Event("error", {"text": "no model"})),
            Refused,
            "could not transcribe: no model",
        ),
    ],
)
async def test_every_failure_has_its_kind(
    answer: Answer, error: type[IntegrationError], words: str
) -> None:
    async with server(answer) as (port, _):
        with pytest.raises(error) as caught:
            await WyomingRecognizer("127.0.0.1", port, "en").transcribe(PCM)
    assert str(caught.value).startswith(f"The speech server 127.0.0.1:{port} ")
    assert words in str(caught.value)


async def test_a_server_that_never_answers() -> None:
    async with server(nothing, hang_up=False) as (port, _):
        recognizer = WyomingRecognizer("127.0.0.1", port, "en", timeout_s=0.05)
        with pytest.raises(Unavailable, match=r"did not answer within 0\.05 seconds"):
            await recognizer.transcribe(PCM)


async def test_nobody_listens() -> None:
    async with server(nothing) as (port, _):
        with pytest.raises(Unavailable):
            await WyomingRecognizer("127.0.0.1", port, "en").transcribe(b"")
    with (
        closed_port() as port,
        pytest.raises(Unavailable, match=f"127.0.0.1:{port} cannot be reached"),
    ):
        await WyomingRecognizer("127.0.0.1", port, "en").transcribe(PCM)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("tcp://box:10300", ("box", 10300)),
        ("wyoming://box.local:4000", ("box.local", 4000)),
        ("wyoming://192.168.1.5", ("192.168.1.5", 10300)),
        ("tcp://[::1]:7", ("::1", 7)),
    ],
)
def test_addresses(address: str, place: tuple[str, int]) -> None:
    assert parse_address(address) == place


@pytest.mark.parametrize("address", ["http://box:1", "tcp://", "tcp://box:port", "tcp://[", "box"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(Misconfigured, match=r'write it as "tcp://host:10300"'):
        parse_address(address)
