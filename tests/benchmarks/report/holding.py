"""Memory of a whole `hearth run`: before its first turn, and after it."""

import asyncio
import tempfile
from pathlib import Path

from tests.benchmarks import memory
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part
from tests.devices.pulse import sound_server

BOUNDS_MB = {"idle": memory.IDLE_MB, "after the first turn": memory.AFTER_MB}
TEXT = """\
PSS of all of Hearth's processes (their private memory and their share of the shared memory), in a
simulated home. The turn is spoken and handled by Gemini Live, with one call to the house. The
figure includes wake word, voice activity detection, the recogniser of commands, MCP, journal, HTTP
and the voice (espeak-ng). [footprint.md](footprint.md) lists the cost of each component, and *Whole
turns* compares with another framework.
"""


def part() -> Part:
    """Measure two processes; LONG=1: six."""
    found = []
    with sound_server() as sound:
        for _ in range(how_many(2, 6)):
            with tempfile.TemporaryDirectory() as folder:
                found.append(asyncio.run(memory.measure(Path(folder), sound))[0])
    lines = tuple(
        Line(
            f"memory, {when}",
            Measured(tuple(held[when]["Pss"] for held in found), "MB"),
            most=bound,
        )
        for when, bound in BOUNDS_MB.items()
    )
    return Part("Memory", lines, text=TEXT)
