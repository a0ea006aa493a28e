"""A connection between two local programs that is slow, loses packets, falls silent or is cut.

It replaces netem, which not every kernel has (`tc qdisc add … netem`), and works on what the
programs see: streams. TCP sends a lost packet again after its time-out, and everything behind it
waits; so a lost piece comes so much later here, and so does the rest. Pieces are as long as a
packet's content.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from integrations.owner import OwnedTasks
from tests.ports import free_port

_PIECE = 1448  # bytes: what an Ethernet packet carries of a TCP stream
_AGAIN_S = 0.2  # Linux' least time until a packet is sent again (TCP_RTO_MIN)
_SEED = 5  # where one piece in twenty is lost, the seventh is, the seventeenth, the twenty-seventh
_MOST_PIECES = 512  # under way in one direction; a sender of more waits


@dataclass(frozen=True, slots=True)
class Weather:
    """The state of the connection."""

    delay_s: float = 0.0  # each way
    loss: float = 0.0  # share of the pieces that do not come through at first

    def late_s(self, chance: random.Random) -> float:
        """Return the delay of a piece: each further loss waits twice as long (RFC 6298, 5.5)."""
        late, again = self.delay_s, _AGAIN_S + 2 * self.delay_s
        while self.loss and chance.random() < self.loss:
            late += again
            again *= 2
        return late


CLEAR = Weather()
ROUGH = Weather(delay_s=1.0, loss=0.05)  # two seconds there and back


class Line:
    """Listens, and forwards everything to `to_port` of 127.0.0.1. See `line`."""

    def __init__(self, to_port: int, host: str) -> None:
        self.weather = CLEAR
        self.port = 0
        self.met: Counter[str] = Counter()  # "opened", "lost", "cut": what has happened on it
        self._to_port = to_port
        self._host = host
        self._chance = random.Random(_SEED)
        self._server: asyncio.Server | None = None
        self._passing = asyncio.Event()
        self._passing.set()
        self._silenced = b""
        self.tasks = OwnedTasks()  # `line` enters it
        self._served: set[asyncio.Task[None]] = set()

    def url(self, scheme: str = "http") -> str:
        """Return its address."""
        return f"{scheme}://{self._host}:{self.port}"

    async def mend(self) -> None:
        """Repair it: new connections get through, and what was held back goes on."""
        self._silenced = b""
        self._passing.set()
        if self._server is None:
            self.port = self.port or free_port()  # no client is given it while the line is cut
            self._server = await asyncio.start_server(self._take, self._host, self.port)

    def cut(self) -> None:
        """Break all connections and refuse new ones: the program there has died."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for served in self._served:
            served.cancel()
        self.met["cut"] += 1

    def fall_silent(self, only: bytes = b"") -> None:
        """Let nothing through any more, without an error.

        `only`: on connections that began with these bytes in their first piece, and on new ones
        like them.
        """
        self._silenced = only
        self._passing.clear()

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a connection."""
        self.met["opened"] += 1
        task = self.tasks.start(self._serve(reader, writer), "a line")
        self._served.add(task)
        task.add_done_callback(self._served.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to_port)
            ends.append(back)
            first: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._carry(reader, back, first))
                group.create_task(self._carry(there, writer, first))
        except ConnectionError:
            pass  # nobody is there: the one who came is sent away
        finally:
            for end in ends:
                end.transport.abort()

    async def _carry(
        self,
        source: asyncio.StreamReader,
        aim: asyncio.StreamWriter,
        first: "asyncio.Future[bytes]",
    ) -> None:
        """Forward one direction, until its source ends."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_MOST_PIECES)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._deliver(under_way, aim, first))
            due, loop = 0.0, asyncio.get_running_loop()
            piece = b"-"
            while piece:
                try:
                    piece = await source.read(_PIECE)
                except ConnectionError:
                    piece = b""
                if not first.done():
                    first.set_result(piece)
                late_s = self.weather.late_s(self._chance)
                self.met["lost"] += late_s > self.weather.delay_s
                due = max(due, loop.time() + late_s)
                await under_way.put((due, piece))

    async def _deliver(
        self,
        under_way: "asyncio.Queue[tuple[float, bytes]]",
        aim: asyncio.StreamWriter,
        first: "asyncio.Future[bytes]",
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, piece = await under_way.get()
            await asyncio.sleep(due - loop.time())
            while not self._passing.is_set() and self._silenced in await first:
                await self._passing.wait()
            with suppress(OSError, RuntimeError):  # the other end has gone meanwhile
                if not piece:
                    aim.write_eof() if aim.can_write_eof() else aim.close()
                    return
                aim.write(piece)
                await aim.drain()


@asynccontextmanager
async def line(to_port: int, host: str = "127.0.0.1") -> AsyncIterator[Line]:
    """Yield an intact one. `host`: an address of this machine, at which it listens."""
    made = Line(to_port, host)
    async with made.tasks:
        await made.mend()
        try:
            yield made
        finally:
            made.cut()
