"""Other people's wake words: their environments, and loops that are asked about a sound.

A loop is a process that has one stream for as long as it runs; every question is the next piece of
it. So ours and theirs are asked in turn, within one run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.benchmarks.peers.environment import (
    Environment,
    PeerMissing,
    Say,
    python_of,
    reason,
    surroundings,
)

# tflite-runtime, its default, has wheels up to Python 3.11, made for numpy 1. The wheel of 0.6.0
# holds no models and its own download is not from PyPI; pyopen-wakeword's wheel has the same ones.
OPENWAKEWORD = Environment(
    "openwakeword-0.6.0",
    ("openwakeword==0.6.0", "numpy==1.26.4", "pyopen-wakeword==1.1.0", "sounddevice==0.5.6"),
)
PYOPEN = Environment("pyopen-wakeword-1.1.0", ("pyopen-wakeword==1.1.0",))
PYMICRO = Environment("pymicro-wakeword-2.5.0", ("pymicro-wakeword==2.5.0",))
SATELLITE = Environment("wyoming-satellite-1.0.0", ("wyoming-satellite==1.0.0",))
WAKE_SERVICE = Environment(
    "wyoming-openwakeword-1.8.2", ("wyoming-openwakeword==1.8.2", "numpy==1.26.4")
)
# By the package whose loop it is.
LOOPS: Mapping[str, Environment] = {
    "openwakeword": OPENWAKEWORD,
    "pyopen-wakeword": PYOPEN,
    "pymicro-wakeword": PYMICRO,
}

_FOLDER = Path(__file__).resolve().parent
_REPOSITORY = _FOLDER.parents[2]


def called(package: str) -> str:
    """Return a loop's package with its version."""
    return LOOPS[package].requirements[0].replace("==", " ")


@dataclass(frozen=True, slots=True)
class Fired:
    """One detection of a word."""

    word: str
    behind: int  # samples of the piece, up to the end of the chunk with which it was told
    took_ms: float  # the work on that chunk

    def told_ms(self, since: int) -> float:
        """Return the real-time ms from that sample of the piece to the detection."""
        return (self.behind - since) / 16 + self.took_ms


@dataclass(frozen=True, slots=True)
class Answer:
    """A loop's answer about a piece."""

    fired: tuple[Fired, ...]
    cpu_s: float


class Loop:
    """A process that answers questions. Raises PeerMissing if it ends instead of answering."""

    def __init__(self, name: str, process: "subprocess.Popen[str]") -> None:
        self._name = name
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._questions = process.stdin.fileno()  # unbuffered
        self._answers: IO[str] = process.stdout
        self.versions: Mapping[str, str] = self._answer()

    def ask(self, wav: Path) -> Answer:
        """Give it the next piece of its stream."""
        with suppress(BrokenPipeError):  # then nothing comes back, which is told
            os.write(self._questions, json.dumps({"wav": str(wav)}).encode() + b"\n")
        return read_answer(self._answer())

    def _answer(self) -> Any:
        line = self._answers.readline()
        if not line:
            raise PeerMissing(f"{self._name}: it ended with {self._process.wait()}")
        return json.loads(line)


def read_answer(told: Mapping[str, Any]) -> Answer:
    """Parse an answer of the process."""
    return Answer(tuple(Fired(*one) for one in told["found"]), told["cpu_s"])


def versions_of(package: str, loop: Loop) -> dict[str, str]:
    """Return the versions that a loop of LOOPS uses, by names that no other loop shares."""
    return {
        name if name == package else f"{name} with {package}": version
        for name, version in loop.versions.items()
    }


@contextmanager
def our_loop(engine: str, words: Sequence[str]) -> Iterator[Loop]:
    """Yield Hearth's ear alone, with `micro` or `open`."""
    command = (sys.executable, "-m", "tests.benchmarks._ear_alone", engine, *words)
    with asked(f"the ear with {engine}", command) as loop:
        yield loop


@contextmanager
def their_loop(package: str, words: Sequence[str], say: Say) -> Iterator[Loop]:
    """Yield the loop of a package of LOOPS. Raises PeerMissing."""
    python = python_of(LOOPS[package], say)
    command = (str(python), "-I", str(_FOLDER / "_wake_engines.py"), package, *words)
    with asked(package, command) as loop:
        yield loop


@contextmanager
def asked(name: str, command: Sequence[str]) -> Iterator[Loop]:
    """Yield the loop that this command runs. Raises PeerMissing."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # onnxruntime and TensorFlow Lite talk there
            text=True,
            env=surroundings(),
            cwd=_REPOSITORY,
        )
    except OSError as error:
        raise PeerMissing(f"{name}: {reason(error)}") from error
    with process:
        try:
            yield Loop(name, process)
        finally:
            process.terminate()
