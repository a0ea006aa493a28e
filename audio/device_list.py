"""PortAudio's list of the devices: when it may be out of date, and how a new one is made."""

from collections.abc import Awaitable, Callable

from audio.clock import Clock

Call = Callable[[Callable[[], bool]], Awaitable[bool]]  # makes a blocking call off the loop


class DeviceList:
    """What was plugged in is in a new list only, and that needs every stream of the process closed.

    For one event loop.
    """

    def __init__(
        self,
        refresh: Callable[[], bool],
        before_refresh: Callable[[], Awaitable[object]] | None,
        clock: Clock,
    ) -> None:
        """`refresh` makes a new list: blocking; False where a stream is in the way; raises
        AudioError. `before_refresh` closes what rests."""
        self._refresh = refresh
        self._before_refresh = before_refresh
        self._clock = clock
        self._news = True
        self._made_at = clock.monotonic()

    def changed(self) -> None:
        """A device came or went, or may have."""
        self._news = True

    def is_old(self, seconds: float) -> bool:
        """Something has changed since it was made, or it was made so long ago."""
        return self._news or self._clock.monotonic() - self._made_at >= seconds

    async def renew(self, call: Call, *, once: bool = False) -> bool:
        """Make a new one. False: a stream is in the way. Raises what `refresh` and `call` raise.

        `once`: where it cannot be made, this is as if it had been: no reason to try again.
        """
        if self._before_refresh is not None:
            await self._before_refresh()
        now = self._clock.monotonic()
        before, self._news = self._news, False  # what comes meanwhile is news for the next
        done = False
        try:
            done = await call(self._refresh)
        finally:
            if done or once:
                self._made_at = now
            else:
                self._news = self._news or before
        return done
