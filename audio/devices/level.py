"""How loud it is at a microphone just now."""

import threading
from typing import Any

import numpy as np

from audio.devices.find import chosen, load_portaudio, register_stream
from audio.devices.info import DeviceInfo

SILENCE_DBFS = -100.0  # stands for digital silence; one step of 16 bits is -90

_BLOCK_S = 0.05
_PATIENCE_S = 2.5  # PulseAudio was seen to take 2.0 s for the first block


def measure_level(device: DeviceInfo, seconds: float = 0.4) -> float | None:
    """Listen to a microphone for so long; gives the mean (RMS) of all its channels in dBFS.

    0 is a square wave of full height, SILENCE_DBFS the least. None: it cannot be opened, e.g.
    because another program has it, or gives no sound for 3 s. Blocking; opening may never return.
    Raises InputUnusable when PortAudio is missing.
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
    """The mean level (RMS) of int16 samples in dBFS, SILENCE_DBFS for none."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64) / 32768
    power = float(np.mean(samples**2)) if len(samples) else 0.0
    return max(SILENCE_DBFS, 10 * float(np.log10(power))) if power else SILENCE_DBFS


class _Heard:
    """Some blocks of sound, from PortAudio's thread."""

    def __init__(self, wanted: int) -> None:
        self.blocks: list[bytes] = []
        self.enough = threading.Event()
        self._wanted = wanted
        self._first = True

    def take(self, indata: Any, frames: int, time: Any, status: Any) -> None:
        if self._first:
            self._first = False  # a device that wakes up may crackle
        elif len(self.blocks) < self._wanted:
            self.blocks.append(bytes(indata))
        else:
            self.enough.set()
