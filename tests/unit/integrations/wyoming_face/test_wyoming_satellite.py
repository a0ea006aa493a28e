"""The satellite over loopback, used as Home Assistant 2026.11 uses it."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from wyoming.client import AsyncTcpClient
from wyoming.event import Event, async_read_event

from integrations.errors import Misconfigured
from integrations.places import LOOPBACK, ConnectionRoom
from integrations.web.box import NotAnnounced
from integrations.wyoming_face import server
from integrations.wyoming_face.server import WyomingServer, satellite_info
from integrations.wyoming_face.session import LONGEST_S, MOST_DATA, MOST_PAYLOAD, SatelliteSession

FORM = {"rate": 22_050, "width": 2, "channels": 1}
SETTING = "wyoming.port"
INFO = satellite_info("Hearth", "Kitchen", "1.0")


class FakeRoom:
    """A room that plays at once, unless told to wait."""

    def __init__(self) -> None:
        self.played: list[tuple[bytes, int]] = []
        self.rang: list[str] = []
        self.over = asyncio.Event()
        self.over.set()
        self.gone = asyncio.Event()
        self.fails: Exception | None = None

    async def play(self, pcm: bytes, rate: int) -> None:
        self.played.append((pcm, rate))
        if self.fails is not None:
            raise self.fails
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self.gone.set()
            raise

    async def timer_rang(self, name: str) -> None:
        self.rang.append(name)


@pytest.fixture
def room() -> FakeRoom:
    return FakeRoom()


@asynccontextmanager
async def served(
    room: FakeRoom, silent_s: float = 10.0, taken_within_s: float = 10.0
) -> AsyncIterator[int]:
    def make(send: Any) -> SatelliteSession:
        return SatelliteSession(send, INFO, room.play, room.timer_rang)

    async with WyomingServer("127.0.0.1", 0, make, SETTING, silent_s, taken_within_s) as server:
        yield server.port


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[AsyncTcpClient]:
    async with AsyncTcpClient("127.0.0.1", port) as client, asyncio.timeout(10):
        yield client


async def announce(client: AsyncTcpClient, pcm: bytes) -> None:
    await client.write_event(Event("audio-start", {**FORM, "timestamp": 0}))
    for start in range(0, len(pcm), 2048):
        await client.write_event(Event("audio-chunk", dict(FORM), pcm[start : start + 2048]))
    await client.write_event(Event("audio-stop"))


async def told(client: AsyncTcpClient, kind: str) -> dict[str, Any]:
    """Return the data of the next event, which must be of that kind."""
    event = await client.read_event()
    assert event is not None
    assert event.type == kind
    return event.data


async def test_it_tells_what_it_is(room: FakeRoom) -> None:
    async with served(room) as port, connected(port) as client:
        await client.write_event(Event("describe"))
        data = await told(client, "info")
    assert data["satellite"]["name"] == "Hearth"
    assert data["satellite"]["area"] == "Kitchen"
    assert data["satellite"]["supports_trigger"] is False
    assert not any(data[kind] for kind in ("asr", "tts", "wake", "mic", "snd"))


async def test_what_is_announced_is_played_and_its_end_is_told(room: FakeRoom) -> None:
    pcm = bytes(range(256)) * 40
    async with served(room) as port, connected(port) as client:
        await announce(client, pcm)
        await told(client, "played")
    assert room.played == [(pcm, 22_050)]


async def test_it_answers_while_it_plays(room: FakeRoom) -> None:
    room.over.clear()
    async with served(room) as port, connected(port) as client:
        await announce(client, b"\1\0" * 100)
        await client.write_event(Event("ping", {"text": "there?"}))
        assert (await told(client, "pong"))["text"] == "there?"
        room.over.set()
        await told(client, "played")


@pytest.mark.parametrize(
    ("sent", "back"), [('"a"', "a"), ('"\\ud800"', ""), ("5", None), ('["a"]', None)]
)
async def test_a_sign_of_life_says_back_what_can_be_written(
    room: FakeRoom, sent: str, back: str | None
) -> None:
    async with served(room) as port, asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"type": "ping", "data": {"text": %s}}\n' % sent.encode())
        answer = await async_read_event(reader)
        writer.close()
    assert answer is not None
    assert (answer.type, answer.data["text"]) == ("pong", back)


async def test_what_cannot_be_played_is_over_too(
    room: FakeRoom, caplog: pytest.LogCaptureFixture
) -> None:
    room.fails = NotAnnounced("Too much waits already.")
    async with served(room) as port, connected(port) as client:
        await announce(client, b"\1\0")
        await told(client, "played")
    assert "Too much waits already." in caplog.text


async def test_no_sound_ever_leaves_it(room: FakeRoom) -> None:
    """A satellite may be asked to begin anything; this one only answers."""
    wished = (
        *("run-satellite", "detect", "detection", "transcribe", "voice-started", "run-pipeline"),
        *("trigger", "audio-settings", "satellite-connected", "pause-satellite", "transcript"),
    )
    async with served(room) as port, connected(port) as client:
        for kind in wished:
            await client.write_event(Event(kind, {"name": "okay_nabu"}))
        await client.write_event(Event("ping"))
        await told(client, "pong")


async def test_timers_of_home_assistants_ring_by_name(room: FakeRoom) -> None:
    async with served(room) as port, connected(port) as client:
        for name in ("tea", "eggs"):
            started = {"id": name[0], "total_seconds": 3, "name": name}
            await client.write_event(Event("timer-started", started))
        await client.write_event(Event("timer-cancelled", {"id": "e"}))
        await client.write_event(Event("timer-finished", {"id": "t"}))
        await client.write_event(Event("timer-finished", {"id": "unknown"}))
        await client.write_event(Event("ping"))
        await told(client, "pong")
    assert room.rang == ["tea", ""]


async def test_who_goes_away_is_not_waited_for(room: FakeRoom) -> None:
    room.over.clear()
    async with served(room) as port:
        async with connected(port) as client:
            await announce(client, b"\1\0")
            await client.write_event(Event("ping"))
            await told(client, "pong")
        async with asyncio.timeout(20):
            await room.gone.wait()


class TestTooMuch:
    @pytest.mark.parametrize(
        "sent",
        [
            b"x" * (MOST_DATA + 2) + b"\n",
            b"no json\n",
            b"[1]\n",
            b'{"type": 5}\n',
            b'{"type": "ping", "data": 5}\n',
            b'{"type": "ping", "data_length": -1}\n',
            b'{"type": "ping", "data_length": "9"}\n',
            b'{"type": "ping", "data_length": 99999999}\n',
            b'{"type": "audio-chunk", "payload_length": %d}\n' % (MOST_PAYLOAD + 1),
            b'{"type": "audio-chunk", "payload_length": 2}\nab',
            b'{"type": "audio-start", "data": {"rate": 1, "width": 2, "channels": 1}}\n',
            b'{"type": "audio-start", "data": {"rate": 16000, "width": 4, "channels": 1}}\n',
            b"[" * 60_000 + b"\n",
        ],
    )
    async def test_nonsense_is_hung_up_on(self, room: FakeRoom, sent: bytes) -> None:
        async with served(room) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            async with asyncio.timeout(20):
                assert await _to_the_end(reader) == b""
            writer.close()
            async with connected(port) as client:  # other connections work as usual
                await client.write_event(Event("describe"))
                await told(client, "info")

    async def test_no_announcement_is_endless(self, room: FakeRoom) -> None:
        async with served(room) as port, connected(port) as client:
            await client.write_event(Event("audio-start", {**FORM, "rate": 8_000}))
            piece = bytes(500_000)
            for _ in range(int(LONGEST_S * 16_000 / len(piece)) + 1):
                await client.write_event(Event("audio-chunk", dict(FORM), piece))
            assert await _end_of(client)
        assert room.played == []

    async def test_silent_ones_are_sent_away(self, room: FakeRoom) -> None:
        async with served(room, silent_s=0.05) as port, connected(port) as client:
            assert await client.read_event() is None

    async def test_who_reads_no_answer_is_sent_away(
        self, room: FakeRoom, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server, "ROOM", ConnectionRoom(2, 2, 2, 0, 0))
        async with served(room, taken_within_s=0.05) as port, asyncio.timeout(30):
            deaf = [await _deaf(port) for _ in range(2)]
            for _, writer in deaf:
                with contextlib.suppress(ConnectionError):
                    while True:  # until the other side stops reading
                        writer.write(b'{"type": "describe"}\n' * 2_000)
                        await writer.drain()
            async with connected(port) as client:
                await client.write_event(Event("describe"))
                await told(client, "info")
            for _, writer in deaf:
                writer.transport.abort()

    async def test_so_many_at_once(self, room: FakeRoom) -> None:
        async with served(room) as port:
            clients = [AsyncTcpClient("127.0.0.1", port) for _ in range(server.ROOM.of_one)]
            async with asyncio.timeout(10):
                for client in clients:
                    await client.connect()
                    await client.write_event(Event("ping"))
                    assert await client.read_event() is not None
                async with connected(port) as more:
                    assert await _end_of(more)
                for client in clients:
                    await client.disconnect()

    async def test_one_address_leaves_room_for_others(
        self, room: FakeRoom, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            server, "place_of", lambda host: LOOPBACK if host == "127.0.0.1" else host
        )
        monkeypatch.setattr(
            server, "ROOM", ConnectionRoom(6, of_one=3, few=1, kept_for_few=2, kept_for_loopback=1)
        )
        async with served(room) as port, asyncio.timeout(30):
            opened = []
            for host, answered in (
                *[("127.0.0.2", True)] * 3,
                ("127.0.0.2", False),  # the limit of one place
                ("127.0.0.3", True),
                ("127.0.0.3", False),  # the rest is reserved for places without any
                ("127.0.0.4", True),
                ("127.0.0.5", False),
                ("127.0.0.1", True),  # this machine
            ):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port, local_addr=(host, 0)
                )
                opened.append(writer)
                with contextlib.suppress(ConnectionError):
                    writer.write(b'{"type": "describe"}\n')
                    assert bool(await reader.readline()) is answered, host
            for writer in opened:
                writer.transport.abort()
            answer = None
            while answer is None:  # until the server has noticed that all have gone
                async with connected(port) as client:
                    with contextlib.suppress(ConnectionError):
                        await client.write_event(Event("describe"))
                        answer = await client.read_event()

    async def test_a_fault_of_ours_ends_that_connection_alone(
        self, room: FakeRoom, caplog: pytest.LogCaptureFixture
    ) -> None:
        room.fails = RuntimeError("broken")
        async with served(room) as port:
            async with connected(port) as client:
                await announce(client, b"\1\0")
                assert await _end_of(client)
            async with connected(port) as client:
                await client.write_event(Event("describe"))
                await told(client, "info")
        assert "a Wyoming connection failed" in caplog.text


async def test_a_port_that_is_taken_names_the_setting(room: FakeRoom) -> None:
    async with served(room) as port:
        taken = WyomingServer("127.0.0.1", port, lambda send: _never(), SETTING)
        with pytest.raises(Misconfigured, match=r"choose another wyoming\.port"):
            await taken.__aenter__()


async def _deaf(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection with a small receive buffer."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    one.setblocking(False)
    await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=one, limit=4_096)


async def _to_the_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:  # unread data is discarded with the connection
        return b""


async def _end_of(client: AsyncTcpClient) -> bool:
    try:
        return await client.read_event() is None
    except ConnectionError:
        return True


def _never() -> SatelliteSession:
    raise AssertionError


@pytest.fixture(autouse=True)
def _level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
