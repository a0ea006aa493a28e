"""Earcons: short tones used instead of spoken messages. They are generated, so no audio files are
shipped.

To write them to WAV files and listen to them, run `python -m audio.earcons FOLDER`.
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
EDGE_MS = 12.0  # attack and decay of every tone, to avoid clicks


@dataclass(frozen=True, slots=True)
class _Earcon:
    """Tones as (frequency in Hz, length in ms), with their peak level in dBFS."""

    tones: tuple[tuple[float, float], ...]
    peak_dbfs: float = -12.0


# No tone is below B4, because Silero's voice detector (v6) mistakes lower ones for a voice, mostly
# from G4 (392 Hz) down, and a tone that leaks into the microphone must not start an utterance.
_EARCONS = {
    "wake": _Earcon(((659.3, 70.0), (987.8, 90.0))),  # E5, B5: rising, "I'm listening"
    # G5, E5, quieter than the wake sound: listening has ended.
    "end": _Earcon(((784.0, 45.0), (659.3, 75.0)), peak_dbfs=-18.0),
    # C5, G5, C6: steps up to an opening door. Played before the microphone opens without a wake
    # word.
    "open": _Earcon(((523.3, 50.0), (784.0, 50.0), (1046.5, 90.0))),
    # C5 alone and very quiet, because it may repeat often.
    "thinking": _Earcon(((523.3, 180.0),), peak_dbfs=-26.0),
    "done": _Earcon(((1046.5, 140.0),), peak_dbfs=-14.0),  # C6: one light touch
    # A5, E5, C5: descending steps.
    "offline": _Earcon(((880.0, 90.0), (659.3, 90.0), (523.3, 170.0))),
    # F sharp 5, C5: falling by a tritone, which sounds wrong.
    "error": _Earcon(((740.0, 140.0), (523.3, 220.0))),
    # B4: the lowest and a soft one, since most likely nobody asked for anything.
    "unmeant": _Earcon(((493.9, 130.0),), peak_dbfs=-18.0),
    # A5, E5, twice: a bell across the room, "the time is up".
    "timer": _Earcon(((880.0, 180.0), (659.3, 240.0)) * 2, peak_dbfs=-9.0),
    "mute": _Earcon(((880.0, 60.0), (587.3, 110.0))),  # A5, D5: a lid closes
    "unmute": _Earcon(((587.3, 60.0), (880.0, 110.0))),  # D5, A5: it opens
    # C5, F5: slow and soft, "there is something to tell you".
    "announce": _Earcon(((523.3, 160.0), (698.5, 280.0)), peak_dbfs=-15.0),
}


NAMES = tuple(_EARCONS)


@cache
def earcon(name: str) -> tuple[bytes, int]:
    """Return an earcon as mono int16 PCM, shape (n,), and its rate in Hz. Raises InputUnusable if
    `name` is not in NAMES."""
    if name not in _EARCONS:
        raise InputUnusable(f"There is no sound named {name!r}; there are {', '.join(_EARCONS)}.")
    sound = _EARCONS[name]
    wave = np.concatenate([_tone(frequency, ms) for frequency, ms in sound.tones])
    scaled = wave * (10 ** (sound.peak_dbfs / 20) / np.abs(wave).max())
    return np.rint(scaled * 32767).astype("<i2").tobytes(), RATE


def _tone(frequency: float, ms: float) -> np.ndarray:
    samples = int(RATE * ms / 1000)
    time = np.arange(samples) / RATE
    wave = np.sin(2 * np.pi * frequency * time) + 0.2 * np.sin(4 * np.pi * frequency * time)
    edge = int(RATE * EDGE_MS / 1000)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / edge)
    wave[:edge] *= ramp
    wave[-edge:] *= ramp[::-1]
    return np.asarray(wave)


def main(arguments: Sequence[str]) -> int:
    """Write each earcon to a folder as NAME.wav. Returns the exit code."""
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
