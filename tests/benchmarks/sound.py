"""Sound for the benchmarks: spoken commands, the ends of their last words, and noting players."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audio.frames import FRAME_MS, SAMPLE_RATE, Frame
from audio.microphone import BLOCK_MS
from audio.player import NullPlayer
from audio.sound_files import WavSource, read_wav, write_wav
from audio.tts import Chunk
from tests.corpus.speech import WAKE_WORD, say
from tests.shared_data import shared_folder

COMMAND = "turn on the office lights"
AUDIBLE = 327  # int16 level, 1 % of full scale, from which sound counts as heard
_TAKES = ("02", "04", "06", "08", "10", "12", "14", "16", "18", "20")
_VOICES = ("slt", "rms", "awb")
_AFTER_S = 1.2  # silence at the file's end; after it real time goes on
_FRAME = SAMPLE_RATE * 20 // 1000  # of the rule for the last voiced sample
_HOP = SAMPLE_RATE * 5 // 1000
_RANGE_DB = 24.0


@dataclass(frozen=True, slots=True)
class Clip:
    """A wake word and a command in one breath."""

    path: Path
    last_voiced: int  # sample in the file, 16 kHz


def clips(folder: Path, tight: bool = False) -> list[Clip]:
    """Return recordings of ten people if they are available, else flite's three voices.

    `tight`: without what lies around the command's voiced part, so that a turn takes less time.
    """
    return [_write(folder / f"clip-{i}.wav", *pair, tight) for i, pair in enumerate(spoken())]


def spoken() -> list[tuple[bytes, bytes]]:
    """Return the wake word and the command of each speaker, 16 kHz mono int16."""
    speech = shared_folder() / "data" / "speech"
    if speech.is_dir():
        wake = read_wav(speech / "okay_nabu.wav")
        takes = (read_wav(speech / f"turn_on_the_office_lights_{take}.wav") for take in _TAKES)
        return [(wake, take) for take in takes]
    quiet = bytes(SAMPLE_RATE)
    pairs = ((say(WAKE_WORD, voice), say(COMMAND, voice)) for voice in _VOICES)
    return [(quiet + wake.tobytes(), command.tobytes()) for wake, command in pairs]


def _write(path: Path, wake: bytes, command: bytes, tight: bool) -> Clip:
    first, last = voiced(command)
    if tight:
        command = command[first * 2 : last * 2]
        first, last = 0, last - first
    write_wav(path, wake + command + bytes(round(_AFTER_S * SAMPLE_RATE) * 2), SAMPLE_RATE)
    return Clip(path, len(wake) // 2 + last)


def voiced(pcm: bytes) -> tuple[int, int]:
    """Return the voiced part of mono int16 at 16 kHz: its first sample and the one after its last.

    The last voiced sample is the end of the last 20 ms frame (every 5 ms) whose RMS is within 24 dB
    of the recording's loudest frame; the first likewise. This rule affects every figure.
    """
    samples = np.frombuffer(pcm, np.int16).astype(np.float64)
    starts = range(0, len(samples) - _FRAME + 1, _HOP)
    levels = np.array([np.sqrt(np.mean(samples[at : at + _FRAME] ** 2)) for at in starts])
    loud = np.flatnonzero(levels >= levels.max() * 10 ** (-_RANGE_DB / 20))
    return int(loud[0]) * _HOP, int(loud[-1]) * _HOP + _FRAME


class StampedSource(WavSource):
    """A file in real time, in blocks as a microphone delivers them, that knows when it began."""

    def __init__(self, clip: Clip) -> None:
        super().__init__(clip.path, realtime=True)
        self._last_voiced = clip.last_voiced
        self._began = 0.0

    async def frames(self) -> AsyncGenerator[Frame, None]:
        self._began = time.monotonic()
        block: list[Frame] = []
        async for frame in super().frames():
            block.append(frame)
            if len(block) == BLOCK_MS // FRAME_MS:
                for one in block:
                    yield one
                block.clear()
        for one in block:
            yield one

    @property
    def last_word_at(self) -> float:
        """Return when the last voiced sample was spoken: seconds of the monotonic clock."""
        return self._began + self._last_voiced / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of sound that a player was given."""

    at: float  # when: seconds of the monotonic clock
    samples: NDArray[np.int16]
    rate: int  # Hz


class NotingPlayer(NullPlayer):
    """Plays nothing, but records its input, and when it was told to stop."""

    def __init__(self, paced: bool = False) -> None:
        super().__init__(paced)
        self.pieces: list[Piece] = []
        self.stops: list[float] = []  # when `stop` returned
        self.given = asyncio.Event()  # something was

    async def play(self, pcm: bytes, rate: int) -> None:
        self.pieces.append(Piece(time.monotonic(), np.frombuffer(pcm, np.int16), rate))
        self.given.set()
        await super().play(pcm, rate)

    def stop(self) -> None:
        super().stop()
        self.stops.append(time.monotonic())

    def clear(self) -> None:
        """Forget the records."""
        self.pieces.clear()
        self.stops.clear()
        self.given.clear()

    def first_sound(self, after: float) -> tuple[float, float]:
        """Return when the answer's first piece was handed over, and when it is first audible.

        Both are seconds of the monotonic clock; the second as a speaker without delay plays it.
        Pieces before `after`, such as the wake sound, are ignored.
        """
        pieces = [piece for piece in self.pieces if piece.at >= after]
        began, played = pieces[0].at, 0.0
        for piece in pieces:
            heard = np.flatnonzero(np.abs(piece.samples.astype(np.int32)) >= AUDIBLE)
            if heard.size:
                return began, max(began + played, piece.at) + int(heard[0]) / piece.rate
            played += len(piece.samples) / piece.rate
        raise AssertionError("nothing audible was played")


class InstantVoice:
    """A voice that takes no time: 100 ms per clause, each at a level of its own."""

    name = "instant"
    rate = 16_000  # Hz

    def __init__(self) -> None:
        self._clauses = 0

    def speak(self, text: str) -> Iterator[Chunk]:
        self._clauses += 1
        level = AUDIBLE + self._clauses % 30_000
        yield Chunk(np.full(self.rate // 10, level, np.int16).tobytes())
