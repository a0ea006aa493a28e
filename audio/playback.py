"""Playback on an open loudspeaker, whose PortAudio stream pulls audio from the mixer."""

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

BLOCK_MS = 10  # length of a block that the device takes
LATENCY_S = (
    # Requested from PortAudio, which makes it 60 ms. Stops quickly enough, without gaps under load.
    0.04
)
# Rates to try after the mixer's own, as supported by sound cards. A sound server accepts any rate
# and resamples.
_RATES = (RATE, 44_100, 24_000, 22_050, 16_000)  # Hz
_STEP = RATE * BLOCK_MS // 1000  # samples mixed at a time for a device of another rate


_WINDOW = 20  # blocks over which the device's reported times are observed
_TOLD_S = 0.005  # accuracy of a device's times; shorter silences are not reported


class Stalls:
    """Detects silence caused by stalls, from how much later than expected each block is heard. A
    slow change is clock drift, not silence."""

    def __init__(self) -> None:
        self._handed = 0.0  # seconds of audio before this block
        self._late: float | None = None  # delay in seconds of the device's time, before any silence
        self._blocks = 0  # blocks in the window
        self._least = 0.0  # seconds by which all blocks of the window were later

    def note(self, seconds: float, sounds_at: float, stalled: bool) -> float:
        """Return the seconds of silence before a block that have not been returned yet.

        `seconds` is the block's length. `sounds_at` is when its first sample is heard, by any
        steady clock, or 0 if that is unknown. `stalled` is True if the device ran out of audio
        before the block.
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
    """A consumer of the audio that the loudspeaker plays. It is called from the output thread."""

    def played(self, pcm: bytes, rate: int) -> None:
        """Process the next mono int16 block that the device accepted, including silence. Must not
        block."""
        ...

    def stalled(self, seconds: float) -> None:
        """Report that the device was silent for `seconds` before the next block. 0 means that the
        length is unknown or negligible. Must not block."""
        ...


# Called with PortAudio, the device's index, the rate in Hz and the channel count.
_Begin = Callable[[Any, int, int, int], object]


class DevicePlayback:
    """Plays on a PortAudio device, if possible at the mixer's rate and on one channel. `look`,
    `open` and `close` block."""

    def __init__(
        self, device: str, mixer: Mixer, clock: Clock, reference: Reference | None = None
    ) -> None:
        """`device` is a name from `list_devices`. `reference` receives everything that is played,
        at the device's rate."""
        self.asked_at = clock.monotonic()  # when the device was opened or last requested audio
        self.gaps = 0  # times that it had nothing to play because this process was late
        self._device = device
        self._mixer = mixer
        self._clock = clock
        self._reference = reference
        self._stream: Any = None
        self._rate = RATE  # the device's rate in Hz
        self._channels = 1
        self._latency = 0.0  # seconds until audio is heard, if the device doesn't report it
        self._conversion = Conversion(RATE)
        self._converted = bytearray()
        self._stalls = Stalls()
        self._left = False
        self._unregister: Callable[[], None] = lambda: None

    @property
    def alive(self) -> bool:
        return self._stream is not None and bool(self._stream.active)

    def look(self) -> None:
        """Check that the device could be opened, without making a sound. Call this on an instance
        that is never opened.

        Raises InputUnusable or DeviceLost, or Unlisted if another stream in this process prevents a
        new device list.
        """
        self._unregister = register_stream()
        try:
            device = self._find()
            # A device that the sound server lists is present. Opening it would change the sink,
            # which the server would report as an event.
            if device.backend != "server":
                self._look_at(device)
        finally:
            self._unregister()

    def open(self) -> None:
        """Start playing. Raises InputUnusable or DeviceLost."""
        self._unregister = register_stream()
        try:
            device = self._find()
            with chosen(device):
                self._negotiate(device, self._start)
        except BaseException:
            self._unregister()
            raise

    def close(self) -> None:
        """Stop immediately and release the device. Can be called more than once."""
        self.leave()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort(ignore_errors=True)
            stream.close(ignore_errors=True)
            self._unregister()

    def leave(self) -> None:
        """Stop taking audio from the mixer. Never blocks."""
        self._left = True

    def _find(self) -> DeviceInfo:
        try:
            return find_device(self._device, "output")
        except InputUnusable as error:
            self._renew(error)
            return find_device(self._device, "output")

    def _look_at(self, device: DeviceInfo) -> None:
        """Check that the device accepts a stream. Raises InputUnusable or DeviceLost.

        After a device is plugged in again, it has a new index, but PortAudio lists the old one
        until a refresh.
        """
        try:
            with chosen(device):
                self._negotiate(device, _check)
        except DeviceLost as error:
            self._renew(error)
            with chosen(device := self._find()):
                self._negotiate(device, _check)

    def _renew(self, trouble: AudioError) -> None:
        """Make PortAudio list the devices again. If an open stream prevents this, raises `trouble`
        with a sound server, whose list is current, and Unlisted without one."""
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
    form = {"device": index, "channels": channels, "dtype": "int16", "samplerate": rate}
    portaudio.check_output_settings(**form)
    return form


def lost(device: str, what: str) -> DeviceLost:
    """Return the error for a loudspeaker that can't be used."""
    return DeviceLost(f"The loudspeaker ({device}) {what}; check audio.output and its cable.")


MakePlayback = Callable[[Mixer], DevicePlayback]
