"""Delays for the gate in the sound's own time: the same everywhere, so once for all rounds."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from statistics import median

from assistant.conversation.endpointing import Endings
from audio.frames import SAMPLE_RATE
from audio.vad.silero import SileroDetector
from tests.benchmarks.barge_in import from_first_loud, heard
from tests.benchmarks.end_of_turn import Setup, adaptive
from tests.benchmarks.ending_stage import Heard
from tests.benchmarks.gate_ratio import Round
from tests.benchmarks.sound import COMMAND, voiced
from tests.benchmarks.utterances import take, utterances
from tests.benchmarks.waking import fired, make
from tests.corpus.speech import WAKE_WORD, say

EACH = 6  # utterances of a kind
PLAIN_MS = 1200  # a pause that cuts off hardly anybody
TALK_MS = 300  # of somebody's talk cut an answer off
_NEVER = float("inf")
_VOICES = ("slt", "rms", "awb")  # flite's, that say the wake word


@asynccontextmanager
async def delays(folder: Path) -> AsyncIterator[Round]:
    """Measure delays of turn ends, wake words and interruptions.

    Turn ends are divided by a fixed pause on the same sounds, wake words by their length, and talk
    over an answer by the time that it must last.
    """
    found = {**_ends(), **_wake_words(), **_interruptions()}

    async def one() -> Mapping[str, float]:
        return found

    yield one


def _ends() -> Mapping[str, float]:
    """Return the delays of held-out commands and questions, some with a pause before the last
    words.

    The recogniser's time is in another figure, so here it takes none.
    """
    ours, plain = adaptive(slower=0.0), Setup("plain", Endings(PLAIN_MS))
    silero, ratios, cut = SileroDetector(), {}, 0
    for kind in ("command", "question"):
        chosen = (one for one in utterances() if (one.kind, one.half) == (kind, "held"))
        both: list[tuple[float, float]] = []
        for number, said in enumerate(islice(chosen, EACH)):
            sound = take(said, None, number)
            heard = Heard(silero, sound.pcm)
            both.append((ours.delay_ms(sound, heard), plain.delay_ms(sound, heard)))
        cut += sum(ms < 0 for ms, _ in both)
        ratio = median(ms for ms, _ in both) / median(ms for _, ms in both)
        ratios[f"from the last word to the end of a {kind}"] = ratio
    return {**ratios, f"cut-offs of {2 * EACH} sentences, plus one": 1.0 + cut}


def _wake_words() -> Mapping[str, float]:
    """Return the times from the first voiced sample of "okay nabu" to its detection."""
    engine, ratios = make("micro"), []
    for voice in _VOICES:
        word = say(WAKE_WORD, voice).tobytes()
        first, last = voiced(word)
        found = fired(engine, "micro", bytes(2 * SAMPLE_RATE) + word + bytes(2 * SAMPLE_RATE))
        at = next((one.at for one in found), _NEVER)
        ratios.append((at - SAMPLE_RATE - first) / (last - first))
    engine.close()
    return {"from the start of the wake word to its detection": median(ratios)}


def _interruptions() -> Mapping[str, float]:
    """Return the times from the first loud sound over an answer until the answer is cut off."""
    taken = [heard(from_first_loud(say(COMMAND, voice)))[1] for voice in _VOICES]
    cut = median(_NEVER if ms is None else ms for ms in taken)
    return {"from an interruption to the end of the answer": cut / TALK_MS}
