"""A loudspeaker that plays all streams on one device, which is opened on demand and reopened if it
is lost."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import NoReturn, get_args

import numpy as np

from audio.device_status import Presence, SpeakerStatus
from audio.errors import AudioError
from audio.mixer import RATE, Mixer, Track
from audio.playback import DevicePlayback, MakePlayback, Reference, lost
from audio.player import AHEAD_SECONDS, Player, StreamName
from audio.resampling import Conversion
from audio.timing import BoundedCalls, CallStuck, Clock, LoopClock

# Silence after which the device is closed, because an open device costs CPU even when silent.
IDLE_S = 5.0
PATIENCE_S = 3.0  # time for which audio waits for a lost device
SILENT_S = 1.0  # a running stream that requests no audio for this long is dead
_GRACE_S = 0.2  # pause before a silent device counts as dead
_LOOK_S = 0.1  # interval between checks of an open device
_RETRY_S = 0.25  # interval between attempts to open a lost device
_WAIT_S = 0.02  # interval between checks of a queue
_PART_MS = 200  # length of audio that is queued at a time
# Minimum silence before the audio, because some devices swallow the first samples.
_LEAD_IN_MS = 40
# Each chunk of these streams is a complete sound, which is played to its end without `drain`.
_WHOLE: frozenset[StreamName] = frozenset(("sounds", "ringing"))

_log = logging.getLogger(__name__)


class Speaker:
    """Plays all streams on one device (implements `Outputs`).

    The device is opened when audio arrives and closed after IDLE_S (5 s) of silence. If it is lost
    while playing and returns within PATIENCE_S (3 s), playback resumes where the audio was last
    heard. Otherwise the audio is dropped, and callers waiting for it get an AudioError.
    """

    def __init__(
        self,
        device: str = "default",
        lead_in_ms: int = 0,
        reference: Reference | None = None,
        clock: Clock | None = None,
        calls: BoundedCalls | None = None,
        make: MakePlayback | None = None,
    ) -> None:
        """`device` is a device name or "default". `lead_in_ms` is the length of the silence that is
        played after each opening, for a loudspeaker that has to wake up. `reference` receives every
        block, on the device's thread."""
        self._device = device
        self._lead_in = max(lead_in_ms, _LEAD_IN_MS) * RATE // 1000
        self._clock: Clock = clock or LoopClock()
        self._calls = calls or BoundedCalls()
        self._asking = asyncio.Lock()
        self._mixer = Mixer()
        self._make = make or (lambda mixer: DevicePlayback(device, mixer, self._clock, reference))
        self._streams = {
            name: _Stream(self, self._mixer.tracks[name], whole=name in _WHOLE)
            for name in get_args(StreamName)
        }
        self._playback: DevicePlayback | None = None  # the open device
        self._opened = asyncio.Event()
        self._keeper: asyncio.Task[bool] | None = None
        self._known = False  # True once the device has been opened
        self._failure: AudioError | None = None  # the latest reason for having no device
        self.drops = 0  # times that audio was dropped because there was no device
        self._gaps = 0  # gaps of earlier openings
        self.lost = 0  # times that the device was lost while it was open
        self.presence = Presence(device, self._look, self._clock)

    def stream(self, name: StreamName) -> Player:
        return self._streams[name]

    def duck(self, on: bool) -> None:
        self._mixer.duck(on)

    @property
    def missing(self) -> bool:
        return self.presence.status is SpeakerStatus.MISSING

    @property
    def underruns(self) -> int:
        return sum(track.underruns for track in self._mixer.tracks.values())

    @property
    def gaps(self) -> int:
        """Number of times that the device didn't get a block in time."""
        return self._gaps + (self._playback.gaps if self._playback is not None else 0)

    async def release(self) -> bool:
        """Close the device if it is silent. Returns False if it is playing or being opened."""
        if self._rests:
            return True
        if self._playback is None or not self._mixer.quiet:
            return False
        await self._let_go()
        return True

    async def close(self) -> None:
        for stream in self._streams.values():
            stream.stop()
        await self._let_go()
        await self.presence.close()
        await self._calls.rest()

    # --- for the streams

    async def ready(self) -> None:
        """Wait until a device accepts audio. Raises AudioError if there is none."""
        while not self._opened.is_set():
            if self._keeper is None or self._keeper.done():
                self._keeper = asyncio.create_task(self._keep(), name="speaker")
            keeper, opened = self._keeper, asyncio.ensure_future(self._opened.wait())
            try:
                await asyncio.wait({keeper, opened}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                opened.cancel()
            if keeper.done() and not keeper.cancelled() and not keeper.result():
                self.raise_failure()

    async def wait(self, seconds: float) -> None:
        """Sleep until the queue should be checked again, at most `seconds`."""
        await self._clock.sleep(min(seconds, _WAIT_S))

    def raise_failure(self) -> NoReturn:
        """Raise the error that last caused audio to be dropped."""
        assert self._failure is not None
        raise type(self._failure)(str(self._failure)) from self._failure

    def now(self) -> float:
        return self._clock.monotonic()

    # --- the device

    async def _let_go(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})

    async def _keep(self) -> bool:
        """Keep a device open until IDLE_S of silence. Returns False if there is no device."""
        try:
            patience, until = self._patience, 0.0
            while True:
                playback = await self._open(patience)
                opened_at = self._clock.monotonic()
                try:
                    has_gone = await self._watch(playback, opened_at)
                finally:
                    await self._shut(playback)
                if not has_gone or not self._take_back(playback):
                    return True
                now = self._clock.monotonic()
                # A device that opens but takes no audio (a suspended sink) counts as missing.
                if not until or playback.asked_at - opened_at > SILENT_S:
                    until = now + PATIENCE_S
                elif now >= until:
                    error = lost(self._device, "accepts no audio")
                    self.presence.missed(error, unusable=True)
                    raise error
                patience = until - now
        except AudioError as error:
            self._failure = error
            self.drops += 1
            for track in self._mixer.tracks.values():
                track.stop()
            return False

    async def _open(self, patience: float) -> DevicePlayback:
        until = self._clock.monotonic() + patience
        while True:
            self._mixer.lead_in(self._lead_in)
            playback = self._make(self._mixer)
            try:
                await self._try(playback.open, playback.close)
            except AudioError as error:
                trouble = error
            else:
                self._known = True
                return playback
            self.presence.missed(trouble, unusable=True)
            if self._clock.monotonic() + _RETRY_S > until:
                raise trouble
            await self._clock.sleep(_RETRY_S)

    @property
    def _patience(self) -> float:
        away = self.presence.since_s if self.missing else 0.0
        return max(0.0, PATIENCE_S - away) if self._known else 0.0

    @property
    def _rests(self) -> bool:
        return self._keeper is None or self._keeper.done()

    async def _look(self) -> bool:
        if not self._rests:
            return False
        try:
            await self._try(self._make(self._mixer).look)
        except AudioError:
            if self._rests:
                raise
        return self._rests  # False if it was opened in the meantime, which is newer information

    async def _try(self, work: Callable[[], None], late: Callable[[], None] | None = None) -> None:
        try:
            async with self._asking:  # a check can open the device and block another call
                await self._calls.call(work, late)
        except CallStuck:
            raise lost(self._device, "does not respond") from None
        except AudioError:
            raise
        except Exception as error:  # after any error, search for the device again
            raise lost(self._device, f"cannot be opened ({error})") from error

    async def _watch(self, playback: DevicePlayback, opened_at: float) -> bool:
        """Watch an open device. Returns True if it is lost, or False if it is no longer needed."""
        self._playback = playback
        self._opened.set()
        quiet_since = self._clock.monotonic()
        while True:
            await self._clock.sleep(_LOOK_S)
            if self._is_dead(playback):
                # The whole process may have been suspended, not the device.
                await self._clock.sleep(_GRACE_S)
                if self._is_dead(playback):
                    return True
            now = self._clock.monotonic()
            if playback.asked_at - opened_at > SILENT_S:
                self.presence.found()
            if not self._mixer.quiet:
                quiet_since = now
            elif now - quiet_since >= IDLE_S:
                return False

    def _is_dead(self, playback: DevicePlayback) -> bool:
        return not playback.alive or self._clock.monotonic() - playback.asked_at > SILENT_S

    async def _shut(self, playback: DevicePlayback) -> None:
        self._opened.clear()
        self._playback = None
        self._gaps += playback.gaps
        playback.leave()
        try:
            await self._calls.call(playback.close)
        except CallStuck:
            _log.error("the loudspeaker (%s) could not be closed", self._device)

    def _take_back(self, playback: DevicePlayback) -> bool:
        self.lost += 1
        self._mixer.rewind(playback.asked_at)
        self.presence.missed(lost(self._device, "has gone"))
        return not self._mixer.quiet


class _Stream:
    def __init__(self, speaker: Speaker, track: Track, *, whole: bool) -> None:
        self._speaker = speaker
        self._track = track
        self._whole = whole
        self._conversion = Conversion(RATE)
        self._stops = 0  # number of calls of `stop`
        # `drops` before the current audio; None if there is none.
        self._since: int | None = None

    async def play(self, pcm: bytes, rate: int) -> None:
        stops, drops = self._stops, self._drops
        for part in _parts(pcm, rate):
            await self._speaker.ready()
            self._check(drops)
            while self._track.waiting > AHEAD_SECONDS * RATE:
                await self._speaker.wait(self._track.waiting / RATE - AHEAD_SECONDS)
                self._check(drops)
            if stops != self._stops:
                return
            self._put(self._conversion.push(part, rate))
            self._since = drops
        if self._whole:
            self._finish()

    async def drain(self) -> None:
        stops, drops = self._stops, self._drops
        self._check(drops)
        self._finish()
        end = self._track.handed + self._track.waiting
        while stops == self._stops and (left := end - self._position()) > 0:
            await self._speaker.wait(left / RATE)
            self._check(drops)

    def stop(self) -> None:
        self._stops += 1
        self._since = None
        self._conversion.flush()
        self._track.stop()

    @property
    def played_ms(self) -> float:
        return self._position() / RATE * 1000

    async def close(self) -> None:
        """Do nothing, because the device belongs to the speaker."""

    def _position(self) -> int:
        return self._track.position(self._speaker.now())

    @property
    def _drops(self) -> int:
        return self._speaker.drops if self._since is None else self._since

    def _check(self, drops: int) -> None:
        if self._speaker.drops != drops:
            self.stop()
            self._speaker.raise_failure()

    def _finish(self) -> None:
        self._put(self._conversion.flush())
        self._track.end()
        self._since = None

    def _put(self, pcm: bytes) -> None:
        self._track.put(np.frombuffer(pcm, np.int16))


def _parts(pcm: bytes, rate: int) -> Iterator[bytes]:
    size = rate * _PART_MS // 1000 * 2
    for begin in range(0, len(pcm), size):
        yield pcm[begin : begin + size]
