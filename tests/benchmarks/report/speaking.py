"""Delay of an answer's sound after its first clause, and of the silence after an interruption."""

import asyncio
import tempfile
from pathlib import Path

from tests.benchmarks import first_sound, speech_latency
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part

SENTENCES = "Hearth with whole sentences"
TEXT = f"""\
*First clause*: from the character that completes the first clause to its first sample at the
player, with a voice that takes {first_sound.COST_S * 1000:.0f} ms for each clause, and with one
that takes no time while the microphone listens to a quiet room. *Piper*: from the clauses to the
first sample, with two voices of medium size and cost whose weights are random (they produce noise,
but take the usual time), compared with the same answers passed to the voice sentence by sentence,
as most frameworks do. *Interruption*: from the event until the player's `stop` returns, after which
no sample was played. A real loudspeaker also plays what is in its buffer (20 to 50 ms).
"""


def part() -> Part:
    """Measure 40 answers and 20 interruptions each; LONG=1: 1,000 and 400."""
    answers, times = how_many(40, 1_000), how_many(20, 400)
    voiced = asyncio.run(first_sound.fixed(answers))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = asyncio.run(speech_latency.clauses(folder, times))
        quiet = {
            case.name: asyncio.run(speech_latency.silence(case, folder, times))
            for case in speech_latency.INTERRUPTIONS
        }
    piper = first_sound.with_all_cores(how_many(2, 9))
    firsts = {cut: tuple(one["first_ms"] for one in piper[cut]) for cut in ("clauses", "sentences")}
    lines = (
        Line(
            "from the first complete clause to its first sample, a voice that takes 10 ms",
            Measured(tuple(voiced), "ms"),
            most=first_sound.BUDGET_MS,
        ),
        Line(
            "from a complete clause to its first sample, a voice that takes 0 ms",
            Measured(tuple(bare), "ms"),
            most=speech_latency.CLAUSE_BUDGET_MS,
        ),
        Line(
            "from an answer's text to its first sample, Piper with a medium model",
            Measured(firsts["clauses"], "ms"),
            SENTENCES,
            Measured(firsts["sentences"], "ms"),
            most_ratio=1.0,
            own=True,
        ),
        *(
            Line(
                f"from an interruption to silence: {name}",
                Measured(tuple(taken), "ms"),
                most=speech_latency.SILENCE_BUDGET_MS,
            )
            for name, taken in quiet.items()
        ),
    )
    return Part("First audio and interruption", lines, text=TEXT)
