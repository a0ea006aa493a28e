"""One turn while it happens: the brain thinks, tools run, clauses go to the mouth."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from assistant.brains.audio import TurnAudio
from assistant.brains.protocol import (
    BrainFault,
    NotMeant,
    Spent,
    Usage,
)
from assistant.journal.records import ConfirmationRecord
from assistant.speech.answer import Spoken
from assistant.speech.clauses import ClauseCutter, asks
from assistant.tools.call import ToolCall
from assistant.tools.outcome import ToolOutcome
from assistant.turn.acknowledging import IN_WORDS
from assistant.turn.calls import Calls, ToolRun
from assistant.turn.confirming import Confirming
from assistant.turn.effects import CancelReason, OpenTurn
from assistant.turn.events import (
    Acknowledged,
    BrainFailed,
    BrainFinished,
    Event,
    PlaybackEnded,
    PlaybackStarted,
    SetAside,
    SpeechNotMeant,
    WentOffline,
)
from assistant.turn.exchange import Exchange
from assistant.turn.judging import Judge
from assistant.turn.language import Languages, TurnLanguage
from assistant.turn.patience import Patience
from assistant.turn.performers import Performers
from assistant.turn.speech import Speech
from assistant.turn.thinking import Thinking
from assistant.turn.timeline import Timeline
from assistant.turn.toning import Toning

_log = logging.getLogger(__name__)
# Of silence, once the sentence is over, from a brain for which no call runs. The slowest recogniser
# needs about 10 s for the longest sentence.
BRAIN_SILENCE_S = 30.0


class LiveTurn:
    """Runs one turn and gathers what there is to tell about it."""

    def __init__(
        self,
        opening: OpenTurn,
        turn_id: str,
        started_at: datetime,
        languages: Languages,
        timeline: Timeline,
        performers: Performers,
        audio: TurnAudio | None,
        dispatch: Callable[[Event], None],
        spawn: Callable[[ToolRun], asyncio.Task[bool]],
        profile: str = "",
        judge: Judge | None = None,
    ) -> None:
        self.opening = opening
        self.turn_id = turn_id
        self.started_at = started_at
        self.timeline = timeline
        self.audio = audio
        self.profile = profile
        self.brain: str | None = None  # that served it last; None: none was asked
        self.heard: str | None = None
        self.sound: str | None = None  # the tone that stood for words
        self.usage: Usage | None = None
        self.cost_usd = 0.0
        self.broke: tuple[str, str] | None = None  # kind and sentence of what broke inside
        self.cut: CancelReason | None = None  # why it was cut short
        self.confirming: Confirming | None = None  # from its question on the voice is ours
        self._performers = performers
        self._dispatch = dispatch
        self._spawn = spawn
        self._language = TurnLanguage(languages, opening.language)
        self._speech = Speech(
            self._language, performers.mouth, timeline, self._first_audio, opening.manner
        )
        self._patience = Patience(BRAIN_SILENCE_S)
        self._calls = Calls(self, performers.tools, self._patience, timeline, spawn)
        unspoken = opening.source in ("text", "announcement")
        rule = IN_WORDS if unspoken else performers.acknowledging
        self._toning = Toning(
            rule, lambda: self._speech.reply, lambda: self.heard, self._acknowledge
        )
        self._brains_part = Thinking(
            self, performers, self._speech, self._calls, self._patience, self._toning
        )
        self._judge = judge
        self._aside = False  # its words want no answer
        self._muzzled = False  # the brain has no voice any more in this turn
        self._failed = False  # the person is being told that it went wrong
        self._cut_taken = False
        self._group: asyncio.TaskGroup | None = None  # while the turn is under way
        self._thinking: asyncio.Task[None] | None = None
        self._speaking: asyncio.Task[None] | None = None  # the first stretch
        if opening.source != "text":
            self._patience.excuse("listening")
        elif opening.text is not None:
            self.hear(opening.text, None)

    @property
    def language(self) -> str:
        """The turn's language, as far as it is known."""
        return self._language.code

    @property
    def _own_language(self) -> str:
        """The language of our own sentences in this turn."""
        return self._performers.catalogue.own(self.language)

    @property
    def error(self) -> tuple[str, str] | None:
        """What went wrong in the turn itself, as kind and sentence."""
        problem = self._speech.problem
        return self.broke or (("no_sound", problem) if problem is not None else None)

    @property
    def outcomes(self) -> list[ToolOutcome]:
        """Of its calls so far, in the order of their end."""
        return self._calls.outcomes

    @property
    def answer(self) -> str:
        """What the brain answered so far, and what we added."""
        return self._speech.text

    @property
    def spoken(self) -> Spoken:
        """What was said of it; as long as the turn is under way, up to now."""
        return self._speech.spoken

    @property
    def cut_at(self) -> str | None:
        """The words that were heard of an answer that was cut off; None: it was not."""
        has_words = not self._only_a_tone and (self.answer or self.spoken.clauses)
        return self.spoken.heard if has_words else None

    @property
    def _only_a_tone(self) -> bool:
        return self.sound is not None and not self.spoken.clauses

    def take_cut(self) -> str | None:
        """How much was heard of what the brain answered or was about to, given once, where that
        was cut off; None too where the voice was ours."""
        ours = self._muzzled or self._failed or self.confirming is not None or self._only_a_tone
        if ours or self._cut_taken or "end_of_turn" not in self.timeline.as_dict():
            return None
        heard = self.spoken.heard
        self._cut_taken = heard is not None
        return heard

    @property
    def only_toned(self) -> bool:
        """Once it is over: it has sounded, and no word of it was heard."""
        return "first_audio_out" in self.timeline.as_dict() and not self.spoken.clauses

    @property
    def confirmation(self) -> ConfirmationRecord | None:
        """What was asked before a call, and what came back."""
        return None if self.confirming is None else self.confirming.exchange.record()

    async def run(self) -> None:
        """The whole turn, until the last sample was played. Cancel it to interrupt it."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._speaking = self._group.create_task(self._speak())
                if self.opening.source == "announcement":
                    self._announce()
                else:
                    self._thinking = self._group.create_task(self._brains_part.run())
        finally:
            self._group = None
            self._toning.close()
            if self._judge is not None:
                self._judge.forget()
            if self.confirming is not None:
                self.confirming.give_up()

    def end_listening(self, speech_end_ms: float | None, at_ms: float) -> None:
        """The sentence is over; both moments are on the conversation's clock."""
        if speech_end_ms is not None:
            self.timeline.mark("speech_end", speech_end_ms)
        self.timeline.mark("end_of_turn", at_ms)
        if self.audio is not None:
            self.audio.finish()
        self._patience.expect("listening")

    def say(self, sentence: str, language: str | None = None) -> None:
        """Add a sentence of our own to the answer. `language`: None where it is not known."""
        self._toning.give_way()
        self._speech.reply.say(sentence, language)

    def finish_speech(self) -> None:
        """Nothing more will be said."""
        self._speech.reply.finish()

    # --- a confirmation

    async def ask_aloud(self, sentence: str) -> bool:
        """Say a question of ours in place of what the brain still had to say.

        Whether it has sounded to its end: else nobody can have been asked.
        """
        self._toning.give_way()
        return await self._speech.instead(sentence, self._own_language, self._speaking)

    def speak_again(self, sentence: str) -> Coroutine[Any, Any, None]:
        """A further stretch of speech; what is returned says it, to its end."""
        self._speech.begin(sentence, self._own_language)
        return self._end_speech()

    def leave_brain(self) -> None:
        """What the brain still does for the request is not waited for."""
        if self._thinking is not None:
            self._thinking.cancel()

    def pay(self, spent: Spent) -> None:
        """The turn has cost something more."""
        self.usage = spent.usage if self.usage is None else self.usage + spent.usage
        self.cost_usd += spent.cost_usd

    async def ask(self, call: ToolCall) -> None:
        """Ask the person about a call that waits for their yes."""
        tools, asking = self._performers.tools, self._performers.asking
        question = tools.question(self.turn_id, call.id)
        if question is None or self.confirming is not None:
            return  # it is asked already, for an equal call
        if self._group is None or asking is None or self._failed:
            await tools.settle(question, None)  # there is no voice left to ask with
            return
        typed = self.opening.source == "text"
        self.confirming = Confirming(
            Exchange(question, call, asking, typed=typed),
            self,
            self._performers,
            asking,
            self._dispatch,
            self._group,
            self._spawn,
        )
        self.confirming.begin()

    def _announce(self) -> None:
        tone = self.opening.manner.sound if self.opening.manner is not None else ""
        if tone and self._performers.mouth.has_sound(tone):
            self._speech.reply.tone(tone)
        cutter = ClauseCutter()
        for clause in [*cutter.push(self.opening.text or ""), *cutter.flush()]:
            self._speech.reply.say(clause, self.language)
        self._speech.reply.finish()

    # --- the brain ---

    def fail(self, fault: BrainFault) -> None:
        """The brain could not answer."""
        if self.confirming is not None or self.set_aside():
            return  # the voice is ours: the turn ends with the question
        self._failed = True
        self._dispatch(BrainFailed(self.opening.turn, fault.kind, fault.message, fault.spoken))

    def end(self, ending: BrainFault | NotMeant | None) -> None:
        """Tell how the brain's part ended, unless it was told at once."""
        if self.confirming is not None or self.set_aside():
            return
        match ending:
            case NotMeant():
                self._speech.reply.withdraw()
                self.sound = "unmeant"
                self._dispatch(SpeechNotMeant(self.opening.turn))
            case None:
                self._toning.words_end(self.answer, self.outcomes)
                self._dispatch(BrainFinished(self.opening.turn, asks(self.answer)))

    @property
    def voice_is_ours(self) -> bool:
        """Whatever the brain says or claims, it is not said."""
        return self._muzzled or self.confirming is not None

    def went_offline(self) -> None:
        """The device alone serves from now on, and says so next."""
        self._dispatch(WentOffline(self.opening.turn))

    def hear(self, text: str, language: str | None) -> None:
        """The person's words are known."""
        self.heard = text
        self._calls.has_heard.set()
        self._language.heard(text, language)

    @property
    def may_be_echo(self) -> bool:
        """Its words must be known before anything is done."""
        return self._judge is not None and self._judge.may_be_echo

    def set_aside(self) -> bool:
        """Whether its words, as far as they are known, want no answer; then they get none.

        Once something was said or done it is too late.
        """
        if self._aside or self._judge is None:
            return self._aside
        why = self._judge.judge(self.heard)
        begun = self._failed or self.confirming is not None or self.outcomes or self.answer
        if why is None or begun:
            return False
        self._aside = self._muzzled = True
        self._dispatch(SetAside(self.opening.turn, why))
        self.leave_brain()
        return True

    # --- what follows from its calls

    def say_moment(self) -> None:
        """A call takes its time, and nobody has said anything yet."""
        alone = self._group is not None and self.confirming is None and not self._failed
        if not alone or self.opening.source == "text":
            return
        self._toning.give_way()
        if not self.answer:
            line = self._performers.catalogue.line("tools.moment", self.language)
            self.say(line.text, line.language)

    def call_ended(self, under_way: int) -> None:
        """A call has come back; so many have not."""
        self._toning.call_ends(self.outcomes, under_way)

    def refuse_aloud(self, sentence: str) -> None:
        """A door that stays shut is told in our own words: a model may claim what it likes."""
        if self.confirming is None and sentence not in self._speech.reply.text:
            self._muzzled = True
            self._speech.reply.withdraw()
            self.say(sentence, self._own_language)

    async def stop_calling(self) -> None:
        """The brain goes on although it was told that it is too much: it is left."""
        if self._failed:
            return
        _log.warning("the brain %s does not stop calling", self.brain)
        if self.confirming is None:
            await self._calls.settle()
        line = self._performers.catalogue.say("fault.endless", self.language)
        spoken = " ".join([*self._calls.deeds(), line])
        message = "The model did not stop calling tools."
        self.fail(BrainFault("endless", message, retryable=False, spoken=spoken))
        self.leave_brain()

    # --- the mouth ---

    async def _speak(self) -> None:
        """The first stretch; where a question of ours follows, that is not the end of it."""
        await self._speech.say()
        if self.sound is not None:
            await self._performers.mouth.sounded()
        if self.confirming is None:
            self._dispatch(PlaybackEnded(self.opening.turn))

    async def _end_speech(self) -> None:
        await self._speech.say()
        self._dispatch(PlaybackEnded(self.opening.turn))

    def _acknowledge(self) -> None:
        self.sound = "done"
        self.timeline.mark("first_audio_out")
        self._dispatch(Acknowledged(self.opening.turn))

    def _first_audio(self) -> None:
        self._dispatch(PlaybackStarted(self.opening.turn))
