"""Playback of one spoken answer: one task synthesises speech ahead while another plays it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from assistant.speech.sink import PACE_MS, PLAIN, AudioSink, Manner, PlaybackProgress
from assistant.speech.speakable import speakable
from assistant.speech.synthesis import Synthesis
from audio.errors import AudioError

LINES_WAITING = 1024  # queued clauses and brain audio; more is accepted, but see `room`
PIECES_WAITING = 64  # synthesis pauses when it is 12.8 s ahead of the player
PIECE_MS = 200


@dataclass(frozen=True, slots=True)
class SpokenAnswer:
    """Record of one answer: what was spoken, and how much of it was heard."""

    # As passed to the voice; after a stop, only the clauses that had started playing.
    clauses: tuple[str, ...]
    audio_ms: float  # ms of audio played
    heard: str | None = None  # the words that were heard; None means all of them

    def __add__(self, after: "SpokenAnswer") -> "SpokenAnswer":
        heard = None
        if self.heard is not None or after.heard is not None:
            heard = f"{self._words} {after._words}".strip()
        clauses = (*self.clauses, *after.clauses)
        return SpokenAnswer(clauses, self.audio_ms + after.audio_ms, heard)

    @property
    def _words(self) -> str:
        return " ".join(self.clauses) if self.heard is None else self.heard


@dataclass(frozen=True, slots=True)
class _Words:
    text: str
    language: str | None  # None for a transcript of the brain's own voice


@dataclass(frozen=True, slots=True)
class _Sound:
    pcm: bytes  # mono int16
    rate: int  # Hz


@dataclass(frozen=True, slots=True)
class _Piece:
    """Up to PIECE_MS of audio. Without audio, it marks the end of a transcribed clause."""

    draft: int
    clause: int | None  # index; None for the brain's own voice
    pcm: bytes  # mono int16
    rate: int  # Hz


class Answer:
    """An answer that is being spoken, created by `SpeechOutput.answer`.

    It can mix clauses for the local voice (`say`) with the brain's own speech (`sound`). `make_way`
    is awaited before the first audio is played, so that short sounds can end first.
    """

    def __init__(
        self,
        synthesis: Synthesis,
        sink: AudioSink,
        on_first_audio: Callable[[], None] | None,
        make_way: Callable[[], Awaitable[None]] | None = None,
        manner: Manner = PLAIN,
    ) -> None:
        self._synthesis = synthesis
        self._sink = sink
        self._on_first_audio = on_first_audio
        self._make_way = make_way
        self._manner = manner
        self._lines: asyncio.Queue[tuple[int, _Words | _Sound] | None]
        self._lines = asyncio.Queue()  # each line with its draft; see `room`
        self._taken = asyncio.Event()  # set and replaced when a line is taken
        self._pieces: asyncio.Queue[_Piece | None] = asyncio.Queue(PIECES_WAITING)
        self._tasks: list[asyncio.Task[None]] = []
        self._draft = 0  # number of the draft; `withdraw` starts the next one
        self._clauses: list[str] = []  # as passed to the voice, or as transcribed by the brain
        # Start of each clause that was passed to the player, in ms of played audio.
        self._begins: list[float] = []
        self._began: float | None = None  # start of the answer, in ms of played audio
        self._untold_from: float | None = None  # start of the brain audio not yet transcribed
        self._progress: dict[int, PlaybackProgress] = {}  # for the local voice, by clause
        # Progress of all audio passed to the player, each with its start in ms.
        self._played: list[tuple[float, PlaybackProgress]] = []
        self._own: PlaybackProgress | None = None  # the newest progress of the brain's own voice
        self._pace_ms = PACE_MS
        self._made = False  # True once everything queued has been synthesised
        self._finished = False  # True once the queue is closed
        self._over = asyncio.Event()
        self.stopped = False  # True if it was interrupted or failed
        self._failure: AudioError | None = None
        self._spoken: SpokenAnswer | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Start synthesis and playback in a task group."""
        self._tasks = [group.create_task(self._synthesise()), group.create_task(self._play())]

    async def room(self) -> None:
        """Wait until fewer than LINES_WAITING lines are queued, or the queue is closed."""
        while self._lines.qsize() >= LINES_WAITING and not self._finished:
            await self._taken.wait()
        if self._finished:
            await asyncio.sleep(0)  # lets a cancelled caller end

    def say(self, clause: str, language: str) -> None:
        """Queue a clause in its written form. Ignored after `stop`, `finish` or a failure."""
        self._queue(_Words(clause, language))

    def sound(self, pcm: bytes, rate: int) -> None:
        """Queue audio of the brain's own voice: whole samples of mono int16 at `rate` Hz.

        Ignored after `stop`, `finish` or a failure.
        """
        self._queue(_Sound(pcm, rate))

    def transcript(self, clause: str) -> None:
        """Queue the text of a clause that the brain speaks at about this point. It is not
        synthesised."""
        self._queue(_Words(clause.strip(), None))

    def withdraw(self) -> None:
        """Drop everything queued that has not started playing. New clauses can follow.

        A clause of the local voice that has started is spoken to its end. The brain's own speech
        stops after the audio that the player already has.
        """
        self._draft += 1
        del self._clauses[len(self._begins) :]

    async def finish(self) -> SpokenAnswer:
        """Close the queue and wait until playback ends. Returns immediately after `stop`.

        Raises AudioError if part of the answer could not be spoken.
        """
        if not self._finished:
            self._finished = True
            self._lines.put_nowait(None)
        await self._over.wait()
        if self._failure is not None:
            raise self._failure
        return self.spoken

    def stop(self) -> None:
        """Stop playback and synthesis immediately."""
        if self._over.is_set():
            return
        self.stopped = True
        for task in self._tasks:
            task.cancel()
        self._sink.stop()
        self._refuse_more()
        played = self._sink.played_ms
        words = self._words_heard
        heard = sum(begin < played for begin in self._begins)
        whole = self._made and words == " ".join(" ".join(self._clauses).split())
        self._end(self._clauses[:heard], None if whole else words)

    @property
    def spoken(self) -> SpokenAnswer:
        """The record of the answer. While it is still playing, `heard` contains the words heard so
        far."""
        if self._spoken is not None:
            return self._spoken
        return SpokenAnswer(tuple(self._clauses), self._played_ms, self._words_heard)

    @property
    def _words_heard(self) -> str:
        played = self._sink.played_ms
        words = (progress.heard(played - begin) for begin, progress in self._played)
        return " ".join(heard for heard in words if heard)

    @property
    def _played_ms(self) -> float:
        # Audio played before, such as the wake tone, is not part of the answer.
        if self._began is None:
            return 0.0
        return max(0.0, self._sink.played_ms - self._began)

    def _queue(self, line: _Words | _Sound) -> None:
        if not self._finished:
            self._lines.put_nowait((self._draft, line))

    def _tell_room(self) -> None:
        self._taken.set()
        self._taken = asyncio.Event()

    async def _synthesise(self) -> None:
        try:
            while (given := await self._lines.get()) is not None:
                self._tell_room()
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
        else:
            self._made = True
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
        progress = self._progress[index] = PlaybackProgress(text, self._pace_ms)
        async with aclosing(self._synthesis.sound(text, language)) as sound:
            async for chunk, rate in sound:
                progress.add(chunk.pcm, rate, chunk.ends)
                await self._hand_on(draft, index, chunk.pcm, rate)
                if self._is_void(draft, index):
                    return
        progress.whole = True
        self._pace_ms = progress.pace_ms

    async def _hand_on(self, draft: int, clause: int | None, pcm: bytes, rate: int) -> None:
        for part in _parts(pcm, rate):
            await self._pieces.put(_Piece(draft, clause, part, rate))

    async def _play(self) -> None:
        try:
            while (piece := await self._pieces.get()) is not None:
                if self._make_way is not None:
                    make_way, self._make_way = self._make_way, None
                    await make_way()
                if self._is_void(piece.draft, piece.clause):
                    continue
                self._note(piece)
                if not piece.pcm:
                    continue
                await self._sink.play(piece.pcm, piece.rate, self._manner)
                if self._on_first_audio is not None:
                    self._on_first_audio()
                    self._on_first_audio = None
            await self._sink.drain()
        except AudioError as error:
            self._failure = error
            self.stop()
            return
        self._end(self._clauses, None if self._made else self._words_heard)

    def _is_void(self, draft: int, clause: int | None) -> bool:
        return draft != self._draft and (clause is None or clause >= len(self._begins))

    def _note(self, piece: _Piece) -> None:
        here = self._sink.accepted_ms
        if self._began is None:
            self._began = here
        if piece.clause is None:
            if self._untold_from is None:
                self._untold_from = here
            self._own_progress(here, sounds=True).add(piece.pcm, piece.rate)
        elif piece.pcm:
            self._untold_from = self._own = None
            if piece.clause >= len(self._begins):
                self._played.append((here, self._progress[piece.clause]))
            self._begins += [here] * (piece.clause + 1 - len(self._begins))
        else:
            # A transcribed clause is complete at about the time when its audio has arrived, so the
            # next clause is assumed to start at that point.
            self._begins.append(here if self._untold_from is None else self._untold_from)
            self._untold_from = here
            progress = self._own_progress(here, sounds=False)
            progress.tell(self._clauses[piece.clause])
            progress.whole = progress.sounds

    def _own_progress(self, here: float, *, sounds: bool) -> PlaybackProgress:
        if self._own is None or (sounds and self._own.whole):
            self._own = PlaybackProgress(
                pace_ms=self._own.pace_ms if self._own is not None else PACE_MS
            )
            self._played.append((here, self._own))
        return self._own

    def _refuse_more(self) -> None:
        self._finished = True
        while not self._lines.empty():
            self._lines.get_nowait()
        self._tell_room()

    def _end(self, clauses: Sequence[str], heard: str | None) -> None:
        self._spoken = SpokenAnswer(tuple(clauses), self._played_ms, heard)
        self._over.set()


def _parts(pcm: bytes, rate: int) -> Iterator[bytes]:
    size = rate * PIECE_MS // 1000 * 2
    for begin in range(0, len(pcm), size):
        yield pcm[begin : begin + size]
