"""The text filters of other voice frameworks: installed apart from Hearth, and asked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNNER = Path(__file__).with_name("_peer_filters.py")
A_DOWNLOAD_S = 900.0

# A command and what it reads, to what it prints. Raises CalledProcessError or TimeoutExpired.
Run = Callable[[Sequence[str], str], str]
Say = Callable[[str], None]


class PeerMissing(Exception):
    """It could not be installed or did not answer. The text is a sentence for the terminal."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A package of PyPI at one version, and how its filters are used here."""

    package: str
    version: str
    used: str  # as it is written in a program
    made_for: str  # Markdown: what it does, what it leaves to others, in which languages
    languages: frozenset[str] | None  # those that it is made for; None: it depends on none


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer made of the texts, in their order."""

    version: str
    spoken: list[str]


PEERS = (
    Peer(
        "pipecat-ai",
        "1.14.0",
        "VoiceFormatter(expand_numbers=True)",
        "its bundle for speech services, with all that is on by default and `expand_numbers`. It "
        "strips Markdown and writes numbers, percentages, dates, and some currencies and units as "
        "English words. Tables are for another of its parts to keep from the voice, emoji and "
        "other languages for a filter of one's own.",
        frozenset({"en"}),
    ),
    Peer(
        "livekit-agents",
        "1.8.9",
        "filter_emoji(filter_markdown(text))",
        "the filters that a session has by default. They take out Markdown and emoji in any "
        "language; tables they leave. Numbers are not their affair: they are left to the voice.",
        None,
    ),
)


def ask(peer: Peer, texts: Sequence[str], folder: Path, say: Say, run: Run | None = None) -> Answer:
    """What its filters make of the texts. Installs it into the folder if it is not there.

    Raises PeerMissing.
    """
    run = run or _run
    home = folder / f"{peer.package}-{peer.version}"
    python = str(home / "bin" / "python")
    try:
        _install(peer, home, python, say, run)
        printed = run((python, "-I", str(RUNNER), peer.package), json.dumps(list(texts)))
        answer = json.loads(printed.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise PeerMissing(f"{peer.package} {peer.version}: {_reason(error)}") from error
    if answer["version"] != peer.version or len(answer["spoken"]) != len(texts):
        raise PeerMissing(f"{peer.package} {peer.version}: another answer than to the question")
    return Answer(answer["version"], answer["spoken"])


def cache_folder() -> Path:
    """Where the environments are kept between runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "hearth" / "text-filters"


def _install(peer: Peer, home: Path, python: str, say: Say, run: Run) -> None:
    complete = home / "complete"  # what was broken off half-way is made anew
    if complete.exists():
        return
    say(f"{peer.package} {peer.version} from PyPI into {home} (a minute, about 500 MB)")
    run((sys.executable, "-m", "venv", "--clear", str(home)), "")
    run((python, "-m", "pip", "install", "-q", f"{peer.package}=={peer.version}"), "")
    complete.touch()


def _run(command: Sequence[str], text: str) -> str:
    # what is set for our Python or for Hearth is not for theirs
    ours = ("PYTHON", "HEARTH_", "VIRTUAL_ENV")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=A_DOWNLOAD_S,
        check=True,
    )
    return done.stdout


def _reason(error: Exception) -> str:
    """The last words of the command, or else the error's own."""
    if isinstance(error, subprocess.CalledProcessError) and (error.stderr or "").strip():
        return str(error.stderr).strip().splitlines()[-1]
    return str(error) or type(error).__name__
