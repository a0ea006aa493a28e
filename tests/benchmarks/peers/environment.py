"""Other people's packages, each in an environment of its own, installed from PyPI at first need.

Nothing of them is in ours: what is asked of a peer runs as a program with its Python.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

A_DOWNLOAD_S = 1200.0

# A command and what it reads, to what it prints. Raises CalledProcessError or TimeoutExpired.
Run = Callable[[Sequence[str], str], str]
Say = Callable[[str], None]


class PeerMissing(Exception):
    """It could not be installed or did not answer. The text is a sentence for the terminal."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment: its name, which is its folder's, and the arguments of pip."""

    name: str  # "pipecat-ai-1.14.0"
    requirements: tuple[str, ...]  # with versions


def python_of(
    wanted: Environment, say: Say, run: Run | None = None, folder: Path | None = None
) -> Path:
    """Return the environment's Python, and create it if it is missing. Raises PeerMissing."""
    run = run or run_apart
    home = (folder or cache_folder()) / wanted.name
    python = home / "bin" / "python"
    complete = home / "complete"  # what was broken off half-way is made anew
    told = "\n".join(wanted.requirements)
    if complete.exists() and complete.read_text() == told:
        return python
    say(f"{', '.join(wanted.requirements)} from PyPI into {home}")
    try:
        run((sys.executable, "-m", "venv", "--clear", str(home)), "")
        run((str(python), "-m", "pip", "install", "-q", *wanted.requirements), "")
        complete.write_text(told)
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerMissing(f"{wanted.name}: {reason(error)}") from error
    return python


def cache_folder() -> Path:
    """Return the folder that keeps the environments between runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "hearth" / "peers"


def surroundings(**more: str) -> Mapping[str, str]:
    """Return a peer's environment variables, without those for our Python or Hearth."""
    ours = ("PYTHON", "HEARTH_", "VIRTUAL_ENV")
    given = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**given, **more}


def run_apart(command: Sequence[str], text: str = "") -> str:
    """Return the command's output; it reads the text."""
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=surroundings(),
        timeout=A_DOWNLOAD_S,
        check=True,
    )
    return done.stdout


def reason(error: Exception) -> str:
    """Return the last words of the command, or else the error's own."""
    if isinstance(error, subprocess.CalledProcessError) and (error.stderr or "").strip():
        return str(error.stderr).strip().splitlines()[-1]
    return str(error) or type(error).__name__
