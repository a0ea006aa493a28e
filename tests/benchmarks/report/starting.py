"""Time until `hearth run` hears its wake word, from the start of its process."""

import asyncio
import tempfile
from pathlib import Path

from tests.benchmarks import cold_start
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part
from tests.devices.pulse import sound_server

STAGES = {
    "listening": "from the start of the process to the first processed frame",
    "ready": "from the start of the process until house, brains, tool servers and HTTP are ready",
}
TEXT = """\
The whole process in a simulated home, with a sound server, a Home Assistant and Gemini in separate
processes. The files are in the system's cache and the modules are compiled. A first start, which
isn't counted, has already measured the room's echo.
"""


def part() -> Part:
    """Measure five starts; LONG=1: 20."""
    with sound_server() as sound, tempfile.TemporaryDirectory() as folder:
        starts = asyncio.run(cold_start.measure(Path(folder), sound, how_many(5, 20)))
    bounds = {"listening": cold_start.BUDGET_S * 1000}
    lines = tuple(
        Line(
            what,
            Measured(tuple(start[stage] * 1000 for start in starts), "ms"),
            most=bounds.get(stage),
        )
        for stage, what in STAGES.items()
    )
    return Part("Cold start", lines, text=TEXT)
