"""Delay from the end of a command to the first sample of its answer: spoken into a browser, and
into the box's own microphone, in the same process over loopback.

`python -m tests.benchmarks.browser_speech [ROUNDS]` takes half a minute for three rounds.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.sound.devices import SoundState
from audio.earcons import NAMES
from audio.frames import FRAME_BYTES, FRAME_MS, Frame, Framer
from audio.player import NullPlayer, OneOutput
from tests.benchmarks.figures import print_table
from tests.corpus.speech import say
from tests.pipeline.browser_line import page
from tests.pipeline.rig import offline_settings, silence
from tests.ports import free_port

ROUNDS = 3
MOST_MORE_MS = 80.0  # that a browser's answer may be later
_TOKEN = "t" * 32
_COMMANDS = ("turn on the kitchen light", "turn off the kitchen light")
_WITHIN_S = 60.0


class _Room:
    """A microphone that is silent in real time, except for what is said into it."""

    pulled = False

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.empty = asyncio.Event()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        loop, framer, began = asyncio.get_running_loop(), Framer(), 0.0
        began = loop.time()
        while True:
            pcm = bytes(self.waiting[:FRAME_BYTES]).ljust(FRAME_BYTES, b"\0")
            del self.waiting[:FRAME_BYTES]
            for frame in framer.push(pcm):
                await asyncio.sleep(max(0.0, began + frame.end / 16_000 - loop.time()))
                yield frame
            if not self.waiting:
                self.empty.set()


class _Loudspeaker(NullPlayer):
    """Notes when the first sample was played."""

    first_at: float | None = None

    async def play(self, pcm: bytes, rate: int) -> None:
        if self.first_at is None:
            self.first_at = asyncio.get_running_loop().time()
        await super().play(pcm, rate)


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[tuple[App, int, _Room, _Loudspeaker]]:
    settings = offline_settings(
        folder,
        http={"port": free_port(), "token": _TOKEN},
        sounds={name: False for name in ("wake", "end", "thinking", "done") if name in NAMES},
    )
    player, room = _Loudspeaker(paced=True), _Room()
    async with (
        open_app(settings, player, hears=True, resident=True, paced=True) as app,
        open_interfaces(app, SoundState(None, OneOutput(player))) as opened,
    ):
        listening = asyncio.create_task(app.runner.listen(room))
        await app.runner.judging()
        try:
            yield app, opened.port, room, player
        finally:
            listening.cancel()
            await asyncio.wait([listening])


async def _at_the_box(app: App, room: _Room, player: _Loudspeaker, pcm: bytes) -> float:
    player.first_at = None
    assert app.runner.wake()
    room.empty.clear()
    room.waiting += pcm
    await room.empty.wait()
    ended = asyncio.get_running_loop().time()
    async with asyncio.timeout(_WITHIN_S):
        await app.runner.rest()
    assert player.first_at is not None, "nothing was answered"
    return (player.first_at - ended) * 1000


async def _in_a_browser(port: int, pcm: bytes) -> float:
    async with page(port, {"Authorization": f"Bearer {_TOKEN}"}) as phone:
        await phone.press()
        hearing = asyncio.create_task(phone.until("done"))
        await phone.say(pcm)
        ended = asyncio.get_running_loop().time()
        for _ in range(100):  # the microphone stays on until the page is told otherwise
            if phone.first_sound_at is not None:
                break
            await phone.say(silence(FRAME_MS / 1000))
        await hearing
        assert phone.first_sound_at is not None, "nothing was answered"
        return (phone.first_sound_at - ended) * 1000


async def measure(rounds: int) -> Mapping[str, list[float]]:
    """Return the delays in ms at the box and in a browser, by turns."""
    found: dict[str, list[float]] = {"box": [], "browser": []}
    with tempfile.TemporaryDirectory() as folder:
        async with _running(Path(folder)) as (app, port, room, player):
            for number in range(-1, rounds):  # the first round loads the models
                for words in _COMMANDS:
                    pcm = silence(0.3) + say(words, "rms").tobytes()
                    box = await _at_the_box(app, room, player, pcm)
                    browser = await _in_a_browser(port, pcm)
                    if number >= 0:
                        found["box"].append(box)
                        found["browser"].append(browser)
    return found


def main() -> int:
    found = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
    rows = [
        (name, len(each), round(median(each)), round(max(each))) for name, each in found.items()
    ]
    print_table(("spoken to", "turns", "p50 ms", "max ms"), rows)
    pairs = zip(found["browser"], found["box"], strict=True)
    more = median(browser - box for browser, box in pairs)
    print(f"A browser's answer begins {more:+.0f} ms later (limit: {MOST_MORE_MS:.0f} ms).")
    return int(more > MOST_MORE_MS)


if __name__ == "__main__":
    sys.exit(main())
