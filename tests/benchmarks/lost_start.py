"""Part of a command's start that never reaches the service while the connection is being opened."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.peers.pipecat import pipecat
from tests.benchmarks.service import GeminiProcess
from tests.benchmarks.whole_turns import Said, Theirs, Turn, our_side, script

DELAYS_S = (0.0, 0.3, 1.0, 3.0)  # until the service has taken the set-up


@dataclass(frozen=True, slots=True)
class Opened:
    """Turns whose connection was opened as they began, with the same delay."""

    delay_s: float
    ours: tuple[Turn, ...]
    theirs: tuple[Turn, ...]  # () where the peer is missing


async def cold(folder: Path, room: Path, said: Sequence[Said], python: Path | None) -> list[Opened]:
    """Run one turn per command and delay: ours connects at the wake word, theirs at the onset.

    Both run at once: neither's loss depends on how soon it is served. `python`: the peer's.
    """
    found = []
    for delay_s in DELAYS_S:
        where = folder / f"after-{delay_s}"
        ours, theirs = await asyncio.gather(
            _ours(where, delay_s, said), _theirs(room, delay_s, said, python)
        )
        found.append(Opened(delay_s, ours, theirs))
    return found


async def _ours(folder: Path, delay_s: float, said: Sequence[Said]) -> tuple[Turn, ...]:
    turns = []
    with GeminiProcess(script(0), opens_s=delay_s) as service:
        for number, one in enumerate(said):  # each in a Hearth that has just begun
            async with our_side(folder / str(number), service, ("gemini",)) as ours:
                turns.append(await ours["gemini"].turn(one.ours))
    return tuple(turns)


async def _theirs(
    room: Path, delay_s: float, said: Sequence[Said], python: Path | None
) -> tuple[Turn, ...]:
    if python is None:
        return ()
    # A client that is connected in the middle of a turn may end what it has not begun.
    with GeminiProcess(script(0), check=False, opens_s=delay_s) as service:
        async with pipecat(python, service.address, room) as peer:
            theirs = Theirs(peer, service)
            return tuple([await theirs.turn(one.cold, cold=True) for one in said])


def unanswered(turns: Sequence[Turn]) -> int:
    """Return how many never got an answer, or of which nothing arrived."""
    return sum(turn.lost is None or turn.audible is None for turn in turns)


def rounded(values: Sequence[float]) -> str:
    """Return the smallest and the largest, in ms."""
    low, high = (math.floor(min(values) + 0.5), math.floor(max(values) + 0.5))
    return str(low) if low == high else f"{low} to {high}"
