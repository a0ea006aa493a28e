"""Demo scenes: the commands, and the entity states expected after each."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.player import WavPlayer
from audio.sound_files import read_wav, write_wav


class Gramophone:
    """Player that writes each scene to a separate WAV file."""

    def __init__(self) -> None:
        self._player: WavPlayer | None = None
        self._before_ms = 0.0  # ms played to earlier files

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def begin(self, path: Path) -> None:
        """Finish the current file, then write to `path`. Raises InputUnusable."""
        await self.close()
        self._player = WavPlayer(path, paced=False)

    async def play(self, pcm: bytes, rate: int) -> None:
        """Write the audio to the current file, if there is one."""
        if self._player is not None:
            await self._player.play(pcm, rate)

    async def drain(self) -> None:
        if self._player is not None:
            await self._player.drain()

    def stop(self) -> None:
        if self._player is not None:
            self._player.stop()

    @property
    def played_ms(self) -> float:
        return self._before_ms + (self._player.played_ms if self._player else 0.0)

    async def close(self) -> None:
        if self._player is not None:
            player, self._player = self._player, None
            self._before_ms += player.played_ms
            await player.close()


@dataclass(frozen=True, slots=True)
class SpokenCommand:
    """A command that a synthetic voice speaks after the wake word."""

    name: str
    words: str
    voice: str  # a flite voice
    expects: dict[str, str] = field(default_factory=dict)  # entity -> state; empty for no change


@dataclass(frozen=True, slots=True)
class Typed:
    """A command that is typed, as with `hearth ask`."""

    name: str
    words: str
    expects: dict[str, str] = field(default_factory=dict)


SCENES: tuple[SpokenCommand | Typed, ...] = (
    SpokenCommand(
        "1-dining-room", "turn off the dining room light", "rms", {"light.dining_room": "off"}
    ),
    SpokenCommand(
        "2-blinds", "close the living room blinds", "slt", {"cover.living_room_blinds": "closed"}
    ),
    SpokenCommand(
        "3-office", "set the office light to forty percent", "awb", {"light.office": "on 40 %"}
    ),
    SpokenCommand("4-no-command", "why is the sky blue in the morning", "rms"),
    Typed("5-paraphrase", "switch the kitchen light on please", {"light.kitchen": "on 100 %"}),
    Typed("6-spanish", "apaga la luz de la cocina", {"light.kitchen": "off"}),
)


# Recordings of the spoken scenes, made with flite, a small English speech synthesiser.
#
# `python -m assistant.demo.scenes FOLDER` writes one WAV file for each spoken scene.


# flite pronounces "nabu" with a short a; this spelling gives the usual pronunciation.
WAKE_PHRASE = "okay naboo,"
SILENCE_MS = 1_000  # before and after the command
_MAKE_S = 30.0


def make_clip(scene: SpokenCommand, folder: Path) -> Path:
    """Write the spoken scene's recording to a 16 kHz mono WAV file and return its path. Raises
    InputUnusable."""
    path = folder / f"{scene.name}.wav"
    text = f"{WAKE_PHRASE} {scene.words}"
    command = ["flite", "-voice", scene.voice, "-t", text, "-o", str(path)]
    silence = still(SILENCE_MS)
    speech = make_speech(command, path, "The demo's speech")
    write_wav(path, silence + speech + silence, SAMPLE_RATE)
    return path


def make_speech(command: Sequence[str], path: Path, what: str) -> bytes:
    """Run a speech synthesiser that writes to `path`, and return the audio as 16 kHz mono int16.
    Raises InputUnusable.

    `command` is the synthesiser's command line; its program must be in an apt package of the same
    name. `what` names the speech in error messages.
    """
    program = command[0]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_MAKE_S)
    except FileNotFoundError:
        raise InputUnusable(
            f"{what} is generated with {program}: install it with apt install {program}"
        ) from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise InputUnusable(f"{program} could not write {path}: {error}") from error
    return read_wav(path)


def still(ms: int) -> bytes:
    """Return `ms` milliseconds of silence as 16 kHz mono int16."""
    return bytes(SAMPLE_RATE * ms // 1000 * 2)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m assistant.demo.scenes FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        if isinstance(scene, SpokenCommand):
            print(make_clip(scene, folder))


if __name__ == "__main__":
    main()
