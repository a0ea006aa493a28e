"""Plays and records for a second with the devices that the configuration names.

    python sound_check.py CONFIGURATION

Run by the installer inside the service's own limits. Prints a line for each direction, "ok" or
"fail", a tab and a sentence; ends with 1 where one has failed.
"""

import os
import sys
import threading
from array import array
from math import pi, sin
from pathlib import Path
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from audio.devices import SILENCE_DBFS, chosen, find_device, measure_level
from audio.devices.portaudio import DeviceInfo, Kind, load_portaudio, register_stream
from audio.errors import AudioError
from integrations.cleaning import one_line

_SECONDS = 1.0
_PATIENCE_S = 8.0  # a server or a card that sleeps takes a while
_PITCH_HZ, _LOUDNESS = 440.0, 0.1  # of full scale
_LONGEST = 500  # characters of a sentence


class _Tone:
    """A tone with soft ends, handed out block by block, and then the news that it was taken."""

    def __init__(self, rate: int, channels: int) -> None:
        length, soft = round(rate * _SECONDS), rate * 0.05
        self._samples = array("h")
        for position in range(length):
            edge = min(1.0, position / soft, (length - position) / soft)
            value = round(32767 * _LOUDNESS * edge * sin(2 * pi * _PITCH_HZ * position / rate))
            self._samples.extend([value] * channels)
        self._bytes, self._given = self._samples.tobytes(), 0
        self.taken = threading.Event()

    def give(self, outdata: Any, frames: int, time: Any, status: Any) -> None:
        piece = self._bytes[self._given : self._given + len(outdata)]
        self._given += len(outdata)
        outdata[:] = piece.ljust(len(outdata), b"\0")
        if self._given >= len(self._bytes) + len(outdata):  # the last of it is on its way
            self.taken.set()


def play(device: DeviceInfo) -> str:
    """Play the tone; gives what went wrong, "" for nothing."""
    portaudio = load_portaudio()
    channels = min(2, device.channels)
    tone = _Tone(device.rate, channels)
    release, stream = register_stream(), None
    try:
        with chosen(device):
            stream = portaudio.RawOutputStream(
                device=device.index,
                samplerate=device.rate,
                channels=channels,
                dtype="int16",
                callback=tone.give,
            )
            stream.start()
        return "" if tone.taken.wait(_PATIENCE_S) else "it accepts no audio"
    except portaudio.PortAudioError as error:
        return str(error.args[0] if error.args else error)
    finally:
        if stream is not None:
            stream.close(ignore_errors=True)
        release()


def record(device: DeviceInfo) -> tuple[str, str]:
    """Listen; gives what went wrong, "" for nothing, and how loud it was."""
    level = measure_level(device, _SECONDS)
    if level is None:
        return "it gives no sound, or another program has it", ""
    return "", "digital silence" if level <= SILENCE_DBFS else f"{level:.0f} dBFS"


def check(kind: Kind, name: str) -> tuple[bool, str]:
    """Return True if that direction works, and a sentence."""
    what = "played" if kind == "output" else "recorded"
    if name == "null" or name.startswith("file:"):
        return True, f"{what} nothing: audio.{kind} is {name}"
    try:
        device = find_device(name, kind)
        if kind == "output":
            problem, loudness = play(device), ""
        else:
            problem, loudness = record(device)
    except AudioError as error:
        return False, str(error)
    if problem:
        return False, f"not {what}: {device.name}: {problem}"
    where = device.description or device.name
    return True, f"{what} {_SECONDS:.0f} s: {where}" + (f", {loudness}" if loudness else "")


def tell(works: bool, sentence: str) -> None:
    """Print a line. Devices and servers name themselves, and root's terminal shows it."""
    print("ok" if works else "fail", one_line(sentence, _LONGEST), sep="\t")


def main(path: str) -> int:
    """Try both directions."""
    try:
        audio = load_settings(Path(path), os.environ).audio
    except ConfigError as error:
        tell(works=False, sentence=str(error))
        return 1
    answers = [check("output", audio.output), check("input", audio.input)]
    for works, sentence in answers:
        tell(works, sentence)
    return 0 if all(works for works, _ in answers) else 1


if __name__ == "__main__":
    sys.stdout.flush()
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)  # a sound library that hangs must not keep us
