"""Makes the demonstration's recordings with flite, a small English speech synthesiser.

python -m assistant.demo.speech FOLDER     writes one WAV file for each spoken scene
"""

import subprocess
import sys
from pathlib import Path

from assistant.demo.scenes import SCENES, Spoken
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.wav import read_wav, write_wav

# flite reads "nabu" with a short a; spelled like this it says the wake word as people do.
WAKE_PHRASE = "okay naboo,"
SILENCE_MS = 1_000  # before and after, as in a room


def make_clip(scene: Spoken, folder: Path) -> Path:
    """Write the scene's recording, 16 kHz mono, and return its path. Raises InputUnusable."""
    path = folder / f"{scene.name}.wav"
    command = [
        "flite",
        "-voice",
        scene.voice,
        "-t",
        f"{WAKE_PHRASE} {scene.words}",
        "-o",
        str(path),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except FileNotFoundError:
        raise InputUnusable(
            "The demonstration's speech is made with flite: install it with apt install flite"
        ) from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise InputUnusable(f"flite could not write {path}: {error}") from error
    silence = bytes(SAMPLE_RATE * SILENCE_MS // 1000 * 2)
    write_wav(path, silence + read_wav(path) + silence, SAMPLE_RATE)
    return path


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
