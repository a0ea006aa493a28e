"""A real broker, mosquitto, as a process on loopback that is killed and started as a test likes."""

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
BACK_S = 10.0  # until all is as it was, at most


class Mosquitto:
    """One that keeps its sessions for as long as it lives: a kill loses all that it has kept."""

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
        """As a power cut does."""
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
    """One that runs, with its files in a folder of its own in this one."""
    place = folder / "broker"
    place.mkdir()
    broker = Mosquitto(place)
    await broker.start()
    try:
        yield broker
    finally:
        await broker.kill()


async def until(true: Callable[[], bool | Awaitable[bool]], within_s: float = BACK_S) -> None:
    """Wait for something that others bring about."""
    async with asyncio.timeout(within_s):
        while True:
            found = true()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.02)
