"""Ratios of the gate for work in this machine's own processes, each by plain work of its kind.

Of CPU time, so that other work on the machine counts little. See `gate_ratio` for the division.
"""

import asyncio
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.rules.events import (
    BrainFinished,
    Event,
    PlaybackEnded,
    PlaybackStarted,
    SpeechEnded,
    SpeechStarted,
    Tick,
    WakeHeard,
    WakeRising,
)
from assistant.conversation.rules.machine import reduce
from assistant.conversation.rules.state import Machine
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord
from assistant.journal.store import Store
from assistant.speech.clauses import ClauseCutter
from assistant.speech.speakable import speakable
from assistant.tools.catalog.menu import build_menu
from audio.endpoint import Endpointer
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE, Frame
from audio.vad.silero import SileroDetector
from audio.wake import make_wake_engine
from integrations.demo_home import DemoHome
from integrations.gemini.declarations import convert
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import ServerSpec, home_assistant_server
from tests.benchmarks.declarations import OTHERS, a_thousand
from tests.benchmarks.filter_lines import read_lines
from tests.benchmarks.gate_ratio import Pair, Round, in_turns
from tests.benchmarks.gate_store import stores_without_threads

ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def tools(folder: Path) -> AsyncIterator[Round]:
    """Measure the conversion of 1,000 tools for Gemini and to a menu, by their way to JSON and
    back.

    They are made of the embedded house's tools and of two from servers of other kinds.
    """
    async with DemoHome() as home, McpHub([home_assistant_server(home.url, home.token)]) as hub:
        house = [(one.name, one.description, one.input_schema) for one in await hub.tools()]
    listed = a_thousand([*(("edit", "", one) for one in OTHERS), *house])
    plain = [(one.name, one.description, one.input_schema) for one in listed]
    spec = {"many": ServerSpec("many", "http", trust="trusted")}

    def as_json() -> None:
        for _ in range(8):
            json.loads(json.dumps(plain))

    def converted() -> None:
        for name, description, schema in plain:
            convert(name, description, schema)

    def menu() -> None:
        build_menu(listed, spec)

    yield in_turns(
        Pair("declaring 1,000 tools", converted, as_json),
        Pair("listing 1,000 tools for a model", menu, as_json),
    )


@asynccontextmanager
async def ear(folder: Path) -> AsyncIterator[Round]:
    """Measure sound through the ear, by numpy transforms over as many samples."""
    quiet, loud = frames(120, bursts=False), frames(20, bursts=True)
    spoken = loud[: 3 * SAMPLE_RATE // FRAME_SAMPLES]
    listener = new_ear()
    try:
        yield in_turns(
            Pair("audio front end: two quiet minutes", lambda: hear(listener, quiet), transforms),
            Pair("audio front end: 20 loud seconds", lambda: hear(listener, loud), transforms),
            Pair(
                "audio front end: three loud seconds before a sentence",
                lambda: hear(listener, spoken, awaited=True),
                transforms,
            ),
        )
    finally:
        listener.close()


_BLOCK = np.random.default_rng(2).standard_normal(FRAME_SAMPLES * 16).astype(np.float32)


def transforms() -> None:
    """Do plain work on sound."""
    for _ in range(1_000):
        spectrum = np.fft.rfft(_BLOCK)
        np.fft.irfft(spectrum * np.abs(spectrum)).astype(np.float32).clip(-1.0, 1.0)


def new_ear() -> AudioFrontEnd:
    """Return an ear as a daemon has it, without the recogniser that follows commands."""
    voice = SileroDetector()
    endpointer = Endpointer(chunk_samples=voice.chunk_samples)
    return AudioFrontEnd(make_wake_engine("micro", ["okay_nabu"]), voice, endpointer)


def frames(seconds: int, *, bursts: bool) -> list[Frame]:
    """Return faint white noise; with `bursts`, half of every second second is loud."""
    samples = np.random.default_rng(1).normal(0.0, 8.0, seconds * SAMPLE_RATE)
    if bursts:
        samples *= np.where(np.arange(len(samples)) % SAMPLE_RATE < SAMPLE_RATE // 2, 200.0, 1.0)
    pcm = samples.astype(np.int16).tobytes()
    starts = range(0, len(pcm), FRAME_BYTES)
    return [Frame(pcm[at : at + FRAME_BYTES], at // 2) for at in starts]


def hear(listener: AudioFrontEnd, sound: Sequence[Frame], *, awaited: bool = False) -> None:
    """Hear a new stream, as the listening thread does."""
    listener.restart()
    if awaited:
        listener.watch(0.0, 0.0)
    for frame in sound:
        if not listener.pass_by(frame):
            listener.hear(frame)
    listener.unwatch()


@asynccontextmanager
async def speech(folder: Path) -> AsyncIterator[Round]:
    """Measure written answers to clauses and to spoken words, by plain work on the same texts."""
    lines = [(line.written, line.language) for line in read_lines()]
    texts = [text for text, _ in lines]

    def plain() -> None:
        for _ in range(100):
            for text in texts:
                worked(text)

    def cut() -> None:
        for _ in range(70):
            cutter = ClauseCutter()
            for text in texts:
                for start in range(0, len(text), 4):
                    cutter.push(text[start : start + 4])
                cutter.flush()

    def spoken() -> None:
        for text, language in lines * 4:
            speakable(text, language)

    yield in_turns(
        Pair("splitting answers into clauses", cut, plain),
        Pair("converting text for speech", spoken, plain),
    )


_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_WORD = re.compile(r"(?<!\w)[A-Za-z]{2,}(?!\w)")


def worked(text: str) -> str:
    """Do plain work of a text reader: expressions, letters and slices of a text."""
    clean = unicodedata.normalize("NFC", text)
    clean = _NUMBER.sub(lambda found: found[0].replace(",", "."), clean)
    clean = _WORD.sub(lambda found: found[0].casefold(), clean)
    kept = "".join(char if unicodedata.category(char)[0] in "LNZ" else " " for char in clean)
    return " ".join(kept.split())


@asynccontextmanager
async def turn_machine(folder: Path) -> AsyncIterator[Round]:
    """Measure spoken turns through the rules, by as many steps of plain frozen values."""

    def turns() -> None:
        machine = Machine()
        for number in range(1, 51):
            for event in turn(number, machine.now_ms + 1_000):
                machine, _ = reduce(machine, event)

    def plain() -> None:
        state = Counter(0, 0.0, "idle", ())
        for number in range(50_000):
            state, _ = counted(state, number)

    yield in_turns(Pair("50 turns through the turn machine", turns, plain))


def turn(number: int, at_ms: float) -> list[Event]:
    """Return a sentence of 2 s, an answer, and a quiet second."""
    ticks = [Tick(at_ms + 20.0 * step) for step in range(1, 100)]
    return [
        WakeRising(at_ms),
        WakeHeard("okay_nabu", 0.9, at_ms=at_ms, mark_ms=at_ms - 300),
        *ticks[:20],
        SpeechStarted(at_ms + 400),
        *ticks[20:],
        SpeechEnded(at_ms + 2_000, at_ms + 2_300),
        PlaybackStarted(number),
        BrainFinished(number, False),
        PlaybackEnded(number),
        *(Tick(at_ms + 2_300 + 20.0 * step) for step in range(50)),
    ]


@dataclass(frozen=True, slots=True)
class Counter:
    """A plain state."""

    count: int
    at: float
    name: str
    parts: tuple[int, ...]


def counted(state: Counter, number: int) -> tuple[Counter, list[object]]:
    """Return the next state."""
    match number % 3:
        case 0:
            return replace(state, count=state.count + 1, at=float(number)), []
        case 1:
            return replace(state, name="busy", parts=(number,)), [state.name]
    return state, []


@asynccontextmanager
async def journal(folder: Path) -> AsyncIterator[Round]:
    """Measure turns into the journal, by rows into a plain table, each in its own transaction."""
    clock, numbers = SystemClock(), itertools.count()
    heard, answer = "turn on the office lights", "The office lights are on."
    begun = clock.now() - timedelta(seconds=1)
    plain = sqlite3.connect(folder / "plain.db", isolation_level=None)
    plain.execute("PRAGMA journal_mode=WAL")
    plain.execute("PRAGMA synchronous=NORMAL")
    plain.execute("CREATE TABLE turns (id INTEGER PRIMARY KEY, at TEXT, heard TEXT, answer TEXT)")

    def rows() -> None:
        for _ in range(1_000):
            plain.execute(
                "INSERT INTO turns (at, heard, answer) VALUES (?, ?, ?)",
                (str(begun), heard, answer),
            )

    with stores_without_threads():
        store = Store(folder / "journal.db", clock)

    async def turns() -> None:
        for _ in range(200):
            turn_id = f"turn-{next(numbers)}"
            record = TurnRecord(turn_id, begun, "voice", "en", heard=heard, answer=answer)
            await store.record_turn(record)

    async with store:
        yield in_turns(Pair("writing 200 turns to the journal", turns, rows))
    plain.close()


# What a start brings; see the benchmark `memory` for the two lines of HTTP.
_LISTENING = """\
import assistant.cli.run
from audio.vad import make_voice_detector
from audio.wake import make_wake_engine
kept = make_wake_engine("micro", ["okay_nabu"]), make_voice_detector()
"""
_ALL = _LISTENING + "from assistant.app.daemon import _import; _import()\n"
_TURN = (
    _ALL + "import google.genai; from tests.benchmarks.gate_endings import ready; known = ready()\n"
)
_READ = """\
import re, time
held = re.search(r"^Anonymous:\\s+(\\d+)", open("/proc/self/smaps_rollup").read(), re.M)
print(time.process_time(), held[1])
"""


@asynccontextmanager
async def starts(folder: Path) -> AsyncIterator[Round]:
    """Measure processes that load Hearth's modules, by one that loads numpy: CPU time and
    memory."""
    codes = {
        "numpy": "import numpy\n",
        "for listening": _LISTENING,
        "for everything": _ALL,
        "including a first turn": _TURN,
    }
    for code in codes.values():
        await _process(code, folder)  # compiles

    plain, listening, everything, turn = codes
    order = (*(plain, listening, plain, everything) * 2, plain, turn)

    async def one() -> Mapping[str, float]:
        runs = [(name, await _process(codes[name], folder)) for name in order]
        ratios = dict[str, float]()
        for part, what in enumerate(("CPU", "memory")):
            least = {name: min(run[part] for ran, run in runs if ran == name) for name in codes}
            for name in (listening, everything, turn):
                ratios[f"start: {what} {name}"] = least[name] / least[plain]
        return ratios

    yield one


async def _process(code: str, folder: Path) -> tuple[float, float]:
    """Return the CPU seconds and the private KB of a process that ran this code."""
    own = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder), "PYTHONHASHSEED": "0"}
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", code + _READ],
        cwd=ROOT,
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    cpu, held = done.stdout.split()
    return float(cpu), float(held)
