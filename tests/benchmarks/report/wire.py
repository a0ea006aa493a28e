"""Cost of the way to the service: the person's sound while they speak, and the end of it."""

import asyncio
import itertools
import tempfile
import time
from bisect import bisect_left
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from audio.frames import Frame
from audio.sound_files import read_wav
from tests.benchmarks.figures import how_many
from tests.benchmarks.gemini_wire import ANSWER, BUDGET_MS
from tests.benchmarks.report.line import Line, Measured, Part
from tests.benchmarks.service import GeminiProcess, ServedSound
from tests.benchmarks.sound import Clip, NotingPlayer, StampedSource, clips
from tests.benchmarks.stage import hearth, stamps
from tests.simulators.sound import find

TEXT = """\
Spoken turns in real time, from WAV files, with an open session and the model's own voice. *Decision
to activity_end*: from the turn machine's decision until the message arrives in the service's
process, over TLS on the loopback interface. *Frame to service*: from the time at which the
microphone delivers a 20 ms frame until the chunk that contains it arrives, for every frame after
the first chunk had arrived (earlier audio is sent as fast as the socket accepts it). This includes
the ring buffer, wake word, voice activity detection and the recogniser that detects the end of a
command.
"""
Handed = Sequence[tuple[int, float]]  # a frame's end in samples, and when it was handed over


class HandingSource(StampedSource):
    """A file in real time that records when each frame was handed over."""

    def __init__(self, clip: Clip) -> None:
        super().__init__(clip)
        self.handed: list[tuple[int, float]] = []

    async def frames(self) -> AsyncGenerator[Frame, None]:
        async for frame in super().frames():
            self.handed.append((frame.end, time.monotonic()))
            yield frame


def on_the_wire(handed: Handed, start: int, pieces: Sequence[tuple[float, int]]) -> list[float]:
    """Return the ms from a frame to the arrival of the piece that holds its end.

    `start`: the sample at which the sound of the pieces (arrival in s, bytes) begins. Frames that
    were handed over before the first piece had arrived do not count.
    """
    ends = list(itertools.accumulate((size // 2 for _, size in pieces), initial=start))[1:]
    taken = []
    for end, at in handed:
        piece = bisect_left(ends, end)
        if end > start and piece < len(ends) and at > pieces[0][0]:
            taken.append((pieces[piece][0] - at) * 1000)
    return taken


def part() -> Part:
    """Measure twelve turns; LONG=1: 200."""
    count = how_many(12, 200)
    with tempfile.TemporaryDirectory() as name, GeminiProcess(ANSWER) as service:
        folder = Path(name)
        spoken = list(itertools.islice(itertools.cycle(clips(folder, tight=True)), count))
        decided, frames = asyncio.run(_measure(service, folder, spoken))
    ended = "from the end-of-turn decision to activity_end at the service"
    while_speaking = "from a microphone frame to its arrival at the service"
    lines = (
        Line(ended, Measured(tuple(decided), "ms"), most=BUDGET_MS),
        Line(while_speaking, Measured(tuple(frames), "ms"), most=BUDGET_MS),
    )
    return Part("Upload latency", lines, text=TEXT)


async def _measure(
    service: GeminiProcess, folder: Path, spoken: Sequence[Clip]
) -> tuple[list[float], list[float]]:
    """Return ms from decision to wire of each turn, and from frame to wire of each frame."""
    decided, frames, player = list[float](), list[float](), NotingPlayer()
    with stamps() as moments:
        async with hearth(folder, service.address, player, engine="gemini") as app:
            for clip in spoken:
                moments.clear()
                before, source = app.log.count, HandingSource(clip)
                await app.runner.listen(source, turns=1)
                assert app.log.count == before + 1, f"no turn came of {clip.path.name}"
                arrived = service.newest().ended_at
                assert arrived is not None
                decided.append((arrived - moments["end_of_turn"]) * 1000)
                sound = service.newest_sound()
                frames += on_the_wire(source.handed, _start(sound, clip), sound.pieces)
    return decided, frames


def _start(sound: ServedSound, clip: Clip) -> int:
    """Return the position in the file at which the turn's sound begins."""
    places = find(sound.pcm, read_wav(clip.path))
    assert len(places) == 1, f"the sound of the turn is no part of {clip.path.name}"
    return places[0]
