"""What each connection by the Wyoming protocol has: who we are, a sign of life, its own work."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from wyoming.event import Event

from integrations.cleaning import one_line
from integrations.owner import OwnedTasks

WIDTH, CHANNELS = 2, 1  # of all sound, either way: int16, mono
_LONGEST_PING = 200  # characters of what is said back


class DescribedSession:
    """One connection; what it has begun ends with it."""

    def __init__(self, send: Callable[[Event], Awaitable[None]], info: Event) -> None:
        """`info`: what there is, for whoever asks."""
        self._send = send
        self._info = info
        self._tasks = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._tasks.__aexit__(kind, error, traceback)

    async def take(self, event: Event) -> None:
        """What there is to do about it. It does not take long. Raises BadEvent."""
        match event.type:
            case "describe":
                await self._send(self._info)
            case "ping":
                text = event.data.get("text")
                back = one_line(text, _LONGEST_PING) if isinstance(text, str) else None
                await self._send(Event("pong", {"text": back}))
            case _:
                await self._serve(event)

    async def _serve(self, event: Event) -> None:
        """An event of this service; one that it does not know is passed over."""
        raise NotImplementedError
