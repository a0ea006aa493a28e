"""Speech synthesis in one worker thread, with any voice."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from audio.errors import AudioError
from audio.tts import Chunk, Voice

logger = logging.getLogger(__name__)

Voices = Callable[[str], Voice]  # language code -> its voice; blocks

# Synthesised, but not played, to warm up a voice. About 2 s long in every language.
WARM_PHRASE = "1 2 3 4 5 6."


class Synthesis:
    """The voices of all languages, each loaded once, and the one thread that they run in.

    If a voice fails while speaking, the fallback speaks its language until `renew` is called. A
    voice that can't be loaded isn't tried again.
    """

    def __init__(self, voices: Voices, fallback: Voices) -> None:
        self._own = self._voices = voices
        self._fallback = fallback
        self._on_fallback: Callable[[str], None] | None = None
        self._made: dict[tuple[Voices, str], Voice] = {}
        self._broken: set[tuple[Voices, str]] = set()  # voices that failed while speaking
        self._unmade: set[tuple[Voices, str]] = set()
        self._fallen: list[str] = []  # languages that the fallback has spoken
        self._said: set[str] = set()  # warnings logged so far
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="voice")

    def on_fallback(self, tell: Callable[[str], None]) -> None:
        """Register a function that is called once for each language that the fallback has spoken or
        speaks."""
        self._on_fallback = tell
        for language in self._fallen:
            tell(language)

    def use(self, voices: Voices | None) -> None:
        """Use other voices from the next clause on. None restores the original ones."""
        self._voices = voices or self._own

    def renew(self) -> None:
        """Allow voices that failed while speaking to be used again."""
        self._broken.clear()

    async def warm(self, language: str) -> None:
        """Load a language's voice and synthesise a phrase, so that the first clause isn't delayed.

        Nothing is played. Raises AudioError if the fallback fails too.
        """
        async with aclosing(self.sound(WARM_PHRASE, language)) as sound:
            async for _ in sound:
                pass

    async def sound(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        """Yield the text's audio in chunks, each with its rate in Hz.

        If a voice fails halfway, the fallback repeats the clause from its start. Raises AudioError
        if the fallback fails too.
        """
        voices = self._voices
        own = (voices, language)
        if own not in self._broken | self._unmade:
            try:
                async with aclosing(self._pieces(voices, text, language)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except AudioError as error:
                (self._broken if own in self._made else self._unmade).add(own)
                self._warn(f"{error} Until then, the fallback voice is used.")
        # If the voice failed halfway, repeated words are better than missing ones.
        async with aclosing(self._pieces(self._fallback, text, language)) as pieces:
            async for piece in pieces:
                self._note_fallback(language)
                yield piece

    def close(self) -> None:
        """Release the thread. A chunk that is being synthesised is finished and discarded."""
        self._closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _pieces(
        self, voices: Voices, text: str, language: str
    ) -> AsyncGenerator[tuple[Chunk, int]]:
        loop = asyncio.get_running_loop()
        voice = await loop.run_in_executor(self._worker, self._voice, voices, language)
        sound = voice.speak(text)
        try:
            while chunk := await loop.run_in_executor(self._worker, next, sound, None):
                yield chunk, voice.rate
        finally:
            # Close the generator in its thread, after the current chunk. If the thread is gone, the
            # generator is closed when it is garbage collected.
            if isinstance(sound, Generator) and not self._closed:
                self._worker.submit(sound.close)

    def _voice(self, voices: Voices, language: str) -> Voice:
        key = (voices, language)
        if key not in self._made:
            self._made[key] = voices(language)
        return self._made[key]

    def _note_fallback(self, language: str) -> None:
        if language not in self._fallen:
            self._fallen.append(language)
            if self._on_fallback is not None:
                self._on_fallback(language)

    def _warn(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            logger.warning("%s", sentence)
