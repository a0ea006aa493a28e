"""Recordings of a request and of the answers to the question about it."""

import subprocess
from pathlib import Path

from assistant.demo.scenes import SpokenCommand, make_clip
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav, write_wav

UNLOCK = "unlock the front door"
# Longer than any wait for a person; in a file it takes no time.
LONG_S = 25.0


def speech(words: str, folder: Path, voice: str = "rms") -> bytes:
    """Return a person's words without the wake word, 16 kHz mono int16."""
    path = folder / f"{voice}-{words.replace(' ', '-')}.wav"
    command = ["flite", "-voice", voice, "-t", words, "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return read_wav(path)


def silence(seconds: float) -> bytes:
    """Return silence, mono int16 at 16 kHz."""
    return bytes(round(seconds * SAMPLE_RATE) * 2)


def dialogue(
    folder: Path,
    *answers: str,
    request: str = UNLOCK,
    voice: str = "rms",
    room_s: float = LONG_S,
) -> Path:
    """Record the request after the wake word, the answers in order, and `room_s` of silence."""
    sound = read_wav(make_clip(SpokenCommand("request", request, voice), folder))
    for answer in answers:
        sound += silence(1.0) + speech(answer, folder, voice) + silence(2.0)
    path = folder / "dialogue.wav"
    write_wav(path, sound + silence(room_s), SAMPLE_RATE)
    return path
