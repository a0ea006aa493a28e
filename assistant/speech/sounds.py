"""Our short sounds: those that are wanted, and none of them over words."""

import asyncio
import logging
from collections.abc import Collection

from assistant.speech.answer import Output
from assistant.speech.manner import OPENING
from audio.earcons import earcon
from audio.errors import AudioError

OPEN = "open"  # the microphone opens
SOFT = "thinking"  # it tells that nothing is to be heard: whatever sounds ends it
OPENING_S = 5.0  # of real time for the tone of an opening: a speaker may have to wake first
LONGEST_S = 1.5  # of real time that words wait for a sound; a device that is gone ends none
_log = logging.getLogger(__name__)


class Sounds:
    """Plays the sounds of `audio.earcons` in one stream. One that is off is played nowhere."""

    def __init__(self, output: Output, words: Output, off: Collection[str] = ()) -> None:
        """`words`: where answers go; where that is the same player, all wait for each other."""
        self._output = output
        self._apart = words is not output
        self._off = frozenset(off)
        self._newest = ""
        self._free = asyncio.Lock()  # one sound is handed over after the other

    def is_on(self, name: str) -> bool:
        """Whether it is wanted."""
        return name not in self._off

    async def play(self, name: str) -> None:
        """Queue it; it is not waited for. Raises AudioError."""
        if self.is_on(name):
            await self._queue(name)

    async def opening(self) -> bool:
        """Play the tone of a microphone that a program opens: nothing turns it off, and no volume
        makes it silent. Whether it has sounded to its end."""
        try:
            async with asyncio.timeout(OPENING_S):
                await self._queue(OPEN)
                await self._output.drain()
        except (AudioError, TimeoutError) as error:
            why = str(error) or "it came to no end in time"
            _log.warning("the microphone stays closed, for its tone did not sound: %s", why)
            return False
        return True

    async def _queue(self, name: str) -> None:
        async with self._free:
            self._end_soft()
            self._newest = name
            await self._output.play(*earcon(name), OPENING if name == OPEN else None)

    async def make_way(self) -> None:
        """Words are about to sound: the soft sound ends, any other is heard out."""
        self._end_soft()
        await self.ended()

    async def ended(self) -> None:
        """Return when what was queued has been played, in LONGEST_S at the latest."""
        if not self._apart:
            return  # it is played before whatever is given next
        try:
            async with asyncio.timeout(LONGEST_S), self._free:
                if self._sounds:
                    await self._output.drain()
        except TimeoutError:
            pass  # the device keeps it; the words need not wait for that

    @property
    def _sounds(self) -> bool:
        return self._output.played_ms < self._output.accepted_ms

    def _end_soft(self) -> None:
        if self._apart and self._newest == SOFT and self._sounds:
            self._output.stop()
