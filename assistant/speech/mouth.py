"""Speaks answers clause by clause, one answer at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from assistant.speech.answer import Answer, Output, Spoken
from assistant.speech.clauses import ClauseCutter
from assistant.speech.synthesis import Synthesis, Voices
from audio.earcons import earcon
from audio.player import Player
from audio.tts import EspeakVoice


class Mouth:
    """The one place where Hearth speaks. Made once per process, it gives one answer at a time.

        mouth = Mouth(voices, player, volume=0.8)
        async with mouth.answer(on_first_audio=mark) as answer:
            await answer.say("The **kitchen** light is on.", "en")
            spoken = await answer.finish()  # returns at the measured end of playback

    `voices` gives the voice for a language, called once for each, in the worker thread. A voice
    that fails is replaced by `fallback`'s for the rest of the answer. The player is the caller's
    to close. All methods belong to the event loop's thread.
    """

    def __init__(
        self,
        voices: Voices,
        player: Player,
        volume: float = 1.0,
        fallback: Voices = EspeakVoice,
    ) -> None:
        """`volume`: 0 to 1, of words and short sounds alike."""
        self._synthesis = Synthesis(voices, fallback)
        self._output = Output(player, volume)
        self._answer: Answer | None = None
        self._free = asyncio.Lock()

    @property
    def volume(self) -> float:
        """0 to 1; it can be changed at any time and acts on what is handed to the player next."""
        return self._output.volume

    @volume.setter
    def volume(self, volume: float) -> None:
        self._output.volume = volume

    @asynccontextmanager
    async def answer(
        self, on_first_audio: Callable[[], None] | None = None
    ) -> AsyncIterator[Answer]:
        """Open the answer of a turn. Leaving the block waits for the end of playback.

        Waits for an answer before it, which may just have been interrupted, to be cleared away.
        An error or a cancellation inside the block stops the sound and goes on outwards as it is.
        Raises AudioError, from `finish` or at the end of the block, when it could not be spoken.
        """
        failure: Exception | None = None
        async with self._free:
            self._synthesis.renew()
            self._answer = answer = Answer(self._synthesis, self._output, on_first_audio)
            try:
                async with asyncio.TaskGroup() as group:
                    answer.start(group)
                    try:
                        yield answer
                        await answer.finish()
                    except Exception as error:  # raised below: the group would wrap it
                        failure = error
                    finally:
                        answer.stop()
            finally:
                self._answer = None
        if failure is not None:
            raise failure

    async def speak(self, text: str, language: str) -> Spoken:
        """Say a whole text and return when it has been played. Raises AudioError."""
        cutter = ClauseCutter()
        async with self.answer() as answer:
            for clause in [*cutter.push(text), *cutter.flush()]:
                await answer.say(clause, language)
            return await answer.finish()

    async def sound(self, name: str) -> None:
        """Queue one of the sounds of `audio.earcons`; it is not waited for. Raises AudioError."""
        await self._output.play(*earcon(name))

    def stop(self) -> None:
        """Silence at once: the present answer is over, and so is any short sound."""
        if self._answer is not None:
            self._answer.stop()
        self._output.stop()

    async def warm(self, languages: Sequence[str]) -> None:
        """Make these voices now, so that the first answer does not wait. Raises AudioError."""
        for language in languages:
            await self._synthesis.warm(language)

    def close(self) -> None:
        """Stop, and give up the worker thread."""
        self.stop()
        self._synthesis.close()
