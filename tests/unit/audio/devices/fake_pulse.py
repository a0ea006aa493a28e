"""A fake sound server, with the interface of the pulsectl module."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class PulseError(Exception):
    pass


class PulseDisconnected(Exception):
    pass


class LibPulse:
    class CallError(Exception):
        pass


@dataclass
class FakeServer:
    """The devices of a fake server. `up` and `hangs` may be changed at any time, from any
    thread."""

    sources: list[Any] = field(default_factory=list)
    sinks: list[Any] = field(default_factory=list)
    source_outputs: list[Any] = field(default_factory=list)
    sink_inputs: list[Any] = field(default_factory=list)
    default_source: str = ""
    default_sink: str = ""
    up: bool = True
    hangs: bool = False
    connections: int = 0  # number of connections made
    open: int = 0  # number of connections not closed
    listening: threading.Event = field(default_factory=threading.Event)
    happened: threading.Event = field(default_factory=threading.Event)

    @property
    def module(self) -> Any:
        return SimpleNamespace(
            Pulse=lambda name, connect: FakePulse(self),
            PulseError=PulseError,
            PulseDisconnected=PulseDisconnected,
            _pulsectl=SimpleNamespace(LibPulse=LibPulse),
        )


class FakePulse:
    """A connection that checks the order of its use."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server
        self._poll: Callable[[list[Any], float], int] | None = None
        self._event: Callable[[Any], None] | None = None
        self._closed = False
        self._stopped = False
        self.connected: bool | None = None
        server.open += 1

    def set_poll_func(self, poll: Callable[[list[Any], float], int]) -> None:
        self._poll = poll

    def connect(self) -> None:
        if not self._server.up:
            raise PulseError("Failed to connect to pulseaudio server")
        self._server.connections += 1
        self._answer()
        self.connected = True

    def close(self) -> None:
        assert not self._closed
        self._closed = True
        self._server.open -= 1

    def server_info(self) -> Any:
        self._answer()
        return SimpleNamespace(
            default_source_name=self._server.default_source,
            default_sink_name=self._server.default_sink,
        )

    def source_list(self) -> list[Any]:
        self._answer()
        return self._server.sources

    def sink_list(self) -> list[Any]:
        self._answer()
        return self._server.sinks

    def source_output_list(self) -> list[Any]:
        self._answer()
        return self._server.source_outputs

    def sink_input_list(self) -> list[Any]:
        self._answer()
        return self._server.sink_inputs

    def event_mask_set(self, *masks: str) -> None:
        self._answer()
        assert {"source", "sink", "server", "source_output"} <= set(masks)

    def event_callback_set(self, call: Callable[[Any], None]) -> None:
        self._event = call

    def event_listen(self, timeout: float) -> None:
        assert self._event is not None
        assert not self._closed
        self._server.listening.set()
        if not self._server.happened.wait(timeout):
            return
        self._server.happened.clear()
        if self._stopped:
            return
        if not self._server.up:
            raise PulseDisconnected
        self._event(SimpleNamespace())

    def event_listen_stop(self) -> None:
        assert not self._closed
        self._stopped = True
        self._server.happened.set()

    def _answer(self) -> None:
        """Wait for the server as libpulse does, until poll reports that the connection is lost."""
        assert not self._closed
        if not self._server.up:
            raise LibPulse.CallError("no connection")
        while self._server.hangs and self.connected is not False:
            assert self._poll is not None
            assert self._poll([], -0.001) == 0
        if self._server.hangs:
            raise PulseError("operation failed")


def source(name: str, index: int, **more: Any) -> Any:
    """Make a source (or a sink) with two channels, in use, not muted, at full volume."""
    plain = {
        "description": f"The {name}",
        "channel_count": 2,
        "rate": 44_100,
        "monitor_of_sink_name": None,
        "state": "running",
        "mute": 0,
        "volume": SimpleNamespace(value_flat=1.0),
        "proplist": {},
    }
    return SimpleNamespace(name=name, index=index, **{**plain, **more})
