"""`hearth run` as a separate process, with a simulated house that outlives it."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import httpx

from tests.chaos.promises import QUIET, Life, Told, assert_promises
from tests.chaos.room import Room
from tests.ports import free_port
from tests.simulators.phone_home import PhoneHome

ROOT = Path(__file__).parents[2]
WITHIN_S = 60.0
TURN = "hearth: turn "  # begins what the log tells of a turn
_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
TOKEN = "t" * 40  # the administrator's


@dataclass
class Daemon:
    """Starts, serves, and ends as the test says. One process at a time."""

    folder: Path
    house: PhoneHome
    settings: dict[str, str] = field(default_factory=dict)  # besides, as HEARTH_… variables
    port: int = field(default_factory=free_port)
    before: tuple[str, ...] = ()  # the command begins with it, and becomes what follows
    program: tuple[str, ...] = (sys.executable, "-m", "assistant")
    room: Room | None = None  # what it hears; see `listener`
    starts: int = 0
    spoken: int = 0  # sentences that somebody said to it
    asked: list[str] = field(default_factory=list)  # ids of the typed turns
    writes: bool = True  # False: the test takes away what was written down
    _process: Process | None = None
    _log: IO[bytes] | None = None

    @property
    def data(self) -> Path:
        return Path(self.settings.get("ASSISTANT__DATA", self.folder / "data"))

    @property
    def log(self) -> str:
        """Return its output on stderr, over all starts."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    @property
    def added(self) -> Counter[str]:
        """Return how often each item was added to a list, as the house counts it."""
        return Counter(
            str(arguments.get("item"))
            for name, arguments in self.house.calls
            if name.endswith("HassListAddItem")
        )

    def environment(self) -> dict[str, str]:
        own = {
            "ASSISTANT__DATA": str(self.folder / "data"),
            "HOME_ASSISTANT__URL": self.house.url,
            "HOME_ASSISTANT__TOKEN": self.house.person_token,
            "BRAIN__ORDER": '["offline"]',
            "VOICE__ENGINE": "espeak",
            "AUDIO__INPUT": "null",
            "AUDIO__OUTPUT": "null",
            "HTTP__PORT": str(self.port),
            "HTTP__TOKEN": TOKEN,
            **self.settings,
        }
        others = {key: value for key, value in os.environ.items() if not key.startswith("HEARTH_")}
        return others | {f"HEARTH_{key}": value for key, value in own.items()}

    async def start(self) -> None:
        """Start it; `serves` waits until it is ready."""
        assert self._process is None
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "hearth.toml"
        config.touch()
        self._log = (self.folder / "log").open("ab")
        self._process = await asyncio.create_subprocess_exec(
            *self.before,
            *self.program,
            *("run", "--quiet", "--config", str(config)),
            cwd=ROOT,
            env=self.environment(),
            stdout=self._log,
            stderr=self._log,
        )
        self.starts += 1

    async def serves(self) -> None:
        """Return once it answers over HTTP."""
        async with asyncio.timeout(WITHIN_S), httpx.AsyncClient() as client:
            while True:
                assert self._process is not None
                assert self._process.returncode is None, self.log[-2000:]
                try:
                    await client.get(f"http://127.0.0.1:{self.port}/healthz")
                    return
                except httpx.TransportError:
                    await asyncio.sleep(0.02)

    async def up(self) -> None:
        """Start it, and return once it serves."""
        await self.start()
        await self.serves()

    async def end(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End it, wait for the end, and return its exit code."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(by)
        return await self.ended()

    async def ended(self) -> int:
        """Wait until it has ended by itself, and return its exit code."""
        process, self._process = self._process, None
        assert process is not None
        code = await asyncio.wait_for(process.wait(), WITHIN_S)
        assert self._log is not None
        self._log.close()
        return code

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        """Return the id of the running process."""
        assert self._process is not None
        return self._process.pid

    async def logged(self, words: str, within_s: float = WITHIN_S) -> None:
        """Return once its log contains `words`."""
        async with asyncio.timeout(within_s):
            while words not in self.log:
                assert self.runs, self.log[-2000:]
                await asyncio.sleep(0.1)

    @property
    def turns(self) -> list[dict[str, str]]:
        """Return the fields that its log has for each turn."""
        told = (line for line in self.log.splitlines() if TURN in line)
        return [
            {key: value.strip('"') for key, value in _PAIR.findall(line.partition(TURN)[2])}
            for line in told
        ]

    async def turn(self, number: int) -> dict[str, str]:
        """Return the log's fields of a requested turn, once it is over; 0 is the first."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.asked_for) <= number:
                assert self.runs, self.log[-2000:]
                await asyncio.sleep(0.1)
        return self.asked_for[number]

    @property
    def asked_for(self) -> list[dict[str, str]]:
        """Return the log's fields of each turn except announcements, oldest first."""
        return [turn for turn in self.turns if turn["source"] != "announcement"]

    async def trouble(self, what: str, within_s: float = WITHIN_S) -> str:
        """Return the sentence of /v1/state about a problem, once there is one."""
        return (await self._troubles(lambda troubles: what in troubles, within_s))[what]

    async def sound(self, what: str, within_s: float = WITHIN_S) -> None:
        """Return once /v1/state reports no such problem."""
        await self._troubles(lambda troubles: what not in troubles, within_s)

    async def _troubles(
        self, wanted: Callable[[dict[str, str]], bool], within_s: float
    ) -> dict[str, str]:
        async with asyncio.timeout(within_s), self.client() as client:
            while True:
                troubles: dict[str, str] = (await client.get("/v1/state")).json()["troubles"]
                if wanted(troubles):
                    return troubles
                await asyncio.sleep(0.2)

    async def ask(self, text: str) -> dict[str, Any]:
        """Run one typed turn and return it as the interface reports it."""
        async with self.client() as client:
            answer = await client.post("/v1/ask", json={"text": text})
            assert answer.status_code == 200, answer.text
            turn: dict[str, Any] = answer.json()
            assert turn["answer"] or turn["error"]["message"], turn
            self.asked.append(turn["turn_id"])
            return turn

    async def say(self, recording: Path) -> dict[str, str]:
        """Say it in its room, and return the log's fields of the turn."""
        assert self.room is not None
        told = len(self.asked_for)
        self.spoken += 1
        await self.room.say(recording, self.pid)
        turn = await self.turn(told)
        assert turn.get("error") not in QUIET, turn
        return turn

    async def timer(self) -> dict[str, Any]:
        """Return the only timer, as the interface reports it."""
        async with self.client() as client:
            [timer] = (await client.get("/v1/timers")).json()
        running: dict[str, Any] = timer
        return running

    @property
    def life(self) -> Life:
        """Return its life so far; it has ended."""
        database = self.data / "hearth.db"
        return Life(
            spoken=self.spoken,
            asked=tuple(self.asked),
            told=tuple(_told(turn) for turn in self.turns),
            reached=self.house.calls,
            database=database if self.writes else None,
        )

    def client(self) -> httpx.AsyncClient:
        """Return a client with the administrator's token."""
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=30.0,
        )


async def until(holds: Callable[[], bool], within_s: float = WITHIN_S) -> None:
    """Return once `holds` is true."""
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.05)


@asynccontextmanager
async def daemon(folder: Path, **settings: str) -> AsyncIterator[Daemon]:
    """Yield a daemon that is not started yet; end it, and check that the promises were kept."""
    async with PhoneHome(settle_s=0.02) as house:
        one = Daemon(folder, house, settings)
        try:
            yield one
            if one._process is not None:
                assert await one.end() == 0, one.log[-2000:]
            if one.starts:
                assert_promises(one.life)
        finally:
            if one.runs:
                await one.end(signal.SIGKILL)


@asynccontextmanager
async def listener(folder: Path, **settings: str) -> AsyncIterator[Daemon]:
    """Yield the same with a room in which people may speak to it."""
    room = Room(folder / "room.wav")
    async with daemon(folder / "box", AUDIO__INPUT=room.source, **settings) as one:
        one.room = room
        yield one


def statuses(turn: dict[str, Any]) -> list[str]:
    """Return the results of a turn's calls, as the interface reports them."""
    return [call["status"] for call in turn["tool_calls"]]


def _told(turn: dict[str, str]) -> Told:
    """Return the turn from the fields of one line of the log."""
    return Told(
        turn_id=turn["id"],
        source=turn["source"],
        told=turn["source"] == "text" or int(turn.get("audio_ms", 0)) > 0,  # `ask` sees the words
        error=turn.get("error", ""),
        calls=tuple(one.partition(":")[0] for one in turn.get("calls", "").split(",") if one),
    )
