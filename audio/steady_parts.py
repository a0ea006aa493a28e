"""What a microphone that heals is made of: what it stands on, its positions, its silence."""

from collections.abc import Callable, Iterator
from typing import Protocol

from audio.clip import Resampler
from audio.devices import find_device, list_devices, refresh
from audio.errors import InputUnusable
from audio.frames import FRAME_MS, SAMPLE_RATE, SAMPLES_PER_MS, Frame, Framer
from audio.microphone import BLOCK_MS, QUEUE_MS, Block, Blocks, Capture, DeviceCapture

# How long a loudspeaker had nothing to play. Pure: all times are told.


_WINDOW = 20  # blocks, over which the device's times are looked at
_TOLD_S = 0.005  # less is no silence: the times of a device are that much out


class Stalls:
    """Watches how much later each block sounds than those before it have taken to play.

    A device that tells of a stall knows its own buffer at once, but what lies behind that only
    after a moment; and some stall without telling. So the silence of a stall is told with the
    block that follows it, and what shows later, for a whole window, at its end. A slow change is
    the difference of two clocks and is no silence.
    """

    def __init__(self) -> None:
        self._handed = 0.0  # seconds of sound before this block
        self._late: float | None = None  # seconds of the device's time, when nothing was handed
        self._blocks = 0  # of the window
        self._least = 0.0  # seconds that all of them were later than that

    def note(self, seconds: float, sounds_at: float, stalled: bool) -> float:
        """Seconds of silence that came before a block and were not told yet.

        `seconds`: the block's length. `sounds_at`: when its first sample sounds, by any clock that
        runs evenly; 0 where the device cannot tell. `stalled`: there was nothing to play before it.
        """
        late = sounds_at - self._handed
        self._handed += seconds
        if not sounds_at:
            return 0.0
        if self._late is None:
            self._late = late
        silence = late - self._late
        if not stalled:
            self._least = min(self._least, silence) if self._blocks else silence
            self._blocks += 1
            if self._blocks < _WINDOW:
                return 0.0
            self._late += self._least
            silence = self._least
        elif silence > _TOLD_S:
            self._late = late
        self._blocks = 0
        return silence if silence > _TOLD_S else 0.0


SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 2.0  # between two attempts to open it
STOPPED_S = 1.0  # without a block for so long, a stream that gave some has stopped
FIRST_BLOCK_S = 4.0  # PulseAudio was seen to take 2.0 s for the first one
_GRID = 80 * SAMPLES_PER_MS  # a block
_SAY_AGAIN_S = 3600.0  # that it is silent
SILENT_S = 3.0  # of nothing but one value: no microphone in a room is as quiet as that


class SourcePlace(Protocol):
    """The source that our recording comes from."""

    @property
    def name(self) -> str: ...

    @property
    def monitor(self) -> bool:
        """It records what a loudspeaker plays: no microphone."""
        ...


class ChangeWatch(Protocol):
    """Tells of changes among the sound devices."""

    def listen(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call on the loop after every change that may concern a microphone; gives the un-listen.

        Our own recording moved to another source is such a change.
        """
        ...

    async def place(self) -> SourcePlace | None:
        """Where our recording comes from just now, None where nobody knows. Bounded; no errors."""
        ...


class Input(Protocol):
    """A microphone that can be opened again and again."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def queue_blocks(self) -> int:
        """How many of its blocks may wait for a listener."""
        ...

    def capture(self, blocks: Blocks) -> Capture:
        """A new recording, not yet opened."""
        ...

    def is_there(self) -> bool:
        """Whether there is such a microphone now. Blocking."""
        ...

    def refresh(self) -> bool:
        """Look anew which devices there are; False where a stream of this process is in the way.

        Blocking. Raises InputUnusable.
        """
        ...


class DeviceInput:
    """A microphone of PortAudio."""

    def __init__(
        self,
        device: str = "default",
        channel: int | None = None,
        block_ms: int = BLOCK_MS,
        patient: bool = False,
    ) -> None:
        """`device`: a name as `list_devices` gives it. `channel`: which one is listened to, from 1;
        None: the mean of all. `block_ms`: 20 to 80. `patient`: see DeviceCapture."""
        if not 20 <= block_ms <= 80:
            raise ValueError(f"block_ms is {block_ms}, must be 20 to 80")
        self.name = device
        self.queue_blocks = QUEUE_MS // block_ms
        self._channel = channel
        self._block_ms = block_ms
        self._patient = patient

    def capture(self, blocks: Blocks) -> Capture:
        return DeviceCapture(self.name, blocks, self._block_ms, self._channel, self._patient)

    def is_there(self) -> bool:
        if self.name == "default":
            return any(device.kind == "input" for device in list_devices())
        try:
            find_device(self.name, "input")
        except InputUnusable:
            return False
        return True

    def refresh(self) -> bool:
        return refresh()


class Positions:
    """Cuts sound into frames whose positions go on over every gap, so that time never goes back."""

    def __init__(self) -> None:
        self._framer = Framer()
        self._through_at: float | None = None  # when the last block was complete
        self._gap = False

    def gap(self) -> None:
        """Sound is missing before the next block; how much, the clock says.

        Without this blocks follow on each other, however late they come: a busy machine hands
        several over at once.
        """
        self._gap = True

    def skip(self, seconds: float) -> None:
        """So much sound is missing before the next block, to the nearest 80 ms."""
        end = self._framer.start
        if seconds * 1000 < FRAME_MS / 2:
            return
        # On the grid of the blocks: whoever listens block by block has not to wait for a part.
        blocks = max(round((end + seconds * SAMPLE_RATE) / _GRID), -(-end // _GRID))
        self._framer = Framer(blocks * _GRID)

    def frames(self, pcm: bytes, at: float, seconds: float) -> Iterator[Frame]:
        """Frames of a block of 16 kHz mono that took so many seconds and was complete at `at`."""
        if self._gap and self._through_at is not None:
            self.skip(at - seconds - self._through_at)
        self._gap = False
        self._through_at = at
        return self._framer.push(pcm)


class Silence:
    """Tells digital silence from a quiet room."""

    def __init__(self) -> None:
        self._seconds = 0.0  # of sound since a value changed
        self._said_at: float | None = None

    def hear(self, pcm: bytes, seconds: float) -> bool:
        """Take a block of mono int16; whether nothing has moved for SILENT_S by now."""
        same = pcm == pcm[:2] * (len(pcm) // 2)
        self._seconds = self._seconds + seconds if same else 0.0
        return self._seconds >= SILENT_S

    def is_news(self, now: float) -> bool:
        """Whether a person should be told. Some microphones are silent whenever nobody speaks."""
        if self._said_at is not None and now - self._said_at < _SAY_AGAIN_S:
            return False
        self._said_at = now
        return True

    def restart(self) -> None:
        """Count anew."""
        self._seconds = 0.0


class BackOff:
    """When the next attempt to open it is due: at once, and then ever later while they fail."""

    def __init__(self, now: float) -> None:
        """Times are seconds of the clock."""
        self.at = now
        self._tried_at = now
        self._pause_s = 0.0

    def tried(self, now: float) -> None:
        """An attempt has ended, well or not."""
        self._tried_at = now
        self._pause_s = min(max(2 * self._pause_s, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        self.at = now + self._pause_s

    def lost(self, now: float) -> None:
        """What was opened is gone. One that goes again and again is opened ever more slowly."""
        self.at = max(now, self._tried_at + self._pause_s)

    def news(self, now: float) -> None:
        """Something has changed: it may work now."""
        self.at = min(self.at, max(now, self._tried_at + SHORTEST_PAUSE_S))

    def settle(self) -> None:
        """All is well, or may be: the next attempt is the first."""
        self._pause_s = 0.0


class Opening:
    """One recording from its opening to its loss."""

    def __init__(self, capture: Capture, blocks: Blocks, now: float, patience_s: float) -> None:
        self.capture = capture
        self.blocks = blocks
        self.since = now
        self.first_at: float | None = None  # when the first block came
        self.deadline = now + patience_s  # without a block until then, it has stopped
        self.late = False  # it gave sound, and has not for STOPPED_S
        self._dropped = 0
        self._resampler = Resampler(capture.rate, SAMPLE_RATE)

    def take(self, block: Block) -> tuple[bytes, bytes, float]:
        """A block as mono at the device's rate and at 16 kHz, and its seconds."""
        self.note(block)
        mono = self.capture.mono(block.pcm)
        return mono, self._resampler.push(mono), len(mono) / 2 / self.capture.rate

    def note(self, block: Block) -> None:
        """It gives sound."""
        if self.first_at is None:
            self.first_at = block.at
        self.deadline = block.at + STOPPED_S
        self.late = False

    def be_late(self, now: float) -> None:
        """It has as much time again to go on by itself: a new stream would have to begin anew."""
        self.late = True
        self.deadline = now + STOPPED_S

    def newly_dropped(self) -> int:
        """Blocks that were lost before the one that was taken last."""
        before, self._dropped = self._dropped, self.blocks.dropped
        return self._dropped - before
