"""Run one part of the report in a separate process, and return its results.

    python -m tests.benchmarks.report.apart NAME FILE

measures in this process and writes the entry into the file as JSON. A process for each part: none
finds what another has loaded, and one that hangs or crashes is an entry too.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from tests.benchmarks.figures import how_many, turns_wanted
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.report.line import Part
from tests.benchmarks.report.whole import Entry, entry_from, now, to_json

_A_TURN_S = 30  # of a row that was asked for, with the peer's beside it
# For one part; the first run of it installs its peers.
MOST_S = how_many(1_800, 8 * 3_600) + _A_TURN_S * turns_wanted()
Say = Callable[[str], None]


def measure(name: str, part: Callable[[], Part]) -> Entry:
    """Return the part's results, or its exception as a failure in words; the trace goes to
    stderr."""
    before, began, at = os.getloadavg()[0], time.monotonic(), now()
    found: Part | None = None
    failure = ""
    try:
        found = part()
    except PeerMissing as error:
        failure = str(error)
    except Exception as error:  # one that fails must not keep the others from being measured
        traceback.print_exc()
        failure = sentence(error)
    took, load = time.monotonic() - began, (before, os.getloadavg()[0])
    return Entry(name, found, failure, at, took, load, _counts())


def run(name: str, say: Say, most_s: float = MOST_S) -> Entry:
    """Measure the part in a separate process. `say` is given each line that it prints."""
    at, began, load = now(), time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "entry.json"
        code = _listen([sys.executable, "-m", __name__, name, str(file)], say, most_s)
        with suppress(OSError, ValueError):
            return entry_from(file.read_text("utf-8"))
    took = time.monotonic() - began
    over = f"took more than {most_s:.0f} s" if took > most_s else f"ended with code {code}"
    loads = (load, os.getloadavg()[0])
    return Entry(name, None, f"Its process {over}.", at, took, loads, _counts())


def _counts() -> str:
    """Return the counts that the environment asks for, as the table names them."""
    if wanted := turns_wanted():
        return f"TURNS={wanted}"
    return "LONG=1" if how_many(0, 1) else "short"


def sentence(error: Exception) -> str:
    """Return the error in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:300]}" if words else type(error).__name__


def _listen(command: list[str], say: Say, most_s: float) -> int:
    """Run it and its children for at most `most_s`, and return its exit code."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        end = threading.Timer(most_s, _kill, (process.pid,))
        end.start()
        try:
            for line in process.stdout:
                say(line.rstrip())
            return process.wait()
        finally:
            end.cancel()
            _kill(process.pid)  # what it has started and left


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def main(name: str, file: Path) -> int:
    """Measure here; return 1 if there is no part in the end."""
    module = import_module(f"tests.benchmarks.report.{name}")
    entry = measure(name, module.part)
    file.write_text(to_json(entry), "utf-8")
    return 0 if entry.part is not None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
