"""End of a turn after the last word, and cut-offs: by what was said, and by pauses."""

import math

from tests.benchmarks.end_of_turn import HEAD, Delays, adaptive, delays_of, on_the_clips, row
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part, Table
from tests.benchmarks.utterances import utterances

BESIDE = "silero 1200"  # of the fixed pauses the one that cuts off hardly anybody either
BOUNDS_MS = {"command": 450.0, "question": 1000.0}
TEXT = """\
Synthetic utterances (`tests/benchmarks/utterances.tsv`): half commands, half open questions, in
five voices, each with a pause of 0 to 0.9 s before a word without which it is incomplete, in a
quiet room or in noise. All methods process the same recordings, with the same speech probability
from Silero. The delay is the time from the last voiced sample (the end of the last 20 ms, every 5
ms, within 24 dB of the loudest) to the decision. Recordings that were cut off have no delay, so
short pauses look better than they are; the table also contains the share of cut-offs. The rows
compare Hearth with the shortest fixed pause that rarely cuts off a sentence. Hearth's figures
include the recogniser's own time.
"""


def part() -> Part:
    """Measure every third utterance at one level of noise each; LONG=1: all at each of four."""
    ours = adaptive()
    chosen = utterances()[:: how_many(3, 1)]
    delays = delays_of(ours, chosen)
    rows = []
    for kind in BOUNDS_MS:
        for name, turns in delays.items():
            found = [ms for said, _, ms in turns if said.kind == kind]
            rows.append(row(name, f"{kind}s", found).cells())
    rows += [clip.cells() for clip in on_the_clips(ours)]
    return Part(
        "End of a turn",
        lines=tuple(_line(kind, delays, ours.name) for kind in BOUNDS_MS),
        tables=(Table("Delays and cut-offs", HEAD, rows),),
        text=TEXT,
    )


def _line(kind: str, delays: Delays, ours: str) -> Line:
    return Line(
        f"from the last word to the end of the turn, {kind}s",
        _ended(delays, ours, kind),
        f"a fixed pause of 1.2 s ({BESIDE.partition(' ')[0]})",
        _ended(delays, BESIDE, kind),
        most_ratio=1.0,
        most=BOUNDS_MS[kind],
        own=True,
    )


def _ended(delays: Delays, name: str, kind: str) -> Measured:
    """Return the delays that were neither cut off nor left without an end."""
    found = [ms for said, _, ms in delays[name] if said.kind == kind]
    return Measured(tuple(ms for ms in found if ms >= 0 and math.isfinite(ms)), "ms")
