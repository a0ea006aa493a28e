"""Fakes of the sound system: device events, and calls that take no time."""

import asyncio
from collections.abc import Callable

from assistant.conversation.rules.state import Standing, State
from audio.device_status import MicrophoneStatus
from audio.devices.portaudio import Kind
from audio.devices.server import ServerDevice
from audio.devices.watch import DeviceWatch
from audio.timing import BoundedCalls, CallStuck, Result


def source(name: str, *, monitor: bool = False) -> ServerDevice:
    """Make a source of the sound server."""
    return ServerDevice(
        name,
        "input",
        name,
        channels=1,
        rate=48_000,
        default=True,
        monitor=monitor,
        suspended=False,
        muted=False,
        volume=1.0,
        card=-1,
        index=0,
    )


MIC, MONITOR = source("mic"), source("speaker.monitor", monitor=True)


class FakeWatch(DeviceWatch):
    """A watch that reports changes when the test says so, and the place of our recording."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Callable[[], None]] = []
        self.spot: ServerDevice | None = MIC

    def listen(self, call: Callable[[], None]) -> Callable[[], None]:
        self.calls.append(call)
        return lambda: self.calls.remove(call)

    async def place(self, kind: Kind = "input") -> ServerDevice | None:
        return self.spot

    def tell(self) -> None:
        for call in self.calls:
            call()


class InlineCalls(BoundedCalls):
    """Run calls inline, or let them get stuck."""

    abandoned = 0
    stuck = 0
    exhausted = False

    def __init__(self) -> None:
        super().__init__()
        self.stuck_next = False

    async def call(
        self, work: Callable[[], Result], late: Callable[[], None] | None = None
    ) -> Result:
        await asyncio.sleep(0)
        if self.stuck_next:
            raise CallStuck
        return work()


def standing(state: State) -> Standing:
    """Make a conversation in this state, with a microphone that works."""
    return Standing(state, muted=False, microphone=MicrophoneStatus.LISTENING)
