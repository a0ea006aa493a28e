"""Plain ALSA without a card and without a sound server: a microphone and a loudspeaker of pipes.

ALSA's `file` plugin over its `null` device reads what is heard from one pipe and writes what is
played into another. Neither has a clock of its own: the two ends here keep real time.
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
PLUGGED = "hall"  # of a loudspeaker that is plugged in later; it swallows what it is given
HEARD_RATE = 16_000  # Hz, mono, what Hearth asks of a microphone that takes any rate
PLAYED_RATE = 48_000  # Hz, mono, and of such a loudspeaker
_PIPE_BYTES = 4096  # the least: what waits in it is late
# A block of Hearth's microphone: ALSA takes what a pipe has for a whole one, however little it is.
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
    """The two devices; whoever runs with `surroundings` has no others."""

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
        """There is one more loudspeaker from now on, and udev tells of it, where we may say so."""
        with self._settings.open("a") as settings:
            settings.write(_PLUGGED)
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _UEVENTS) as udev,
        ):
            udev.sendto(b"add@/sound\0SUBSYSTEM=sound\0", (0, _UDEV))


class Room:
    """What is said to the microphone and what the loudspeaker gives off, in real time."""

    def __init__(self, heard: int, played: int) -> None:
        """Both ends of each pipe are ours as well, so that devices may be opened again."""
        self._heard, self._played = heard, played
        self._said: deque[bytes] = deque()
        self._given = bytearray()
        self._over = threading.Event()
        # It is quiet and not digitally silent: that would be a switch at the device.
        noise = np.random.default_rng(7).integers(-3, 4, round(HEARD_RATE * _SAID_S))
        self._quiet = noise.astype("<i2").tobytes()
        self._threads = [
            threading.Thread(target=self._say, name="room says", daemon=True),
            threading.Thread(target=self._hear, name="room hears", daemon=True),
        ]

    def say(self, pcm: bytes) -> None:
        """Say it from now on: mono int16 at HEARD_RATE."""
        size = len(self._quiet)
        self._said.extend(pcm[at : at + size] for at in range(0, len(pcm) - size + 1, size))

    @property
    def given(self) -> bytes:
        """All that was given off so far: mono int16 at PLAYED_RATE, without pauses."""
        return bytes(self._given)

    def begin(self) -> None:
        """Time passes from now on."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Free both threads."""
        self._over.set()
        os.set_blocking(self._heard, False)
        os.set_blocking(self._played, False)
        os.write(self._played, bytes(2))  # whoever reads wakes up
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
    """The devices in a folder of their own, and the room that they stand in."""
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
