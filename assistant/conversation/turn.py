"""One turn while it happens: the brain thinks, tools run, clauses go to the mouth."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from assistant.conversation.acknowledgement import IN_WORDS, Toning
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.confirming import Before, Confirming
from assistant.conversation.program_turns import AskedQuestion
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
from assistant.conversation.tool_calls import OwnWords, ToolCalls, ToolRun
from assistant.conversation.turn_services import Timeline, TurnCost, TurnServices, TurnVoice
from assistant.domain.brain import BrainFault, NotMeant, Serving, Spent, TurnDone
from assistant.domain.events import Deferred
from assistant.domain.records import ConfirmationRecord
from assistant.domain.tool_call import Question, ToolCall, ToolOutcome
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
        profile: str,
        judge: Judge,
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
        self.written = asyncio.Event()  # it is over and written down
        self.confirming: Confirming | None = None  # from its question on the voice is ours
        self._answered: Confirming | None = None  # its question is settled, the model has the voice
        self.asking: AskedQuestion | None = None  # what is announced is a program's question
        self.follower = TurnListener()  # is told of it
        self._voice = voice
        self._services = services
        self._dispatch = dispatch
        self._spawn = spawn
        self._language = TurnLanguage(languages, opening.language)
        began = partial(dispatch, PlaybackStarted(opening.turn))
        self.speech = Speech(self._language, voice.mouth, timeline, began, opening.manner)
        self._patience = Patience(BRAIN_SILENCE_S)
        unspoken = opening.source in ("text", "announcement")
        self._toning = Toning(IN_WORDS if unspoken else voice.acknowledging, self)
        self._own_words = OwnWords(self, self._toning, voice.catalogue)
        self.calls = ToolCalls(self, services, self._own_words, self._toning, self._patience, spawn)
        self._brains_part = TurnThinking(self, voice.mouth, services, self._patience, self._toning)
        if isinstance(opening.then, ForAnswer):
            self.asking = AskedQuestion(opening.then, self, services, dispatch, spawn)
        self._judge = judge
        self._aside = False  # its words want no answer
        self._words_known = False  # the brain's part is over, and so its words are known
        self._group: asyncio.TaskGroup | None = None  # while the turn is under way
        self._thinking: asyncio.Task[None] | None = None
        self._speaking: asyncio.Task[None] | None = None  # the first stretch
        if opening.source != "text":
            self._patience.excuse("listening")
        elif opening.text is not None:
            self.hear(opening.text, None)

    @cached_property
    def sounded(self) -> Sounded:
        """Part of its answer that was heard."""
        return Sounded(self)

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
        """Failure of the turn itself, as kind and sentence."""
        problem = self.speech.problem
        return self.broke or (("no_sound", problem) if problem is not None else None)

    @property
    def outcomes(self) -> list[ToolOutcome]:
        """Of its calls so far, in the order of their end."""
        return self.calls.outcomes

    @property
    def answer(self) -> str:
        """Answer of the brain so far, with what we added."""
        return self.speech.text

    @property
    def spoken(self) -> SpokenAnswer:
        """Part of it that was said; as long as the turn is under way, up to now."""
        return self.speech.spoken

    @property
    def under_way(self) -> bool:
        """True until its last sample was played, or it was cut off."""
        return self._group is not None

    @property
    def open_question(self) -> Confirming | AskedQuestion | None:
        """The question of ours that somebody may answer."""
        return self.confirming or self.asking

    @property
    def confirmation(self) -> ConfirmationRecord | None:
        """Record of the question before a call, and of what came back."""
        asked = self.confirming or self._answered
        return None if asked is None else asked.exchange.record()

    async def run(self) -> None:
        """The whole turn, until the last sample was played. Cancel it to interrupt it."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._speaking = self._group.create_task(self._speak())
                if self.opening.source == "announcement":
                    manner = self.opening.manner
                    if manner is not None and manner.clip is not None:
                        self.sound = manner.clip.name
                    self.speech.announce(self.opening.text or "")
                    if self.asking is not None:
                        self._group.create_task(self.asking.run())
                else:
                    self._thinking = self._group.create_task(self._brains_part.run())
        finally:
            self._group = None
            self._toning.close()
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
        self.speech.reply.say(sentence, language)

    async def ask_aloud(self, sentence: str, language: str | None = None) -> bool:
        """Say a question in place of what the brain still had to say; True: it sounded to its end.

        `language`: None for a sentence of ours.
        """
        self._toning.give_way()
        return await self.speech.instead(sentence, language or self._own_language, self._speaking)

    def speak_again(self, sentence: str) -> Coroutine[Any, Any, None]:
        """Begin a further stretch of speech; the coroutine says it, to its end."""
        self.speech.begin(sentence, self._own_language)
        return self._end_speech()

    async def ask_further(self, sentence: str) -> bool:
        """Say a question that follows another one; whether it has sounded to its end."""
        return await self.speech.further(sentence, self._own_language)

    def go_on(self, call: ToolCall, outcome: ToolOutcome, told: str) -> bool:
        """Let the model answer with what a confirmed call has given, behind `told`. False: it has
        no voice any more in this turn."""
        if self._own_words.mute_brain or self._group is None or self.failed:
            return False
        self._answered, self.confirming = self.confirming, None
        self.calls.remember(call, outcome)
        self._patience.expect("its end")
        self.speech.begin(told, self._own_language)
        self._speaking = self._group.create_task(self._speak())
        self._thinking = self._group.create_task(self._brains_part.go_on(note_of_result(outcome)))
        return True

    def leave_brain(self) -> None:
        """Stop waiting for what the brain still does for the request."""
        self.tell_words()
        if self._thinking is not None:
            self._thinking.cancel()

    def hear_answer(self, audio: TurnAudio) -> None:
        """Keep the sound of an answer to a question of ours, in place of the request's."""
        self.audio = audio

    def note_answer(self, heard: str | None) -> None:
        """Keep the words that answered a program's question."""
        self.heard = heard

    async def ask(self, call: ToolCall) -> None:
        """Ask the person about a call that waits for their yes."""
        services = self._services.get()
        question = services.tools.question(self.turn_id, call.id)
        if question is None or self.confirming is not None:
            return  # it is asked already, for an equal call
        unasked = services.asking is None or self.opening.silent
        if unasked or self._group is None or self.failed:
            await services.tools.settle(question, None)  # there is no voice left to ask with
            return
        self._confirm(question, call)

    def ask_next(self, question: Question, before: Before) -> None:
        """Ask about the next call of the same sentence that needs a yes."""
        self._confirm(question, self.calls.gated[question.call_id], before)

    def _confirm(self, question: Question, call: ToolCall, before: Before | None = None) -> None:
        services, group = self._services.get(), self._group
        assert services.asking is not None
        assert group is not None  # a task of it asks
        typed = self.opening.source == "text"
        self.confirming = Confirming(
            ConfirmationDialog(question, call, services.asking, typed=typed),
            self,
            self._voice.catalogue,
            services,
            services.asking,
            self._dispatch,
            group,
            self._spawn,
            before,
        )
        self.confirming.begin()
        self.follower.asked(self)

    def fail(self, fault: BrainFault) -> None:
        """The brain could not answer."""
        self.tell_words()
        if self.confirming is not None or self.set_aside():
            return  # the voice is ours: the turn ends with the question
        self.failed = True
        self._own_words.own_up()
        self._dispatch(BrainFailed(self.opening.turn, fault.kind, fault.message, fault.spoken))

    def end(self, ending: BrainFault | NotMeant | None) -> None:
        """Tell how the brain's part ended, unless it was told at once."""
        self.tell_words()
        if self.confirming is not None or self.set_aside():
            return
        match ending:
            case NotMeant():
                self.speech.reply.withdraw()
                self.sound = "unmeant"
                self._dispatch(SpeechNotMeant(self.opening.turn))
            case None:
                self._toning.words_end(self.answer, self.outcomes)
                self._own_words.own_up()
                self._dispatch(BrainFinished(self.opening.turn, asks(self.answer)))

    @property
    def voice_is_ours(self) -> bool:
        """Whatever the brain says or claims, it is not said."""
        return self._own_words.mute_brain or self.confirming is not None

    def note(self, event: Serving | Spent | TurnDone) -> None:
        """Keep what a brain tells of itself: its name, its costs, whether it has understood."""
        match event:
            case Serving(brain):
                self.brain = brain
            case Spent():
                self.bill.add(event)
            case TurnDone(understood):
                self.understood = understood

    def went_offline(self) -> None:
        """The device alone serves from now on, and says so next."""
        self._dispatch(WentOffline(self.opening.turn))

    def hear(self, text: str, language: str | None) -> None:
        """The person's words are known."""
        self.heard = text
        self.calls.has_heard.set()
        self._language.heard(text, language)

    def tell_words(self) -> None:
        """The brain has done its part, or the turn is over: what was heard is known. Once."""
        if not self._words_known and not self.set_aside():
            self._words_known = True
            self.follower.understood(self)

    @property
    def may_be_echo(self) -> bool:
        """Its words must be known before anything is done."""
        return self._judge.may_be_echo

    def set_aside(self) -> bool:
        """Return True if its words, as far as they are known, want no answer; they get none then.

        Once something was said or done it is too late.
        """
        if self._aside:
            return True
        why = self._judge.judge(self.heard)
        begun = self.failed or self.confirming is not None or self.outcomes or self.answer
        if why is None or begun:
            return False
        self._aside = True
        self._own_words.silence_brain()
        self._dispatch(SetAside(self.opening.turn, why))
        self.leave_brain()
        return True

    def cut_short(self, reason: CancelReason) -> None:
        """Note why it is cut short. Its sound is abandoned: an end would pass for a sentence's."""
        self.cut = reason
        if self.audio is not None:
            self.audio.abandon()

    def break_off(self) -> None:
        """Note that something inside it broke."""
        self.broke = ("broken", "The turn stopped with an internal error.")

    def close(self, closing: CloseTurn) -> None:
        """Note how it ended: nothing more comes of it."""
        self.closing = closing
        self.tell_words()
        if self.asking is not None:
            self.asking.give_up(self.cut)

    async def _speak(self) -> None:
        """The first stretch; where a question of ours follows, that is not the end of it."""
        if self.opening.silent:
            await self.speech.pass_over()
        else:
            said = await self.speech.say()
            if self.asking is not None:
                self.asking.said(said)
                return
        if self.sound is not None:
            await self._voice.mouth.sounded()
        if self.confirming is None:
            self._dispatch(PlaybackEnded(self.opening.turn))

    async def _end_speech(self) -> None:
        await self.speech.say()
        self._dispatch(PlaybackEnded(self.opening.turn))

    def acknowledge(self) -> None:
        """Sound the tone that stands for words."""
        self.sound = "done"
        self.timeline.mark("first_audio_out")
        self._dispatch(Acknowledged(self.opening.turn))
