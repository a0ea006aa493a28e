"""Short tones, for what words would say too slowly. Generated, so no sound file is shipped.

To listen to them: python -m audio.earcons FOLDER
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from audio.errors import InputUnusable
from audio.sound_files import write_wav

RATE = 22_050  # Hz
EDGE_MS = 12.0  # attack and decay of every tone, so that it does not click


@dataclass(frozen=True, slots=True)
class _Earcon:
    """Tones in order, each (frequency in Hz, length in ms), and how loud they are."""

    tones: tuple[tuple[float, float], ...]
    peak_dbfs: float = -12.0


# No tone lies below B4: what is lower Silero's voice detector (v6) takes for a voice, mostly from
# G4 (392 Hz) down, and a sound of ours that leaks into the microphone must not begin an utterance.
_EARCONS = {
    "wake": _Earcon(((659.3, 70.0), (987.8, 90.0))),  # E5, B5: rising, "I listen"
    # G5, E5, quieter than the wake sound: the ear that opened closes
    "end": _Earcon(((784.0, 45.0), (659.3, 75.0)), peak_dbfs=-18.0),
    # C5, G5, C6: steps up to a door that opens; before every microphone that no person opens
    "open": _Earcon(((523.3, 50.0), (784.0, 50.0), (1046.5, 90.0))),
    # C5 alone, hardly there: it may come again and again
    "thinking": _Earcon(((523.3, 180.0),), peak_dbfs=-26.0),
    "done": _Earcon(((1046.5, 140.0),), peak_dbfs=-14.0),  # C6: one light touch
    # A5, E5, C5: down the stairs
    "offline": _Earcon(((880.0, 90.0), (659.3, 90.0), (523.3, 170.0))),
    # F sharp 5, C5: falling by the interval that sounds wrong
    "error": _Earcon(((740.0, 140.0), (523.3, 220.0))),
    # B4: the lowest, and softer than the others, since most likely nobody asked for anything.
    "unmeant": _Earcon(((493.9, 130.0),), peak_dbfs=-18.0),
    # A5, E5, twice: a bell across the room, "the time is up"
    "timer": _Earcon(((880.0, 180.0), (659.3, 240.0)) * 2, peak_dbfs=-9.0),
    "mute": _Earcon(((880.0, 60.0), (587.3, 110.0))),  # A5, D5: a lid that closes
    "unmute": _Earcon(((587.3, 60.0), (880.0, 110.0))),  # and opens
    # C5, F5: slow and soft, "somebody has something to say"
    "announce": _Earcon(((523.3, 160.0), (698.5, 280.0)), peak_dbfs=-15.0),
}


NAMES = tuple(_EARCONS)


@cache
def earcon(name: str) -> tuple[bytes, int]:
    """Mono int16 PCM and its rate in Hz. Raises InputUnusable.

    Names: "wake" and "end" (we listen, and no more), "open" (we listen although nobody has called
    us), "thinking", "done", "error", "offline" (this
    device alone serves), "unmeant" (what we heard was not said to us), "timer", "announce" (before
    something that nobody asked for just now), "mute", "unmute" (the microphone is closed, or open
    again).
    """
    if name not in _EARCONS:
        raise InputUnusable(f"There is no sound named {name!r}; there are {', '.join(_EARCONS)}.")
    sound = _EARCONS[name]
    wave = np.concatenate([_tone(frequency, ms) for frequency, ms in sound.tones])
    scaled = wave * (10 ** (sound.peak_dbfs / 20) / np.abs(wave).max())
    return np.rint(scaled * 32767).astype("<i2").tobytes(), RATE


def _tone(frequency: float, ms: float) -> np.ndarray:
    """A sine with a quieter octave, raised-cosine edges."""
    samples = int(RATE * ms / 1000)
    time = np.arange(samples) / RATE
    wave = np.sin(2 * np.pi * frequency * time) + 0.2 * np.sin(4 * np.pi * frequency * time)
    edge = int(RATE * EDGE_MS / 1000)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / edge)
    wave[:edge] *= ramp
    wave[-edge:] *= ramp[::-1]
    return np.asarray(wave)


def main(arguments: Sequence[str]) -> int:
    """Write each sound into a folder, as NAME.wav. Returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m audio.earcons FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    try:
        for name in NAMES:
            write_wav(folder / f"{name}.wav", *earcon(name))
    except InputUnusable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
