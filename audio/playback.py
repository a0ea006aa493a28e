"""One opening of a loudspeaker: PortAudio's stream, which pulls its sound from the mixer."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from audio.devices import chosen, find_device
from audio.devices.portaudio import (
    DeviceInfo,
    load_portaudio,
    refresh,
    register_stream,
    wish_refused,
)
from audio.devices.server import has_server
from audio.errors import AudioError, DeviceLost, InputUnusable, Unlisted
from audio.mixer import RATE, Mixer
from audio.resampling import Conversion
from audio.timing import Clock

BLOCK_MS = 10  # what the device takes at a time
LATENCY_S = (
    0.04  # asked of PortAudio, which makes 60 ms of it: silent in time, and no gap under load
)
# After the mixer's own rate: what cards take. A sound server takes any and resamples by itself.
_RATES = (RATE, 44_100, 24_000, 22_050, 16_000)  # Hz
_STEP = RATE * BLOCK_MS // 1000  # samples that are mixed at a time for a device of another rate


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


class Reference(Protocol):
    """Takes what goes to the loudspeaker, from the output's own thread."""

    def played(self, pcm: bytes, rate: int) -> None:
        """The next block of mono int16 that the device took, silence too. Must not block."""
        ...

    def stalled(self, seconds: float) -> None:
        """The device was silent so long before the next block, for want of one; 0: about so long,
        or nobody knows how long. Must not block."""
        ...


_Begin = Callable[[Any, int, int, int], object]  # with PortAudio, the device's index, Hz, channels


class DevicePlayback:
    """Plays on a device of PortAudio, at the mixer's rate and in one channel where it may.

    `look`, `open` and `close` block; `open` comes first.
    """

    def __init__(
        self, device: str, mixer: Mixer, clock: Clock, reference: Reference | None = None
    ) -> None:
        """`device`: a name as `list_devices` gives it. `reference` is told of all that is played,
        at the device's rate."""
        self.asked_at = clock.monotonic()  # when the device was opened, or asked for sound last
        self.gaps = 0  # times that it had nothing to play, for this process was not there in time
        self._device = device
        self._mixer = mixer
        self._clock = clock
        self._reference = reference
        self._stream: Any = None
        self._rate = RATE  # Hz, the device's
        self._channels = 1
        self._latency = 0.0  # seconds from the hand-over to the air, where the device cannot tell
        self._conversion = Conversion(RATE)
        self._converted = bytearray()
        self._stalls = Stalls()
        self._left = False
        self._unregister: Callable[[], None] = lambda: None

    @property
    def alive(self) -> bool:
        """The device has not ended the stream by itself."""
        return self._stream is not None and bool(self._stream.active)

    def look(self) -> None:
        """Find out whether it could be opened, without a sound. Raises InputUnusable, DeviceLost,
        and Unlisted where another stream of the process is in the way of finding it.

        For one that is not open, and is not opened afterwards.
        """
        self._unregister = register_stream()
        try:
            device = self._find()
            # What a sound server lists is there; asking it for more would be a change to the sink,
            # which its events would tell of as news.
            if device.backend != "server":
                self._look_at(device)
        finally:
            self._unregister()

    def open(self) -> None:
        """Start taking sound. Raises InputUnusable, DeviceLost."""
        self._unregister = register_stream()
        try:
            device = self._find()
            with chosen(device):
                self._negotiate(device, self._start)
        except BaseException:
            self._unregister()
            raise

    def close(self) -> None:
        """Be silent at once and give the device back. More than once is fine."""
        self.leave()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort(ignore_errors=True)
            stream.close(ignore_errors=True)
            self._unregister()

    def leave(self) -> None:
        """Take no more from the mixer, whatever the device does from now on. Does not block."""
        self._left = True

    def _find(self) -> DeviceInfo:
        """Raises InputUnusable where PortAudio does not find it with new eyes either, and Unlisted
        where it would need them."""
        try:
            return find_device(self._device, "output")
        except InputUnusable as error:
            self._renew(error)
            return find_device(self._device, "output")

    def _look_at(self, device: DeviceInfo) -> None:
        """Raises DeviceLost and Unlisted: plugged in again it has another number, and the old one
        is listed until PortAudio looks anew."""
        try:
            with chosen(device):
                self._negotiate(device, _check)
        except DeviceLost as error:
            self._renew(error)
            with chosen(device := self._find()):
                self._negotiate(device, _check)

    def _renew(self, trouble: AudioError) -> None:
        """Have PortAudio look anew. Raises Unlisted where a stream is in the way, and the trouble
        where a sound server would have listed what there is."""
        self._unregister()
        if not refresh():
            if has_server():
                raise trouble
            raise Unlisted(str(trouble)) from trouble
        self._unregister = register_stream()

    def _negotiate(self, device: DeviceInfo, begin: _Begin) -> None:
        portaudio = load_portaudio()
        trouble: Exception | None = None
        for channels in (1, 2):
            for rate in dict.fromkeys((RATE, device.rate, *_RATES)):
                try:
                    begin(portaudio, device.index, rate, channels)
                except portaudio.PortAudioError as error:
                    trouble = error
                    if not wish_refused(error):
                        raise lost(self._device, "cannot be opened") from error
                else:
                    return
        raise lost(self._device, "cannot be opened") from trouble

    def _start(self, portaudio: Any, index: int, rate: int, channels: int) -> None:
        form = _check(portaudio, index, rate, channels)
        self._rate, self._channels = rate, channels
        self._conversion = Conversion(rate)
        self._converted.clear()
        self._stalls = Stalls()
        stream = portaudio.RawOutputStream(
            **form,
            blocksize=rate * BLOCK_MS // 1000,
            latency=LATENCY_S,
            callback=self._callback,
        )
        self._latency = float(stream.latency)
        self.asked_at = self._clock.monotonic()
        try:
            stream.start()
        except portaudio.PortAudioError:
            stream.close(ignore_errors=True)
            raise
        self._stream = stream

    def _callback(self, out: Any, samples: int, time: Any, status: Any) -> None:
        if self._left:
            out[:] = bytes(len(out))
            return
        self.asked_at = self._clock.monotonic()
        self.gaps += bool(status.output_underflow)
        block = self._block(samples, self.asked_at + self._delay(time))
        if self._reference is not None:
            self._tell(self._reference, block, time, bool(status.output_underflow))
        if self._channels > 1:
            block = np.repeat(np.frombuffer(block, np.int16), self._channels).tobytes()
        out[:] = block

    def _tell(self, reference: Reference, block: bytes, time: Any, stalled: bool) -> None:
        sounds_at = float(time.outputBufferDacTime) if time is not None else 0.0
        silence = self._stalls.note(len(block) / 2 / self._rate, sounds_at, stalled)
        if stalled or silence:
            reference.stalled(silence)
        reference.played(block, self._rate)

    def _delay(self, time: Any) -> float:
        """Seconds until this block's first sample sounds; at the start the device cannot tell."""
        told = float(time.outputBufferDacTime - time.currentTime) if time is not None else 0.0
        return told if 0.0 < told < 1.0 else self._latency

    def _block(self, samples: int, sounds_at: float) -> bytes:
        if self._rate == RATE:
            return self._mixer.mix(samples, sounds_at)
        while len(self._converted) < 2 * samples:
            ahead = len(self._converted) / 2 / self._rate
            self._converted += self._conversion.push(
                self._mixer.mix(_STEP, sounds_at + ahead), RATE
            )
        block = bytes(self._converted[: 2 * samples])
        del self._converted[: 2 * samples]
        return block


def _check(portaudio: Any, index: int, rate: int, channels: int) -> dict[str, Any]:
    """Check what a stream of that form is opened with. Raises PortAudioError where it cannot be."""
    form = {"device": index, "channels": channels, "dtype": "int16", "samplerate": rate}
    portaudio.check_output_settings(**form)
    return form


def lost(device: str, what: str) -> DeviceLost:
    """The error about a loudspeaker that was there and is not."""
    return DeviceLost(f"The loudspeaker ({device}) {what}; check audio.output and its cable.")


MakePlayback = Callable[[Mixer], DevicePlayback]
