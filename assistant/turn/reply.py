"""The answer of one turn, from the brain's pieces to the mouth."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from assistant.brains.protocol import ReplyAudio
from assistant.speech.answer import Answer, Spoken
from assistant.speech.clauses import ClauseCutter
from assistant.speech.mouth import Mouth
from assistant.turn.language import TurnLanguage

# Nothing followed a whole sentence for so long: it is said without waiting for what decides that
# it has ended. Pieces of one transcript come closer together than this.
SETTLE_S = 0.1
_LINES_AHEAD = 64  # the brain waits when the mouth is this far behind


@dataclass(frozen=True, slots=True)
class _Clause:
    """Words for the mouth."""

    text: str
    language: str | None  # None: the turn's, as it is known by then
    voiced: bool  # False: the brain says it itself


class Reply:
    """Cuts the answer into clauses and keeps them in order until the mouth takes them.

    The mouth may still be clearing away the answer before; nothing here waits for that but `add`
    and `add_sound`, when they are far ahead.
    """

    def __init__(self, language: TurnLanguage) -> None:
        self.text = ""
        self.spoken = Spoken((), 0.0)
        self._language = language
        self._cutter = ClauseCutter()
        self._voiced = True  # what the cutter holds is for the local voice
        self._lines: asyncio.Queue[_Clause | ReplyAudio | None] = asyncio.Queue()  # see `_room`
        self._room = asyncio.Semaphore(_LINES_AHEAD)
        self._answer: Answer | None = None
        self._settling: asyncio.TimerHandle | None = None

    async def add(self, delta: str, voiced: bool) -> None:
        """The next piece of text; `voiced`: for the local voice, else the brain says it itself."""
        self.text += delta
        self._stay()
        if voiced is not self._voiced:
            self._flush()
            self._voiced = voiced
        for clause in self._cutter.push(delta):
            await self._room.acquire()
            self._put(clause)
        self._settling = asyncio.get_running_loop().call_later(SETTLE_S, self.settle)

    async def add_sound(self, piece: ReplyAudio) -> None:
        """The next piece of the brain's own voice."""
        if self._voiced:
            self._flush()  # what the local voice still has to say was given before
        await self._room.acquire()
        self._lines.put_nowait(piece)

    def settle(self) -> None:
        """Nothing follows for now: a sentence that is held back is said."""
        self._stay()
        for clause in self._cutter.settle():
            self._put(clause)

    def say(self, sentence: str, language: str | None = None) -> None:
        """Add a sentence of our own. `language`: None where only the sentence can tell."""
        self._flush()
        self._voiced = True
        self.text = f"{self.text} {sentence}".strip()
        told = language or self._language.of_clause(sentence)
        self._lines.put_nowait(_Clause(sentence, told, voiced=True))

    def finish(self) -> None:
        """Nothing more will be said."""
        self._flush()
        self._lines.put_nowait(None)

    def withdraw(self) -> None:
        """The text so far is void, and what has not begun to be said is not said."""
        self._stay()
        self.text = ""
        self._cutter = ClauseCutter()
        while not self._lines.empty():
            self._lines.get_nowait()
            self._room.release()
        if self._answer is not None:
            self._answer.withdraw()

    async def speak(
        self, mouth: Mouth, on_first_audio: Callable[[], None], announced: bool = False
    ) -> bool:
        """Say it until its end. False: it was stopped. Raises AudioError.

        `announced`: nobody asked for it.
        """
        answer: Answer | None = None
        try:
            async with mouth.answer(on_first_audio, announced) as answer:
                self._answer = answer
                while (line := await self._lines.get()) is not None:
                    self._room.release()
                    await self._give(answer, line)
                await answer.finish()
        finally:
            self._stay()  # nobody takes a clause any more
            self._answer = None
            if answer is not None:
                self.spoken = answer.spoken
        return not answer.stopped

    async def _give(self, answer: Answer, line: _Clause | ReplyAudio) -> None:
        match line:
            case ReplyAudio(pcm, rate):
                await answer.sound(pcm, rate)
            case _Clause(text, language, voiced=True):
                await answer.say(text, language or self._language.code)
            case _Clause(text):
                await answer.transcript(text)

    def _flush(self) -> None:
        self._stay()
        for clause in self._cutter.flush():
            self._put(clause)

    def _stay(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None

    def _put(self, clause: str) -> None:
        told = self._language.of_clause(clause)
        self._lines.put_nowait(_Clause(clause, told, self._voiced))
