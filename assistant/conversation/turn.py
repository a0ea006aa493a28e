"""A turn in progress: the brain thinks, tools run and clauses are spoken."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
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
# Seconds that a brain without a running call may stay silent after the sentence. The slowest
# recogniser needs about 10 s for the longest sentence.
BRAIN_SILENCE_S = 30.0


class Turn:
    """Runs a turn and collects the data for its record."""

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
        self.brain: str | None = None  # the brain that served the turn last; None if none did
        self.heard: str | None = None
        self.sound: str | None = None  # name of the tone played instead of text, or of the clip
        self.bill = TurnCost()
        self.understood = True  # False if the brain reported that it understood nothing
        self.failed = False  # the person is being told that the turn failed
        self.broke: tuple[str, str] | None = None  # (kind, message) of an internal error
        self.cut: CancelReason | None = None  # why the turn was interrupted
        self.closing: CloseTurn | None = None  # how the turn ended; None until then
        self.written = asyncio.Event()  # set once the turn is over and stored
        self.confirming: Confirming | None = None  # while set, the brain isn't heard
        self._answered: Confirming | None = None  # settled, so the model speaks again
        self.asking: AskedQuestion | None = None  # set if the announcement is a program's question
        self.follower = TurnListener()  # notified of the turn's progress
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
        self._brains_part = TurnThinking(self, services, self._patience, self._toning)
        if isinstance(opening.then, ForAnswer):
            self.asking = AskedQuestion(opening.then, self, services, dispatch, spawn)
        self._judge = judge
        self._aside = False  # the turn needs no answer
        self._words_known = False  # the transcript is final
        self._group: asyncio.TaskGroup | None = None  # set while the turn is in progress
        self._thinking: asyncio.Task[None] | None = None
        self._speaking: asyncio.Task[None] | None = None  # plays the current stretch
        if opening.source != "text":
            self._patience.excuse("listening")
        elif opening.text is not None:
            self.hear(opening.text, None)

    @cached_property
    def sounded(self) -> Sounded:
        return Sounded(self)

    @property
    def language(self) -> str:
        return self._language.code

    @property
    def _own_language(self) -> str:
        return self._voice.catalogue.own(self.language)

    @property
    def error(self) -> tuple[str, str] | None:
        """The turn's own error as (kind, message), or None if there is none."""
        problem = self.speech.problem
        return self.broke or (("no_sound", problem) if problem is not None else None)

    @property
    def outcomes(self) -> list[ToolOutcome]:
        return self.calls.outcomes

    @property
    def answer(self) -> str:
        """The text of the answer so far, including Hearth's own sentences."""
        return self.speech.text

    @property
    def spoken(self) -> SpokenAnswer:
        return self.speech.spoken

    @property
    def under_way(self) -> bool:
        """True until the last sample has been played or the turn is cut off."""
        return self._group is not None

    @property
    def open_question(self) -> Confirming | AskedQuestion | None:
        return self.confirming or self.asking

    @property
    def confirmation(self) -> ConfirmationRecord | None:
        asked = self.confirming or self._answered
        return None if asked is None else asked.exchange.record()

    async def run(self) -> None:
        """Run the turn until its last sample has been played. To interrupt the turn, cancel this
        coroutine."""
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
        """End the person's sentence. Both times are on the conversation's clock."""
        if speech_end_ms is not None:
            self.timeline.mark("speech_end", speech_end_ms)
        self.timeline.mark("end_of_turn", at_ms)
        if self.audio is not None:
            self.audio.finish()
        self._patience.expect("listening")

    def say(self, sentence: str, language: str | None = None) -> None:
        """Add one of Hearth's own sentences. If `language` is None, it is detected from the
        sentence."""
        self._toning.give_way()
        self.speech.reply.say(sentence, language)

    async def ask_aloud(self, sentence: str, language: str | None = None) -> bool:
        """Speak a question in place of the rest of the brain's answer. Return True if it was played
        to the end. `language` is None for one of Hearth's own sentences."""
        self._toning.give_way()
        return await self.speech.instead(sentence, language or self._own_language, self._speaking)

    def speak_again(self, sentence: str) -> Coroutine[Any, Any, None]:
        """Start another stretch of speech with `sentence`, and return a coroutine that plays it."""
        self.speech.begin(sentence, self._own_language)
        return self._end_speech()

    async def ask_further(self, sentence: str) -> bool:
        """Speak another question after an earlier one. Return True if it was played to the end."""
        return await self.speech.further(sentence, self._own_language)

    def go_on(self, call: ToolCall, outcome: ToolOutcome, told: str) -> bool:
        """Let the model answer with a confirmed call's data, after the sentence `told`. Return
        False if the model can't speak any more in this turn."""
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
        """Stop waiting for the brain's response to the request."""
        self.tell_words()
        if self._thinking is not None:
            self._thinking.cancel()

    def hear_answer(self, audio: TurnAudio) -> None:
        self.audio = audio

    def note_answer(self, heard: str | None) -> None:
        self.heard = heard

    async def ask(self, call: ToolCall) -> None:
        """Ask the person to confirm a call. If nobody can be asked, the call is not run."""
        services = self._services.get()
        question = services.tools.question(self.turn_id, call.id)
        if question is None or self.confirming is not None:
            return  # already asked, for an equal call
        unasked = services.asking is None or self.opening.silent
        if unasked or self._group is None or self.failed:
            await services.tools.settle(question, None)  # nobody can be asked
            return
        self._confirm(question, call)

    def ask_next(self, question: Question, before: Before) -> None:
        """Ask the person to confirm the turn's next call. `before` describes the
        previous question."""
        self._confirm(question, self.calls.gated[question.call_id], before)

    def _confirm(self, question: Question, call: ToolCall, before: Before | None = None) -> None:
        services, group = self._services.get(), self._group
        assert services.asking is not None
        assert group is not None  # the question is asked in a task of the group
        terminal, asking = self.opening.terminal, services.asking
        typed = self.opening.source == "text" or asking.on_page
        if terminal is not None:
            asking = replace(asking, prompter=terminal.prompter)
        self.confirming = Confirming(
            ConfirmationDialog(question, call, asking, typed=typed),
            self,
            self._voice.catalogue,
            services,
            asking,
            self._dispatch,
            group,
            self._spawn,
            before,
        )
        self.confirming.begin()
        self.follower.asked(self)

    def fail(self, fault: BrainFault) -> None:
        self.tell_words()
        if self.confirming is not None or self.set_aside():
            return  # the turn ends with the question
        self.failed = True
        self._own_words.own_up()
        self._dispatch(BrainFailed(self.opening.turn, fault.kind, fault.message, fault.spoken))

    def end(self, ending: BrainFault | NotMeant | None) -> None:
        """Report how the brain's part ended, unless that has already been reported."""
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
    def unattended(self) -> bool:
        """True if a program or a guest gave the command, whom nobody asks to confirm it."""
        services = self._services.value
        unasked = services is not None and services.asking is None
        return self.opening.silent or (unasked and bool(self.opening.caller))

    @property
    def voice_is_ours(self) -> bool:
        """True while only Hearth's own sentences are spoken."""
        return self._own_words.mute_brain or self.confirming is not None

    def note(self, event: Serving | Spent | TurnDone) -> None:
        match event:
            case Serving(brain):
                self.brain = brain
            case Spent():
                self.bill.add(event)
            case TurnDone(understood):
                self.understood = understood

    def went_offline(self) -> None:
        self._dispatch(WentOffline(self.opening.turn))

    def hear(self, text: str, language: str | None) -> None:
        self.heard = text
        self.calls.has_heard.set()
        self._language.heard(text, language)
        self.follower.heard(self)

    def tell_words(self) -> None:
        """Notify listeners once that the transcript is final."""
        if not self._words_known and not self.set_aside():
            self._words_known = True
            self.follower.understood(self)

    @property
    def may_be_echo(self) -> bool:
        """True if the turn may be Hearth's own echo, so that its calls must wait for the
        transcript."""
        return self._judge.may_be_echo

    def set_aside(self) -> bool:
        """Abandon the turn if its transcript needs no answer. Return True if the turn is abandoned.

        A turn is not abandoned once it has produced text, a call's outcome or a question.
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
        """Record why the turn was interrupted, and abandon its audio."""
        self.cut = reason
        # If the audio ended normally, brains would treat the sentence as complete.
        if self.audio is not None:
            self.audio.abandon()

    def break_off(self) -> None:
        self.broke = ("broken", "The turn stopped with an internal error.")

    def close(self, closing: CloseTurn) -> None:
        self.closing = closing
        self.tell_words()
        if self.asking is not None:
            self.asking.give_up(self.cut)

    async def _speak(self) -> None:
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
        self.sound = "done"
        self.timeline.mark("first_audio_out")
        self._dispatch(Acknowledged(self.opening.turn))
