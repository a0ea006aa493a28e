"""Everything that listens for a wake word, live, at one simulated microphone.

Each is what a person would run: processes of their own that record from the sound server. Whenever
one tells of a wake word, the moment is noted.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.pipeline import RunPipeline
from wyoming.satellite import RunSatellite

from integrations.owner import OwnedTasks
from tests.benchmarks._household import Household
from tests.benchmarks.peers.environment import PeerMissing, Say, python_of, surroundings
from tests.benchmarks.peers.wake import OPENWAKEWORD, PYMICRO, PYOPEN, SATELLITE, WAKE_SERVICE
from tests.ports import free_port

HEARTH = "hearth run"
OPENWAKEWORD_LOOP = "openwakeword 0.6.0 (microphone loop)"
PYOPEN_LOOP = "pyopen-wakeword 1.1.0 (command)"
PYMICRO_LOOP = "pymicro-wakeword 2.5.0 (command)"
SATELLITE_PAIR = "wyoming-satellite 1.0.0 with wyoming-openwakeword 1.8.2"
TOKEN = "the owner of the simulated box"

_WORD = "okay_nabu"
_FOLDER = Path(__file__).resolve().parent
_UP_S = 60.0
_BACK_AFTER_S = 1.0  # the listener starts to wait for the next wake word after this time
# In place of arecord, which records from sound cards; 64 ms is the satellite's own chunk.
_RECORD = (
    *("parec", "--rate=16000", "--channels=1", "--format=s16le", "--raw"),
    "--latency-msec=64",
)
_PLAY = "paplay --rate=22050 --channels=1 --format=s16le --raw"


@dataclass(frozen=True, slots=True)
class Listener:
    """One way to wait for a wake word."""

    name: str
    roots: tuple[int, ...]  # its processes, beside those that they start
    told: list[float] = field(default_factory=list)  # seconds of the monotonic clock


@dataclass(frozen=True, slots=True)
class _Running:
    """A listener, and a function that records its wake words while it is awaited."""

    listener: Listener
    follow: Callable[[Listener], Coroutine[None, None, None]]


@asynccontextmanager
async def listeners(
    home: Household, sound: Mapping[str, str], say: Say
) -> AsyncIterator[tuple[list[Listener], dict[str, str]]]:
    """Yield all available listeners, Hearth first, and the reasons why others are missing, by
    name."""
    starts = {
        OPENWAKEWORD_LOOP: _openwakeword,
        PYOPEN_LOOP: _pyopen,
        PYMICRO_LOOP: _pymicro,
        SATELLITE_PAIR: _satellite,
    }
    missing = dict[str, str]()
    async with AsyncExitStack() as stack:
        running = [await _hearth(stack, home)]
        theirs = {**surroundings(), **_of_the_server(sound)}
        for name, start in starts.items():
            try:
                running.append(await start(stack, theirs, say))
            except (PeerMissing, TimeoutError) as error:
                missing[name] = str(error) or "it did not come up"
        async with OwnedTasks() as tasks:
            for one in running:
                tasks.start(one.follow(one.listener), one.listener.name)
            yield [one.listener for one in running], missing


def _of_the_server(sound: Mapping[str, str]) -> dict[str, str]:
    """Return what the sound server adds to our own environment."""
    return {key: value for key, value in sound.items() if os.environ.get(key) != value}


async def _hearth(stack: AsyncExitStack, home: Household) -> _Running:
    async with home.hearth() as first:  # compiles, and learns the echo of the room
        await first.started()
    box = await stack.enter_async_context(home.hearth())
    await box.started()
    port = int(home.surroundings["HEARTH_HTTP__PORT"])
    return _Running(Listener(HEARTH, (box.pid,)), partial(_follow_hearth, port))


async def _follow_hearth(port: int, listener: Listener) -> None:
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=httpx.Timeout(10.0, read=None),
    )
    async with client, client.stream("GET", "/v1/events") as events:
        events.raise_for_status()
        async for line in events.aiter_lines():
            if line == "event: wake":
                listener.told.append(time.monotonic())
                await asyncio.sleep(_BACK_AFTER_S)
                (await client.post("/v1/stop")).raise_for_status()


async def _openwakeword(stack: AsyncExitStack, around: Mapping[str, str], say: Say) -> _Running:
    python = str(await asyncio.to_thread(python_of, OPENWAKEWORD, say))
    program = str(_FOLDER / "_wake_engines.py")
    command = (python, "-I", program, "openwakeword", "--microphone", _WORD)
    process = await _started(stack, command, around)
    await _line(process.stdout, "up")
    return _Running(Listener(OPENWAKEWORD_LOOP, (process.pid,)), partial(_note_lines, process))


async def _pyopen(stack: AsyncExitStack, around: Mapping[str, str], say: Say) -> _Running:
    python = str(await asyncio.to_thread(python_of, PYOPEN, say))
    command = (python, "-I", "-m", "pyopen_wakeword", "--model", _WORD)
    return await _piped(stack, around, PYOPEN_LOOP, command)


async def _pymicro(stack: AsyncExitStack, around: Mapping[str, str], say: Say) -> _Running:
    python = str(await asyncio.to_thread(python_of, PYMICRO, say))
    command = (python, "-I", "-m", "pymicro_wakeword", "--model", _WORD)
    return await _piped(stack, around, PYMICRO_LOOP, command)


async def _piped(
    stack: AsyncExitStack, around: Mapping[str, str], name: str, command: Sequence[str]
) -> _Running:
    """Start a command that reads sound from its standard input, behind a recorder."""
    reading, writing = os.pipe()
    try:
        process = await _started(stack, command, around, stdin=reading)
        recorder = await _started(stack, _RECORD, around, stdout=writing)
    finally:
        os.close(reading)
        os.close(writing)
    return _Running(Listener(name, (process.pid, recorder.pid)), partial(_note_lines, process))


async def _satellite(stack: AsyncExitStack, around: Mapping[str, str], say: Say) -> _Running:
    """Start both parts as in the satellite's README; this process replaces Home Assistant."""
    wake_python = str(await asyncio.to_thread(python_of, WAKE_SERVICE, say))
    python = str(await asyncio.to_thread(python_of, SATELLITE, say))
    wake_uri = f"tcp://127.0.0.1:{free_port()}"
    service = await _started(
        stack,
        (
            *(wake_python, "-I", "-m", "wyoming_openwakeword"),
            *("--uri", wake_uri, "--preload-model", "ok_nabu"),
        ),
        around,
    )
    await _line(service.stderr, "Ready")
    port = free_port()
    satellite = await _started(
        stack,
        (
            *(python, "-I", "-m", "wyoming_satellite", "--name", "kitchen"),
            *("--uri", f"tcp://127.0.0.1:{port}", "--no-zeroconf"),
            *("--mic-command", " ".join(_RECORD), "--snd-command", _PLAY),
            *("--wake-uri", wake_uri, "--wake-word-name", "ok_nabu"),
        ),
        around,
    )
    await _line(satellite.stderr, "Ready")
    listener = Listener(SATELLITE_PAIR, (satellite.pid, service.pid))
    return _Running(listener, partial(_serve_satellite, port, satellite))


async def _serve_satellite(
    port: int, process: asyncio.subprocess.Process, listener: Listener
) -> None:
    """Start it, and after each wake word make it wait for the next one."""
    async with AsyncTcpClient("127.0.0.1", port) as client, OwnedTasks() as tasks:
        tasks.start(_drain(process), "what the satellite says")
        await client.write_event(RunSatellite().event())
        while (event := await client.read_event()) is not None:
            if RunPipeline.is_type(event.type):
                listener.told.append(time.monotonic())
                tasks.start(_end_pipeline(client), "the pipeline's end")


async def _end_pipeline(client: AsyncTcpClient) -> None:
    await asyncio.sleep(_BACK_AFTER_S)
    await client.write_event(Transcript(text="").event())


async def _note_lines(process: asyncio.subprocess.Process, listener: Listener) -> None:
    """Record each line as a wake word."""
    assert process.stdout is not None
    async with OwnedTasks() as tasks:
        tasks.start(_drain(process), f"what {listener.name} says")
        while await process.stdout.readline():
            listener.told.append(time.monotonic())


async def _drain(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    while await process.stderr.readline():
        pass


async def _line(stream: asyncio.StreamReader | None, words: str) -> None:
    """Wait for a line that contains these words. Raises PeerMissing with the last line."""
    assert stream is not None
    last = "it said nothing"
    async with asyncio.timeout(_UP_S):
        while line := await stream.readline():
            if words in (text := line.decode(errors="replace").strip()):
                return
            last = text or last
    raise PeerMissing(f"it ended: {last}")


async def _started(
    stack: AsyncExitStack,
    command: Sequence[str],
    around: Mapping[str, str],
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int = asyncio.subprocess.PIPE,
) -> asyncio.subprocess.Process:
    """Start a process that ends with the stack."""
    process = await asyncio.create_subprocess_exec(
        *command, env=dict(around), stdin=stdin, stdout=stdout, stderr=asyncio.subprocess.PIPE
    )
    stack.push_async_callback(_end, process)
    return process


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(5):
            await process.wait()
    except TimeoutError:  # the wake service waits for its threads, which may wait for sound
        process.kill()
        await process.wait()
