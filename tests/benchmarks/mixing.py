"""The loudspeaker's mixer over a long day: cost of a block, memory, and what was counted."""

import gc
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from audio.mixer import RATE, Mixer, Track
from audio.playback import BLOCK_MS
from audio.player import StreamName
from audio.resampling import Conversion
from tests.benchmarks.figures import how_many, print_table, spread, write_figures

_BLOCK = RATE * BLOCK_MS // 1000
_PAGE = 4096  # bytes
_KEPT = 50_000  # costs
_PIECE_S = 0.2  # of what a voice hands over at a time
# What is played, in turns: stream, its rate in Hz, how long, and the silence after it.
_DAY: tuple[tuple[StreamName, int, float, float], ...] = (
    ("sounds", 22_050, 0.16, 0.4),
    ("voice", 22_050, 3.3, 1.0),
    ("ringing", 22_050, 0.84, 0.0),
    ("announcements", 24_000, 2.7, 0.7),
    ("voice", 24_000, 6.1, 2.0),
    ("voice", 16_000, 1.9, 0.0),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of it."""

    hours: float
    microseconds: dict[str, float]  # of one block
    real_time: float  # how many times faster than sound
    memory_kib: tuple[int, int]  # resident after a tenth, and at the end
    given_ms: dict[str, float]
    counted_ms: dict[str, float]
    underruns: int


class Day:
    """Plays all that, over and over, as fast as it goes."""

    def __init__(self) -> None:
        self.mixer = Mixer()
        self.costs = np.zeros(_KEPT)  # microseconds of the newest blocks
        self.blocks = 0
        self.given = dict.fromkeys(self.mixer.tracks, 0.0)  # ms
        self._conversions = {name: Conversion(RATE) for name in self.mixer.tracks}
        noise = np.random.default_rng(6).normal(0, 5000, 48_000).clip(-32_000, 32_000)
        self._noise = noise.astype(np.int16).tobytes()

    def round(self) -> None:
        """Everything once."""
        for name, rate, seconds, pause in _DAY:
            track, conversion = self.mixer.tracks[name], self._conversions[name]
            left = round(seconds * rate)
            while left:
                samples = min(left, round(_PIECE_S * rate))
                pcm = self._noise[: 2 * samples]
                track.put(np.frombuffer(conversion.push(pcm, rate), np.int16))
                self.given[name] += 1000 * samples / rate
                left -= samples
                self._play_until(track, RATE)
            track.put(np.frombuffer(conversion.flush(), np.int16))
            track.end()
            self.mixer.duck(name == "announcements")
            self._play_until(track, 0 if pause else RATE // 10)
            for _ in range(round(pause * RATE / _BLOCK)):
                self._block()

    def end(self) -> None:
        """Play what is left."""
        while not self.mixer.quiet:
            self._block()

    def _play_until(self, track: Track, waiting: int) -> None:
        while track.waiting > waiting:
            self._block()

    def _block(self) -> None:
        began = time.perf_counter()
        self.mixer.mix(_BLOCK, self.blocks * _BLOCK / RATE)
        self.costs[self.blocks % _KEPT] = 1e6 * (time.perf_counter() - began)
        self.blocks += 1


def measure(hours: float) -> Figures:
    """So many hours of sound."""
    day = Day()
    wanted = round(hours * 3600 * RATE / _BLOCK)
    began, after_a_tenth = time.perf_counter(), 0
    while day.blocks < wanted:
        day.round()
        if not after_a_tenth and day.blocks >= wanted / 10:
            after_a_tenth = _resident_kib()
    day.end()
    now = day.blocks * _BLOCK / RATE
    took, at_the_end = time.perf_counter() - began, _resident_kib()
    costs = spread(day.costs)
    tracks = day.mixer.tracks
    return Figures(
        hours=round(now / 3600, 2),
        microseconds={"p50": costs.p50, "p95": costs.p95, "most": costs.most},
        real_time=round(now / took),
        memory_kib=(after_a_tenth, at_the_end),
        given_ms={name: round(ms, 2) for name, ms in day.given.items()},
        counted_ms={name: round(tracks[name].position(now) * 1000 / RATE, 2) for name in tracks},
        underruns=sum(track.underruns for track in tracks.values()),
    )


def _resident_kib() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE // 1024


def main() -> None:
    """Half an hour, or the whole twelve."""
    figures = measure(how_many(1, 24) / 2)
    cost = figures.microseconds
    print_table(
        ("hours", f"us per {BLOCK_MS} ms block p50 / p95 / most", "x real time", "KiB 10 % -> end"),
        [
            (
                figures.hours,
                f"{cost['p50']} / {cost['p95']} / {cost['most']}",
                figures.real_time,
                " -> ".join(map(str, figures.memory_kib)),
            )
        ],
    )
    print_table(
        ("stream", "given ms", "counted ms", "difference ms"),
        [
            (name, given, figures.counted_ms[name], round(figures.counted_ms[name] - given, 2))
            for name, given in figures.given_ms.items()
        ],
    )
    write_figures("mixing", asdict(figures))
    drift = max(abs(figures.counted_ms[name] - given) for name, given in figures.given_ms.items())
    assert drift < 1.0 + 0.001 * figures.hours * 3600, f"the count is {drift:.1f} ms off"
    assert figures.memory_kib[1] - figures.memory_kib[0] < 2048, "memory grows"
    assert not figures.underruns
