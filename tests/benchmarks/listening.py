"""What listening costs: wake word and voice activity on a minute of sound, in parts of one core."""

import time
from collections.abc import Callable

import numpy as np

from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE
from audio.vad.silero import SileroDetector
from audio.vad.webrtc import WebrtcDetector
from audio.wake import make_wake_engine

SECONDS = 60
WARM_UP = SAMPLE_RATE // FRAME_SAMPLES  # frames, one second


def noise() -> list[bytes]:
    """Frames of quiet white noise; the engines do the same work for it as for speech."""
    samples = np.random.default_rng(1).normal(0, 300, (SECONDS + 1) * SAMPLE_RATE)
    pcm = samples.astype(np.int16).tobytes()
    return [pcm[at : at + FRAME_BYTES] for at in range(0, len(pcm), FRAME_BYTES)]


def measure(name: str, frames: list[bytes], hear: Callable[[bytes, int], object]) -> None:
    """Time every frame after the warm-up; print the share of one core and the slowest frame."""
    taken: list[float] = []
    cpu = 0.0
    for index, pcm in enumerate(frames):
        if index == WARM_UP:
            cpu = time.process_time()
        before = time.perf_counter()
        hear(pcm, (index + 1) * FRAME_SAMPLES)
        taken.append(time.perf_counter() - before)
    cpu = time.process_time() - cpu
    taken = taken[WARM_UP:]
    print(
        f"  {name:18} {sum(taken) / SECONDS:6.2%} of a core by the clock, {cpu / SECONDS:6.2%} in"
        f" CPU time, slowest 20 ms frame {max(taken) * 1000:.1f} ms"
    )


def main() -> None:
    """Measure each engine alone, in one thread."""
    frames = noise()
    measure("wake word, micro", frames, make_wake_engine("micro", ["okay_nabu"]).hear)
    measure("wake word, open", frames, make_wake_engine("open", ["okay_nabu"]).hear)
    measure("speech, silero", frames, SileroDetector().hear)
    measure("speech, webrtc", frames, WebrtcDetector().hear)
