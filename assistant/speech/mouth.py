"""Speaks an answer clause by clause: sound is made ahead by one task and played by another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import numpy as np

from assistant.speech.clauses import ClauseCutter
from assistant.speech.speakable import speakable
from assistant.speech.synthesis import Synthesis, Voices
from audio.earcons import earcon
from audio.errors import AudioError
from audio.player import Player
from audio.tts import EspeakVoice

CLAUSES_WAITING = 256  # text is small; `say` waits beyond, nothing is dropped
PIECES_WAITING = 64  # 12.8 s of sound made ahead of the player; synthesis waits beyond
PIECE_MS = 200


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said in one answer."""

    clauses: tuple[str, ...]  # as given to the voice; after a stop those that had begun to sound
    audio_ms: float  # of sound played


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
        self._output = _Output(player, volume)
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
    ) -> "AsyncIterator[Answer]":
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


class Answer:
    """One answer being spoken, made by `Mouth.answer`."""

    def __init__(
        self,
        synthesis: Synthesis,
        output: "_Output",
        on_first_audio: Callable[[], None] | None,
    ) -> None:
        self._synthesis = synthesis
        self._output = output
        self._on_first_audio = on_first_audio
        self._lines: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue(CLAUSES_WAITING)
        self._pieces: asyncio.Queue[_Piece | None] = asyncio.Queue(PIECES_WAITING)
        self._tasks: list[asyncio.Task[None]] = []
        self._clauses: list[str] = []  # as given to the voice
        self._begins: list[float] = []  # of each clause that was handed on: the output's ms
        self._finished = False  # no more clauses are taken
        self._over = asyncio.Event()
        self.stopped = False  # it was cut off, or failed
        self._failure: AudioError | None = None
        self._spoken: Spoken | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin to work in that group. For the mouth."""
        self._tasks = [group.create_task(self._synthesise()), group.create_task(self._play())]

    async def say(self, clause: str, language: str) -> None:
        """Queue the next clause, as it was written. Ignored after `stop`, `finish` or a failure."""
        if not self._finished:
            await self._lines.put((clause, language))

    async def finish(self) -> Spoken:
        """No more clauses: return when all has been played, or at once after `stop`.

        Raises AudioError when not all of it could be spoken.
        """
        if not self._finished:
            self._finished = True
            await self._lines.put(None)
        await self._over.wait()
        if self._failure is not None:
            raise self._failure
        return self.spoken

    def stop(self) -> None:
        """Silence at once. What was not made yet is not made; a piece in the making is dropped."""
        if self._over.is_set():
            return
        self.stopped = True
        for task in self._tasks:
            task.cancel()
        self._output.stop()
        self._refuse_more()
        played = self._output.played_ms
        heard = sum(begin < played for begin in self._begins)
        self._end(self._clauses[:heard])

    @property
    def spoken(self) -> Spoken:
        """What was said; while it is still being said, up to now."""
        return self._spoken or Spoken(tuple(self._clauses), self._played_ms)

    @property
    def _played_ms(self) -> float:
        if not self._begins:  # what was played until now, the wake sound say, is not ours
            return 0.0
        return max(0.0, self._output.played_ms - self._begins[0])

    async def _synthesise(self) -> None:
        try:
            while (line := await self._lines.get()) is not None:
                await self._make(*line)
        except AudioError as error:
            self._failure = error
            self._refuse_more()
        await self._pieces.put(None)

    async def _make(self, clause: str, language: str) -> None:
        text = speakable(clause, language)
        if not text:
            return
        index = len(self._clauses)
        self._clauses.append(text)
        async with aclosing(self._synthesis.sound(text, language)) as sound:
            async for pcm, rate in sound:
                for part in _parts(pcm, rate):
                    await self._pieces.put(_Piece(part, rate, index))

    async def _play(self) -> None:
        try:
            while (piece := await self._pieces.get()) is not None:
                while len(self._begins) <= piece.clause:
                    self._begins.append(self._output.accepted_ms)
                await self._output.play(piece.pcm, piece.rate)
                if self._on_first_audio is not None:
                    self._on_first_audio()
                    self._on_first_audio = None
            await self._output.drain()
        except AudioError as error:
            self._failure = error
            self.stop()
            return
        self._end(self._clauses)

    def _refuse_more(self) -> None:
        """Take no more clauses, and free whoever waits to give one."""
        self._finished = True
        while not self._lines.empty():
            self._lines.get_nowait()

    def _end(self, clauses: Sequence[str]) -> None:
        self._spoken = Spoken(tuple(clauses), self._played_ms)
        self._over.set()


@dataclass(frozen=True, slots=True)
class _Piece:
    """Up to PIECE_MS of a clause's sound."""

    pcm: bytes  # mono int16
    rate: int  # Hz
    clause: int  # index


class _Output:
    """The player with a volume and an account of what it was given."""

    def __init__(self, player: Player, volume: float) -> None:
        self.volume = volume
        self.accepted_ms = player.played_ms  # sound given now begins there
        self._player = player

    @property
    def played_ms(self) -> float:
        return self._player.played_ms

    async def play(self, pcm: bytes, rate: int) -> None:
        if self.volume < 1.0:
            samples = np.frombuffer(pcm, np.int16) * max(0.0, self.volume)
            pcm = samples.astype(np.int16).tobytes()
        await self._player.play(pcm, rate)
        self.accepted_ms += len(pcm) / 2 / rate * 1000

    async def drain(self) -> None:
        await self._player.drain()

    def stop(self) -> None:
        self._player.stop()
        self.accepted_ms = self._player.played_ms


def _parts(pcm: bytes, rate: int) -> Iterator[bytes]:
    size = rate * PIECE_MS // 1000 * 2
    for begin in range(0, len(pcm), size):
        yield pcm[begin : begin + size]
