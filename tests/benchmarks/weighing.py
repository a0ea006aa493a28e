"""Cost of waiting and memory: the whole of `hearth run` and pipecat's process at once."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks._household import household
from tests.benchmarks.figures import how_many
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.peers.pipecat import Pipecat, pipecat
from tests.benchmarks.processes import cpu_s, family, pss_mb, rss_mb
from tests.benchmarks.service import GeminiProcess
from tests.benchmarks.whole_turns import Said, script

OURS, THEIRS = "hearth", "pipecat"
INTERVALS = 3
_SETTLE_S = 8.0


@dataclass(frozen=True, slots=True)
class Size:
    """Memory of a process and its children, in MB."""

    pss: float  # alone, and their share of what others hold too
    rss: float  # with what they share counted whole


@dataclass(slots=True)
class Weights:
    """Costs and memory by the name of the process."""

    idle: dict[str, list[float]] = field(default_factory=dict)  # % of a core, by interval
    ready: dict[str, Size] = field(default_factory=dict)
    after: dict[str, Size] = field(default_factory=dict)  # the turns
    turns: int = 0
    said: int = 0  # commands for them: more where one was said again, see `Household.turn`


async def weigh(
    folder: Path, room: Path, sound: Mapping[str, str], said: Said, python: Path | None
) -> Weights:
    """Measure in a silent room, then turns with a tool call.

    `python`: the peer's; without it ours alone. Each has its own simulated Gemini.
    """
    weights = Weights(turns=how_many(10, 30))
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(household(folder, sound))
        async with home.hearth() as box:  # compiles, and learns the echo of the room
            await box.started()
        box = await stack.enter_async_context(home.hearth())
        await box.started()
        pids, peer = {OURS: box.pid}, None
        if python is not None:
            service = stack.enter_context(GeminiProcess(script(1)))
            peer = await stack.enter_async_context(pipecat(python, service.address, room))
            await peer.open()
            pids[THEIRS] = peer.pid
        await _wait(weights, pids)
        for _ in range(weights.turns):
            often, _ = await asyncio.gather(home.turn(box), _talk(peer, said))
            weights.said += often
        weights.after = {name: size_of(pid) for name, pid in pids.items()}
        if peer is not None:
            await peer.close()
    return weights


async def _talk(peer: Pipecat | None, said: Said) -> None:
    if peer is not None and (await peer.say(said.theirs.path)).audible is None:
        raise PeerMissing("pipecat-ai gave no answer")


async def _wait(weights: Weights, pids: Mapping[str, int]) -> None:
    """Measure their use while nobody speaks, and their memory then."""
    seconds = how_many(8, 30)
    await asyncio.sleep(_SETTLE_S)
    for _ in range(INTERVALS):
        before = {name: cpu_s(family(pid)) for name, pid in pids.items()}
        await asyncio.sleep(seconds)
        for name, pid in pids.items():
            used = cpu_s(family(pid)) - before[name]
            weights.idle.setdefault(name, []).append(100 * used / seconds)
    weights.ready = {name: size_of(pid) for name, pid in pids.items()}


def size_of(pid: int) -> Size:
    """Return the present size."""
    pids = family(pid)
    return Size(pss_mb(pids), rss_mb(pids))
