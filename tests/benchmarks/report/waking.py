"""Delay of wake words: each listener, ours and other people's, on the same sound."""

import asyncio
import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS
from audio.microphone import BLOCK_MS
from audio.sound_files import write_wav
from tests.benchmarks import room_clock, waking
from tests.benchmarks._household import ROOM_DBFS, household
from tests.benchmarks.figures import how_many
from tests.benchmarks.noises import at_level, pink
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.peers.listeners import HEARTH, OPENWAKEWORD_LOOP, TOKEN, Listener, listeners
from tests.benchmarks.peers.wake import (
    LOOPS,
    Answer,
    Loop,
    called,
    our_loop,
    their_loop,
    versions_of,
)
from tests.benchmarks.report.line import Line, Measured, Other, Part, Table, beside
from tests.devices.pulse import sound_server

_BLOCKS = (
    f"Hearth processes audio in blocks of {BLOCK_MS} ms, so that it wakes up less often while idle."
)
_MODELS = "The models differ, and Hearth's detect some words later; `open` uses the peer's models."
# Ours, and whose loop runs the same models or does the same work; why ours may be later.
PAIRS: Mapping[tuple[str, str], str] = {
    ("micro", "pymicro-wakeword"): _BLOCKS,
    ("micro", "openwakeword"): _MODELS,
    ("open", "pyopen-wakeword"): _BLOCKS,
    ("open", "openwakeword"): "",  # the same models and the same 80 ms
}
_WORDS: Mapping[str, Sequence[str]] = {
    **waking.WORDS,
    "pymicro-wakeword": waking.WORDS["micro"],
    "pyopen-wakeword": waking.WORDS["open"],
    "openwakeword": waking.WORDS["open"],
}
_BEFORE_S, _AFTER_S = 6.0, 1.5  # of the room: every gate is shut when the word comes
_BLOCK = 1280  # samples; a piece is whole blocks for every loop
_WITHIN_S = 3.0  # a word that is told later than that was missed
_REST_S = 3.5  # between two words: every listener waits again
_SETTLE_S = 6.0
_MS = "ms"
_Word = TypeVar("_Word")  # a word that was said: a piece, or its number
_LIVE = "okay_nabu"
_TEXT = """\
From the beginning of the wake word until a program is notified. This includes the length of the
word itself (0.6 to 1 s), so no figure can be zero. All programs hear the same audio, one word after
another, and a row uses only the words that both found.

**From a recording**: one recording of a person for each word (five words, four for microWakeWord),
in a silent room ({level:.0f} dBFS), started {phases} times at different offsets within the
program's chunks. The time includes the chunks that a program needs and its work on the last one.
Hearth is only its audio front end, starting at the microphone's blocks of {block} ms. The others
are the loops in their own documentation: `openwakeword.Model.predict` with 1,280 samples, default
framework (TensorFlow Lite), score above 0.5; `pyopen_wakeword` with 160 samples, above 0.5;
`pymicro_wakeword` with 160 samples and the models' own cutoffs. All words are active. Hearth's
sensitivity is `normal`.

**Live**: `okay_nabu` is played {times} times into a simulated microphone at which all programs
listen at the same time, in separate processes. Hearth runs completely, as in `hearth run`,
observed through `/v1/events`. wyoming-satellite and its wake service run as in the satellite's
README (wake word on the device), observed through `run-pipeline` on its connection to Home
Assistant; 1.0.0 and 1.8.2 are the versions on PyPI, newer ones are only on GitHub. pyopen-wakeword
and pymicro-wakeword are their own commands behind a recorder (`parec`, 64 ms; their READMEs use
`arecord`). openWakeWord is the loop of its microphone example, through sounddevice.

openWakeWord's wheel contains no models, and it doesn't download them from PyPI, so it uses
openWakeWord's models from pyopen-wakeword's wheel. Five recordings show how quickly the programs
detect a word, but not how reliably; for hits and false accepts with people, see
[wake words](../wake-words.md).
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A word in a silent room."""

    word: str
    wav: Path
    start: int  # sample at which the word begins
    end: int  # sample behind the word


def part() -> Part:
    """Measure for about two minutes; LONG=1: eight. Raises RuntimeError without the recordings."""
    if not waking.has_clips():
        raise RuntimeError("the recordings of people are missing; set HEARTH_SHARED")
    phases, times = how_many(4, 16), how_many(10, 40)
    missing = dict[str, str]()
    versions = dict[str, str]()
    with tempfile.TemporaryDirectory() as name, sound_server() as sound:
        folder = Path(name)
        pieces = make_pieces(folder, phases)
        told = _from_memory(pieces, missing, versions)
        live, absent = asyncio.run(_live(folder, sound, times))
    missing |= absent
    text = _TEXT.format(level=ROOM_DBFS, phases=phases, times=times, block=BLOCK_MS)
    text += "".join(f"\n{who} is missing: {why}\n" for who, why in missing.items())
    return Part(
        "Wake word",
        (*memory_lines(told), *live_lines(live)),
        (found_table(pieces, told), live_table(live, times)),
        text,
        versions,
    )


def make_pieces(folder: Path, phases: int) -> list[Piece]:
    """Return each word equally often, begun later and later within 80 ms."""
    room = at_level(pink(_BEFORE_S + _AFTER_S + 4.0, 3), ROOM_DBFS)
    pieces = []
    for word in waking.WORDS["open"]:
        clip = waking.clip(word)
        for phase in range(phases):
            at = round(_BEFORE_S * SAMPLE_RATE) + phase * _BLOCK // phases
            wav = folder / f"{word}-{phase}.wav"
            write_wav(wav, mixed(room, clip, at), SAMPLE_RATE)
            start, end = (
                at + round(seconds[word] * SAMPLE_RATE)
                for seconds in (waking.WORD_STARTS, waking.WORD_ENDS)
            )
            pieces.append(Piece(word, wav, start, end))
    return pieces


def mixed(room: bytes, clip: bytes, at: int) -> bytes:
    """Put the clip into the room from sample `at` on, and return whole blocks that end later.

    Raises ValueError if the room is too short.
    """
    length = at + len(clip) // 2 + round(_AFTER_S * SAMPLE_RATE)
    length -= length % _BLOCK
    both = np.frombuffer(room, "<i2")[:length].astype(np.int32)
    if len(both) < length:
        raise ValueError(f"the room has {len(both)} samples, {length} are needed")
    both[at : at + len(clip) // 2] += np.frombuffer(clip, "<i2")
    return bytes(both.clip(-32768, 32767).astype("<i2").tobytes())


def _from_memory(
    pieces: Sequence[Piece], missing: dict[str, str], versions: dict[str, str]
) -> dict[str, dict[Piece, float]]:
    """Return each loop's ms since the word began, for each piece that it found."""
    with ExitStack() as stack:
        loops = dict[str, Loop]()
        for engine in waking.ENGINES:
            loops[engine] = stack.enter_context(our_loop(engine, _WORDS[engine]))
        for package in LOOPS:
            try:
                loop = stack.enter_context(their_loop(package, _WORDS[package], print))
            except PeerMissing as error:
                missing[package] = str(error)
                continue
            loops[package] = loop
            versions |= versions_of(package, loop)
        told: dict[str, dict[Piece, float]] = {name: {} for name in loops}
        for piece in pieces:
            for name, loop in loops.items():
                if piece.word in _WORDS[name]:
                    ms = told_ms(loop.ask(piece.wav), piece)
                    told[name] |= {} if ms is None else {piece: ms}
    return told


def told_ms(answer: Answer, piece: Piece) -> float | None:
    """Return the time of the first detection after the word's beginning, or None if missed."""
    latest = piece.start + round(_WITHIN_S * SAMPLE_RATE)
    for one in answer.fired:
        if one.word == piece.word and piece.start < one.behind <= latest:
            return one.told_ms(piece.start)
    return None


def memory_lines(told: Mapping[str, Mapping[Piece, float]]) -> Iterable[Line]:
    """Return ours beside each available peer, or alone."""
    for engine in waking.ENGINES:
        peers = {peer: why for (ours, peer), why in PAIRS.items() if ours == engine}
        others = [
            _other(called(peer), told[engine], told[peer], why)
            for peer, why in peers.items()
            if told[engine].keys() & told.get(peer, {}).keys()
        ]
        if others or not peers.keys() & told.keys():
            ours = Measured(tuple(told[engine].values()), _MS)
            yield from beside(
                f"from a recording, Hearth's audio front end with {engine}", ours, others
            )


def _other(
    name: str, ours: Mapping[_Word, float], theirs: Mapping[_Word, float], reason: str
) -> Other:
    """Return the peer with the words that both found, in the order of ours."""
    both = [word for word in ours if word in theirs]
    mine, yours = (Measured(tuple(of[word] for word in both), _MS) for of in (ours, theirs))
    return Other(name, yours, mine, reason=reason)


def live_lines(live: Mapping[str, Mapping[int, float]]) -> Iterable[Line]:
    """Return Hearth beside each available peer, or alone."""
    ours = live[HEARTH]
    others = [
        # openWakeWord's loop takes as much at a time.
        _other(name, ours, theirs, "" if name == OPENWAKEWORD_LOOP else _BLOCKS)
        for name, theirs in live.items()
        if name != HEARTH and ours.keys() & theirs.keys()
    ]
    if others or len(live) == 1:
        mine = Measured(tuple(ours.values()), _MS)
        yield from beside("live, all of hearth run", mine, others)


def found_table(pieces: Sequence[Piece], told: Mapping[str, Mapping[Piece, float]]) -> Table:
    """Return how many each found, and how long after the end of the word."""
    rows = []
    for name, found in told.items():
        asked = [piece for piece in pieces if piece.word in _WORDS[name]]
        after = [ms - (piece.end - piece.start) / SAMPLES_PER_MS for piece, ms in found.items()]
        figures = np.percentile(after, (0, 50, 100)) if after else ()
        cells = [f"{figure:.0f}" for figure in figures] or ["", "", ""]
        rows.append((_called(name), f"{len(found)} of {len(asked)}", *cells))
    head = ("program", "found", "first, ms after the word's end", "median", "last")
    return Table("Detections and delays", head, rows)


def _called(name: str) -> str:
    return f"Hearth's audio front end with {name}" if name in waking.ENGINES else called(name)


def live_table(live: Mapping[str, Mapping[int, float]], times: int) -> Table:
    """Return how many each detected."""
    rows = [(name, f"{len(told)} of {times}") for name, told in live.items()]
    return Table("Live detections", ("program", "detected"), rows)


async def _live(
    folder: Path, sound: Mapping[str, str], times: int
) -> tuple[dict[str, dict[int, float]], dict[str, str]]:
    """Return each listener's ms per detected word, and the missing ones with the reason."""
    clip = folder / "word.wav"
    write_wav(clip, waking.clip(_LIVE), SAMPLE_RATE)
    room_s = _SETTLE_S + times * (_REST_S + _WITHIN_S) + 180.0
    moments = []
    async with (
        household(folder, sound, room_s, HTTP__TOKEN=TOKEN) as home,
        listeners(home, sound, print) as (running, missing),
        room_clock.room_clock(sound) as clock,
    ):
        await asyncio.sleep(_SETTLE_S)
        for _ in range(times):
            began = await room_clock.say(clip, clock, sound)
            moments.append(began + waking.WORD_STARTS[_LIVE])
            await asyncio.sleep(_REST_S + random.uniform(0.0, 0.1))
    return {one.name: told_of(one, moments) for one in running}, missing


def told_of(listener: Listener, moments: Sequence[float]) -> dict[int, float]:
    """Return the ms from each moment to its first detection, by number, without missed ones."""
    told = dict[int, float]()
    for number, moment in enumerate(moments):
        after = [at - moment for at in listener.told if 0 < at - moment <= _WITHIN_S]
        if after:
            told[number] = min(after) * 1000
    return told
