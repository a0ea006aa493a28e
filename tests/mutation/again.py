"""Try mutants again, each in a separate process, with all tests of its part.

This is for code that runs while a module is imported: tables, patterns. It takes seconds for each.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutation.forks import ACTIVE

_QUIET = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")


def again(names: Sequence[str], tests: Sequence[str], folder: Path) -> Iterator[tuple[str, int]]:
    """Yield pytest's exit code for each mutant. `tests` are paths below the mutants' folder."""
    run = [sys.executable, "-m", "pytest", *_QUIET, *tests]
    for name in names:
        broken = {**os.environ, ACTIVE: name, "PYTHONPATH": "."}
        tried = subprocess.run(run, cwd=folder, env=broken, stdout=subprocess.DEVNULL, check=False)
        yield name, tried.returncode
