"""Cut-offs, and delays of the other turns' ends: ours and pipecat's on the same utterances."""

from collections.abc import Sequence
from pathlib import Path

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from audio.vad.silero import SileroDetector
from tests.benchmarks.end_of_turn import adaptive
from tests.benchmarks.ending_stage import Heard
from tests.benchmarks.peers.pipecat import Heard as PeerHeard
from tests.benchmarks.peers.pipecat import Pipecat
from tests.benchmarks.utterances import Take, Utterance, take

STREAMS = 4  # of the peer at once: in real time each takes as long as it lasts

# The utterance, and ms from its last voiced sample to the end of the turn: negative where it was
# cut off, infinite where it never ended. See `end_of_turn.Setup.delay_ms`.
Delays = list[tuple[Utterance, float]]


def takes_of(chosen: Sequence[Utterance]) -> list[tuple[Utterance, Take]]:
    """Return a take of each in a quiet room."""
    return [(said, take(said, None, number)) for number, said in enumerate(chosen)]


def ours(takes: Sequence[tuple[Utterance, Take]]) -> Delays:
    """Measure ours in stream time; the recogniser's work counts."""
    setup, voice = adaptive(), SileroDetector()
    return [(said, setup.delay_ms(sound, Heard(voice, sound.pcm))) for said, sound in takes]


async def theirs(peer: Pipecat, folder: Path, takes: Sequence[tuple[Utterance, Take]]) -> Delays:
    """Measure the peer in real time, some takes at once, without a model."""
    paths = []
    for number, (_, sound) in enumerate(takes):
        path = folder / f"utterance-{number}.wav"
        write_wav(path, sound.pcm, SAMPLE_RATE)
        paths.append(path)
    heard = await peer.listen(paths, STREAMS)
    both = zip(takes, heard, strict=True)
    return [(said, delay_ms(one, sound.last_voiced)) for (said, sound), one in both]


def delay_ms(heard: PeerHeard, last_voiced: int) -> float:
    """Return the delay of the first end of a turn; `last_voiced` is a sample of the sound."""
    if not heard.ended:
        return float("inf")
    return (min(heard.ended) - heard.began - last_voiced / SAMPLE_RATE) * 1000


def cut_percent(delays: Delays, kind: str) -> float:
    """Return the percentage of a kind that was cut off."""
    found = [ms for said, ms in delays if said.kind == kind]
    return 100 * sum(ms < 0 for ms in found) / len(found)
