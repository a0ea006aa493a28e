"""Echo cancellation on made rooms: what goes, what stays of a person, and what it costs."""

import time
from dataclasses import dataclass

import numpy as np
import soxr
from numpy.typing import NDArray

from audio.echo.livekit import ECHO_DELAY, LivekitCleaner, Residual
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.corpus.speech import say

OUTPUT_RATE = 48_000  # Hz
_BLOCK = OUTPUT_RATE // 100  # samples, 10 ms
_AHEAD_S = 0.06  # of the output before the microphone
_MICROPHONE = SAMPLE_RATE * 80 // 1000  # samples that come at a time
_NOISE = 15.0  # int16 RMS of the room
_LEVEL = 3_000.0
_PERSON_AT = 8 * SAMPLE_RATE
_LEARNT = 4 * SAMPLE_RATE
_ANSWERS = (
    "The kitchen light is on, and the bedroom is at twenty one degrees.",
    "Tomorrow will be cloudy with some rain in the afternoon.",
    "There are three things on your shopping list: bread, milk and apples.",
    "The washing machine will be done in about forty minutes.",
    "The front door is locked and all windows are closed.",
)

Wave = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one delay and drift."""

    delay_ms: int
    drift_ppm: int
    # dB that the canceller alone takes off the echo, in the first second and after four.
    canceller_first: float
    canceller_later: float
    # The same with what is judged to be ours alone held down.
    whole_first: float
    whole_later: float
    ours: float  # share of the processed frames that were judged ours
    kept_person: float  # dB, of a person at the level of the echo
    core_percent: float


def main() -> None:
    """Print and write the table."""
    repeats = how_many(1, 4)
    answers = [_speech(text, "espeak:en-us") for text in _ANSWERS] * repeats
    far = np.concatenate(answers)
    person = _speech("turn off the lights in the dining room and close the door", "slt")
    rows = [
        _measure(far, person, delay_ms, ppm) for delay_ms in (40, 120, 250) for ppm in (0, 50, 200)
    ]
    head = ("delay ms", "drift ppm", "canceller dB", "whole dB", "ours", "person dB", "core %")
    print_table(
        head,
        [
            (
                row.delay_ms,
                row.drift_ppm,
                f"{row.canceller_first:.0f} / {row.canceller_later:.0f}",
                f"{row.whole_first:.0f} / {row.whole_later:.0f}",
                f"{row.ours:.1%}",
                f"{row.kept_person:.1f}",
                f"{row.core_percent:.2f}",
            )
            for row in rows
        ],
    )
    write_figures("echo", rows)


def _measure(far: Wave, person: Wave, delay_ms: int, ppm: int) -> Figures:
    echo = _echo(far, delay_ms, ppm)
    bare = LivekitCleaner()
    bare._residual = _Nobody()
    alone, _ = _run(bare, far, echo)
    cleaner = LivekitCleaner()
    out, seconds = _run(cleaner, far, echo)
    ours = cleaner.counts.ours / max(1, cleaner.counts.processed)
    near = echo.copy()
    spoken = slice(_PERSON_AT, _PERSON_AT + len(person))
    near[spoken] += person
    over, _ = _run(LivekitCleaner(), far, near)
    loud = np.abs(person) > _LEVEL / 2
    return Figures(
        delay_ms,
        ppm,
        *_erle(echo, alone),
        *_erle(echo, out),
        ours,
        _db(over[spoken][loud]) - _db(person[loud]),
        seconds / (len(out) / SAMPLE_RATE) * 100,
    )


class _Nobody(Residual):
    """Never holds anything down."""

    def judge(self, heard: float, left: float, playing: bool) -> bool:
        return False


def _erle(echo: Wave, out: Wave) -> tuple[float, float]:
    first = _db(echo[:SAMPLE_RATE]) - _db(out[:SAMPLE_RATE])
    return first, _db(echo[_LEARNT : len(out)]) - _db(out[_LEARNT:])


def _run(cleaner: LivekitCleaner, far: Wave, near: Wave) -> tuple[Wave, float]:
    """What comes out, moved to where it went in, and the seconds of processor for it."""
    played = soxr.resample(far, SAMPLE_RATE, OUTPUT_RATE).clip(-32_768, 32_767).astype(np.int16)
    rng = np.random.default_rng(3)
    heard = (near + rng.standard_normal(len(near)) * _NOISE).clip(-32_768, 32_767)
    frames = heard.astype(np.int16)
    out, given, spent = [], 0, 0.0
    for at in range(0, len(frames) - _MICROPHONE + 1, _MICROPHONE):
        due = round(((at + _MICROPHONE) / SAMPLE_RATE + _AHEAD_S) * OUTPUT_RATE)
        block = [frames[start : start + FRAME_SAMPLES] for start in _starts(at)]
        begun = time.process_time()
        while given + _BLOCK <= min(due, len(played)):
            cleaner.played(played[given : given + _BLOCK].tobytes(), OUTPUT_RATE)
            given += _BLOCK
        out += [cleaner.clean(frame.tobytes()) for frame in block]
        spent += time.process_time() - begun
    cleaned = np.frombuffer(b"".join(out), np.int16).astype(np.float64)
    return np.concatenate([cleaned[ECHO_DELAY:], np.zeros(ECHO_DELAY)]), spent


def _starts(at: int) -> range:
    return range(at, at + _MICROPHONE, FRAME_SAMPLES)


def _echo(far: Wave, delay_ms: int, ppm: int) -> Wave:
    """In a room, so late behind the hand-over, by a clock that runs so much faster."""
    count = SAMPLE_RATE // 10
    answer = np.random.default_rng(7).standard_normal(count)
    answer *= np.exp(-np.arange(count) / 320) * 0.1
    answer[0] = 1.0
    sound = np.convolve(far, answer / np.sqrt(np.sum(answer**2)))
    drifted = soxr.resample(sound, SAMPLE_RATE, SAMPLE_RATE * (1 + ppm * 1e-6))
    late = round((delay_ms / 1000 + _AHEAD_S) * SAMPLE_RATE)
    echo: Wave = np.concatenate([np.zeros(late), drifted])[: len(far)]
    return echo


def _speech(text: str, voice: str) -> Wave:
    wave = say(text, voice).astype(np.float64)
    loud = np.abs(wave) > np.abs(wave).max() / 20
    spoken: Wave = wave * (_LEVEL / np.sqrt(np.mean(wave[loud] ** 2)))
    return np.concatenate([spoken, np.zeros(SAMPLE_RATE // 2)])


def _db(wave: Wave) -> float:
    return float(10 * np.log10(np.mean(wave**2) + 1e-3))


if __name__ == "__main__":
    main()
