"""What a microphone that heals is made of: what it stands on, its positions, its silence."""

from collections.abc import Callable
from typing import Protocol

from audio.microphone import Blocks, Capture

# How long a loudspeaker had nothing to play. Pure: all times are told.


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
