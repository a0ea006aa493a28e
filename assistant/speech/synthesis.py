"""Makes sound from clauses in one worker thread, whichever voice does it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from audio.errors import AudioError
from audio.tts import Chunk, Voice

logger = logging.getLogger(__name__)

Voices = Callable[[str], Voice]  # language code -> its voice; blocking

# Made, but not played, when a voice is warmed: about 2 s of sound in every language.
WARM_PHRASE = "1 2 3 4 5 6."


class Synthesis:
    """The voices of all languages, each made once, and the one thread in which they work.

    A language whose voice fails is spoken by the fallback until `renew`; one whose voice cannot be
    made, from then on.
    """

    def __init__(self, voices: Voices, fallback: Voices) -> None:
        self._own = self._voices = voices
        self._fallback = fallback
        self._on_fallback: Callable[[str], None] | None = None
        self._made: dict[tuple[Voices, str], Voice] = {}
        self._broken: set[tuple[Voices, str]] = set()  # of which languages
        self._unmade: set[tuple[Voices, str]] = set()
        self._fallen: list[str] = []  # languages that the fallback has spoken
        self._said: set[str] = set()  # warnings
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="voice")

    def on_fallback(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with each language, once, that the fallback speaks first, or has."""
        self._on_fallback = tell
        for language in self._fallen:
            tell(language)

    def use(self, voices: Voices | None) -> None:
        """Speak with these from the next clause on; None: with those that it was made with."""
        self._voices = voices or self._own

    def renew(self) -> None:
        """Give voices that failed while they spoke another chance."""
        self._broken.clear()

    async def warm(self, language: str) -> None:
        """Make the voice and a phrase with it, so that the first clause waits for nothing.

        Nothing is played. Raises AudioError when the fallback fails too.
        """
        async with aclosing(self.sound(WARM_PHRASE, language)) as sound:
            async for _ in sound:
                pass

    async def sound(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        """Pieces as they are made, each with its rate in Hz.

        A clause whose voice fails half-way is spoken again from its start: hearing some words
        twice is better than missing some. Raises AudioError when the fallback fails too.
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
                self._warn(f"{error} Until then the spare voice speaks.")
        async with aclosing(self._pieces(self._fallback, text, language)) as pieces:
            async for piece in pieces:
                self._note_fallback(language)
                yield piece

    def close(self) -> None:
        """Give up the thread; a piece in the making is finished and thrown away."""
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
            # In the same thread, so after the piece that it may be making. Once that thread has
            # been given up, the iterator ends when it is forgotten.
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
