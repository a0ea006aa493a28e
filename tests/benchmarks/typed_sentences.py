"""The CPU time of typed sentences for the brain on the device, by the size of the house.

    python -m tests.benchmarks.typed_sentences [SIZE ...]

Each sentence counts with the fastest of several runs, so that other work on the machine counts
little. The house is that of `tests.benchmarks.scale.houses`; every call is answered as done.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from statistics import median, quantiles

from assistant.brains.offline import OfflineBrain
from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu
from tests.benchmarks.figures import how_many
from tests.benchmarks.scale.houses import SIZES, picture
from tests.corpus.runs import corpus_menu, read

SENTENCES = (
    "turn on the reading light",
    "turn off the bedroom lamp",
    "set the kitchen ceiling light to 40 percent",
    "a bit brighter in the office",
    "close the living room blinds",
    "set the attic thermostat to 21 degrees",
    "lock the bathroom lock",
    "play music in the studio",
    "pause the garage speaker",
    "turn off all the lights",
    "turn on the studio lamp and turn off the office lamp",
    "turn on the kitchen fan for ten minutes",
    "what is the temperature in the library",
    "is the office window open",
    "how many lights are on",
    "turn on the bedrom lamp",
    "turn off the dishwasher",  # of which there is none
    "the weather was nice yesterday",  # no command
)


class _Deaf:
    languages = ("en",)

    def transcribe(self, pcm: bytes) -> str:
        raise AssertionError("nothing is spoken")


async def measure(size: int, times: int) -> tuple[float, list[float]]:
    """Return the CPU time of the first sentence and of each sentence, in ms."""
    house, tools = picture(size), corpus_menu()

    async def menu() -> Menu:
        return tools

    brain = OfflineBrain(lambda: house, menu, _Deaf(), Catalogue(), VirtualClock(), area="Kitchen")
    try:
        first = await _took(brain, SENTENCES[0])
        return first, [
            min([await _took(brain, sentence) for _ in range(times)]) for sentence in SENTENCES
        ]
    finally:
        brain.close()


async def _took(brain: OfflineBrain, sentence: str) -> float:
    cpu = time.process_time()
    await read(brain, sentence)
    return (time.process_time() - cpu) * 1000


def main(sizes: Sequence[int]) -> None:
    for size in sizes:
        first, each = asyncio.run(measure(size, how_many(2, 5)))
        print(
            f"{size:5,} things: first {first:.0f} ms, then p50 {median(each):.1f} ms, "
            f"p95 {quantiles(each, n=20)[-1]:.1f} ms, at most {max(each):.1f} ms"
        )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
