"""Time until `hearth run` hears its wake word, from the start of its process, by stage.

Everything is as in a home (see `_household`): a sound server, a Home Assistant and Gemini in
processes of their own; micro listens, espeak-ng speaks. A first start, which does not count, learns
the echo of the room and compiles what an installed package has compiled. The files are in the
system's cache. LONG=1: 20 starts in place of 6.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from tests.benchmarks._household import household
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.devices.pulse import sound_server

BUDGET_S = 2.0  # to the first judged frame, the median
WHAT = {
    "settings": "Python, the modules that listening needs, the settings",
    "echo plan": "the sound devices; what is known of their echo",
    "ear": "the store, wake word and voice detectors, the turn's rules",
    "listening": "the microphone is open; its first frame has been judged",
    "modules": "everything else is imported, in a thread",
    "house and brains": "Home Assistant, tool servers, brains, timers",
    "ready": "HTTP and the other faces",
}


def main() -> None:
    """Print the stages; write out/benchmarks/cold_start.json.

    Raises AssertionError if listening begins too late.
    """
    with sound_server() as sound, tempfile.TemporaryDirectory() as folder:
        starts = asyncio.run(measure(Path(folder), sound, how_many(6, 20)))
    rows, last, figures = [], 0.0, dict[str, dict[str, float]]()
    for stage, what in WHAT.items():
        times = [start[stage] for start in starts]
        middle = median(times)
        figures[stage] = {"median_s": middle, "most_s": max(times)}
        rows.append((stage, f"{middle:.2f}", f"{middle - last:.2f}", f"{max(times):.2f}", what))
        last = middle
    print_table(("stage", "reached after s", "of it", "at most", "what was done"), rows)
    print(f"  medians of {len(starts)} starts")
    write_figures("cold_start", figures)
    heard_s = figures["listening"]["median_s"]
    if heard_s > BUDGET_S:
        raise AssertionError(f"it listens after {heard_s:.2f} s, {BUDGET_S:g} s are allowed")


async def measure(folder: Path, sound: Mapping[str, str], count: int) -> list[dict[str, float]]:
    """Return the stages of `count` starts, in s. `folder`, `sound`: see `household`."""
    starts = []
    async with household(folder, sound) as home:
        for _ in range(count + 1):
            async with home.hearth() as box:
                starts.append(await box.started())
    return starts[1:]
