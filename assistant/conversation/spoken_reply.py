"""A turn's spoken reply, on its way from the brain's text to the speech output."""

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


# Seconds without further text after which a sentence is spoken although more text may belong to it.
# Parts of one transcript arrive faster than this.
SETTLE_S = 0.1
_LINES_AHEAD = 64  # the brain waits when the speech output is this many lines behind
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    language: str | None  # None: the turn's language when the clause is spoken
    voiced: bool  # False if the brain supplies the audio


class SpokenReply:
    """Cuts the answer into clauses and passes them to the speech output in order.

    Clauses wait here while the speech output finishes the previous answer. `add` and `add_sound`
    wait while the speech output is far behind.
    """

    def __init__(self, language: TurnLanguage) -> None:
        self.text = ""
        self._spoken = SpokenAnswer((), 0.0, "")
        self._language = language
        self._cutter = ClauseCutter()
        self._voiced = True  # the local voice speaks the text in the cutter
        self._given: str | None = None  # the language of that text, if the brain gave it
        self._waiting: list[_Clause | ReplyAudio] = []  # waiting for the speech output
        self._taken = asyncio.Event()  # set and replaced when `_waiting` is emptied
        self._finished = asyncio.Event()  # the reply is complete
        self._passed_over = False  # the reply must not be spoken
        self._held: list[_Clause | ReplyAudio] | None = None  # None: nothing is held back
        self.held_ms = 0.0  # ms of the brain's own audio held back
        self.given = False  # something has been passed to the speech output
        self._answer: Answer | None = None
        self._settling: asyncio.TimerHandle | None = None

    @property
    def spoken(self) -> SpokenAnswer:
        return self._spoken if self._answer is None else self._answer.spoken

    async def add(self, delta: str, voiced: bool, language: str | None = None) -> None:
        """Add text from the brain. `voiced` is False if the brain supplies its own audio. If
        `language` is None, it is detected from the text."""
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
        if self._voiced:
            self._flush()  # text for the local voice came first
        await self._make_room()
        self._queue(piece)
        if self._held is not None:
            self.held_ms += len(piece.pcm) / 2 / piece.rate * 1000

    def hold(self) -> None:
        """Hold back all text that is added from now on, until `release` is called."""
        if self._held is None:
            self._held, self.held_ms = [], 0.0

    def release(self) -> None:
        held, self._held = self._held or [], None
        for line in held:
            self._queue(line)

    def settle(self) -> None:
        """Speak a sentence that the clause cutter is holding back, because no text
        follows for now."""
        self._stay()
        for clause in self._cutter.settle():
            self._put(clause)

    def say(self, sentence: str, language: str | None = None) -> None:
        """Add one of Hearth's own sentences. If `language` is None, it is detected from the
        sentence."""
        self._flush()
        self._voiced, self._given = True, None
        self.text = f"{self.text} {sentence}".strip()
        told = language or self._language.of_clause(sentence)
        self._queue(_Clause(sentence, told, voiced=True))

    def tone(self, name: str) -> float:
        """Play a tone from `audio.earcons` before the next clause, and return its length in ms, or
        0 if the tone is unknown."""
        try:
            return self.play(*earcon(name))
        except AudioError as error:  # such as a tone name stored by an older version
            _log.warning("the %s sound could not be played: %s", name, error)
            return 0.0

    def play(self, pcm: bytes, rate: int) -> float:
        """Play a clip, mono int16 at `rate` Hz, before the next clause, and return its length in
        ms."""
        self._flush()
        self._hand_on(ReplyAudio(pcm, rate))
        return len(pcm) / 2 / rate * 1000

    def finish(self) -> None:
        self._flush()
        self._finished.set()

    def withdraw(self) -> None:
        """Discard the text so far and every clause that has not started playing."""
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
        """Speak the reply to its end. Return False if it was stopped. Raises AudioError.

        `announced` describes how to speak an announcement; it is None for an answer.
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
            self._stay()  # no more clauses are accepted
            self._answer = None
            if answer is not None:
                self._spoken = answer.spoken
        return not answer.stopped

    async def pass_over(self) -> None:
        """Wait for the end of the reply without speaking it."""
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
            return  # held-back text is not queued; the caller limits its length
        while self._answer is None and len(self._waiting) >= _LINES_AHEAD:
            await self._taken.wait()
        if self._answer is not None:
            await self._answer.room()


# Determines how much of an answer was audible.


class Sounded:
    """The audible part of a turn's answer. It can grow while the turn is in progress."""

    def __init__(self, turn: "Turn") -> None:
        self._turn = turn
        self._cut_taken = False

    @property
    def cut_at(self) -> str | None:
        """The part of a cut-off answer that was audible. None if the answer was not cut off or none
        of it was audible."""
        turn = self._turn
        if turn.opening.silent:
            return None
        has_words = not self._only_a_tone and (turn.answer or turn.spoken.clauses)
        return turn.spoken.heard if has_words else None

    def take_cut(self) -> str | None:
        """Return the audible part of the brain's cut-off answer on the first call, and None
        afterwards.

        Return None also if the answer was not cut off, or if Hearth spoke its own sentences.
        """
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
        """True if only the opening tone was audible. Use it for finished announcements."""
        turn, spoken = self._turn, self._turn.spoken
        heard = spoken.clauses or (turn.sound is not None and spoken.audio_ms > turn.speech.tone_ms)
        return "first_audio_out" in turn.timeline.as_dict() and not heard

    @property
    def _only_a_tone(self) -> bool:
        return self._turn.sound is not None and not self._turn.spoken.clauses


# The speech of one turn.


class Speech:
    """A turn's speech, divided into stretches. A new stretch starts after each of Hearth's
    questions."""

    def __init__(
        self,
        language: TurnLanguage,
        mouth: SpeechOutput,
        timeline: Timeline,
        on_first_audio: Callable[[], None],
        announced: Manner | None = None,
    ) -> None:
        """`on_first_audio` is called at the first sample of each stretch. `announced` describes how
        to speak an announcement; it is None for an answer."""
        self.reply = SpokenReply(language)
        self.problem: str | None = None  # why some audio could not be played
        self.tone_ms = 0.0  # length of the tone before an announcement
        self._language = language
        self._mouth = mouth
        self._timeline = timeline
        self._on_first_audio = on_first_audio
        self._announced = announced
        self._said = SpokenAnswer((), 0.0)  # spoken before the current stretch
        self._told = ""

    @property
    def text(self) -> str:
        return f"{self._told} {self.reply.text}".strip()

    @property
    def spoken(self) -> SpokenAnswer:
        return self._said + self.reply.spoken

    def announce(self, text: str) -> None:
        """Play an announcement: its tone and clip, if it has any, and then its text."""
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
        """Start another stretch with `sentence`, or with nothing if that is ""."""
        self._said, self._told = self.spoken, self.text
        self.reply = SpokenReply(self._language)
        if sentence:
            self.reply.say(sentence, language)

    async def say(self) -> bool:
        """Speak the stretch. Return True if it was played to the end."""
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
        await self.reply.pass_over()
        self._timeline.mark("answer_done")

    async def instead(
        self, sentence: str, language: str, speaking: asyncio.Task[None] | None
    ) -> bool:
        """Speak only this sentence in place of the rest of `speaking`, the previous stretch. Return
        True if the sentence was played to the end."""
        self.reply.withdraw()
        self.reply.finish()
        if speaking is not None:
            await asyncio.wait([speaking])
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    async def further(self, sentence: str, language: str) -> bool:
        """Speak only this sentence after a stretch that has ended. Return True if it was played to
        the end."""
        self.begin(sentence, language)
        self.reply.finish()
        return await self.say()

    def _first_audio(self) -> None:
        self._timeline.mark("first_audio_out")
        self._on_first_audio()
