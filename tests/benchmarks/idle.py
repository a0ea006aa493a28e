"""Cost of waiting: `hearth run` in a silent room and beside talk, and a bare capture beside it.

Both are processes of their own that record from one simulated microphone at the same time, in
blocks of the same size. Hearth has all that a household has: its HTTP interface, journal, timers,
and a Home Assistant, the simulated one, in a third process. LONG=1 measures for a minute and a half
in each room instead of half a one.
"""

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from audio.frames import SAMPLE_RATE
from audio.microphone import BLOCK_MS
from audio.sound_files import write_wav
from tests.benchmarks._household import HOUSE_TOKEN, playing, python_process, simulated_house
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.noises import Sound, at_level, pink, talker
from tests.benchmarks.processes import cpu_s
from tests.devices.daemon import daemon, settings
from tests.devices.pulse import sound_server

INTERVALS = 3
ABOVE_BARE = 0.007  # of one core, in a silent room: more than that fails
WITH_TALK = 0.020  # the same in all, beside talk
_LEVELS_DBFS = {"silent room": -65.0, "talk": -28.0}
_SETTLE_S = 8.0  # a daemon that has just come up still loads its recogniser
_BARE = """\
import sys, time, sounddevice
stream = sounddevice.RawInputStream(
    samplerate=16000, channels=1, dtype="int16", blocksize=16 * int(sys.argv[1]),
    callback=lambda *_: None,
)
stream.start()
print("up", flush=True)
while True:
    time.sleep(3600)
"""
# What each line adds to the memory of a process that does nothing else.
_STEPS: Sequence[tuple[str, str]] = (
    ("Python", "pass"),
    ("numpy", "import numpy"),
    (
        "PortAudio, ALSA's and PulseAudio's libraries",
        "import audio.microphone; import sounddevice as s; s.RawInputStream()",
    ),
    ("the MCP package, with pydantic and HTTP", "import integrations.mcp.session"),
    ("all other modules of a listening process", "import assistant.cli.run"),
    (
        "micro, one word",
        "from audio.wake import make_wake_engine as m; a = m('micro', ['okay_nabu'])",
    ),
    ("silero", "from audio.vad.silero import SileroDetector; b = SileroDetector()"),
    ("the offline recogniser", "from audio.recognize.sphinx import SphinxRecognizer as r; c = r()"),
    (
        "the recogniser for the end of a command",
        "from audio.recognize.sphinx import SphinxLive as l; d = l()",
    ),
)
_REST = "the house: its picture, grammar, connections; streams"


def main() -> None:
    """Print shares of a core and the memory; write out/benchmarks/idle.json.

    Raises AssertionError if one of the two limits is exceeded.
    """
    with sound_server() as surroundings:
        figures = asyncio.run(_rooms(surroundings))
        figures["memory"] = _memory(surroundings, figures["silent room"]["resident MB"])
    above = figures["silent room"]["hearth"] - figures["silent room"]["bare"]
    with_talk = figures["talk"]["hearth"]
    print()
    rows = [
        ("silent room, above a bare capture", f"{above:.2%}", f"{ABOVE_BARE:.2%}"),
        ("beside talk, in all", f"{with_talk:.2%}", f"{WITH_TALK:.2%}"),
    ]
    print_table(("share of one core", "measured", "at most"), rows)
    write_figures("idle", {**figures, "above bare": above, "with talk": with_talk})
    if above > ABOVE_BARE or with_talk > WITH_TALK:
        raise AssertionError("waiting costs more than it may")


async def _rooms(surroundings: Mapping[str, str]) -> dict[str, Any]:
    seconds = how_many(10, 30)
    rows, figures = [], dict[str, Any]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hearth = {**settings(folder), **surroundings, "HEARTH_HOME_ASSISTANT__TOKEN": HOUSE_TOKEN}
        for room, sound in _sounds(_SETTLE_S + seconds * INTERVALS + 15.0).items():
            wav = folder / "room.wav"
            write_wav(wav, sound, SAMPLE_RATE)
            async with (
                playing(wav, surroundings),  # before it listens: no room begins in the middle
                python_process(_BARE, str(BLOCK_MS), surroundings) as (bare, _),
                simulated_house(surroundings) as url,
                daemon({**hearth, "HEARTH_HOME_ASSISTANT__URL": url}) as _,
            ):
                pids = {"bare": bare, "hearth": _child_of(hearth["HEARTH_ASSISTANT__DATA"])}
                await asyncio.sleep(_SETTLE_S)
                costs = await _costs(pids, seconds)
                figures[room] = {**costs, "resident MB": _resident_mb(pids["hearth"])}
            above = costs["hearth"] - costs["bare"]
            parts = (f"{part:.2%}" for part in (*costs.values(), above))
            rows.append((room, *parts, f"{figures[room]['resident MB']:.0f}"))
    print_table(("room", "bare capture", "hearth run", "above it", "holds MB"), rows)
    print(f"  blocks of {BLOCK_MS} ms, medians of {INTERVALS} intervals of {seconds} s")
    return figures


def _sounds(seconds: float) -> dict[str, bytes]:
    rooms: dict[str, Sound] = {"silent room": pink(seconds, 1), "talk": talker(seconds, 1)}
    return {room: at_level(sound, _LEVELS_DBFS[room]) for room, sound in rooms.items()}


async def _costs(pids: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Return each process's share of one core: the median of the intervals."""
    shares: dict[str, list[float]] = {name: [] for name in pids}
    for _ in range(INTERVALS):
        before = {name: cpu_s([pid]) for name, pid in pids.items()}
        await asyncio.sleep(seconds)
        for name, pid in pids.items():
            shares[name].append((cpu_s([pid]) - before[name]) / seconds)
    return {name: median(of_it) for name, of_it in shares.items()}


def _resident_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def _child_of(data: str) -> int:
    """Return the process that was started with this data folder."""
    mark = f"HEARTH_ASSISTANT__DATA={data}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                return int(process.name)
        except OSError:
            continue  # it has ended, or is not ours
    raise RuntimeError("hearth run is not there")


def _memory(surroundings: Mapping[str, str], resident_mb: float) -> dict[str, float]:
    """Return the MB that each component adds in a separate process; the last is the remainder."""
    held = dict[str, float]()
    lines = ["import re"]
    for _, code in _STEPS:
        lines += [
            code,
            "print(re.search(r'VmRSS:\\s+(\\d+)', open('/proc/self/status').read())[1])",
        ]
    told = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=dict(surroundings),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    last = 0.0
    for (name, _), kilobytes in zip(_STEPS, told, strict=True):
        held[name] = int(kilobytes) / 1024 - last
        last = int(kilobytes) / 1024
    held[_REST] = resident_mb - last
    print()
    rows = [(name, f"{mb:.1f}") for name, mb in held.items()]
    print_table(("what holds its memory", "MB"), [*rows, ("in all", f"{resident_mb:.1f}")])
    return held
