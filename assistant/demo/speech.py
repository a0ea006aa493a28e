"""Makes the demonstration's recordings with flite, a small English speech synthesiser.

python -m assistant.demo.speech FOLDER     writes one WAV file for each spoken scene
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from assistant.demo.scenes import SCENES, Spoken
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.wav import read_wav, write_wav

# flite reads "nabu" with a short a; spelled like this it says the wake word as people do.
WAKE_PHRASE = "okay naboo,"
SILENCE_MS = 1_000  # before and after, as in a room
_MAKE_S = 30.0


def make_clip(scene: Spoken, folder: Path) -> Path:
    """Write the scene's recording, 16 kHz mono, and return its path. Raises InputUnusable."""
    path = folder / f"{scene.name}.wav"
    text = f"{WAKE_PHRASE} {scene.words}"
    command = ["flite", "-voice", scene.voice, "-t", text, "-o", str(path)]
    silence = still(SILENCE_MS)
    speech = make_speech(command, path, "The demonstration's speech")
    write_wav(path, silence + speech + silence, SAMPLE_RATE)
    return path


def make_speech(command: Sequence[str], path: Path, what: str) -> bytes:
    """Have a program write speech to `path`, and give its sound, 16 kHz mono int16.

    `command`: the program, of an apt package of its name, and what it is told. `what` is made by
    it. Raises InputUnusable.
    """
    program = command[0]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_MAKE_S)
    except FileNotFoundError:
        raise InputUnusable(
            f"{what} is made with {program}: install it with apt install {program}"
        ) from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise InputUnusable(f"{program} could not write {path}: {error}") from error
    return read_wav(path)


def still(ms: int) -> bytes:
    """So much silence, 16 kHz mono int16."""
    return bytes(SAMPLE_RATE * ms // 1000 * 2)


def main() -> None:
    """Write every recording into the folder that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m assistant.demo.speech FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        if isinstance(scene, Spoken):
            print(make_clip(scene, folder))


if __name__ == "__main__":
    main()
