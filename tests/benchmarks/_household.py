"""Surroundings of `hearth run` in a home, for benchmarks that look at the process from outside.

A room with a microphone and a loudspeaker (simulated, on a sound server), a Home Assistant (the
simulated house) and Gemini (the simulated one): each in a process of its own, so that neither its
work nor its memory counts as Hearth's.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from tests.benchmarks.noises import at_level, pink
from tests.benchmarks.service import Always, GeminiProcess
from tests.benchmarks.sound import clips
from tests.benchmarks.stage import LIGHTS_ON
from tests.devices.daemon import Daemon, settings
from tests.simulators.script import Done, Hear, Say, Tokens

ROOM_DBFS = -65.0  # a silent room; digital silence would be a microphone that is off
HOUSE_TOKEN = "the owner of the simulated house"
_ANSWERED = "The office lights are on"
_UP_S = 90.0  # until a daemon is up; beside other work that takes long
_END_S = 10.0
_ANSWER_S = 20.0  # after the command, until it is said again
_TRIES = 4
_HOUSE = """\
import asyncio, sys
from integrations.demo_home import DemoHome
async def serve():
    async with DemoHome(token=sys.argv[1]) as home:
        print(home.url, flush=True)
        await asyncio.Event().wait()
asyncio.run(serve())
"""
_ANSWER = Always(
    (
        Hear("turn on the office lights"),
        LIGHTS_ON,
        Say(f"{_ANSWERED} now."),
        Done(usage=Tokens(prompt=900, response=40)),
    )
)


@dataclass(frozen=True, slots=True)
class Household:
    """The surroundings of a `hearth run`, and a person who says something in its room."""

    surroundings: Mapping[str, str]
    command: Path  # a WAV file: the wake word and "turn on the office lights"

    @asynccontextmanager
    async def hearth(self, **more: str) -> AsyncIterator["Box"]:
        """Yield a daemon that was just started. `more`: environment variables."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assistant", "run"),
            env={**self.surroundings, **more},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield Box(process.pid, Daemon(process))
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                async with asyncio.timeout(_END_S):
                    await process.wait()
            except TimeoutError:  # its figures are there; what follows must not meet it
                process.kill()
                await process.wait()

    async def say(self) -> None:
        """Say the command and return when it has been said."""
        speaker = await asyncio.create_subprocess_exec(
            *("paplay", "--device=micsink", str(self.command)), env=dict(self.surroundings)
        )
        await speaker.wait()

    async def turn(self, box: "Box") -> int:
        """Say the command until it is answered, and return how often it was said.

        Raises RuntimeError if the box does not answer.
        """
        last = ""
        for said in range(1, _TRIES + 1):
            await self.say()
            try:
                await box.says.says(_ANSWERED, _ANSWER_S)
            except AssertionError as error:
                last = str(error)
            else:
                return said
        raise RuntimeError(f"none of {_TRIES} spoken commands was answered; the last: {last}")


@dataclass(frozen=True, slots=True)
class Box:
    """A running Hearth."""

    pid: int
    says: Daemon

    async def started(self) -> dict[str, float]:
        """Return the stages of its start, in s since its process was created, once everything is
        open."""
        line = await self.says.shows("hearth: started", _UP_S)
        return {stage: float(at) for stage, at in re.findall(r"([a-z][a-z ]*) (\d+\.\d+) s", line)}


@asynccontextmanager
async def household(
    folder: Path, sound: Mapping[str, str], room_s: float = 20.0, **more: str
) -> AsyncIterator[Household]:
    """Yield everything around Hearth.

    `folder`: an empty one; `sound`: the sound server's environment; `room_s`: length of the room's
    noise before it repeats, after a gap; `more`: settings, as SECTION__KEY="value".
    """
    async with AsyncExitStack() as stack:
        # A machine with much else to do may be too slow for Live: then the next rung asks by REST
        # and is refused, and the command is said again. See `Household.turn`.
        gemini = stack.enter_context(GeminiProcess(_ANSWER, check=False))
        house = await stack.enter_async_context(simulated_house(sound))
        await stack.enter_async_context(_room(folder, sound, room_s))
        given = settings(
            folder,
            HOME_ASSISTANT__URL=house,
            HOME_ASSISTANT__TOKEN=HOUSE_TOKEN,
            BRAIN__ORDER='["gemini-live","gemini-once","home-assistant","offline"]',
            PRIVACY__ACCEPT_CLOUD="true",
            GEMINI__API_KEY=gemini.address.key,
            GEMINI__BASE_URL=gemini.address.url,
            GEMINI__CA_FILE=gemini.address.ca_file,
            **more,
        )
        own = {name: value for name, value in given.items() if name not in os.environ}
        # An installed package is compiled; here that is done by the first start.
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        spoken = clips(folder)[0].path
        yield Household({**sound, **own, **compiled}, spoken)


@asynccontextmanager
async def simulated_house(around: Mapping[str, str]) -> AsyncIterator[str]:
    """Yield the address of a Home Assistant whose token is HOUSE_TOKEN.

    `around`: the environment variables.
    """
    async with python_process(_HOUSE, HOUSE_TOKEN, around) as (_, url):
        yield url


@asynccontextmanager
async def python_process(
    code: str, argument: str, around: Mapping[str, str]
) -> AsyncIterator[tuple[int, str]]:
    """Run a Python process with that code; yield its id and the line that it prints when it
    is up."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, argument), env=dict(around), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield process.pid, (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def playing(wav: Path, sound: Mapping[str, str]) -> AsyncIterator[None]:
    """Play the file in the room, once, until the block ends."""
    player = await asyncio.create_subprocess_exec(
        *("paplay", "--device=micsink", str(wav)), env=dict(sound)
    )
    try:
        yield
    finally:
        if player.returncode is None:
            player.terminate()
        await player.wait()


@asynccontextmanager
async def _room(folder: Path, sound: Mapping[str, str], seconds: float) -> AsyncIterator[None]:
    """Play the room's noise for as long as the benchmark takes."""
    file = folder / "room.wav"
    write_wav(file, at_level(pink(seconds, 1), ROOM_DBFS), SAMPLE_RATE)
    play = f"paplay --device=micsink {file}"
    again = f"trap 'kill $!; exit' TERM; while {play} & wait $!; do :; done"
    noise = await asyncio.create_subprocess_exec("sh", "-c", again, env=dict(sound))
    try:
        yield
    finally:
        noise.terminate()
        await noise.wait()
