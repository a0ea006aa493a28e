"""Speech at known places in a file, and the parts of it that the simulated Gemini received."""

import json
import os
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS
from audio.sound_files import read_wav, write_wav
from audio.wake.micro import LEAD_MS
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import Heard, HeardTurn
from tests.simulators.script import Call, Done, Hear, Say, Step, Think, Tokens
from tests.simulators.threads import in_thread

LONG = bool(os.environ.get("LONG"))
TAKES = ("02", "04", "06", "08", "10", "12", "14", "16", "18", "20")
# The `hearth` program in another process, which has imported Gemini's package first: on a busy
# machine the import alone may take longer than the wait for a connection.
HEARTH = (
    sys.executable,
    "-c",
    "import sys, google.genai, assistant.cli.main as it; sys.exit(it.main(sys.argv[1:]))",
)
HUSH = 3  # amplitude of the room noise, of 32768

# The service's answer to "turn on the office lights"; it needs a moment, as a real one does.
OFFICE_ON = {"area": "office", "domain": ["light"]}
TOKENS = Tokens(
    prompt=1_000,
    response=100,
    prompt_details={"AUDIO": 200, "TEXT": 800},
    response_details={"AUDIO": 60, "TEXT": 40},
)


def office_lights() -> list[Step]:
    """Hear the sentence, call the tool and report the result."""
    return [
        Think(0.05),
        Hear("turn on the office lights"),
        Call("intent__HassTurnOn", OFFICE_ON, answer={"status": "done"}),
        Say("The office lights are **on**."),
        Done(usage=TOKENS),
    ]


def room(seconds: float, seed: int = 1) -> bytes:
    """Return inaudible noise without any repetition, as of an empty room."""
    noise = random.Random(seed)
    count = round(seconds * SAMPLE_RATE)
    return b"".join(
        noise.randint(-HUSH, HUSH).to_bytes(2, "little", signed=True) for _ in range(count)
    )


@dataclass(frozen=True, slots=True)
class Clip:
    """A sound file, and the samples (end excluded) at which each piece is."""

    path: Path
    pcm: bytes  # mono int16 at 16 kHz, as the pipeline reads it
    places: tuple[tuple[int, int], ...]


def clip_of(path: Path, *pieces: bytes | Path | float) -> Clip:
    """Write recordings and quiet (in seconds) one after the other."""
    pcm, places = b"", []
    for number, piece in enumerate(pieces):
        start = len(pcm) // 2
        if isinstance(piece, Path):
            pcm += read_wav(piece)
        else:
            pcm += room(piece, number) if isinstance(piece, float) else piece
        places.append((start, len(pcm) // 2))
    write_wav(path, pcm, SAMPLE_RATE)
    return Clip(path, pcm, tuple(places))


def assert_bit_for_bit(
    turn: HeardTurn, told: Mapping[str, Any], recording: bytes, command: tuple[int, int]
) -> Heard:
    """Check that the service got the command from the mark to the end of the turn, and no more.

    `told` is the turn as `--json` prints it.
    """
    mark = round(told["wake"]["at_ms"] - LEAD_MS) * SAMPLES_PER_MS
    # The turn's end is decided within a frame, and frames are kept whole.
    frames = -(-round(told["timeline"]["end_of_turn"] * SAMPLES_PER_MS) // FRAME_SAMPLES)
    window = (mark, frames * FRAME_SAMPLES)
    heard = turn.assert_heard(recording, window, covers=command)
    assert heard.start == mark, "it begins with the mark"
    return heard


def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of a Hearth that may use Gemini but has no key yet."""
    (tmp_path / "hearth.toml").write_text("")
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "HEARTH_CONFIG": str(tmp_path / "hearth.toml"),
        "HEARTH_ASSISTANT__DATA": str(tmp_path / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["gemini-live", "gemini-once", "offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_SOUNDS__THINKING": "false",  # a slow machine would play it
        "HEARTH_PRIVACY__ACCEPT_CLOUD": "true",
    }.items():
        monkeypatch.setenv(name, value)


@contextmanager
def serving(
    simulator: GeminiSimulator, monkeypatch: pytest.MonkeyPatch, key: str | None = None
) -> Iterator[GeminiSimulator]:
    """Run the service in a thread, and set the environment variables that lead to it."""
    with in_thread(simulator) as service:
        monkeypatch.setenv("HEARTH_GEMINI__API_KEY", service.key if key is None else key)
        monkeypatch.setenv("HEARTH_GEMINI__BASE_URL", service.url)
        monkeypatch.setenv("HEARTH_GEMINI__CA_FILE", str(service.ca_file))
        yield service


def one_value(text: str) -> dict[str, Any]:
    """Return the output of `--json`, which has to be exactly one value."""
    value: dict[str, Any] = json.loads(text)
    return value


def is_sound(pcm: bytes) -> bool:
    """Return True if mono int16 samples are audible."""
    samples = memoryview(pcm).cast("h")
    return bool(samples) and max(map(abs, samples)) > 1_000
