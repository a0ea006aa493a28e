"""Cost of a box for a time-series store: a day of its page in Prometheus's own blocks.

The page is a real one. Its counters and histograms go on as in a household, where turns come in
bursts and nights are quiet, and `promtool`, which comes with Prometheus, writes the blocks that the
server itself would have written. Where there is no promtool this is left out.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_EVERY_S = 15  # Prometheus's usual scrape
_DAY_S = 24 * 3600
_QUIET_UNTIL_H = 7
_MOVING = 0.02  # of the scrapes of a day that find a counter moved
_BEGIN = 1_795_305_600  # a midnight, seconds since 1970
_LINE = re.compile(r"(\w+)(\{[^}]*\})? (\S+)")


@dataclass(frozen=True, slots=True)
class Stored:
    """A day of one box."""

    series: int
    samples: int
    bytes: int  # of all blocks, with their index
    version: str  # of promtool

    @property
    def sample_bytes(self) -> float:
        """Return the bytes of one sample, with its part of the index."""
        return self.bytes / self.samples


def promtool() -> str | None:
    """Return its path: on the PATH, or the value of PROMTOOL."""
    return os.environ.get("PROMTOOL") or shutil.which("promtool")


def stored(page: str, tool: str) -> Stored:
    """Write a day of such pages. Raises CalledProcessError with promtool's message."""
    known = [found.groups() for line in page.splitlines() if (found := _LINE.fullmatch(line))]
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as name:
        given, blocks = Path(name) / "day.txt", Path(name) / "blocks"
        with given.open("w") as out:
            for text in _day(known):
                out.write(text)
        command = [tool, "tsdb", "create-blocks-from", "openmetrics", str(given), str(blocks)]
        subprocess.run(command, capture_output=True, text=True, check=True)
        size = sum(file.stat().st_size for file in blocks.rglob("*") if file.is_file())
    said = (version.stdout or version.stderr).split()
    return Stored(len(known), len(known) * (_DAY_S // _EVERY_S), size, said[2].rstrip(","))


def _day(known: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield OpenMetrics, one series after the other, which promtool reads fastest."""
    chance = np.random.default_rng(1)
    times = range(_BEGIN, _BEGIN + _DAY_S, _EVERY_S)
    awake = np.array([(at - _BEGIN) // 3600 >= _QUIET_UNTIL_H for at in times])
    for name, labels, value in known:
        begin = float(value)
        if name.endswith(("_bytes", "_seconds")):  # moves all the time
            moved = chance.normal(0.0, 0.01 * max(begin, 1e-3), len(times)).cumsum()
        else:
            moved = (awake * (chance.random(len(times)) < _MOVING)).cumsum().astype(float)
        yield f"# TYPE {name} unknown\n"
        for at, more in zip(times, moved, strict=True):
            yield f"{name}{_with_box(labels)} {begin + more:.6g} {at}\n"
    yield "# EOF\n"


def _with_box(labels: str | None) -> str:
    """Add the label of the box, as the server does."""
    own = 'instance="kitchen:8765",job="hearth"'
    return f"{{{labels[1:-1]},{own}}}" if labels else f"{{{own}}}"
