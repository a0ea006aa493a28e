"""Plain ALSA without a card or a sound server: a microphone and a loudspeaker made of pipes.

ALSA's `file` plugin over its `null` device reads what is heard from one pipe and writes what is
played to another. Neither has a clock; the two ends here keep real time.
"""

import contextlib
import fcntl
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

NAME = "kitchen"  # of both devices
PLUGGED = "hall"  # a loudspeaker that is plugged in later; it discards its sound
HEARD_RATE = 16_000  # Hz, mono; Hearth requests it from a microphone that supports any rate
PLAYED_RATE = 48_000  # Hz, mono; the same for a loudspeaker
_PIPE_BYTES = 4096  # the minimum, because buffered sound is late
# A block of Hearth's microphone: ALSA takes whatever a pipe holds for a whole one.
_SAID_S = 0.08
_PLAYED_S = 0.02

_SETTINGS = """\
pcm.nothing {{ type null }}
pcm.{name} {{
  type file
  slave.pcm nothing
  infile "{heard}"
  file "{played}"
  format raw
}}
pcm.!default {name}
ctl.!default {{ type null }}
"""
_PLUGGED = f"""\
pcm.{PLUGGED} {{ type null }}
"""
_UEVENTS, _UDEV = 15, 2  # netlink's family of the kernel's events, and udev's group in it


class PlainAlsa:
    """The two devices; processes that run with `surroundings` have no others."""

    def __init__(self, folder: Path, heard: Path) -> None:
        """`heard`: a file of int16 samples, which is heard as fast as it is read; or a pipe."""
        self.played = folder / "played"
        settings = _SETTINGS.format(name=NAME, heard=heard, played=self.played)
        self._settings = folder / "asoundrc"
        self._settings.write_text(settings)
        without = ("PULSE_RUNTIME_PATH", "PULSE_SINK", "PULSE_SOURCE", "PIPEWIRE_REMOTE")
        self.surroundings: Mapping[str, str] = {
            **{name: value for name, value in os.environ.items() if name not in without},
            "ALSA_CONFIG_PATH": str(folder / "asoundrc"),
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "PULSE_SERVER": f"unix:{folder}/nowhere",
        }

    def plug_in(self) -> None:
        """Add a loudspeaker and send udev's event, if that is permitted."""
        with self._settings.open("a") as settings:
            settings.write(_PLUGGED)
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _UEVENTS) as udev,
        ):
            udev.sendto(b"add@/sound\0SUBSYSTEM=sound\0", (0, _UDEV))


class Room:
    """Speech for the microphone and the loudspeaker's sound, in real time."""

    def __init__(self, heard: int, played: int) -> None:
        """Both ends of each pipe are opened here, so that devices may be opened again."""
        self._heard, self._played = heard, played
        self._said: deque[bytes] = deque()
        self._given = bytearray()
        self._over = threading.Event()
        # It is quiet but not digitally silent, which would mean a muted device.
        noise = np.random.default_rng(7).integers(-3, 4, round(HEARD_RATE * _SAID_S))
        self._quiet = noise.astype("<i2").tobytes()
        self._threads = [
            threading.Thread(target=self._say, name="room says", daemon=True),
            threading.Thread(target=self._hear, name="room hears", daemon=True),
        ]

    def say(self, pcm: bytes) -> None:
        """Play mono int16 at HEARD_RATE to the microphone from now on."""
        size = len(self._quiet)
        self._said.extend(pcm[at : at + size] for at in range(0, len(pcm) - size + 1, size))

    @property
    def given(self) -> bytes:
        """Return everything played so far, without pauses: mono int16 at PLAYED_RATE."""
        return bytes(self._given)

    def begin(self) -> None:
        """Start the clock."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop both threads."""
        self._over.set()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._played, False)
        os.write(self._played, bytes(2))  # the reader wakes up
        for thread in self._threads:
            thread.join(5)

    def _say(self) -> None:
        at = time.monotonic()
        while not self._over.is_set():
            piece = self._said.popleft() if self._said else self._quiet
            try:
                os.write(self._heard, piece)
            except BlockingIOError:
                return
            at = max(at + _SAID_S, time.monotonic() - 1.0)
            self._over.wait(max(0.0, at - time.monotonic()))

    def _hear(self) -> None:
        at = 0.0
        while not self._over.is_set():
            try:
                sound = os.read(self._played, round(PLAYED_RATE * _PLAYED_S) * 2)
            except BlockingIOError:
                return
            self._given += sound
            at = max(at, time.monotonic()) + len(sound) / 2 / PLAYED_RATE
            self._over.wait(max(0.0, at - time.monotonic()))


@contextmanager
def plain_alsa(folder: Path) -> Iterator[tuple[PlainAlsa, Room]]:
    """Make the devices in a folder, and their room."""
    alsa = PlainAlsa(folder, folder / "heard")
    pipes = []
    for path in (folder / "heard", alsa.played):
        os.mkfifo(path)
        pipes.append(os.open(path, os.O_RDWR))
        fcntl.fcntl(pipes[-1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    room = Room(*pipes)
    room.begin()
    try:
        yield alsa, room
    finally:
        room.end()
        for pipe in pipes:
            os.close(pipe)
