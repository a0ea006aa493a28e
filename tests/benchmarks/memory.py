"""Memory of `hearth run` before its first turn and after it, and the share of each part.

Everything is as in a home (see `_household`); what stands for the home is in processes of its own.
The first turn is spoken and served by Gemini Live. PSS of all of Hearth's processes: what they
alone hold, and their share of what others hold too. Libraries that another program here happens to
use as well count less in that, so RSS, in which they count whole, stands beside it.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks._household import Household, household
from tests.benchmarks.figures import print_table, write_figures
from tests.benchmarks.processes import family
from tests.devices.pulse import sound_server

IDLE_MB, AFTER_MB = 120.0, 180.0  # PSS; more than that fails
_SETTLE_S = 8.0
# In the order in which they come. What each adds to a process that has those before it.
_STEPS: Mapping[str, Sequence[tuple[str, str]]] = {
    "listening": (
        ("Python, the command line", "import assistant.cli.main"),
        ("numpy", "import numpy"),
        ("the turn's rules, store, speech", "import assistant.cli.run"),
        (
            "PortAudio, ALSA's and PulseAudio's libraries",
            "from audio.devices import load_portaudio as p; p().RawInputStream()",
        ),
        (
            "micro, one word",
            "from audio.wake import make_wake_engine as m; a = m('micro', ['okay_nabu'])",
        ),
        ("voice activity", "from audio.vad import make_voice_detector as v; b = v()"),
    ),
    "idle": (
        (
            "HTTP client",
            "from assistant.app.daemon import _import; sys.modules['httpx._main'] = None; "
            "import httpx, httpx2",
        ),
        ("MCP's message types", "import mcp_types"),
        ("MCP's package, with the web server's", "import mcp"),
        ("parsers: hassil, jsonschema, YAML", "import hassil, jsonschema, yaml"),
        ("house, tools, brains, faces", "_import()"),
    ),
    "after a turn with Gemini": (
        ("google-genai", "import google.genai"),
        (
            "the recogniser for the end of a command",
            "import assistant.conversation.grammar_endpointer; "
            "from audio.recognize.sphinx import SphinxLive as l; d = l()",
        ),
    ),
    "where it is used": (
        (
            "the offline recogniser",
            "from audio.recognize.sphinx import SphinxRecognizer as r; c = r(); c.unknown(['a'])",
        ),
        ("Piper, without a voice", "import onnxruntime, piper"),
        ("MQTT", "import assistant.interfaces.mqtt.interface"),
        ("Wyoming", "import assistant.interfaces.wyoming, integrations.wyoming"),
        ("the doctor", "import assistant.doctor.whole"),
    ),
}
_READ = """\
import re, sys, time
def now():
    told = open("/proc/self/smaps_rollup").read()
    return int(re.search(r"^Pss:\\s+(\\d+)", told, re.M)[1]), time.process_time() * 1000
print(*now())
"""


def main() -> None:
    """Print the memory and its costs; write out/benchmarks/memory.json.

    Raises AssertionError if one of the two limits is exceeded.
    """
    with sound_server() as sound, tempfile.TemporaryDirectory() as folder:
        held, turns = asyncio.run(measure(Path(folder), sound))
        prices = _prices({**sound, "PYTHONPYCACHEPREFIX": f"{folder}/compiled"})
    limits = {"idle": IDLE_MB, "after the first turn": AFTER_MB}
    rows = [
        (when, *(f"{size[name]:.0f}" for name in ("Pss", "Rss", "Pss_Anon")), f"{limits[when]:.0f}")
        for when, size in held.items()
    ]
    print_table(("all processes, MB", "PSS", "RSS", "of that private", "PSS at most"), rows)
    print()
    rows = [(number, *(f"{ms:.0f}" for ms in turn.values())) for number, turn in turns.items()]
    print_table(("turn, ms", "to the first sound", "speech"), rows)
    print()
    rows = [
        (until, name, f"{mb:.1f}", f"{ms:.0f}")
        for until, steps in prices.items()
        for name, (mb, ms) in steps.items()
    ]
    print_table(("until", "what comes", "MB", "ms of CPU"), rows)
    write_figures("memory", {"held": held, "turns": turns, "prices": prices})
    for when, limit in limits.items():
        if held[when]["Pss"] > limit:
            raise AssertionError(f"{when}: {held[when]['Pss']:.0f} MB, {limit:.0f} are allowed")


async def measure(
    folder: Path, sound: Mapping[str, str]
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Return one process's memory by moment in MB, and its two turns in ms. See `household`."""
    held, turns = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    async with household(folder, sound) as home:
        async with home.hearth() as box:  # compiles, and learns the echo of the room
            await box.started()
            await home.turn(box)
        async with home.hearth() as box:
            await box.started()
            await asyncio.sleep(_SETTLE_S)
            held["idle"] = _sizes(box.pid)
            for number in ("first", "second"):
                await home.turn(box)
                await asyncio.sleep(_SETTLE_S)
                held.setdefault("after the first turn", _sizes(box.pid))
                turns[number] = await _turn(home)
    return held, turns


async def _turn(home: Household) -> dict[str, float]:
    """Return the times of the last turn, from its record."""
    trace = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "trace", "last", "--json"),
        env=dict(home.surroundings),
        stdout=asyncio.subprocess.PIPE,
    )
    at: dict[str, Any] = json.loads((await trace.communicate())[0])["timeline"]
    return {
        "to_first_sound_ms": at["first_audio_out"] - at["speech_end"],
        "speech_ms": at["speech_end"] - at["wake"],
    }


def _sizes(pid: int) -> dict[str, float]:
    """Return the MB of that process and its children, by the kernel's names."""
    sums = dict[str, float]()
    for one in family(pid):
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()[1:]:
            name, size = line.split()[:2]
            name = name.rstrip(":")
            sums[name] = sums.get(name, 0.0) + int(size) / 1024
    return sums


def _prices(surroundings: Mapping[str, str]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the MB and ms of each step, in a separate process."""
    code = [_READ]
    for steps in _STEPS.values():
        for _, step in steps:
            code += [step, "print(*now())"]
    told = subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        env={**surroundings, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    lines = [line for line in told if re.fullmatch(r"\d+ [\d.]+", line)]
    sizes = [tuple(map(float, line.split())) for line in lines]
    prices = dict[str, dict[str, tuple[float, float]]]()
    number = 0
    for until, steps in _STEPS.items():
        prices[until] = {}
        for name, _ in steps:
            before, after = sizes[number], sizes[number + 1]
            if number == 0:
                before = (0.0, 0.0)  # Python itself
            prices[until][name] = ((after[0] - before[0]) / 1024, after[1] - before[1])
            number += 1
    return prices
