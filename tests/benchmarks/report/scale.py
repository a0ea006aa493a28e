"""Cost of a growing house and a long day, in short; docs/reports/scale.md has the rest."""

import asyncio

from tests.benchmarks.report.line import Line, Measured, Part, Table
from tests.benchmarks.scale import boxes, growth, journal, tables
from tests.benchmarks.scale.houses import SIZES

FEW = (0, 1, 4)  # boxes
# Aimed at in a house with 5,000 entities, all exposed.
LARGE = max(SIZES)
MOST_MB = 200.0  # of a process with sound left out, after typed turns
MOST_JUDGING_MS = 50.0
MOST_TOKENS = 6_000.0  # of the instruction
MOST_DECODING = 0.5  # s of CPU a s of sound: a recogniser that is slower is never done
MOST_LOOK_MS = 300.0  # what a page may take
JUDGING = (
    "The call uses a name that doesn't exist in the house, so each entity is checked, and the most "
    "similar names letter by letter."
)
TEXT = """\
A simulated house in which everything is exposed, the simulated Gemini and Hearth are separate
processes. The box is in the kitchen and has no microphone. The effect of more boxes is measured
only if a Home Assistant is already installed. [scale.md](scale.md) contains all figures, the
constants and the requirements of a fleet.
"""


def part() -> Part:
    """Measure each size once, with 8 turns of either brain; LONG=1: 30."""
    houses = {}
    for size in SIZES:
        print(f"a house of {size:,} entities", flush=True)
        houses[size] = asyncio.run(growth.grown(size))
    columns = {size: {**one.parts, **one.whole} for size, one in houses.items()}
    days = {turns: journal.kept(turns).figures for turns in journal.TURNS}
    found = [
        tables.table("Hearth's components by house size", tables.HOUSE_PARTS, columns, "things"),
        tables.table("All of `hearth run`, without audio", tables.HOUSE_WHOLE, columns, "things"),
        tables.table("The journal", tables.JOURNAL, days, "turns"),
        *_boxes(),
    ]
    large, long = columns[LARGE], days[max(days)]
    of = f"a house with {LARGE:,} entities"
    lines = (
        _line(
            f"{of}: memory after typed turns", large["held after typed turns, MB"], "MB", MOST_MB
        ),
        _line(
            f"{of}: judging a call",
            large["resolve unknown, ms of CPU"],
            "ms of CPU",
            MOST_JUDGING_MS,
        ).because(JUDGING),
        _line(
            f"{of}: size of the instruction", large["instruction, tokens"], "tokens", MOST_TOKENS
        ),
        _line(
            f"{of}: recognising a second of audio locally",
            large["decoding, s of CPU a s of sound"],
            "s of CPU",
            MOST_DECODING,
        ),
        _line(
            f"{max(days):,} turns: computing the costs of a month",
            long["costs of a month, ms"],
            "ms",
            MOST_LOOK_MS,
        ),
    )
    return Part("Large houses and long days", lines, tuple(found), TEXT)


def _boxes() -> list[Table]:
    if not boxes.at_hand():
        return []
    crowds = asyncio.run(boxes.crowds(print, FEW))
    columns = {crowd.boxes: crowd.figures for crowd in crowds}
    return [tables.table("Boxes with one real Home Assistant", tables.BOXES, columns, "boxes")]


def _line(subject: str, values: list[float] | tuple[float, ...], unit: str, most: float) -> Line:
    return Line(subject, Measured(tuple(values), unit), most=most)
