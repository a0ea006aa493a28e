"""Ratios of the recogniser that detects the end of a command, for the gate."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from assistant.brains.offline.grammar import sayable
from assistant.brains.offline.names import house_names
from audio.frames import SAMPLE_RATE
from audio.recognize.protocol import Grammar
from audio.recognize.sphinx import SphinxLive
from tests.benchmarks.gate_ratio import Pair, Round, in_turns
from tests.benchmarks.gate_works import frames, transforms
from tests.benchmarks.scale.houses import picture

THINGS = 100  # of the house
_LEVEL_BYTES = SAMPLE_RATE * 2 * 13 // 10  # 1.3 s of sound, from which the voice's level is known
_PIECE_BYTES = SAMPLE_RATE * 2 // 10


def ready() -> SphinxLive:
    """Return one that knows the house, as a first turn leaves it."""
    recognizer = SphinxLive()
    recognizer.prepare(_grammar(recognizer))
    return recognizer


@asynccontextmanager
async def endings(folder: Path) -> AsyncIterator[Round]:
    """Measure a followed sentence, and the learning of a house's names, by numpy transforms."""
    recognizer = ready()
    grammar = _grammar(recognizer)
    pcm = b"".join(frame.pcm for frame in frames(4, bursts=True))

    def followed() -> None:
        recognizer.start(pcm[:_LEVEL_BYTES])
        for at in range(_LEVEL_BYTES, len(pcm), _PIECE_BYTES):
            recognizer.hear(pcm[at : at + _PIECE_BYTES])
        recognizer.words(len(pcm) // 2)
        recognizer.stop()

    def learned() -> None:
        recognizer.prepare(grammar)

    yield in_turns(
        Pair("following a command for four seconds", followed, transforms),
        Pair("learning a house's names", learned, transforms),
    )


def _grammar(recognizer: SphinxLive) -> Grammar:
    house = picture(THINGS)
    return sayable(house_names(house), house, "", recognizer.unknown)
