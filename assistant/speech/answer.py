"""One answer being spoken: sound is made ahead by one task and played by another."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np

from assistant.speech.speakable import speakable
from assistant.speech.synthesis import Synthesis
from audio.errors import AudioError
from audio.player import Player

LINES_WAITING = 1024  # clauses and pieces of the brain's sound; nothing is dropped: `say` waits
PIECES_WAITING = 64  # 12.8 s of sound made ahead of the player; synthesis waits beyond
PIECE_MS = 200


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said in one answer."""

    clauses: tuple[str, ...]  # as given to the voice; after a stop those that had begun to sound
    audio_ms: float  # of sound played

    def __add__(self, after: "Spoken") -> "Spoken":
        return Spoken((*self.clauses, *after.clauses), self.audio_ms + after.audio_ms)


@dataclass(frozen=True, slots=True)
class _Words:
    """A clause."""

    text: str
    language: str | None  # None: the brain says it itself, this is only its transcript


@dataclass(frozen=True, slots=True)
class _Sound:
    """A piece of the brain's own voice."""

    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class _Piece:
    """Up to PIECE_MS of sound; none at all where a transcript's clause is complete."""

    draft: int
    clause: int | None  # index; None: of the brain's own voice
    pcm: bytes  # mono int16
    rate: int  # Hz


class Output:
    """The player with a volume and an account of what it was given."""

    def __init__(self, player: Player, volume: float) -> None:
        self.volume = volume
        self.accepted_ms = player.played_ms  # sound given now begins there
        self._player = player

    @property
    def played_ms(self) -> float:
        """Milliseconds of sound played, on the scale of `accepted_ms`."""
        return self._player.played_ms

    async def play(self, pcm: bytes, rate: int) -> None:
        """Queue mono int16 at `rate` Hz, made quieter by the volume. Raises AudioError."""
        if self.volume < 1.0:
            samples = np.frombuffer(pcm, np.int16) * max(0.0, self.volume)
            pcm = samples.astype(np.int16).tobytes()
        await self._player.play(pcm, rate)
        self.accepted_ms += len(pcm) / 2 / rate * 1000

    async def drain(self) -> None:
        """Return when all that was queued has been played."""
        await self._player.drain()

    def stop(self) -> None:
        """Silence at once."""
        self._player.stop()
        self.accepted_ms = self._player.played_ms


class Answer:
    """One answer being spoken, made by `Mouth.answer`.

    It is said by the local voice (`say`), by the brain's own (`sound`, with its words by
    `transcript`), or by both, in the order in which it is given.
    """

    def __init__(
        self,
        synthesis: Synthesis,
        output: Output,
        on_first_audio: Callable[[], None] | None,
    ) -> None:
        self._synthesis = synthesis
        self._output = output
        self._on_first_audio = on_first_audio
        self._lines: asyncio.Queue[tuple[int, _Words | _Sound] | None]
        self._lines = asyncio.Queue(LINES_WAITING)  # each with its draft
        self._pieces: asyncio.Queue[_Piece | None] = asyncio.Queue(PIECES_WAITING)
        self._tasks: list[asyncio.Task[None]] = []
        self._draft = 0  # `withdraw` begins another
        self._clauses: list[str] = []  # as given to the voice, or as the brain tells them
        self._begins: list[float] = []  # of each clause that was handed on: the output's ms
        self._began: float | None = None  # the answer's own first sound: the output's ms
        self._untold_from: float | None = None  # where brain's sound without transcript begins
        self._finished = False  # no more is taken
        self._over = asyncio.Event()
        self.stopped = False  # it was cut off, or failed
        self._failure: AudioError | None = None
        self._spoken: Spoken | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin to work in that group. For the mouth."""
        self._tasks = [group.create_task(self._synthesise()), group.create_task(self._play())]

    async def say(self, clause: str, language: str) -> None:
        """Queue the next clause, as it was written. Ignored after `stop`, `finish` or a failure."""
        await self._queue(_Words(clause, language))

    async def sound(self, pcm: bytes, rate: int) -> None:
        """Queue the next piece of the brain's own voice: whole samples of mono int16 at `rate` Hz.

        Ignored like a clause.
        """
        await self._queue(_Sound(pcm, rate))

    async def transcript(self, clause: str) -> None:
        """Tell which clause the brain's own voice says about here. It is listed, not spoken."""
        await self._queue(_Words(clause.strip(), None))

    def withdraw(self) -> None:
        """What was given and has not begun is not said; more can be given afterwards.

        A clause has begun when its first piece has gone to the player, and is then said to its
        end. Of the brain's own voice nothing is said but what the player has.
        """
        self._draft += 1
        del self._clauses[len(self._begins) :]

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
        if self._began is None:  # what was played until now, the wake sound say, is not ours
            return 0.0
        return max(0.0, self._output.played_ms - self._began)

    async def _queue(self, line: _Words | _Sound) -> None:
        if not self._finished:
            await self._lines.put((self._draft, line))

    async def _synthesise(self) -> None:
        try:
            while (given := await self._lines.get()) is not None:
                draft, line = given
                if draft != self._draft:
                    continue  # withdrawn
                if isinstance(line, _Sound):
                    await self._hand_on(draft, None, line.pcm, line.rate)
                else:
                    await self._make(draft, line)
        except AudioError as error:
            self._failure = error
            self._refuse_more()
        await self._pieces.put(None)

    async def _make(self, draft: int, words: _Words) -> None:
        language = words.language
        text = words.text if language is None else speakable(words.text, language)
        if not text:
            return
        index = len(self._clauses)
        self._clauses.append(text)
        if language is None:
            await self._pieces.put(_Piece(draft, index, b"", 0))
            return
        async with aclosing(self._synthesis.sound(text, language)) as sound:
            async for pcm, rate in sound:
                await self._hand_on(draft, index, pcm, rate)
                if self._is_void(draft, index):
                    return

    async def _hand_on(self, draft: int, clause: int | None, pcm: bytes, rate: int) -> None:
        for part in _parts(pcm, rate):
            await self._pieces.put(_Piece(draft, clause, part, rate))

    async def _play(self) -> None:
        try:
            while (piece := await self._pieces.get()) is not None:
                if self._is_void(piece.draft, piece.clause):
                    continue
                self._note(piece)
                if not piece.pcm:
                    continue
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

    def _is_void(self, draft: int, clause: int | None) -> bool:
        """Of an earlier draft, and not of a clause that has begun."""
        return draft != self._draft and (clause is None or clause >= len(self._begins))

    def _note(self, piece: _Piece) -> None:
        """Where in the sound the answer and its clauses begin.

        A transcript's clause is complete about when its sound has come, so it began where the one
        before it was complete.
        """
        here = self._output.accepted_ms
        if self._began is None:
            self._began = here
        if piece.clause is None:
            if self._untold_from is None:
                self._untold_from = here
        elif piece.pcm:
            self._untold_from = None
            self._begins += [here] * (piece.clause + 1 - len(self._begins))
        else:
            self._begins.append(here if self._untold_from is None else self._untold_from)
            self._untold_from = here

    def _refuse_more(self) -> None:
        """Take no more, and free whoever waits to give something."""
        self._finished = True
        while not self._lines.empty():
            self._lines.get_nowait()

    def _end(self, clauses: Sequence[str]) -> None:
        self._spoken = Spoken(tuple(clauses), self._played_ms)
        self._over.set()


def _parts(pcm: bytes, rate: int) -> Iterator[bytes]:
    size = rate * PIECE_MS // 1000 * 2
    for begin in range(0, len(pcm), size):
        yield pcm[begin : begin + size]
