"""Our short sounds: those that are wanted, and none of them over words."""

import asyncio
from collections.abc import Collection

from assistant.speech.answer import Output
from audio.earcons import earcon

SOFT = "thinking"  # it tells that nothing is to be heard: whatever sounds ends it
LONGEST_S = 1.5  # of real time that words wait for a sound; a device that is gone ends none


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
        if not self.is_on(name):
            return
        async with self._free:
            self._end_soft()
            self._newest = name
            await self._output.play(*earcon(name))

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
