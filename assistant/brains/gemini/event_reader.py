"""What a session tells during one turn, read as the brain's events. No clock and no I/O in here."""

from assistant.brains.briefing import STAY_SILENT
from assistant.brains.gemini.calls import EchoFilter, SilenceFilter
from assistant.brains.gemini.connection import Answered
from assistant.brains.gemini.ports import LiveTimeouts, fault_from
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Interrupted,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Searched,
    ToolCallsCancelled,
    TurnDone,
)
from assistant.domain.call import ToolCall
from integrations.gemini import events as live

Item = live.LiveEvent | Reached | Answered

# Ends of a turn by `turnCompleteReason` (google-genai 3.4.0) that are none of blocking. Every other
# one, also one that is not known yet, means that the service declines.
_NATURAL = (None, "TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT")
_BOTCHED = ("MALFORMED_FUNCTION_CALL", "MAX_REGENERATION_REACHED")


class EventReader:
    """One turn's state. Give it each item; `over` tells when the turn has ended."""

    def __init__(self, native_voice: bool, habits: LiveTimeouts) -> None:
        """`native_voice`: the model's sound is played, and its transcript is for the record."""
        self.over = False
        self.lost = False  # nothing more can be had from this session
        self.empty = False  # it ended without an answer
        self.meant = True
        self.heard = ""
        self.answer = ""
        self._settled = 0  # characters of it that were told to be whole
        self.dismissed: tuple[live.FunctionCall, ...] = ()  # it ended the turn silently by these
        self._native = native_voice
        self._habits = habits
        self._silence = SilenceFilter()
        self._echo = EchoFilter()
        self._open: set[str] = set()  # calls without a result
        self._patience_s: float | None = None  # until the sentence is over nothing is due
        self._ended_at: float | None = None  # TurnComplete; its transcript may lag behind
        self._late_until = 0.0
        self._paused = False  # TurnComplete came while calls were open
        self._interrupted = False
        self._called = False  # a call has its result
        self._sounded = False

    def patience_s(self, now: float) -> float | None:
        """How long to wait for the next item; None: for ever, because nobody keeps us waiting."""
        if self._ended_at is not None:
            return max(0.0, self._late_until - now)
        return None if self._open else self._patience_s

    def take(self, item: Item, now: float) -> list[BrainEvent]:
        """The brain's events that follow from one item."""
        match item:
            case live.TurnComplete(idle, reason):
                return self._complete(idle, reason, now)
            case live.Closed(error):
                assert error is not None  # the link names a reason to the turn
                self.lost = True
                if self._ended_at is not None:
                    return self._finish()  # the answer was complete
                return self._fail(fault_from(error))
        if self._patience_s is not None:
            self._patience_s = self._habits.between_events_s
        match item:
            case Reached(moment):
                if moment == "upload_done":
                    self._patience_s = self._habits.first_event_s
                return [item]
            case Answered(ids):
                self._open.difference_update(ids)
                self._called = True
                self._patience_s = self._habits.after_answer_s
            case live.Grounded():
                return [Searched()]
            case live.InputText(text, language):
                return self._hear(text, language)
            case live.OutputText(text, with_sound):
                return self._transcript(text, with_sound, now)
            case live.OutputAudio(pcm, rate):
                return self._sound(pcm, rate)
            case live.FunctionCalls(calls):
                return self._call(calls)
            case live.FunctionCallsCancelled(ids):
                self._open.difference_update(ids)
                return [ToolCallsCancelled(ids)]
            case live.Interrupted():
                self._interrupted = True
                return [Interrupted()]
            case live.GenerationComplete():
                return self._settle()
        return []

    def overdue(self, now: float) -> list[BrainEvent]:
        """Nothing came for as long as `patience_s` said."""
        if self._ended_at is not None:
            return self._finish()
        self.lost = True  # what it may still say would be taken for an answer to the next sentence
        if self._paused and (self._said_something or self._called):
            return self._finish()  # it had ended its turn, and has nothing to add to the results
        return self._fail(BrainFault("timeout", "Gemini stopped answering.", retryable=True))

    @property
    def _said_something(self) -> bool:
        return bool(self.answer.strip()) or (self._native and self._sounded)

    def _hear(self, text: str, language: str | None) -> list[BrainEvent]:
        self.heard += text
        so_far = self.heard.strip()
        return [Heard(so_far, language)] if so_far else []

    def _transcript(self, text: str, with_sound: bool, now: float) -> list[BrainEvent]:
        if self._ended_at is not None:
            most = self._ended_at + self._habits.late_text_most_s
            self._late_until = min(now + self._habits.late_text_s, most)
        return self._say(self._echo.push(text, with_sound, answered=not self._open))

    def _settle(self) -> list[BrainEvent]:
        """No more is made: what was written so far may be said to its end."""
        news, self._settled = len(self.answer) > self._settled, len(self.answer)
        return [ReplySettled()] if news and not self._native else []

    def _say(self, text: str, last: bool = False) -> list[BrainEvent]:
        delta = self._silence.push(text) + (self._silence.flush() if last else "")
        if not delta:
            return []
        self.answer += delta
        return [ReplyText(delta, voiced=not self._native)]

    def _sound(self, pcm: bytes, rate: int) -> list[BrainEvent]:
        self._echo.sound()
        self._sounded = True
        return [ReplyAudio(pcm, rate)] if self._native and pcm else []

    def _call(self, calls: tuple[live.FunctionCall, ...]) -> list[BrainEvent]:
        if any(call.name == STAY_SILENT for call in calls):
            self.dismissed = calls
            self.meant = False
            self.over = True
            return [NotMeant()]
        self._open.update(call.id for call in calls)
        self._paused = False
        self._echo.called(call.arguments for call in calls)
        return [ToolCall(call.id, call.name, call.arguments) for call in calls]

    def _complete(self, idle: bool, reason: str | None, now: float) -> list[BrainEvent]:
        if self._patience_s is not None:
            self._patience_s = self._habits.between_events_s
        if reason in _BOTCHED:
            self.empty = True
            return self._fail(BrainFault("empty", f"Gemini gave up: {reason}.", retryable=True))
        if reason not in _NATURAL:
            message = f"Gemini declines to answer this: {reason}."
            return self._fail(BrainFault("blocked", message, retryable=False))
        if not idle:
            return []
        if self._open:
            self._paused = True  # it goes on by itself when it has the results
            return []
        if self._native:
            return self._finish()
        self._ended_at = now
        # Where only sound has come so far its transcript is certain to follow.
        lag = self._sounded and not self.answer.strip()
        habits = self._habits
        self._late_until = now + (habits.late_text_most_s if lag else habits.late_text_s)
        return self._settle()

    def _finish(self) -> list[BrainEvent]:
        rest = self._say(self._echo.flush(), last=True)
        self.over = True
        if self._said_something or self._called or self._interrupted:
            return [*rest, TurnDone()]
        self.empty = True
        return [*rest, BrainFault("empty", "Gemini answered nothing.", retryable=True)]

    def _fail(self, fault: BrainFault) -> list[BrainEvent]:
        self.over = True
        return [fault]
