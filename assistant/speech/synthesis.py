"""Makes sound from clauses in one worker thread, whichever voice does it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from audio.errors import AudioError
from audio.tts import Voice

logger = logging.getLogger(__name__)

Voices = Callable[[str], Voice]  # language code -> its voice; blocking


class Synthesis:
    """The voices of all languages, each made once, and the one thread in which they work.

    A language whose voice fails is spoken by the fallback until `renew`.
    """

    def __init__(self, voices: Voices, fallback: Voices) -> None:
        self._voices = voices
        self._fallback = fallback
        self._made: dict[tuple[Voices, str], Voice] = {}
        self._broken: set[str] = set()  # languages
        self._said: set[str] = set()  # warnings
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="voice")

    def renew(self) -> None:
        """Give voices that failed another chance."""
        self._broken.clear()

    async def warm(self, language: str) -> None:
        """Make the voice now, so that the first clause does not wait for it. Raises AudioError."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._worker, self._voice, self._voices, language)

    async def sound(self, text: str, language: str) -> AsyncGenerator[tuple[bytes, int]]:
        """Mono int16 and its rate in Hz, in pieces as they are made.

        A clause whose voice fails half-way is spoken again from its start: hearing some words
        twice is better than missing some. Raises AudioError when the fallback fails too.
        """
        if language not in self._broken:
            try:
                async with aclosing(self._pieces(self._voices, text, language)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except AudioError as error:
                self._broken.add(language)
                self._warn(f"{error} The fallback voice speaks for now.")
        async with aclosing(self._pieces(self._fallback, text, language)) as pieces:
            async for piece in pieces:
                yield piece

    def close(self) -> None:
        """Give up the thread; a piece in the making is finished and thrown away."""
        self._closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _pieces(
        self, voices: Voices, text: str, language: str
    ) -> AsyncGenerator[tuple[bytes, int]]:
        loop = asyncio.get_running_loop()
        voice = await loop.run_in_executor(self._worker, self._voice, voices, language)
        sound = voice.speak(text)
        try:
            while pcm := await loop.run_in_executor(self._worker, next, sound, b""):
                yield pcm, voice.rate
        finally:
            # In the same thread, so after the piece that it may be making. Once that thread has
            # been given up, the iterator ends when it is forgotten.
            if isinstance(sound, Generator) and not self._closed:
                self._worker.submit(sound.close)

    def _voice(self, voices: Voices, language: str) -> Voice:
        key = (voices, language)
        if key not in self._made:
            self._made[key] = voices(language)
        return self._made[key]

    def _warn(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            logger.warning("%s", sentence)
