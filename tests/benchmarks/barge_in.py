"""Barge-in: when an answer is lowered and cut, which sounds are ignored, and stop words by ear.

Recorded people, each from the first loud 20 ms on, through silero and the ear, in sound's own time:
the processing of a frame and the loudspeaker's latency come on top. Stop words are flite's.
"""

import asyncio
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assistant.conversation.audio_front_end import AudioFrontEnd
from assistant.conversation.rules.events import SpeechHeld, SpeechStarted
from assistant.conversation.stop_words import hears_stop
from audio.endpoint import Endpointer
from audio.frames import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE, SAMPLES_PER_MS, Frame
from audio.recognize.sphinx import SphinxRecognizer
from audio.sound_files import read_wav
from audio.vad import make_voice_detector
from tests.benchmarks.figures import print_table, spread, write_figures
from tests.shared_data import shared_folder
from tests.unit.assistant.conversation.doubles import NoWake

LEAD_MS = 2_000  # of a quiet room before anybody speaks
LOUD = 0.1  # of the loudest frame's level
SHORT_MS = 150  # a cough
VOICES = ("rms", "slt", "awb", "kal16")
STOPS = ("stop", "stop it", "stop please", "be quiet", "shut up", "never mind", "enough")
OTHERS = ("yes", "no", "hello", "top", "shop", "what time is it", "the kitchen", "thank you")

Samples = npt.NDArray[np.int16]


def levels(sound: Samples) -> npt.NDArray[np.float64]:
    """Return the level of each 20 ms."""
    frames = sound[: len(sound) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    return np.asarray(np.sqrt(np.mean(frames.astype(np.float64) ** 2, axis=1)))


def from_first_loud(sound: Samples) -> Samples:
    """Return the sound from its first loud 20 ms on."""
    level = levels(sound)
    return sound[int(np.argmax(level > LOUD * level.max())) * FRAME_SAMPLES :]


def loudest(sound: Samples, ms: int) -> Samples:
    """Return the stretch of that length around the loudest frame."""
    middle = int(np.argmax(levels(sound))) * FRAME_SAMPLES
    begin = max(0, middle - ms * SAMPLES_PER_MS // 2)
    return sound[begin : begin + ms * SAMPLES_PER_MS]


def heard(sound: Samples) -> tuple[float | None, float | None]:
    """Return when speech was reported and when it had lasted, in ms after the first sample."""
    noise = np.random.default_rng(1)
    lead = noise.integers(-20, 21, LEAD_MS * SAMPLES_PER_MS)
    whole = np.concatenate([lead, sound, noise.integers(-20, 21, SAMPLE_RATE)]).astype(np.int16)
    voice = make_voice_detector()
    ear = AudioFrontEnd(NoWake(), voice, Endpointer(chunk_samples=voice.chunk_samples))
    ear.watch(0, 0)
    told: dict[type, float] = {}
    for number in range(len(whole) // FRAME_SAMPLES):
        start = number * FRAME_SAMPLES
        frame = Frame(whole[start : start + FRAME_SAMPLES].tobytes(), start)
        for event in ear.hear(frame):
            told.setdefault(type(event), float((number + 1) * FRAME_MS - LEAD_MS))
    return told.get(SpeechStarted), told.get(SpeechHeld)


def flite(words: str, voice: str) -> bytes:
    """Return 16 kHz mono int16 with a quarter of a second of silence around."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.wav"
        subprocess.run(
            ["flite", "-voice", voice, "-t", words, "-o", str(path)],
            check=True,
            capture_output=True,
        )
        edge = bytes(SAMPLE_RATE // 2)
        return edge + read_wav(path) + edge


async def stopped(phrases: tuple[str, ...]) -> dict[str, int]:
    """Return for each phrase the number of voices with which it was taken for a stop word."""
    recognizer = SphinxRecognizer()

    async def transcribe(pcm: bytes) -> str:
        return recognizer.transcribe(pcm)

    return {
        words: sum([await hears_stop(flite(words, voice), transcribe) for voice in VOICES])
        for words in phrases
    }


def main() -> None:
    """Print the tables and write the figures."""
    clips = [
        np.frombuffer(read_wav(path), np.int16)
        for path in sorted((shared_folder() / "data" / "speech").glob("*.wav"))
    ]
    if not clips:
        print("  no recorded speech: set HEARTH_SHARED to the folder of shared test data")
        return
    times = [heard(from_first_loud(clip)) for clip in clips]
    short = [heard(loudest(clip, SHORT_MS)) for clip in clips]
    lowered = spread(told for told, _ in times if told is not None)
    cut = spread(held for _, held in times if held is not None)
    print_table(
        ("", "of", "told", "p50 / p95 / most, ms after the first loud frame"),
        [
            ("lowered", len(clips), lowered.count, lowered),
            ("cut", len(clips), cut.count, cut),
            (
                f"lowered by {SHORT_MS} ms",
                len(short),
                sum(told is not None for told, _ in short),
                "",
            ),
            (f"cut by {SHORT_MS} ms", len(short), sum(held is not None for _, held in short), ""),
        ],
    )
    words = asyncio.run(stopped(STOPS + OTHERS))
    print_table(("said", f"taken for a stop word, of {len(VOICES)}"), words.items())
    cut_by_short = sum(held is not None for _, held in short)
    write_figures(
        "barge_in",
        {"lowered": lowered, "cut": cut, "cut_by_150_ms": cut_by_short, "stop_words": words},
    )


if __name__ == "__main__":
    main()
