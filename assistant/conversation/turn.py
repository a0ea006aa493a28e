"""One turn while it happens: the brain thinks, tools run, clauses go to the mouth."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from assistant.conversation.acknowledgement import IN_WORDS, Toning
from assistant.conversation.asking import AskedQuestion
from assistant.conversation.confirmation_dialog import AskingServices, ConfirmationDialog
from assistant.conversation.confirming import Before, Confirming
from assistant.conversation.record import TurnListener
from assistant.conversation.rules.effects import CancelReason, CloseTurn, OpenTurn
from assistant.conversation.rules.events import (
    Acknowledged,
    BrainFailed,
    BrainFinished,
    Event,
    ForAnswer,
    PlaybackEnded,
    PlaybackStarted,
    SetAside,
    SpeechNotMeant,
    WentOffline,
)
from assistant.conversation.spoken_reply import Sounded, Speech
from assistant.conversation.stop_words import Judge
from assistant.conversation.thinking import Patience, TurnThinking, note_of_result
from assistant.conversation.timeline import Timeline
from assistant.conversation.tool_calls import OWN_BRAINS, ToolCalls, ToolRun, told, undone
from assistant.conversation.turn_services import TurnCost, TurnServices, TurnVoice
from assistant.domain.brain import BrainFault, NotMeant
from assistant.domain.call import ToolCall
from assistant.domain.deferred import Deferred
from assistant.domain.outcome import ToolOutcome
from assistant.domain.question import Question
from assistant.domain.records import ConfirmationRecord
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.answer import SpokenAnswer
from assistant.speech.clauses import asks
from assistant.speech.identify import Languages, TurnLanguage

_log = logging.getLogger(__name__)
# Of silence, once the sentence is over, from a brain for which no call runs. The slowest recogniser
# needs about 10 s for the longest sentence.
BRAIN_SILENCE_S = 30.0


class Turn:
    """Runs one turn and gathers what there is to tell about it."""

    def __init__(
        self,
        opening: OpenTurn,
        turn_id: str,
        started_at: datetime,
        languages: Languages,
        timeline: Timeline,
        voice: TurnVoice,
        services: Deferred[TurnServices],
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
        self.sound: str | None = None  # the tone that stood for words, or the clip
        self.bill = TurnCost()
        self.understood = True  # False: the brain has said that it could make nothing of it
        self.failed = False  # the person is being told that it went wrong
        self.broke: tuple[str, str] | None = None  # kind and sentence of what broke inside
        self.cut: CancelReason | None = None  # why it was cut short
        self.closing: CloseTurn | None = None  # how it ended, once it has
        self.written = False  # it is over and written down
        self.confirming: Confirming | None = None  # from its question on the voice is ours
        self._answered: Confirming | None = None  # its question is settled, the model has the voice
        self.asking: AskedQuestion | None = None  # what is announced is a program's question
        self.follower = TurnListener()  # is told of it
        self.sounded = Sounded(self)  # how much of its answer was heard
        self._voice = voice
        self._services = services
        self._dispatch = dispatch
        self._spawn = spawn
        self._language = TurnLanguage(languages, opening.language)
        self._speech = Speech(
            self._language, voice.mouth, timeline, self._first_audio, opening.manner
        )
        self._patience = Patience(BRAIN_SILENCE_S)
        self._calls = ToolCalls(self, services, self._patience, timeline, spawn)
        self._toning = self._make_toning()
        self._brains_part = TurnThinking(
            self, voice.mouth, services, self._speech, self._calls, self._patience, self._toning
        )
        if isinstance(opening.then, ForAnswer):
            self.asking = AskedQuestion(opening.then, self, services, dispatch, spawn)
        self._judge = judge
        self._aside = False  # its words want no answer
        self._muzzled = False  # the brain has no voice any more in this turn
        self._owes_words = False  # what became of the calls is still to be told by us
        self._words_known = False  # the brain's part is over, and so its words are known
        self._group: asyncio.TaskGroup | None = None  # while the turn is under way
        self._thinking: asyncio.Task[None] | None = None
        self._speaking: asyncio.Task[None] | None = None  # the first stretch
        self._expect_words()

    def _expect_words(self) -> None:
        if self.opening.source != "text":
            self._patience.excuse("listening")
        elif self.opening.text is not None:
            self.hear(self.opening.text, None)

    def _make_toning(self) -> Toning:
        unspoken = self.opening.source in ("text", "announcement")
        rule = IN_WORDS if unspoken else self._voice.acknowledging
        return Toning(rule, lambda: self._speech.reply, lambda: self.heard, self._acknowledge)

    @property
    def language(self) -> str:
        """The turn's language, as far as it is known."""
        return self._language.code

    @property
    def _own_language(self) -> str:
        """The language of our own sentences in this turn."""
        return self._voice.catalogue.own(self.language)

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
    def spoken(self) -> SpokenAnswer:
        """What was said of it; as long as the turn is under way, up to now."""
        return self._speech.spoken

    @property
    def tone_ms(self) -> float:
        """How long the tone before an announcement is."""
        return self._speech.tone_ms

    @property
    def open_question(self) -> Confirming | AskedQuestion | None:
        """The question of ours that somebody may answer."""
        return self.confirming or self.asking

    @property
    def confirmation(self) -> ConfirmationRecord | None:
        """What was asked before a call, and what came back."""
        asked = self.confirming or self._answered
        return None if asked is None else asked.exchange.record()

    async def run(self) -> None:
        """The whole turn, until the last sample was played. Cancel it to interrupt it."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._speaking = self._group.create_task(self._speak())
                if self.opening.source == "announcement":
                    self._announce()
                    if self.asking is not None:
                        self._group.create_task(self.asking.run())
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

    async def ask_aloud(self, sentence: str, language: str | None = None) -> bool:
        """Say a question in place of what the brain still had to say; one of ours where no
        language is given.

        Whether it has sounded to its end: else nobody can have been asked.
        """
        self._toning.give_way()
        told = language or self._own_language
        return await self._speech.instead(sentence, told, self._speaking)

    def speak_again(self, sentence: str) -> Coroutine[Any, Any, None]:
        """A further stretch of speech; what is returned says it, to its end."""
        self._speech.begin(sentence, self._own_language)
        return self._end_speech()

    async def ask_further(self, sentence: str) -> bool:
        """Say a question that follows another one; whether it has sounded to its end."""
        return await self._speech.further(sentence, self._own_language)

    def go_on(self, call: ToolCall, outcome: ToolOutcome, told: str) -> bool:
        """Let the model answer with what a confirmed call has given, behind `told`. False: it has
        no voice any more in this turn."""
        if self._muzzled or self._group is None or self.failed:
            return False
        self._answered, self.confirming = self.confirming, None
        self._calls.remember(call, outcome)
        self._patience.expect("its end")
        self._speech.begin(told, self._own_language)
        self._speaking = self._group.create_task(self._speak())
        self._thinking = self._group.create_task(self._brains_part.go_on(note_of_result(outcome)))
        return True

    def leave_brain(self) -> None:
        """What the brain still does for the request is not waited for."""
        self.tell_words()
        if self._thinking is not None:
            self._thinking.cancel()

    async def ask(self, call: ToolCall) -> None:
        """Ask the person about a call that waits for their yes."""
        services = self._services.get()
        tools, asking = services.tools, services.asking
        question = tools.question(self.turn_id, call.id)
        if question is None or self.confirming is not None:
            return  # it is asked already, for an equal call
        unasked = asking is None or self.opening.silent
        if self._group is None or asking is None or unasked or self.failed:
            await tools.settle(question, None)  # there is no voice left to ask with
            return
        self._confirm(question, call, asking, self._group)

    def ask_next(self, question: Question, before: Before) -> None:
        """Ask about the next call of the same sentence that needs a yes."""
        asking, group = self._services.get().asking, self._group
        assert asking is not None  # somebody has been asked before
        assert group is not None  # by a task of it
        self._confirm(question, self._calls.gated[question.call_id], asking, group, before)

    def _confirm(
        self,
        question: Question,
        call: ToolCall,
        asking: AskingServices,
        group: asyncio.TaskGroup,
        before: Before | None = None,
    ) -> None:
        typed = self.opening.source == "text"
        self.confirming = Confirming(
            ConfirmationDialog(question, call, asking, typed=typed),
            self,
            self._voice.catalogue,
            self._services.get(),
            asking,
            self._dispatch,
            group,
            self._spawn,
            before,
        )
        self.confirming.begin()
        self.follower.asked(self)

    def _announce(self) -> None:
        manner = self.opening.manner
        if manner is not None and manner.clip is not None:
            self.sound = manner.clip.name
        self._speech.announce(self.opening.text or "")

    # --- the brain ---

    def fail(self, fault: BrainFault) -> None:
        """The brain could not answer."""
        self.tell_words()
        if self.confirming is not None or self.set_aside():
            return  # the voice is ours: the turn ends with the question
        self.failed = True
        self._own_up()
        self._dispatch(BrainFailed(self.opening.turn, fault.kind, fault.message, fault.spoken))

    def end(self, ending: BrainFault | NotMeant | None) -> None:
        """Tell how the brain's part ended, unless it was told at once."""
        self.tell_words()
        if self.confirming is not None or self.set_aside():
            return
        match ending:
            case NotMeant():
                self._speech.reply.withdraw()
                self.sound = "unmeant"
                self._dispatch(SpeechNotMeant(self.opening.turn))
            case None:
                self._toning.words_end(self.answer, self.outcomes)
                self._own_up()
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

    def tell_words(self) -> None:
        """The brain has done its part, or the turn is over: what was heard is known. Once."""
        if not self._words_known and not self.set_aside():
            self._words_known = True
            self.follower.understood(self)

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
        begun = self.failed or self.confirming is not None or self.outcomes or self.answer
        if why is None or begun:
            return False
        self._aside = self._muzzled = True
        self._dispatch(SetAside(self.opening.turn, why))
        self.leave_brain()
        return True

    # --- what follows from its calls

    def say_moment(self) -> None:
        """A call takes its time, and nobody has said anything yet."""
        alone = self._group is not None and self.confirming is None and not self.failed
        if not alone or self.opening.source == "text":
            return
        self._toning.give_way()
        if not self.answer:
            line = self._voice.catalogue.line("tools.moment", self.language)
            self.say(line.text, line.language)

    def called(self, outcome: ToolOutcome) -> None:
        """What came of a call is known."""
        self.follower.called(self, outcome)

    async def calls_over(self) -> None:
        """Return when none of its calls runs any more."""
        await self._calls.over()

    def call_ended(self, under_way: int) -> None:
        """A call has come back; so many have not."""
        self._toning.call_ends(self.outcomes, under_way)

    def refuse_aloud(self, sentence: str) -> None:
        """A door that stays shut is told in our own words: a model may claim what it likes."""
        if self.confirming is None and sentence not in self._speech.reply.text:
            self._muzzled = True
            self._speech.reply.withdraw()
            self.say(sentence, self._own_language)

    def say_age(self, sentence: str) -> None:
        """Tell in our own words, once, how old what follows is: a model may leave it out."""
        if self.confirming is None and sentence not in self._speech.reply.text:
            self.say(sentence, self._own_language)

    def distrust(self) -> None:
        """A call's end is not known: the model could claim it, so the rest of the answer is ours,
        once its calls are over. Brains on this device speak by our catalogue anyway."""
        if self.confirming is not None or self.brain in OWN_BRAINS:
            return
        self._muzzled = self._owes_words = True
        self._toning.give_way()
        self._speech.reply.withdraw()

    def _own_up(self) -> None:
        """Tell what became of the calls where the model's own words cannot be believed."""
        claimed = self.opening.silent and self.brain not in OWN_BRAINS and undone(self.outcomes)
        if claimed:
            self._muzzled = self._owes_words = True
            self._speech.reply.withdraw()
        if not self._owes_words:
            return
        self._owes_words = False
        for sentence in told(self.outcomes):
            if sentence not in self._speech.reply.text:
                self.say(sentence, self._own_language)

    async def stop_calling(self) -> None:
        """The brain goes on although it was told that it is too much: it is left."""
        if self.failed:
            return
        _log.warning("the brain %s does not stop calling", self.brain)
        if self.confirming is None:
            await self._calls.settle()
        line = self._voice.catalogue.say("fault.endless", self.language)
        spoken = " ".join([*self._calls.deeds(), line])
        message = "The model did not stop calling tools."
        self.fail(BrainFault("endless", message, retryable=False, spoken=spoken))
        self.leave_brain()

    # --- the mouth ---

    async def _speak(self) -> None:
        """The first stretch; where a question of ours follows, that is not the end of it."""
        if self.opening.silent:
            await self._speech.pass_over()
        else:
            said = await self._speech.say()
            if self.asking is not None:
                self.asking.said(said)
                return
        if self.sound is not None:
            await self._voice.mouth.sounded()
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
