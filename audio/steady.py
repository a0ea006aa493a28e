"""A frame source for the lifetime of the process: a microphone that recovers from failures."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable

from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.devices.portaudio import DeviceList
from audio.devices.server import ServerDevice
from audio.devices.watch import DeviceWatch
from audio.errors import AudioError
from audio.frames import Frame, Positions, Silence
from audio.microphone import FIRST_BLOCK_S, STOPPED_S, Block, Blocks, Cleaner, DeviceInput, Opening
from audio.timing import (
    SHORTEST_PAUSE_S,
    Alarm,
    BackOff,
    BoundedCalls,
    CallStuck,
    Clock,
    LoopClock,
    Result,
)

_SETTLED_S = 5.0  # after this much audio, the next loss doesn't count as a failed recovery
_NEWS_PATIENCE_S = 1.5  # wait for a first block after a device change
_LONGEST_PATIENCE_S = 30.0  # wait for a first block from a stream that may be suspended
_REFRESH_S = 10.0  # between device lists while nothing has changed; each costs 40 ms
_BEAT_S = 1.0  # the longest wait
_LOOK_S = 2.0  # between checks of the stream's device while it is elsewhere
_UNTOLD_S = 60.0  # as _REFRESH_S, for a loudspeaker while listening; each makes a short gap
_log = logging.getLogger(__name__)


class SteadyMicrophone:
    """Yields frames indefinitely. If the device is lost, it is searched for and reopened.

    `frames` never raises DeviceLost or InputUnusable. Positions include lost audio, rounded to 80
    ms.
    """

    pulled = False

    def __init__(
        self,
        microphone: DeviceInput,
        *,
        clock: Clock | None = None,
        watch: DeviceWatch | None = None,
        cleaner: Cleaner | None = None,
        before_refresh: Callable[[], Awaitable[object]] | None = None,
        calls: BoundedCalls | None = None,
    ) -> None:
        """`before_refresh` closes idle streams, which would keep PortAudio from refreshing."""
        self._input = microphone
        self._clock = clock or LoopClock()
        self._watch = watch
        self._cleaner = cleaner
        self._calls = calls or BoundedCalls()
        self._list = DeviceList(microphone.refresh, before_refresh, self._clock)
        # Called on the event loop for every change, before the first frame that follows it.
        self.on_change: Callable[[MicrophoneChange], None] = lambda change: None
        # Called before `make_way` takes effect; returns True if Hearth isn't listening to anybody.
        self.at_rest: Callable[[], bool] = lambda: True
        self.status = MicrophoneStatus.OPENING
        self.sentence = ""  # explanation for the user; "" if all is well
        self._alarm = Alarm(self._clock)
        self._opening: Opening | None = None
        self._positions = Positions()
        self._silence = Silence()
        self._paused = False
        self._look = False  # True if the stream may have been moved
        self._look_at = 0.0  # time of the next check while the stream is elsewhere
        self._there = True  # True if the last check found the microphone
        self._failed = False  # True if the last attempt failed or the device was lost
        self._way_wanted = self._lent = False
        self._borrower: Callable[[], Awaitable[None]] | None = None
        self._anew = False  # True if the next attempt needs a new device list
        self._back_off = BackOff(self._clock.monotonic())
        self._patience_s = FIRST_BLOCK_S
        self._frame_at = self._beat_at = self._clock.monotonic()
        self._openings = self._dropped = 0

    @property
    def last_frame_age_s(self) -> float:
        """Seconds without a frame, or 0 while the device is lent."""
        return 0.0 if self._lent else self._clock.monotonic() - self._frame_at

    @property
    def heartbeat_age_s(self) -> float:
        """Seconds since the last sign of progress. More than a few mean that something is stuck."""
        return self._clock.monotonic() - self._beat_at

    @property
    def dropped(self) -> int:
        return self._dropped

    @property
    def reopened(self) -> int:
        return max(0, self._openings - 1)

    @property
    def abandoned(self) -> int:
        """Number of calls into the sound system that did not return in time."""
        return self._calls.abandoned

    @property
    def stuck(self) -> int:
        """Number of abandoned calls that haven't returned yet. They can still hold the device."""
        return self._calls.stuck

    def pause(self, on: bool) -> None:
        """Close the device if `on` is True, otherwise reopen it. Call this on the event loop."""
        if on is self._paused:
            return
        self._paused = on
        if not on:
            self._frame_at = self._clock.monotonic()
            self._back_off = BackOff(self._frame_at)
            self._become(MicrophoneStatus.OPENING, "")
        self._alarm.ring()

    def make_way(self) -> None:
        """Close the device briefly, so that PortAudio can find a newly connected loudspeaker. Call
        this on the event loop.

        Does nothing if that wouldn't help, if the microphone was opened only recently, or if Hearth
        is listening to somebody.
        """
        self._way_wanted = True
        self._alarm.ring()

    def lend(self, use: Callable[[], Awaitable[None]]) -> None:
        """Close the device, await `use` (which can open it), then reopen it. Call this on the event
        loop. `use` must finish within a few seconds. If the microphone is paused, `use` waits until
        it resumes."""
        self._borrower = use
        self._alarm.ring()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield frames until the caller stops or is cancelled, then close the device."""
        self._frame_at = self._clock.monotonic()
        forget = self._watch.listen(self._changed) if self._watch else lambda: None
        try:
            while True:
                self._beat()
                if self._paused:
                    await self._stand_by()
                elif self._borrower is not None:
                    await self._lend_out(self._borrower)
                elif self._opening is None:
                    await self._look_for_it()
                else:
                    for frame in await self._listen(self._opening):
                        self._frame_at = self._clock.monotonic()
                        yield frame
        finally:
            forget()
            self._alarm.close()
            await self._close()
            await self._calls.rest()

    # --- while it is open

    async def _listen(self, opening: Opening) -> list[Frame]:
        if self._look:
            await self._look_where_we_are(opening)
        elif self._way_wanted:
            return await self._make_way(opening)
        elif (block := opening.blocks.take()) is not None:
            return self._take(opening, block)
        elif opening.blocks.ended:
            await self._lose(f"{self._it} has disappeared: plug it in again.")
        elif (now := self._clock.monotonic()) >= opening.deadline:
            await self._stopped(opening)
        elif self.status is MicrophoneStatus.ELSEWHERE and now >= self._look_at:
            self._look = True
        else:
            elsewhere = self.status is MicrophoneStatus.ELSEWHERE
            latest = self._look_at if elsewhere else now + _BEAT_S
            await self._alarm.wait(min(opening.deadline, latest))
        return []

    def _take(self, opening: Opening, block: Block) -> list[Frame]:
        mono, pcm, seconds = opening.take(block)
        if block.at - opening.since >= _SETTLED_S:
            self._back_off.settle()
        self._patience_s = FIRST_BLOCK_S
        if lost := opening.newly_dropped():
            self._dropped += lost
            self._positions.skip(lost * seconds)
        if self.status is MicrophoneStatus.ELSEWHERE:
            self._positions.gap()
            return []
        self._failed = False
        self._frame_at = self._clock.monotonic()  # before the callback, which may read the age
        if self._silence.hear(mono, seconds):
            self._be_silent()
        else:
            self._become(MicrophoneStatus.LISTENING, "")
        frames = list(self._positions.frames(pcm, block.at, seconds))
        if self._cleaner is None:
            return frames
        return [Frame(self._cleaner.clean(frame.pcm), frame.start) for frame in frames]

    async def _make_way(self, opening: Opening) -> list[Frame]:
        self._way_wanted = False
        hears = self.status in (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)
        settled = hears and self._clock.monotonic() - opening.since >= _SETTLED_S
        helps = self._list.is_old(_UNTOLD_S) and not self._calls.stuck
        if not (settled and helps and self.at_rest()):
            return []
        await self._close()
        frames = []
        while (block := opening.blocks.take()) is not None:
            frames += self._take(opening, block)
        self._anew = True
        await self._attempt()
        self._back_off.tried(self._clock.monotonic())
        return frames

    async def _lend_out(self, use: Callable[[], Awaitable[None]]) -> None:
        self._borrower, self._lent = None, True
        await self._close()
        try:
            await use()
        finally:
            self._lent = False
            self._frame_at = self._clock.monotonic()

    async def _stopped(self, opening: Opening) -> None:
        sentence = (
            f"{self._it} has delivered no audio for {STOPPED_S:g} s: check its cable, and whether "
            "the sound settings suspend it."
        )
        if opening.first_at is None:
            # A new stream would be just as silent, and this one resumes when the source does.
            self._patience_s = min(2 * self._patience_s, _LONGEST_PATIENCE_S)
        elif not opening.late:
            opening.be_late(self._clock.monotonic())
            self._positions.gap()
            if self.status is not MicrophoneStatus.ELSEWHERE:
                self._miss(sentence)
            return
        await self._lose(sentence)

    async def _look_where_we_are(self, opening: Opening) -> None:
        self._look = False
        place = await self._watch.place() if self._watch else None
        if place is not None and place.monitor and place.name != self._input.name:
            await self._be_elsewhere(place)
        elif self.status is MicrophoneStatus.ELSEWHERE:
            # Waiting blocks may still come from the other device.
            while (block := opening.blocks.take()) is not None:
                opening.note(block)
                self._positions.gap()
            self._become(MicrophoneStatus.OPENING, "")

    async def _be_elsewhere(self, place: ServerDevice) -> None:
        self._become(
            MicrophoneStatus.ELSEWHERE,
            f'The sound server has moved Hearth from the microphone to "{place.name}", which is '
            "not a microphone: plug the microphone in again, or set audio.input to another one.",
        )
        there = await self._is_there()
        newly, self._there = there and not self._there, there
        self._look_at = self._clock.monotonic() + (SHORTEST_PAUSE_S if newly else _LOOK_S)
        if newly:
            self._back_off.settle()  # the server may move the stream back; if not, retry soon
        elif there:
            await self._let_go()  # a new stream gets the right device

    async def _is_there(self) -> bool:
        try:
            return await self._call(self._input.is_there)
        except Exception:  # after any error, as below
            _log.debug("the microphones could not be listed", exc_info=True)
            return False

    # --- while it is closed

    async def _look_for_it(self) -> None:
        now = self._clock.monotonic()
        if now < self._back_off.at:
            await self._alarm.wait(min(self._back_off.at, now + _BEAT_S))
            return
        await self._attempt()
        self._back_off.tried(self._clock.monotonic())

    async def _attempt(self) -> None:
        try:
            await self._refresh_if_due()
            blocks = Blocks(self._input.queue_blocks, self._clock.monotonic, self._alarm.ring)
            capture = self._input.capture(blocks)
            await self._call(capture.open, late=capture.close)
        except AudioError as error:
            self._miss(str(error))
        except CallStuck:
            self._miss(
                f"{self._it} cannot be opened, because the sound system does not answer: restart "
                "the sound server, or Hearth."
            )
        except Exception as error:  # after any error, the search must continue
            _log.debug("opening the microphone failed", exc_info=True)
            self._miss(f"{self._it} cannot be opened ({error}): plug it in again.")
        else:
            self._openings += 1
            now = self._clock.monotonic()
            self._opening = Opening(capture, blocks, now, self._patience_s)
            self._look = self._watch is not None
            self._positions.gap()
            self._silence.restart()
            if self._cleaner is not None:
                self._cleaner.restart()

    async def _refresh_if_due(self) -> None:
        anew, self._anew = self._anew, False
        due = self._failed and self._list.is_old(_REFRESH_S if self._watch else 0.0)
        if (due or anew) and not self._calls.stuck:
            await self._list.renew(self._call, once=anew)  # if it fails, do not cause another gap

    def _miss(self, sentence: str) -> None:
        self._failed = True
        self._become(MicrophoneStatus.MISSING, sentence)

    async def _lose(self, sentence: str) -> None:
        if self.status is not MicrophoneStatus.ELSEWHERE:
            self._become(MicrophoneStatus.MISSING, sentence)
        await self._let_go()

    async def _let_go(self) -> None:
        self._failed = True
        await self._close()
        self._back_off.lost(self._clock.monotonic())

    async def _close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            try:
                await self._call(opening.capture.close)
            except CallStuck:
                _log.warning("%s cannot be closed: the sound system does not answer.", self._it)
            except Exception:  # after any error, the device is gone either way
                _log.debug("closing the microphone failed", exc_info=True)

    async def _call(
        self, work: Callable[[], Result], late: Callable[[], None] | None = None
    ) -> Result:
        self._beat()
        return await self._calls.call(work, late)

    def _beat(self) -> None:
        if not self._calls.exhausted:
            self._beat_at = self._clock.monotonic()

    async def _stand_by(self) -> None:
        await self._close()
        self._positions.gap()
        self._become(
            MicrophoneStatus.CLOSED,
            "The microphone is switched off: nothing is heard until it is switched on again.",
        )
        await self._alarm.wait(self._clock.monotonic() + _BEAT_S)

    def _changed(self) -> None:
        self._list.changed()
        self._look = True
        now = self._clock.monotonic()
        if self._opening is None and self.status is not MicrophoneStatus.ELSEWHERE:
            self._back_off.news(now)
        elif self._opening is not None and self._opening.first_at is None:
            soon = max(now, self._opening.since) + _NEWS_PATIENCE_S
            self._opening.expect_by(soon)
        self._alarm.ring()

    # --- status

    @property
    def _it(self) -> str:
        return f'The microphone "{self._input.name}"'

    def _be_silent(self) -> None:
        if self.status is not MicrophoneStatus.SILENT:
            sentence = f"{self._it} delivers only digital silence: unmute it on the device itself."
            say = self._silence.is_news(self._clock.monotonic())
            self._become(MicrophoneStatus.SILENT, sentence, say)

    def _become(self, status: MicrophoneStatus, sentence: str, say: bool = True) -> None:
        self.sentence = sentence
        if status is not self.status:
            self.status = status
            self.on_change(MicrophoneChange(status, sentence if say else ""))
