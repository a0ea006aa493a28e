"""A command spoken to `hearth run` before its house has answered for the first time."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from integrations.demo_home import DemoHome
from tests.devices.daemon import Daemon, settings
from tests.devices.pulse import play

pytestmark = pytest.mark.devices

_TOKEN = "the owner of the simulated house"


@asynccontextmanager
async def slow_door(port: int, open_door: asyncio.Event) -> AsyncIterator[str]:
    """Yield the address of a house that accepts connections and answers once the door is open."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                writer.write(piece)
                await writer.drain()
            writer.write_eof()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await open_door.wait()
        inward, outward = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, outward), pass_on(inward, writer))
        writer.close()
        outward.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_command_spoken_during_the_start_is_carried_out(
    command: Path, tmp_path: Path
) -> None:
    opened = asyncio.Event()
    async with (
        DemoHome(token=_TOKEN) as house,
        slow_door(int(house.url.rpartition(":")[2]), opened) as url,
    ):
        surroundings = settings(
            tmp_path,
            HOME_ASSISTANT__URL=url,
            HOME_ASSISTANT__TOKEN=_TOKEN,
            AUDIO__ECHO_CANCELLATION="off",  # its first measurement would take time
        )
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", "run", "--debug"),
            env=surroundings,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            hearth = Daemon(process)
            await hearth.shows("start: listening")
            await play(command)
            opened.set()  # the sentence is over; only now does the house answer
            await hearth.shows("start: ready")
            answer = await hearth.says("dining room light")
        finally:
            process.terminate()
            async with asyncio.timeout(10):
                await process.communicate()
        assert "off" in answer
        assert house.states["light.dining_room"] == "off"
