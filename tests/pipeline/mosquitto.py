"""A real mosquitto broker as a process on loopback, which a test can kill and restart."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assistant.config.sections import Mqtt
from tests.ports import free_port

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
needs_mosquitto = pytest.mark.skipif(
    MOSQUITTO is None, reason="needs mosquitto (apt install mosquitto)"
)
BACK_S = 10.0  # longest time until everything is as before


class Mosquitto:
    """A broker that keeps its sessions in memory only: a kill loses them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.settings = Mqtt(host="127.0.0.1", port=self.port)
        self._process: asyncio.subprocess.Process | None = None
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
        )

    async def start(self) -> None:
        assert MOSQUITTO is not None
        self._process = await asyncio.create_subprocess_exec(
            MOSQUITTO,
            "-c",
            str(self._folder / "mosquitto.conf"),
            stderr=asyncio.subprocess.DEVNULL,
        )
        await until(self._answers)

    async def kill(self) -> None:
        """Kill the process, as a power cut does."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def _answers(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        return True


@asynccontextmanager
async def mosquitto(folder: Path) -> AsyncIterator[Mosquitto]:
    """Yield a running broker with its files in a subfolder of `folder`."""
    place = folder / "broker"
    place.mkdir()
    broker = Mosquitto(place)
    await broker.start()
    try:
        yield broker
    finally:
        await broker.kill()


async def until(true: Callable[[], bool | Awaitable[bool]], within_s: float = BACK_S) -> None:
    """Wait until `true` returns True."""
    async with asyncio.timeout(within_s):
        while True:
            found = true()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.02)
