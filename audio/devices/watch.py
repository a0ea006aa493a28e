"""Notifications of device changes, from the sound server and the kernel."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from audio.devices.portaudio import Kind
from audio.devices.server import (
    ANSWER_S,
    NoServer,
    Patience,
    ServerDevice,
    errors_of,
    hang_up,
    load_pulsectl,
    our_device,
)

RETRY_S = (0.1, 0.2, 0.5, 1.0)  # pauses between connection attempts; the last one repeats

_LISTEN_S = 1.0  # interval at which the listening thread checks if it should end
_STOP_S = 3.0  # limit for ending the thread
_FACILITIES = ("sink", "source", "source_output", "server", "card")
# The kernel reports a new card in group 1, udev in group 2 after its rules have been applied.
_UEVENTS, _GROUPS = 15, 1 | 2
_SOUND = b"SUBSYSTEM=sound\0"


class DeviceWatch:
    """Reports changes of the audio devices, as seen by the sound server and the kernel. Use it as
    an async context manager on one event loop. The server's end and return count as changes."""

    def __init__(self) -> None:
        self.changes = 0  # number of changes reported
        self._calls: list[Callable[[], None]] = []
        self._news = asyncio.Event()
        self._telling = False  # a change is on its way to the event loop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: _Server | None = None
        self._kernel: socket.socket | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._kernel = _kernel_events()
        if self._kernel is not None:
            self._loop.add_reader(self._kernel, self._read_kernel)
        self._server = _Server(self._changed)
        self._server.start()
        return self

    async def __aexit__(self, *error: Any) -> None:
        assert self._loop is not None
        assert self._server is not None
        if self._kernel is not None:
            self._loop.remove_reader(self._kernel)
            self._kernel.close()
        await asyncio.shield(asyncio.to_thread(self._server.stop))

    def listen(self, call: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for changes and return a function that unregisters it. The callback
        runs on the event loop. Changes in quick succession may be reported together."""
        self._calls.append(call)

        def forget() -> None:
            with suppress(ValueError):
                self._calls.remove(call)

        return forget

    async def wait_change(self, seen: int, seconds: float | None = None) -> bool:
        """Wait until `changes` differs from `seen`. Returns False if that takes longer than
        `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while self.changes == seen:
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def place(self, kind: Kind = "input") -> ServerDevice | None:
        """Return the device of this process's newest stream, or None if it has no stream or the
        sound server doesn't answer within 0.5 s."""
        try:
            return await asyncio.to_thread(our_device, kind)
        except NoServer:
            return None

    def _changed(self) -> None:
        """Report a change. Can be called from any thread."""
        assert self._loop is not None
        if self._telling:
            return
        self._telling = True
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._telling = False
        self.changes += 1
        self._news.set()
        self._news = asyncio.Event()
        for call in tuple(self._calls):
            call()

    def _read_kernel(self) -> None:
        assert self._kernel is not None
        try:
            event = self._kernel.recv(65_536)
        except BlockingIOError:
            return
        except OSError:  # the queue overflowed, so an event was missed
            self._changed()
            return
        if _SOUND in event:
            self._changed()


def _kernel_events() -> socket.socket | None:
    events = None
    try:
        events = socket.socket(
            socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, _UEVENTS
        )
        events.bind((0, _GROUPS))
    except OSError:
        if events is not None:
            events.close()
        return None
    return events


class _Server:
    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._stop = threading.Event()
        self._guard = threading.Lock()  # guards `_pulse`: one thread frees it, another wakes it
        self._pulse: Any = None
        self._thread = threading.Thread(target=self._run, name="sound server events", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread. Blocks for at most _STOP_S (3 s)."""
        self._stop.set()
        with self._guard:
            if self._pulse is not None:
                self._pulse.event_listen_stop()
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        pulsectl = load_pulsectl()
        if pulsectl is None:
            return
        failures = 0
        while not self._stop.is_set():
            if self._listen(pulsectl):
                failures = 0
            if self._stop.wait(RETRY_S[min(failures, len(RETRY_S) - 1)]):
                return
            failures += 1

    def _listen(self, pulsectl: Any) -> bool:
        pulse = pulsectl.Pulse("hearth events", connect=False)
        with self._guard:
            self._pulse = pulse
        there = False
        try:
            patience = Patience(pulse, ANSWER_S)
            pulse.set_poll_func(patience.poll)
            pulse.connect()
            pulse.event_mask_set(*_FACILITIES)
            pulse.event_callback_set(lambda event: self._changed())
            patience.for_ever()
            there = True
            self._changed()  # an earlier query may have found no server
            while not self._stop.is_set():
                pulse.event_listen(timeout=_LISTEN_S)
        except errors_of(pulsectl):
            if there:
                self._changed()
        finally:
            with self._guard:
                self._pulse = None
            hang_up(pulse)
        return there
