"""The answer of one turn, from the brain's pieces to the mouth."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.conversation.turn_services import Timeline
from assistant.domain.brain import ReplyAudio
from assistant.speech.answer import Answer, SpokenAnswer
from assistant.speech.clauses import ClauseCutter
from assistant.speech.identify import TurnLanguage
from assistant.speech.output import SpeechOutput
from assistant.speech.sink import PLAIN, Manner
from audio.earcons import earcon
from audio.errors import AudioError

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn


# Nothing followed a whole sentence for so long: it is said without waiting for what decides that
# it has ended. Pieces of one transcript come closer together than this.
SETTLE_S = 0.1
_LINES_AHEAD = 64  # the brain waits when the mouth is this far behind
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Clause:
    """Words for the mouth."""

    text: str
    language: str | None  # None: the turn's, as it is known by then
    voiced: bool  # False: the brain says it itself


class SpokenReply:
    """Cut the answer into clauses and hand them on in order.

    The mouth may still be clearing away the answer before: until then they wait here. Nothing waits
    for that but `add` and `add_sound`, when they are far ahead.
    """

    def __init__(self, language: TurnLanguage) -> None:
        self.text = ""
        self._spoken = SpokenAnswer((), 0.0, "")
        self._language = language
        self._cutter = ClauseCutter()
        self._voiced = True  # what the cutter holds is for the local voice
        self._given: str | None = None  # its language, where it need not be told from it
        self._waiting: list[_Clause | ReplyAudio] = []  # for the mouth to be free
        self._taken = asyncio.Event()  # set and replaced when nothing waits any more
        self._finished = asyncio.Event()  # nothing more will be said
        self._passed_over = False  # nobody says it
        self._held: list[_Clause | ReplyAudio] | None = None  # None: nothing is kept back
        self.held_ms = 0.0  # of the brain's own voice among it
        self.given = False  # something went on its way to the mouth
        self._answer: Answer | None = None
        self._settling: asyncio.TimerHandle | None = None

    @property
    def spoken(self) -> SpokenAnswer:
        """Part that was said; while it is still being said, up to now."""
        return self._spoken if self._answer is None else self._answer.spoken

    async def add(self, delta: str, voiced: bool, language: str | None = None) -> None:
        """The next piece of text; `voiced`: for the local voice, else the brain says it itself.

        `language`: None where only the text can tell.
        """
        self.text += delta
        self._stay()
        if (voiced, language) != (self._voiced, self._given):
            self._flush()
            self._voiced, self._given = voiced, language
        for clause in self._cutter.push(delta):
            await self._make_room()
            self._put(clause)
        self._settling = asyncio.get_running_loop().call_later(SETTLE_S, self.settle)

    async def add_sound(self, piece: ReplyAudio) -> None:
        """The next piece of the brain's own voice."""
        if self._voiced:
            self._flush()  # what the local voice still has to say was given before
        await self._make_room()
        self._queue(piece)
        if self._held is not None:
            self.held_ms += len(piece.pcm) / 2 / piece.rate * 1000

    def hold(self) -> None:
        """Keep back what comes from here on, until `release`; without it, it is never said."""
        if self._held is None:
            self._held, self.held_ms = [], 0.0

    def release(self) -> None:
        """Say what was kept back, and what comes."""
        held, self._held = self._held or [], None
        for line in held:
            self._queue(line)

    def settle(self) -> None:
        """Nothing follows for now: a sentence that is held back is said."""
        self._stay()
        for clause in self._cutter.settle():
            self._put(clause)

    def say(self, sentence: str, language: str | None = None) -> None:
        """Add a sentence of our own. `language`: None where only the sentence can tell."""
        self._flush()
        self._voiced, self._given = True, None
        self.text = f"{self.text} {sentence}".strip()
        told = language or self._language.of_clause(sentence)
        self._queue(_Clause(sentence, told, voiced=True))

    def tone(self, name: str) -> float:
        """Play a tone of `audio.earcons` here, before what is said next. Its milliseconds."""
        try:
            return self.play(*earcon(name))
        except AudioError as error:  # such as one that an older Hearth kept
            _log.warning("the %s sound could not be played: %s", name, error)
            return 0.0

    def play(self, pcm: bytes, rate: int) -> float:
        """Play sound of ours here, before what is said next: mono int16 at `rate` Hz. Its
        milliseconds."""
        self._flush()
        self._hand_on(ReplyAudio(pcm, rate))
        return len(pcm) / 2 / rate * 1000

    def finish(self) -> None:
        """Nothing more will be said."""
        self._flush()
        self._finished.set()

    def withdraw(self) -> None:
        """The text so far is void, and what has not begun to be said is not said."""
        self._stay()
        self.text = ""
        self._cutter = ClauseCutter()
        if self._held is not None:
            self._held, self.held_ms = [], 0.0
        self._take_waiting()
        if self._answer is not None:
            self._answer.withdraw()

    async def speak(
        self,
        mouth: SpeechOutput,
        on_first_audio: Callable[[], None],
        announced: Manner | None = None,
    ) -> bool:
        """Say it until its end. False: it was stopped. Raises AudioError.

        `announced`: nobody asked for it, and it is said like that.
        """
        answer: Answer | None = None
        try:
            async with mouth.answer(on_first_audio, announced) as answer:
                self._answer = answer
                for line in self._take_waiting():
                    self._give(answer, line)
                await self._finished.wait()
                await answer.finish()
        finally:
            self._stay()  # nobody takes a clause any more
            self._answer = None
            if answer is not None:
                self._spoken = answer.spoken
        return not answer.stopped

    async def pass_over(self) -> None:
        """Wait for its end, and say nothing of it."""
        self._passed_over = True
        self._take_waiting()
        await self._finished.wait()
        self._stay()

    def _hand_on(self, line: _Clause | ReplyAudio) -> None:
        if self._finished.is_set() or self._passed_over:
            return
        if self._answer is None:
            self._waiting.append(line)
        else:
            self._give(self._answer, line)

    def _give(self, answer: Answer, line: _Clause | ReplyAudio) -> None:
        match line:
            case ReplyAudio(pcm, rate):
                answer.sound(pcm, rate)
            case _Clause(text, language, voiced=True):
                answer.say(text, language or self._language.code)
            case _Clause(text):
                answer.transcript(text)

    def _take_waiting(self) -> list[_Clause | ReplyAudio]:
        waiting, self._waiting = self._waiting, []
        self._taken.set()
        self._taken = asyncio.Event()
        return waiting

    def _flush(self) -> None:
        self._stay()
        for clause in self._cutter.flush():
            self._put(clause)

    def _stay(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None

    def _put(self, clause: str) -> None:
        told = self._given or self._language.of_clause(clause)
        self._queue(_Clause(clause, told, self._voiced))

    def _queue(self, line: _Clause | ReplyAudio) -> None:
        if self._held is not None:
            self._held.append(line)
        else:
            self.given = True
            self._hand_on(line)

    async def _make_room(self) -> None:
        if self._held is not None:
            return  # nobody takes anything: whoever holds it knows when to end
        while self._answer is None and len(self._waiting) >= _LINES_AHEAD:
            await self._taken.wait()
        if self._answer is not None:
            await self._answer.room()


# How much of a turn's answer was heard, where it was cut off or nothing but a tone came.


class Sounded:
    """Of one turn, now: while it is under way it may still become more."""

    def __init__(self, turn: "Turn") -> None:
        self._turn = turn
        self._cut_taken = False

    @property
    def cut_at(self) -> str | None:
        """The words that were heard of an answer that was cut off; None: it was not, or nothing of
        it was to be heard."""
        turn = self._turn
        if turn.opening.silent:
            return None
        has_words = not self._only_a_tone and (turn.answer or turn.spoken.clauses)
        return turn.spoken.heard if has_words else None

    def take_cut(self) -> str | None:
        """How much was heard of what the brain answered or was about to, given once, where that
        was cut off; None too where the voice was ours."""
        turn = self._turn
        ours = turn.voice_is_ours or turn.failed or self._only_a_tone
        unsaid = turn.opening.silent or "end_of_turn" not in turn.timeline.as_dict()
        if ours or unsaid or self._cut_taken:
            return None
        heard = turn.spoken.heard
        self._cut_taken = heard is not None
        return heard

    @property
    def only_toned(self) -> bool:
        """Once it is over: it has sounded, and nothing but the tone before it was heard."""
        turn, spoken = self._turn, self._turn.spoken
        heard = spoken.clauses or (turn.sound is not None and spoken.audio_ms > turn.speech.tone_ms)
        return "first_audio_out" in turn.timeline.as_dict() and not heard

    @property
    def _only_a_tone(self) -> bool:
        return self._turn.sound is not None and not self._turn.spoken.clauses


# What one turn says: a stretch of speech, and after a question of ours a further one.


class Speech:
    """The turn's words in order. `reply` is the stretch that is being made."""

    def __init__(
        self,
        language: TurnLanguage,
        mouth: SpeechOutput,
        timeline: Timeline,
        on_first_audio: Callable[[], None],
        announced: Manner | None = None,
    ) -> None:
        """`on_first_audio` is told of the first sample of each stretch. `announced`: nobody
        asked for it, and it is said like that."""
        self.reply = SpokenReply(language)
        self.problem: str | None = None  # why something could not be played
        self.tone_ms = 0.0  # how long the tone before an announcement is
        self._language = language
        self._mouth = mouth
        self._timeline = timeline
        self._on_first_audio = on_first_audio
        self._announced = announced
        self._said = SpokenAnswer((), 0.0)  # before the present stretch
        self._told = ""

    @property
    def text(self) -> str:
        """All that was answered so far."""
        return f"{self._told} {self.reply.text}".strip()

    @property
    def spoken(self) -> SpokenAnswer:
        """Part that was said."""
        return self._said + self.reply.spoken

    def announce(self, text: str) -> None:
        """All that is said: the tone, the clip and the words, as far as there are any."""
        manner = self._announced or PLAIN
        if manner.sound and self._mouth.has_sound(manner.sound):
            self.tone_ms = self.reply.tone(manner.sound)
        if manner.clip is not None:
            self.reply.play(manner.clip.pcm, manner.clip.rate)
        cutter = ClauseCutter()
        for clause in [*cutter.push(text), *cutter.flush()]:
            self.reply.say(clause, self._language.code)
        self.reply.finish()

    def begin(self, sentence: str, language: str) -> None:
        """A further stretch, which begins with a sentence of our own, "" for none."""
        self._said, self._told = self.spoken, self.text
        self.reply = SpokenReply(self._language)
        if sentence:
            self.reply.say(sentence, language)

    async def say(self) -> bool:
        """Say the stretch. Whether it has sounded to its end."""
        try:
            if not await self.reply.speak(self._mouth, self._first_audio, self._announced):
                return False
        except AudioError as error:
            _log.error("the answer could not be played: %s", error)
            self.problem = str(error)
            return False
        self._timeline.mark("answer_done")
        return True

    async def pass_over(self) -> None:
        """Wait for the end of the stretch, and say nothing of it."""
        await self.reply.pass_over()
        self._timeline.mark("answer_done")

    async def instead(
        self, sentence: str, language: str, speaking: asyncio.Task[None] | None
    ) -> bool:
        """Say this alone once `speaking`, the stretch before, has come to its end; what of it has
        not begun to sound is void."""
        self.reply.withdraw()
        self.reply.finish()
        if speaking is not None:
            await asyncio.wait([speaking])
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    async def further(self, sentence: str, language: str) -> bool:
        """Say this alone, behind a stretch that has come to its end."""
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    def _first_audio(self) -> None:
        self._timeline.mark("first_audio_out")
        self._on_first_audio()
