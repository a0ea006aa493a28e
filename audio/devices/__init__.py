"""Audio devices of this machine: listing them, finding them by name and measuring levels."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audio.devices.portaudio import (
    DeviceInfo,
    Kind,
    default_device,
    load_portaudio,
    raw_devices,
    register_stream,
)
from audio.devices.server import SYS, NoServer, ServerDevice, server_devices, usb_names
from audio.errors import InputUnusable

# ALSA's card and device number, e.g. " (hw:1,0)". They can change at each boot.
_NUMBERS = re.compile(r"\s*\((?:plug)?hw:(\d+),(\d+)\)$")
# ALSA's PCM for the sound server (from libasound2-plugins). PortAudio must open it for any of the
# server's devices. With PipeWire's own PCM, `pipewire`, the device can't be chosen.
_WAY_TO_SERVER = "pulse"
_PEOPLE_SAY = {"input": "microphone", "output": "loudspeaker"}
# libpulse reads these when a stream connects.
_CHOICE = {"input": "PULSE_SOURCE", "output": "PULSE_SINK"}
_CHOOSING_S = 2.0
_choosing = {"input": threading.Lock(), "output": threading.Lock()}


def list_devices(monitors: bool = False, sys: Path = SYS) -> list[DeviceInfo]:
    """List all microphones, then all loudspeakers. Blocks.

    With a sound server that PortAudio can use, these are the server's devices and the cards that it
    doesn't manage. The server's devices are current; PortAudio's are those of its last `refresh`.
    `monitors` includes sources that record what a sink plays. Raises InputUnusable if PortAudio is
    missing.
    """
    return [device for device in _survey(sys)[0] if monitors or not device.monitor]


def find_device(name: str, kind: Kind, sys: Path = SYS) -> DeviceInfo:
    """Find a device by name, where "default" is the system's default device. Blocks.

    Part of the name or description is enough if only one device matches, but a monitor needs its
    full name. Raises InputUnusable if no device or more than one matches.
    """
    listed, own = _survey(sys)
    devices = [device for device in listed if device.kind == kind]
    real = [device for device in devices if not device.monitor]
    people_say = _PEOPLE_SAY[kind]
    if name == "default" and real:
        return _default(real)
    found = _named(name, devices, real) or [
        device for device in own if device.kind == kind and device.name == name
    ]
    if len(found) == 1:
        return found[0]
    if not real:
        raise InputUnusable(
            f"There is no {people_say}: plug one in, or set audio.{kind} to a file or to null."
        )
    known = ", ".join(device.name for device in real)
    trouble = "matches several devices" if found else "is not here"
    raise InputUnusable(
        f'The {people_say} "{name}" {trouble}: set audio.{kind} to "default" or one of {known}.'
    )


def server_out_of_reach() -> bool:
    """Return True if a sound server is running but PortAudio can't use it. Blocks. Raises
    InputUnusable if PortAudio is missing."""
    if any(device["name"] == _WAY_TO_SERVER for device in raw_devices()):
        return False
    try:
        server_devices()
    except NoServer:
        return False
    return True


@contextmanager
def chosen(device: DeviceInfo) -> Iterator[None]:
    """Make PortAudio streams use `device` if they are opened and started inside the block.

    PortAudio sees the whole sound server as one device, so the server's device is chosen with an
    environment variable of this process.
    """
    if device.target is None:
        yield
        return
    variable, lock = _CHOICE[device.kind], _choosing[device.kind]
    # An opening that never returns must not block all later ones.
    held = lock.acquire(timeout=_CHOOSING_S)
    # Without the lock, the value belongs to the opening that hangs.
    before = os.environ.get(variable) if held else None
    os.environ[variable] = device.target
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
        if held:
            lock.release()


def _survey(sys: Path) -> tuple[list[DeviceInfo], list[DeviceInfo]]:
    """Return all devices that can be chosen, and those that PortAudio itself lists."""
    raw = raw_devices()
    names = usb_names(sys)
    own = [*_portaudio_devices(raw, "input", names), *_portaudio_devices(raw, "output", names)]
    way = next((device["index"] for device in raw if device["name"] == _WAY_TO_SERVER), None)
    if way is None:
        return own, own
    try:
        served = server_devices()
    except NoServer:
        return own, own
    cards = {device["index"]: _numbers(device["name"])[0] for device in raw}
    taken = {None, *(device.card for device in served)}
    listed = [
        *(_from_server(device, way, names) for device in served),
        *(device for device in own if cards[device.index] not in taken),
    ]
    return sorted(listed, key=lambda device: device.kind), own  # "input" sorts before "output"


def _default(real: list[DeviceInfo]) -> DeviceInfo:
    for device in real:
        if device.default:
            # Let the server choose, so that the stream follows when its default changes.
            return replace(device, target=None)
    # With no default, or a monitor as the default, the first device is as good as any.
    return real[0]


def _named(name: str, devices: list[DeviceInfo], real: list[DeviceInfo]) -> list[DeviceInfo]:
    wanted = name.casefold()
    return (
        [device for device in devices if name == device.name][:1]
        or [device for device in real if name == device.usb]
        or [device for device in real if name == device.description]
        or [
            device for device in real if wanted in f"{device.name}\n{device.description}".casefold()
        ]
    )


def _from_server(device: ServerDevice, way: int, names: dict[int, str]) -> DeviceInfo:
    return DeviceInfo(
        name=device.name,
        kind=device.kind,
        channels=device.channels,
        rate=device.rate,
        default=device.default and not device.monitor,
        index=way,
        description=device.description,
        backend="server",
        usb=names.get(device.card, ""),
        monitor=device.monitor,
        muted=device.muted,
        volume=device.volume,
        target=device.name,
    )


def _portaudio_devices(
    raw: list[dict[str, Any]], kind: Kind, names: dict[int, str]
) -> list[DeviceInfo]:
    mine = [device for device in raw if device[f"max_{kind}_channels"] > 0]
    short = [_NUMBERS.sub("", device["name"]) for device in mine]
    default = default_device(kind)
    devices = []
    for device, name in zip(mine, short, strict=True):
        card, part = _numbers(device["name"])
        usb = names.get(card, "") if card is not None else ""
        if usb and part:
            usb += f",{part}"  # a card can have several devices
        devices.append(
            DeviceInfo(
                name=usb or (name if short.count(name) == 1 else device["name"]),
                kind=kind,
                channels=device[f"max_{kind}_channels"],
                rate=int(device["default_samplerate"]),
                default=device["index"] == default,
                index=device["index"],
                description=name,
                usb=usb,
            )
        )
    return devices


def _numbers(name: str) -> tuple[int | None, int]:
    match = _NUMBERS.search(name)
    return (int(match.group(1)), int(match.group(2))) if match else (None, 0)


SILENCE_DBFS = -100.0  # returned for digital silence; one step of 16 bits is -90 dBFS

_BLOCK_S = 0.05
_PATIENCE_S = 2.5  # PulseAudio can take 2.0 s for the first block


def measure_level(device: DeviceInfo, seconds: float = 0.4) -> float | None:
    """Record from a microphone and return the mean level (RMS) of all channels in dBFS, at least
    SILENCE_DBFS (-100).

    0 dBFS is the level of a full-scale square wave. Returns None if the device can't be opened or
    doesn't deliver enough audio within 2.5 s plus `seconds`. Blocks, and can hang forever while
    opening the device. Raises InputUnusable if PortAudio is missing.
    """
    portaudio = load_portaudio()
    heard = _Heard(round(seconds / _BLOCK_S))
    release = register_stream()
    stream = None
    try:
        with chosen(device):
            stream = portaudio.RawInputStream(
                device=device.index,
                samplerate=device.rate,
                channels=device.channels,
                dtype="int16",
                blocksize=round(device.rate * _BLOCK_S),
                callback=heard.take,
            )
            stream.start()
        if not heard.enough.wait(_PATIENCE_S + seconds):
            return None
    except portaudio.PortAudioError:
        return None
    finally:
        if stream is not None:
            stream.close(ignore_errors=True)
        release()
    return level_of(b"".join(heard.blocks))


def level_of(pcm: bytes) -> float:
    """Return the mean level (RMS) of int16 samples in dBFS, at least SILENCE_DBFS (-100)."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64) / 32768
    power = float(np.mean(samples**2)) if len(samples) else 0.0
    return max(SILENCE_DBFS, 10 * float(np.log10(power))) if power else SILENCE_DBFS


class _Heard:
    def __init__(self, wanted: int) -> None:
        self.blocks: list[bytes] = []
        self.enough = threading.Event()
        self._wanted = wanted
        self._first = True

    def take(self, indata: Any, frames: int, time: Any, status: Any) -> None:
        if self._first:
            self._first = False  # a device that wakes up may crackle in its first block
        elif len(self.blocks) < self._wanted:
            self.blocks.append(bytes(indata))
        else:
            self.enough.set()
