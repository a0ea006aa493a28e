"""A minimal broker on loopback: it answers CONNECT as told, and records what it read.

Packets as in MQTT 5 and 3.1.1: a byte of kind, a length of 7 bits per byte, the rest.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PING, DISCONNECT = 1, 2, 3, 4, 8, 9, 12, 14
V311, V5 = 4, 5
HANG_UP, SILENCE = b"", None  # instead of an answer to CONNECT


@dataclass(slots=True)
class Visit:
    """One connection."""

    version: int
    clean: bool
    connect: bytes
    writer: asyncio.StreamWriter
    read: list[tuple[int, bytes]] = field(default_factory=list)  # kind, rest

    def kinds(self) -> list[int]:
        """Return the kinds read after CONNECT."""
        return [kind for kind, _ in self.read]


class FakeBroker:
    """A broker with `answers` for one CONNECT after another; the last one repeats."""

    def __init__(self, answers: Sequence[bytes | None]) -> None:
        self._answers = list(answers)
        self.port = 0
        self.visits: list[Visit] = []
        self.changed = asyncio.Event()
        self.serving: list[asyncio.Task[None]] = []

    async def until(self, visits: int, *kinds: int) -> Visit:
        """Wait until that connection has read these, and return it."""
        async with asyncio.timeout(10):
            while True:
                if len(self.visits) >= visits and set(kinds) <= set(self.visits[-1].kinds()):
                    return self.visits[-1]
                self.changed.clear()
                await self.changed.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.serving.append(task)
        try:
            _, connect = await _packet(reader)
            length = int.from_bytes(connect[:2], "big")
            version, flags = connect[2 + length], connect[3 + length]
            visit = Visit(version, bool(flags & 2), connect, writer)
            answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
            self.visits.append(visit)
            self.changed.set()
            if answer == HANG_UP:
                return
            if answer is not None:
                writer.write(answer)
            while True:
                kind, rest = await _packet(reader)
                visit.read.append((kind >> 4, rest))
                self.changed.set()
                if kind >> 4 == SUBSCRIBE:
                    more = b"\x00" if version == V5 else b""
                    topics = _topics(rest[2:], version)
                    writer.write(packet(SUBACK << 4, rest[:2] + more + bytes(topics)))
                elif kind >> 4 == PUBLISH and kind & 6:
                    start = 2 + int.from_bytes(rest[:2], "big")
                    writer.write(packet(PUBACK << 4, rest[start : start + 2]))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def fake_broker(
    *answers: bytes | None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[FakeBroker]:
    """Run a broker."""
    broker = FakeBroker(answers)
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        broker.port = server.sockets[0].getsockname()[1]
        yield broker
        for visit in broker.visits:
            visit.writer.close()
        await asyncio.gather(*broker.serving)


def packet(kind: int, rest: bytes) -> bytes:
    """Encode a packet."""
    length, left = bytearray(), len(rest)
    while True:
        left, digit = left >> 7, left & 127
        length.append(digit | (128 if left else 0))
        if not left:
            return bytes([kind]) + bytes(length) + rest


def accepted(version: int) -> bytes:
    return packet(CONNACK << 4, b"\x00\x00" + (b"\x00" if version == V5 else b""))


def refused(reason: int, version: int) -> bytes:
    """Make a CONNACK with a reason."""
    return packet(CONNACK << 4, bytes([0, reason]) + (b"\x00" if version == V5 else b""))


def message(
    topic: str, payload: bytes, version: int, number: int = 0, *, again: bool = False
) -> bytes:
    """Make a PUBLISH, with QoS 1 if it has a number."""
    kind = PUBLISH << 4 | (2 if number else 0) | (8 if again else 0)
    name = topic.encode()
    parts = [len(name).to_bytes(2, "big"), name, number.to_bytes(2, "big") if number else b""]
    return packet(kind, b"".join(parts) + (b"\x00" if version == V5 else b"") + payload)


def _topics(rest: bytes, version: int) -> int:
    """Return the number of topics in a SUBSCRIBE."""
    if version == V5:
        rest = rest[1 + rest[0] :]
    count = 0
    while rest:
        rest = rest[2 + int.from_bytes(rest[:2], "big") + 1 :]
        count += 1
    return count


async def _packet(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    kind = (await reader.readexactly(1))[0]
    length, shift = 0, 0
    while True:
        byte = (await reader.readexactly(1))[0]
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return kind, await reader.readexactly(length)
