"""Breaks what can break, and writes down how it went.

python -m tests.chaos [WORD ...]      only faults whose name holds one of the words
    --runs N     so often, one run after the other (LONG=1: 2, else 1)
    --at-once N  so many side by side where they can be (2): most of the time they wait
    --list       the faults, and nothing is run

A run of all faults writes the table in docs/reports/faults.md. Faults that this machine cannot
produce are left out, and the table says so. Exit 1 if any fault failed or none could be produced.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tests.chaos.noting import Note, read_notes
from tests.chaos.surroundings import ALL, Surroundings, marks_of
from tests.chaos.table import Outcome, Twice, outcomes, summary, table, told, with_table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reports" / "faults.md"
FOLDERS = ("tests/chaos", "tests/devices", "tests/home_assistant", "tests/pipeline")
_NOTHING_FOUND = 5  # pytest's exit code where no test is left


def collect(words: Sequence[str], folder: Path) -> list[Note]:
    """Return all faults. Raises CalledProcessError if the tests cannot be read."""
    file = folder / "collected"
    quiet = ("--collect-only", "-q", "-m", "fault")
    command = _pytest(file, words, *quiet)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, _NOTHING_FOUND):
        print(done.stdout, file=sys.stderr)
        done.check_returncode()
    return read_notes(file)


def run(
    one: Surroundings, collected: Sequence[Note], words: Sequence[str], file: Path, at_once: int
) -> None:
    """Run all faults in these surroundings; each records its result."""
    wanted = [note for note in collected if note.needs == one.name]
    if not wanted:
        return
    missing = one.missing()
    if missing:
        print(f"{len(wanted)} tests are not run: {missing}", file=sys.stderr)
        return
    print(f"{len(wanted)} tests with {one.name}", file=sys.stderr, flush=True)
    environment = {**os.environ, **one.environment}
    kept = [f"{name}={environment.pop(name)}" for name in one.leaves_out if name in environment]
    beside = ("-n", f"{at_once}", "--dist", "loadgroup") if one.side_by_side and at_once > 1 else ()
    options = ("-v", "--tb=short", *beside, "-m", marks_of(one))
    inner = ("env", *kept, *_pytest(file, words, *options))
    subprocess.run((*one.prefix, *inner), cwd=ROOT, env=environment)


def _pytest(file: Path, words: Sequence[str], *options: str) -> tuple[str, ...]:
    notes = (
        "-p",
        "tests.chaos.noting",
        f"--fault-notes={file}",
        f"--fault-words={','.join(words)}",
    )
    return (sys.executable, "-m", "pytest", *notes, *options, *FOLDERS)


def judge(collected: Sequence[Note], runs: Sequence[Sequence[Note]]) -> list[Outcome]:
    """Return all outcomes; missing surroundings are the reason for tests that were not reached."""
    missing = {one.name: one.missing() for one in ALL}
    left = [
        replace(note, state="skipped", reason=missing[note.needs])
        for note in collected
        if missing[note.needs]
    ]
    return outcomes(collected, [[*notes, *left] for notes in runs])


def code_of(rows: Sequence[Outcome]) -> int:
    """Return 1 if a row failed or if none has passed, because then nothing was observed."""
    return 1 if any(row.red for row in rows) or not any(row.green for row in rows) else 0


def where(now: datetime) -> str:
    """Describe the machine for the reader of the table."""
    cores, kernel = os.cpu_count(), platform.release().partition("-")[0]
    python = platform.python_version()
    return f"{now:%Y-%m-%d}, {cores} cores, Linux {kernel}, Python {python}."


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--runs", type=int, default=2 if os.environ.get("LONG") == "1" else 1)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Carry out the command line and return the exit code."""
    asked = arguments(given)
    with tempfile.TemporaryDirectory(prefix="hearth-chaos-") as name:
        folder = Path(name)
        collected = collect(asked.words, folder)
        if asked.list:
            print("\n".join(dict.fromkeys(note.name for note in collected)))
            return 0
        runs = []
        for number in range(asked.runs):
            file = folder / f"run-{number}"
            for one in ALL:
                run(one, collected, asked.words, file, asked.at_once)
            runs.append(read_notes(file))
        try:
            rows = judge(collected, runs)
        except Twice as error:
            print(error, file=sys.stderr)
            return 2
    for row in rows:
        print(f"{row.fault.name}: {told(row)}{f' ({row.reason})' if row.red else ''}")
    text = summary(rows, where(datetime.now(UTC)))
    print(text)
    if not asked.words:
        made = f"{text}\n\n{table(rows)}"
        PAGE.write_text(with_table(PAGE.read_text("utf-8"), made), encoding="utf-8")
    return code_of(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
