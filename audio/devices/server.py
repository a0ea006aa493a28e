"""Query the sound server (PulseAudio, or PipeWire's pulse protocol), with a time limit.

Without libpulse, which is optional, the code behaves as if there were no server.
"""

import math
import os
import re
import select
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from audio.devices.portaudio import Kind

SYS = Path("/sys")

_CARD = re.compile(r"card(\d+)$")


def usb_names(sys: Path = SYS) -> dict[int, str]:
    """Map ALSA's numbers of USB sound cards to names such as "usb:vendor:product:serial", which
    stay the same after a reboot.

    The names are read from sysfs. Cards whose names would be the same are distinguished by their
    USB port: "usb:0d8c:0014@1-1.3".
    """
    names: dict[int, str] = {}
    sockets: dict[int, str] = {}
    for folder in (sys / "class" / "sound").glob("card*"):
        match = _CARD.match(folder.name)
        # The card belongs to one interface of the USB device; the parent is the device itself.
        device = (folder / "device").resolve().parent
        vendor, product = _read(device / "idVendor"), _read(device / "idProduct")
        if match is None or not (vendor and product):
            continue
        number = int(match.group(1))
        serial = _read(device / "serial")
        names[number] = f"usb:{vendor}:{product}" + (f":{serial}" if serial else "")
        sockets[number] = device.name
    known = Counter(names.values())
    return {
        number: name if known[name] == 1 else f"{name}@{sockets[number]}"
        for number, name in names.items()
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


ANSWER_S = 0.5  # time limit for connecting and all answers together
DUMMY = "auto_null"  # the sink that a server creates without a loudspeaker

_NO_CARD = -1


class NoServer(Exception):
    """There is no sound server, or it doesn't answer."""


@dataclass(frozen=True, slots=True)
class ServerDevice:
    name: str
    kind: Kind
    description: str
    channels: int
    rate: int  # Hz
    default: bool
    monitor: bool  # a source that records what a sink plays
    suspended: bool
    muted: bool
    volume: float  # mean of the channels; 1.0 is unchanged
    card: int  # ALSA's number; -1 if it is not a card of this machine
    index: int  # the server's number, valid until the device disappears


@cache
def load_pulsectl() -> Any:
    """Import pulsectl. Returns None if it or libpulse is missing."""
    try:
        import pulsectl
    except (ImportError, OSError, AttributeError):
        return None
    # pulsectl keeps only a view of the sample format, in memory that is freed before it is read.
    # This hook runs while the memory is still valid.
    for info in (pulsectl.PulseSourceInfo, pulsectl.PulseSinkInfo):
        info._init_from_struct = _keep_rate
    return pulsectl


def _keep_rate(info: Any, struct: Any) -> None:
    info.rate = int(struct.sample_spec.rate)


def errors_of(pulsectl: Any) -> tuple[type[Exception], ...]:
    """Return pulsectl's exceptions for a server that disappears, rejects a call or doesn't
    answer."""
    return (
        pulsectl.PulseError,
        pulsectl.PulseDisconnected,
        pulsectl._pulsectl.LibPulse.CallError,
    )


@contextmanager
def connection(limit_s: float = ANSWER_S) -> Iterator[Any]:
    """Yield a connected pulsectl.Pulse, usable for `limit_s` seconds on one thread. Blocks. Raises
    NoServer if there is no server or it stops answering."""
    pulsectl = load_pulsectl()
    if pulsectl is None:
        raise NoServer("libpulse is missing")
    pulse = pulsectl.Pulse("hearth", connect=False)
    try:
        pulse.set_poll_func(Patience(pulse, limit_s).poll)
        pulse.connect()
        yield pulse
    except errors_of(pulsectl) as error:
        raise NoServer(str(error)) from error
    finally:
        hang_up(pulse)


def hang_up(pulse: Any) -> None:
    """Close and free a connection, even a broken one."""
    # pulsectl does not disconnect a connection it considers lost, which would leak libpulse's
    # socket.
    _mark(pulse, connected=True)
    pulse.close()


def _mark(pulse: Any, *, connected: bool) -> None:
    pulse.connected = connected


class Patience:
    """A time limit for waiting for the server. Without it, pulsectl would wait forever if the
    server hangs."""

    def __init__(self, pulse: Any, limit_s: float) -> None:
        self._pulse = pulse
        self._until = time.monotonic() + limit_s

    def for_ever(self) -> None:
        self._until = math.inf

    def poll(self, wanted: list[Any], timeout_s: float) -> int:
        """Poll for libpulse like poll(2). After the time limit, the connection is marked as
        lost."""
        left = self._until - time.monotonic()
        if left <= 0:
            _mark(self._pulse, connected=False)
            return 0
        return _wait_for(wanted, left if timeout_s < 0 else min(left, timeout_s))


def _wait_for(wanted: list[Any], seconds: float) -> int:
    poller = select.poll()
    for entry in wanted:
        poller.register(entry.fd, entry.events)
    happened = dict(poller.poll(None if seconds == math.inf else seconds * 1000))
    for entry in wanted:
        entry.revents = happened.get(entry.fd, 0)
    return len(happened)


def server_devices() -> list[ServerDevice]:
    """List all sources and sinks, including monitors but not the dummy sink.

    Blocks for at most ANSWER_S (0.5 s). Raises NoServer.
    """
    with connection() as pulse:
        server = pulse.server_info()
        sources, sinks = pulse.source_list(), pulse.sink_list()
    return [
        *(_device(source, "input", server.default_source_name) for source in sources),
        *(
            _device(sink, "output", server.default_sink_name)
            for sink in sinks
            if sink.name != DUMMY
        ),
    ]


def has_server() -> bool:
    """Return True if a sound server answers. Blocks for at most ANSWER_S (0.5 s)."""
    try:
        with connection():
            return True
    except NoServer:
        return False


def our_device(kind: Kind) -> ServerDevice | None:
    """Return the source or sink of this process's newest stream, or None if it has no stream.

    Blocks for at most ANSWER_S (0.5 s). Raises NoServer.
    """
    ours = str(os.getpid())
    with connection() as pulse:
        if kind == "input":
            streams, devices = pulse.source_output_list(), pulse.source_list()
        else:
            streams, devices = pulse.sink_input_list(), pulse.sink_list()
        server = pulse.server_info()
    mine = [stream for stream in streams if stream.proplist.get("application.process.id") == ours]
    if not mine:
        return None
    newest = max(mine, key=lambda stream: stream.index)
    place = newest.source if kind == "input" else newest.sink
    default = server.default_source_name if kind == "input" else server.default_sink_name
    return next(
        (_device(device, kind, default) for device in devices if device.index == place), None
    )


def _device(found: Any, kind: Kind, default: str) -> ServerDevice:
    return ServerDevice(
        name=found.name,
        kind=kind,
        description=found.description or found.name,
        channels=found.channel_count,
        rate=found.rate,
        default=found.name == default,
        monitor=kind == "input" and found.monitor_of_sink_name is not None,
        suspended=found.state == "suspended",
        muted=bool(found.mute),
        volume=float(found.volume.value_flat),
        card=_card(found.proplist),
        index=found.index,
    )


def _card(properties: dict[str, str]) -> int:
    number = properties.get("alsa.card", "")
    return int(number) if number.isdigit() else _NO_CARD
