"""From our end-of-turn decision to activity_end on the wire (budget: 95 of 100 within 20 ms)."""

import asyncio
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import how_many, print_table, spread, write_figures
from tests.benchmarks.service import Always, GeminiProcess
from tests.benchmarks.sound import Clip, NotingPlayer, StampedSource, clips
from tests.benchmarks.stage import hearth, stamps
from tests.simulators.script import Done, Hear, Say

BUDGET_MS = 20.0
ANSWER = Always((Hear("turn on the office lights"), Say("They are.", audio_s=0.2), Done()))


async def measure(service: GeminiProcess, folder: Path, spoken: Sequence[Clip]) -> list[float]:
    """Return the milliseconds to the arrival at the service, for one real-time turn per clip."""
    taken = []
    player = NotingPlayer()
    with stamps() as moments:
        async with hearth(folder, service.address, player, engine="gemini") as app:
            for clip in spoken:
                moments.clear()
                before = app.log.count
                await app.runner.listen(StampedSource(clip), turns=1)
                assert app.log.count == before + 1, f"no turn came of {clip.path.name}"
                arrived = service.newest().ended_at
                assert arrived is not None
                taken.append((arrived - moments["end_of_turn"]) * 1000)
    return taken


def main() -> None:
    """Measure, and fail if the budget is exceeded."""
    count = how_many(100, 300)
    with tempfile.TemporaryDirectory() as name, GeminiProcess(ANSWER) as service:
        spoken = itertools.islice(itertools.cycle(clips(Path(name), tight=True)), count)
        all_taken = asyncio.run(measure(service, Path(name), list(spoken)))
    taken = spread(all_taken)
    print_table(("turns", "decision to wire p50 / p95 / max"), [(taken.count, taken)])
    slowest = all_taken.index(max(all_taken)) + 1  # the first turn also loads the client
    print(f"  the slowest was turn {slowest}")
    figures = {"decision_to_wire": taken, "slowest_turn": slowest, "budget_p95": BUDGET_MS}
    write_figures("gemini_wire", figures)
    if taken.p95 > BUDGET_MS:
        raise AssertionError(f"p95 is {taken.p95:.1f} ms, the budget {BUDGET_MS:g} ms")
