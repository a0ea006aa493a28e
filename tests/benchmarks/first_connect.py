"""Time until a typed turn has its Gemini Live session: the first one after a start, and later ones.

Hearth and the simulated Gemini are in separate processes. Nothing is typed for SETTLES_S seconds
after the start. Every turn needs a new connection, because sessions are closed after each turn.
LONG=1: 10 starts in place of 3.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.service import Always, GeminiProcess
from tests.devices.daemon import daemon, settings
from tests.pipeline.test_beside import run
from tests.simulators.script import Done, Say

MORE_MS = 100.0  # that the first connection may take beyond a later one
SETTLES_S = 3.0
LATER = 3  # turns after the first
_CLOSED_S = 2.0  # after a turn, its session is closed


def main() -> None:
    """Print the times; write out/benchmarks/first_connect.json.

    Raises AssertionError if the first connection takes too long.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        GeminiProcess(Always((Say("Yes."), Done()))) as it,
    ):
        around = settings(
            Path(folder),
            AUDIO__INPUT="null",
            AUDIO__OUTPUT="null",
            BRAIN__ORDER='["gemini-live"]',
            PRIVACY__ACCEPT_CLOUD="true",
            GEMINI__API_KEY=it.address.key,
            GEMINI__BASE_URL=it.address.url,
            GEMINI__CA_FILE=it.address.ca_file,
            GEMINI__KEEP_WARM_S="0.5",
        )
        starts = [asyncio.run(connections(around)) for _ in range(how_many(3, 10))]
    first = median(start[0] for start in starts)
    later = median(time for start in starts for time in start[1:])
    rows = [("first turn", f"{first:.0f}"), (f"the next {LATER}", f"{later:.0f}")]
    print_table(("connected after", "median, ms"), rows)
    write_figures("first_connect", {"first_ms": first, "later_ms": later})
    if first > later + MORE_MS:
        raise AssertionError(f"the first takes {first - later:.0f} ms longer than later ones")


async def connections(around: Mapping[str, str]) -> list[float]:
    """Start a daemon and type to it. Return each turn's time to its session, in ms."""
    async with daemon(dict(around), "hearth: started"):
        await asyncio.sleep(SETTLES_S)
        return [await asyncio.to_thread(_connected_ms, dict(around)) for _ in range(1 + LATER)]


def _connected_ms(around: dict[str, str]) -> float:
    time.sleep(_CLOSED_S)
    asked = run(around, "ask", "are you there")
    assert asked.returncode == 0, asked.stderr
    at = json.loads(run(around, "trace", "last", "--json").stdout)["timeline"]
    return float(at["connected"] - at["end_of_turn"])
