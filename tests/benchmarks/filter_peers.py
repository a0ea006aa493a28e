"""Text filters of other voice frameworks, installed apart from Hearth."""

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.speech.speakable import speakable
from tests.benchmarks.peers.environment import (
    Environment,
    PeerMissing,
    Run,
    Say,
    python_of,
    reason,
    run_apart,
)

RUNNER = Path(__file__).parent / "peers" / "_filters.py"


@dataclass(frozen=True, slots=True)
class Peer:
    """A package of PyPI at one version, and how its filters are used here."""

    package: str
    version: str
    used: str  # as it is written in a program
    made_for: str  # Markdown: what it does, what it leaves to others, in which languages
    languages: frozenset[str] | None  # those that it is made for; None: it depends on none

    @property
    def title(self) -> str:
        """Return name and version."""
        return f"{self.package} {self.version}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A peer's output for the texts, in their order."""

    version: str
    spoken: list[str]
    ms: list[float]  # of CPU, of each pass over all texts


PEERS = (
    Peer(
        "pipecat-ai",
        "1.14.0",
        "VoiceFormatter(expand_numbers=True)",
        "its bundle for speech services, with all defaults and `expand_numbers`. It strips "
        "Markdown and writes numbers, percentages, dates, and some currencies and units as "
        "English words. It leaves tables to another component, and emoji and other languages to "
        "custom filters.",
        frozenset({"en"}),
    ),
    Peer(
        "livekit-agents",
        "1.8.9",
        "filter_emoji(filter_markdown(text))",
        "the default filters of a session. They remove Markdown and emoji in any language, keep "
        "tables, and leave numbers to the voice.",
        None,
    ),
)


def ask(
    peer: Peer,
    texts: Sequence[str],
    say: Say,
    run: Run | None = None,
    folder: Path | None = None,
    passes: int = 1,
) -> Answer:
    """Run its filters on the texts `passes` times. `folder`: see `python_of`.

    Raises PeerMissing.
    """
    named = f"filters-{peer.package}-{peer.version}"  # apart from those with extras
    wanted = Environment(named, (f"{peer.package}=={peer.version}",))
    python = python_of(wanted, say, run, folder)
    command = (str(python), "-I", str(RUNNER), peer.package, str(passes))
    try:
        printed = (run or run_apart)(command, json.dumps(list(texts)))
        answer = json.loads(printed.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise PeerMissing(f"{peer.title}: {reason(error)}") from error
    if answer["version"] != peer.version or len(answer["spoken"]) != len(texts):
        raise PeerMissing(f"{peer.title}: another answer than to the question")
    return Answer(answer["version"], answer["spoken"], answer["ms"])


def timed(texts: Sequence[tuple[str, str]], passes: int) -> list[float]:
    """Return the CPU ms of ours for each pass over the texts, each of them with its language."""
    taken = []
    for _ in range(passes):
        began = time.process_time()
        for text, language in texts:
            speakable(text, language)
        taken.append((time.process_time() - began) * 1000)
    return taken
