"""Tests of the connection that is slow, falls silent and is cut."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.chaos.line import CLEAR, Weather, line


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """Yield the port of an echo server."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while heard := await reader.read(100_000):
            writer.write(heard)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def test_how_late_a_piece_is() -> None:
    chance = random.Random(1)
    assert CLEAR.late_s(chance) == 0.0
    rough = Weather(delay_s=1.0, loss=0.5)
    late = {rough.late_s(chance) for _ in range(400)}
    # Through at once; after 2.2 s more; after twice that more.
    assert {1.0, 3.2, 7.6} <= {round(one, 3) for one in late}


async def test_all_that_is_said_comes_through_in_order() -> None:
    sent = random.Random(2).randbytes(300_000)
    async with echo() as port, line(port) as between:
        between.weather = Weather(delay_s=0.005, loss=0.02)
        reader, writer = await asyncio.open_connection("127.0.0.1", between.port)
        writer.write(sent)
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(-1), 60) == sent
        assert between.met["lost"]
        writer.close()


async def test_silence_ends_with_what_was_held_back() -> None:
    async with echo() as port, line(port) as between:
        reader, writer = await asyncio.open_connection("127.0.0.1", between.port)
        other, to_other = await asyncio.open_connection("127.0.0.1", between.port)
        for one, first in ((writer, b"GET /a"), (to_other, b"GET /b")):
            one.write(first)
        assert await reader.read(100) == b"GET /a"
        assert await other.read(100) == b"GET /b"
        between.fall_silent(only=b"/a")
        for one in (writer, to_other):
            one.write(b"more")
        assert await other.read(100) == b"more"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(100), 0.1)
        await between.mend()
        assert await reader.read(100) == b"more"
        writer.close()
        to_other.close()


async def test_cut_and_mended() -> None:
    async with echo() as port, line(port) as between:
        reader, writer = await asyncio.open_connection("127.0.0.1", between.port)
        writer.write(b"x")
        assert await reader.read(10) == b"x"
        between.cut()
        with pytest.raises(ConnectionError):
            await _say(*await asyncio.open_connection("127.0.0.1", between.port))
        await between.mend()
        assert await _say(*await asyncio.open_connection("127.0.0.1", between.port)) == b"x"
        writer.close()


async def _say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"x")
    heard = await reader.read(10)
    writer.close()
    if not heard:
        raise ConnectionResetError
    return heard
