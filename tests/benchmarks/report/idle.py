"""Cost of waiting: processor and memory, ours and other people's, at the same microphone."""

import asyncio
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from tests.benchmarks._household import ROOM_DBFS, household, playing
from tests.benchmarks.figures import how_many
from tests.benchmarks.noises import at_level, pink, talker
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.peers.listeners import (
    HEARTH,
    OPENWAKEWORD_LOOP,
    SATELLITE_PAIR,
    TOKEN,
    Listener,
    listeners,
)
from tests.benchmarks.peers.wake import LOOPS, Loop, called, our_loop, their_loop, versions_of
from tests.benchmarks.processes import cpu_s, family, pss_mb, rss_mb
from tests.benchmarks.report.line import Line, Measured, Other, Part, Table, beside
from tests.devices.pulse import sound_server

SILENT, TALK = "in a silent room", "with talk in the room"
# Aimed at, of the medians.
BOUNDS: Mapping[tuple[str, str], float] = {
    (SILENT, OPENWAKEWORD_LOOP): 0.35,
    (SILENT, SATELLITE_PAIR): 1.0,
    (TALK, SATELLITE_PAIR): 1.0,
}

_TALK_DBFS = -28.0
_SETTLE_S = 8.0
_WORD = "okay_nabu"
_CORE = "% of a core"
_WHOLE = (
    "Hearth is the complete assistant, with house, tools, brains and interfaces; the peer only "
    "detects the wake word."
)
_APART = {
    SATELLITE_PAIR: "Hearth is the complete assistant, with house, tools, brains and interfaces; "
    "the peer leaves these to Home Assistant, whose cost isn't included."
}
_EAR = (
    "Hearth's figure includes the gates, the ring buffer and the level meter; the peer's is "
    "only the engine."
)

_TEXT = """\
**Live**: all programs wait for `okay_nabu` at the same simulated microphone, in a silent room
({silent:.0f} dBFS of noise) and while somebody talks about other entities ({talk:.0f} dBFS). The
figures are the kernel's for all their processes, including child processes (a recorder, if they
need one; Hearth and openWakeWord's loop record by themselves), in {count} intervals of {seconds} s.
Memory is read after each interval. PSS is a process's private memory and its share of the shared
memory. For Hearth it is slightly lower than on a separate box, because the programs of this
benchmark use the same Python and packages. RSS counts shared memory in full for each process, so
for peers with two or three processes it is slightly higher than their actual use.

Hearth runs completely, as in `hearth run`: Home Assistant (the demo home) with its tools and
state changes, Gemini configured, HTTP interface, journal and timers. openWakeWord is the loop of
its microphone example: 80 ms at a time, one word, TensorFlow Lite, default settings.
pyopen-wakeword and pymicro-wakeword are their own commands behind `parec`. wyoming-satellite and
its wake service run as in the satellite's README, with the wake word on the device and without
zeroconf. The first three peers only detect the wake word. The satellite also plays and streams
audio, and leaves recognition, house and answers to Home Assistant, whose cost isn't included.

**From a recording**: {piece:.0f} s of the same two kinds of audio, {rounds} times, one program
after another and as fast as possible. The figure is CPU time divided by the length of the audio.
Hearth is only its audio front end, with the gates that close in a quiet room. The others are the
loops in their documentation, with one word each.
"""


@dataclass(slots=True)
class Cost:
    """The use of one listener, a value for each interval."""

    cpu: dict[str, list[float]] = field(default_factory=lambda: {SILENT: [], TALK: []})  # % of core
    memory: dict[str, list[float]] = field(  # MB, in the silent room
        default_factory=lambda: {"PSS": [], "RSS": []}
    )
    processes: int = 0


def part() -> Part:
    """Measure for about three minutes; with LONG=1 about ten."""
    count, seconds = how_many(8, 20), how_many(5, 10)
    piece_s, rounds = how_many(20, 60), how_many(5, 20)
    missing, versions = dict[str, str](), dict[str, str]()
    with tempfile.TemporaryDirectory() as name, sound_server() as sound:
        folder = Path(name)
        costs, absent = asyncio.run(_live(folder, sound, count, seconds))
        shares = _from_memory(folder, piece_s, rounds, missing, versions)
    missing |= absent
    text = _TEXT.format(
        silent=ROOM_DBFS,
        talk=_TALK_DBFS,
        count=count,
        seconds=seconds,
        piece=piece_s,
        rounds=rounds,
    )
    text += "".join(f"\n{who} is missing: {why}\n" for who, why in missing.items())
    return Part(
        "Idle cost",
        (*live_lines(costs), *memory_lines(costs), *ear_lines(shares)),
        (processes_table(costs),),
        text,
        versions,
    )


def live_lines(costs: Mapping[str, Cost]) -> Iterable[Line]:
    """Return the processor lines: Hearth beside each available peer, or alone."""
    for room in (SILENT, TALK):
        subject = f"CPU {room}, all of hearth run"
        used = {name: cost.cpu[room] for name, cost in costs.items()}
        bounds = {name: most for (of, name), most in BOUNDS.items() if of == room}
        yield from _beside(subject, _CORE, used, _APART, bounds)


def memory_lines(costs: Mapping[str, Cost]) -> Iterable[Line]:
    """Return the memory lines, likewise."""
    for kind in costs[HEARTH].memory:
        subject = f"memory ({kind}) when idle, all of hearth run"
        held = {name: cost.memory[kind] for name, cost in costs.items()}
        yield from _beside(subject, "MB", held, _APART, {})


def ear_lines(shares: Mapping[str, Mapping[str, Sequence[float]]]) -> Iterable[Line]:
    """Return the ear alone beside each available loop. `shares`: by room, by listener."""
    for room, used in shares.items():
        subject = f"CPU {room}, Hearth's audio front end with a recording"
        known = {name if name == HEARTH else called(name): values for name, values in used.items()}
        yield from _beside(subject, _CORE, known, dict.fromkeys(known, _EAR), {})


def _beside(
    subject: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    reasons: Mapping[str, str],
    bounds: Mapping[str, float],
) -> Iterator[Line]:
    """Yield a line per peer, with the reason if ours is more; one of ours alone without any."""
    others = [
        Other(
            name,
            Measured(tuple(theirs), unit),
            most_ratio=bounds.get(name),
            reason=reasons.get(name, _WHOLE),
        )
        for name, theirs in values.items()
        if name != HEARTH
    ]
    yield from beside(subject, Measured(tuple(values[HEARTH]), unit), others)


def processes_table(costs: Mapping[str, Cost]) -> Table:
    """Return the number of processes of each."""
    rows = [(name, cost.processes) for name, cost in costs.items()]
    return Table("Processes", ("program", "processes"), rows)


async def _live(
    folder: Path, sound: Mapping[str, str], count: int, seconds: float
) -> tuple[dict[str, Cost], dict[str, str]]:
    """Return each listener's costs, and the missing ones with the reason."""
    talk = folder / "talk.wav"
    write_wav(
        talk, at_level(talker(_SETTLE_S + count * seconds + 20.0, 1), _TALK_DBFS), SAMPLE_RATE
    )
    room_s = 2 * (_SETTLE_S + count * seconds) + 300.0
    async with (
        household(folder, sound, room_s, HTTP__TOKEN=TOKEN) as home,
        listeners(home, sound, print) as (running, missing),
    ):
        costs = {one.name: Cost() for one in running}
        await asyncio.sleep(_SETTLE_S)
        await measure(running, costs, SILENT, count, seconds)
        async with playing(talk, sound):
            await asyncio.sleep(_SETTLE_S)
            await measure(running, costs, TALK, count, seconds)
    return costs, missing


async def measure(
    running: Sequence[Listener], costs: Mapping[str, Cost], room: str, count: int, seconds: float
) -> None:
    """Add `count` intervals to the costs of each. Raises RuntimeError if one has ended."""
    loop = asyncio.get_running_loop()
    for _ in range(count):
        before = {one.name: (loop.time(), cpu_s(_pids(one))) for one in running}
        await asyncio.sleep(seconds)
        for one in running:
            began, used = before[one.name]
            pids = _pids(one)
            cost = costs[one.name]
            cost.cpu[room].append((cpu_s(pids) - used) / (loop.time() - began) * 100)
            cost.processes = len(pids)
            if room == SILENT:
                cost.memory["PSS"].append(pss_mb(pids))
                cost.memory["RSS"].append(rss_mb(pids))


def _pids(listener: Listener) -> list[int]:
    if not all(Path(f"/proc/{root}").exists() for root in listener.roots):
        raise RuntimeError(f"{listener.name} has ended while it was measured")
    return [pid for root in listener.roots for pid in family(root)]


def _from_memory(
    folder: Path, seconds: float, rounds: int, missing: dict[str, str], versions: dict[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Return the shares of a core, by room, by listener."""
    sounds = {
        SILENT: at_level(pink(seconds, 5), ROOM_DBFS),
        TALK: at_level(talker(seconds, 5), _TALK_DBFS),
    }
    shares: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        loops: dict[str, Loop] = {HEARTH: stack.enter_context(our_loop("micro", [_WORD]))}
        for package in LOOPS:
            try:
                loop = stack.enter_context(their_loop(package, [_WORD], print))
            except PeerMissing as error:
                missing[package] = str(error)
                continue
            loops[package] = loop
            versions |= versions_of(package, loop)
        for room, sound in sounds.items():
            wav = folder / "sound.wav"
            write_wav(wav, sound, SAMPLE_RATE)
            for loop in loops.values():
                loop.ask(wav)  # warm: what is made at first is not counted
            shares[room] = {name: [] for name in loops}
            for _ in range(rounds):
                for name, loop in loops.items():
                    shares[room][name].append(loop.ask(wav).cpu_s / seconds * 100)
    return shares
