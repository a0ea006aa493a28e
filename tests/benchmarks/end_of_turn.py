"""Delay from the last word to the end of the turn, and cut-offs: ours, and fixed pauses
beside it."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from assistant.conversation.endpointing import Endings
from assistant.conversation.grammar_endpointer import GrammarEndpointer
from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS
from audio.recognize.sphinx import SphinxLive
from audio.sound_files import read_wav
from audio.vad.silero import SileroDetector
from audio.vad.webrtc import WebrtcDetector
from tests.benchmarks.demo_picture import demo_picture
from tests.benchmarks.ending_stage import Heard, ModelledWorker, end_of
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.benchmarks.noises import NOISES, mix
from tests.benchmarks.sound import voiced
from tests.benchmarks.utterances import NOISE_DB, Take, Utterance, take, utterances
from tests.shared_data import shared_folder

FIXED_MS = (300, 500, 800, 1200)
LATEST_MS = 1500
# By part: cut off at most, in %, and the median delay at most, in ms.
LIMITS = {"commands, all": (2, 450), "questions, all": (5, 1000), "recordings": (0, 360)}
_LEAD, _TAIL = SAMPLE_RATE, 2 * SAMPLE_RATE  # of silence around a recording
_CLIP_NOISE = 8.0  # int16 RMS


@dataclass(frozen=True, slots=True)
class Row:
    """One set-up on one part of the list."""

    what: str
    part: str
    turns: int
    cut_percent: float
    p50_ms: float
    p95_ms: float
    most_ms: float
    late: int  # turns that ended later than LATEST_MS, or never

    def cells(self) -> tuple[object, ...]:
        """Return the cells of its table row."""
        return tuple(_told(value) for value in asdict(self).values())


def _told(value: object) -> object:
    """Return the figure as it is printed: "never" for infinity, "" for NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else "never"
    return value


# By set-up: what was said, the noise below it in dB, the delay in ms (see `Setup.delay_ms`).
Delays = dict[str, list[tuple[Utterance, float | None, float]]]
HEAD = ("method", "sentences", "turns", "cut off %", "p50 ms", "p95 ms", "max ms", "after 1.5 s")


@dataclass(frozen=True, slots=True)
class Setup:
    """A way to end turns."""

    name: str
    endings: Endings
    worker: ModelledWorker | None = None

    def delay_ms(self, sound: Take, heard: Heard) -> float:
        """Return ms from the last voiced sample to the decision; negative: cut off, infinite:
        never."""
        ended = end_of(sound.pcm, heard, self.endings, self.worker)
        if ended is None:
            return float("inf")
        return ended.decided_ms - sound.last_voiced / SAMPLES_PER_MS


def adaptive(slower: float = 1.0) -> Setup:
    """Return the assistant's way, in the embedded house; `slower`: see `ModelledWorker`."""
    worker = ModelledWorker(slower)
    endings = GrammarEndpointer(SphinxLive(), worker, "en")
    endings.use(demo_picture())
    worker.drain()
    return Setup("sentence content", endings, worker)


def fixed(detector: str) -> list[Setup]:
    """Return set-ups with the same pause for all utterances."""
    return [Setup(f"{detector} {ms}", Endings(ms)) for ms in FIXED_MS]


def row(what: str, part: str, delays: Sequence[float]) -> Row:
    """Return the figures of delays in ms; turns that were cut off have none."""
    all_of_them = np.array(delays)
    ended = all_of_them[all_of_them >= 0]
    if not len(ended):
        ended = np.array([np.nan])  # everybody was cut off
    p50, p95 = (float(np.percentile(ended, share, method="higher")) for share in (50, 95))
    cut = 100 * float(np.mean(all_of_them < 0))
    late = int(np.sum(all_of_them > LATEST_MS))
    cut, p50, p95, most = (round(figure, 1) for figure in (cut, p50, p95, float(ended.max())))
    return Row(what, part, len(delays), cut, p50, p95, most, late)


def delays_of(setup: Setup, chosen: Sequence[Utterance], *, half: bool = False) -> Delays:
    """Return the delays by this set-up and fixed pauses; `half`: for half of the utterances."""
    silero, webrtc = SileroDetector(), WebrtcDetector()
    with_silero, with_webrtc = [setup, *fixed("silero")], fixed("webrtc")
    delays: Delays = defaultdict(list)
    for number, said in enumerate(chosen):
        beside = not half or number // 8 % 2 == 0
        pairs = ((silero, with_silero), (webrtc, with_webrtc)) if beside else ((silero, [setup]),)
        for noise_db in levels_of(number):
            sound = take(said, noise_db, number)
            for voice, setups in pairs:
                heard = Heard(voice, sound.pcm)
                for one in setups:
                    delays[one.name].append((said, noise_db, one.delay_ms(sound, heard)))
    return delays


def on_the_list(setup: Setup) -> list[Row]:
    """Return rows of commands and questions, each half by itself, and by noise."""
    delays, rows = delays_of(setup, utterances(), half=how_many(1, 0) == 1), []
    for kind in ("command", "question"):
        for name, turns in delays.items():
            parts = _parts([turn for turn in turns if turn[0].kind == kind])
            rows += [
                row(name, f"{kind}s, {part}", found)
                for part, found in parts.items()
                if name == setup.name or part == "all"
            ]
    return rows


def levels_of(number: int) -> Sequence[float | None]:
    """Return the noise levels of an utterance: all with LONG=1, else one in rotation."""
    turn = (number + number // 8) % len(NOISE_DB)
    return NOISE_DB[turn : turn + 1] if how_many(1, 4) == 1 else NOISE_DB


def _parts(turns: Sequence[tuple[Utterance, float | None, float]]) -> dict[str, list[float]]:
    parts: dict[str, list[float]] = {"all": [ms for _, _, ms in turns]}
    for half, called in (("tune", "tuned on"), ("held", "held out")):
        parts[called] = [ms for said, _, ms in turns if said.half == half]
    for level in NOISE_DB:
        parts[f"{level or 'no'} dB"] = [ms for _, noise_db, ms in turns if noise_db == level]
    return parts


def on_the_clips(setup: Setup) -> list[Row]:
    """Return rows of ten recordings of people who say "turn on the office lights"."""
    voice = SileroDetector()
    folder = shared_folder() / "data" / "speech"
    delays = []
    for path in sorted(folder.glob("turn_on_the_office_lights_*.wav")):
        pcm = read_wav(path)
        samples = np.frombuffer(pcm, np.int16).astype(np.float64)
        padded = np.concatenate((np.zeros(_LEAD), samples, np.zeros(_TAIL)))
        padded += np.random.default_rng(1).normal(0, _CLIP_NOISE, len(padded))
        first, last = voiced(pcm)
        whole = np.clip(np.rint(padded), -32768, 32767).astype(np.int16).tobytes()
        delays.append(setup.delay_ms(Take(whole, _LEAD + first, _LEAD + last), Heard(voice, whole)))
    return [row(setup.name, "recordings", delays)] if delays else []


def with_noises(setup: Setup, chosen: Sequence[Utterance]) -> list[Row]:
    """Return rows of other room sounds at four levels; talk has its own table (`second_talker`)."""
    rows, voice = [], SileroDetector()
    for name in ("fan", "water", "dishes", "music"):
        for snr_db in (20.0, 10.0, 5.0, 0.0):
            delays = []
            for seed, said in enumerate(chosen):
                sound = take(said, None, seed)
                noise = NOISES[name](len(sound.pcm) / 2 / SAMPLE_RATE + 1, seed)
                mixed = Take(mix(sound.pcm, noise, snr_db), sound.first_voiced, sound.last_voiced)
                delays.append(setup.delay_ms(mixed, Heard(voice, mixed.pcm)))
            rows.append(row(setup.name, f"{name} {snr_db:g} dB", delays))
    return rows


def main() -> None:
    """Measure every utterance at every level and in other noises with LONG=1, else at one level.

    Fails if LIMITS are exceeded.
    """
    setup = adaptive()
    rows = on_the_list(setup) + on_the_clips(setup)
    limited = [one for one in rows if one.what == setup.name and one.part in LIMITS]
    if how_many(0, 1):
        rows += with_noises(setup, [said for said in utterances() if said.pause_ms == 0][:10])
    print_table(HEAD, (one.cells() for one in rows))
    write_figures("end_of_turn", {"rows": rows})
    for one in limited:
        cut_percent, p50_ms = LIMITS[one.part]
        if one.cut_percent > cut_percent or one.p50_ms > p50_ms or one.late:
            limits = f"{cut_percent:g} % cut off, {p50_ms:g} ms, none later than {LATEST_MS} ms"
            raise AssertionError(f"{one.part}: at most {limits}")
