"""Hearth running in a thread: the demo house, a microphone in a quiet room, HTTP."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from starlette.types import ASGIApp

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.config.schema import Settings
from assistant.conversation.loop import ConversationLoop
from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import TokenFile
from assistant.sound.devices import SoundState
from assistant.sound.recordings import FOLDER, Recording, write
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.frames import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE, Frame
from audio.player import NullPlayer, OneOutput
from integrations.serving import serving
from integrations.web.box import Scope
from tests.pipeline.rig import offline_settings
from tests.ports import free_port

T = TypeVar("T")
TOKEN = "a-token-of-the-console-tests"
PIN = "70718293"
_BEGINS_S = 60.0


class QuietRoom:
    """A microphone in a room where nobody speaks."""

    pulled = False

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield soft noise in real time."""
        noise = np.random.default_rng(3)
        loop = asyncio.get_running_loop()
        began, start = loop.time(), 0
        while True:
            pcm = noise.normal(0, 90, FRAME_SAMPLES).astype("<i2").tobytes()
            yield Frame(pcm, start)
            start += FRAME_SAMPLES
            due = began + start / FRAME_SAMPLES * FRAME_MS / 1000
            await asyncio.sleep(max(0.0, due - loop.time()))


class Nobody:
    """A keyboard on which nothing is typed, because the answers come from elsewhere."""

    runner: ConversationLoop

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        """Return nothing, once the question is answered."""
        exchange = self.runner.exchange
        assert exchange is not None
        await asyncio.wait([exchange.settlement])
        return None


@dataclass(slots=True)
class House:
    """A running Hearth."""

    port: int
    data: Path
    app: App
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        """Return the address of its page."""
        return f"http://127.0.0.1:{self.port}"

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on Hearth's own loop, and wait."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def token(self, name: str, *scopes: Scope) -> str:
        """Return a token of a program with only these scopes."""
        return TokenFile(self.data).make(name, scopes, SystemClock().now())

    def record(self, turn_id: str) -> None:
        """Store a second of sound of that turn, as `recordings.turns` does."""
        at = SystemClock().now()
        name = f"{at.astimezone(UTC):%Y%m%dT%H%M%S.%f}Z-turn-okay_nabu-0.97"
        one = Recording(name, "turn", at, "okay_nabu", 0.97, 1.0, turn_id)
        write(self.data / FOLDER, one, bytes(2 * SAMPLE_RATE))

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start it on Hearth's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)


def settings_of(data: Path, port: int, **sections: dict[str, Any]) -> Settings:
    """Return settings of a house whose doors need a PIN, with a page on that port."""
    given: dict[str, dict[str, Any]] = {
        "assistant": {"data": str(data), "name": "Hearth", "languages": ["en", "es"]},
        "http": {"port": port, "token": TOKEN},
        "policy": {"secure": "pin", "pin": PIN},
        "limits": {
            "daily_cost_usd": 0.5,
            "comfort_per_minute": 10_000,
            "costly_per_hour": 10_000,
            "secure_per_hour": 10_000,
        },
        "profiles": {"night": {"persona": "Short and quiet."}},
    }
    return offline_settings(data.parent, **{**given, **sections})


@contextmanager
def running(data: Path, port: int | None = None, **sections: dict[str, Any]) -> Iterator[House]:
    """Run it until the context is left."""
    settings = settings_of(data, port or free_port(), **sections)
    with in_thread(lambda: _house(settings)) as house:
        yield house


@asynccontextmanager
async def _house(settings: Settings) -> AsyncIterator[House]:
    player, nobody = NullPlayer(paced=False), Nobody()
    async with (
        open_app(settings, player, hears=True, resident=True, prompter=nobody) as app,
        open_interfaces(app, SoundState(None, OneOutput(player))) as opened,
    ):
        nobody.runner = app.runner
        listening = asyncio.ensure_future(app.runner.listen(QuietRoom()))
        app.runner.on_microphone(MicrophoneChange(MicrophoneStatus.LISTENING, ""))
        try:
            yield House(opened.port, settings.data_folder, app, asyncio.get_running_loop())
        finally:
            listening.cancel()
            await asyncio.wait([listening])


@contextmanager
def serving_thread(app: ASGIApp) -> Iterator[int]:
    """Serve another application until the context is left, and yield its port."""
    with in_thread(lambda: serving(app, "127.0.0.1", 0)) as port:
        yield port


@contextmanager
def in_thread(opened: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    """Keep a context open on a loop in another thread until this context is left."""
    made: list[T] = []
    stop = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    began = threading.Event()

    async def stay() -> None:
        async with opened() as one:
            made.append(one)
            loops.append(asyncio.get_running_loop())
            began.set()
            await stop.wait()

    thread = Thread(lambda: asyncio.run(stay()), began)
    thread.start()
    assert began.wait(_BEGINS_S), "it did not begin"
    try:
        if made:
            yield made[0]
    finally:
        if loops and thread.is_alive():
            loops[0].call_soon_threadsafe(stop.set)
        thread.join(_BEGINS_S)
        if thread.failed is not None:
            raise thread.failed


class Thread(threading.Thread):
    """A thread that reports its exception."""

    def __init__(self, work: Callable[[], None], began: threading.Event) -> None:
        super().__init__()
        self._work = work
        self._began = began
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self.failed = error
        finally:
            self._began.set()
