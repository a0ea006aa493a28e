"""Assign a session's events to turns and translate them to brain events. Uses no clock and no I/O.

The service's events don't name their turn. A reply that a new sentence interrupts still ends with
TurnComplete, so after a turn that ended early, all events up to that TurnComplete are discarded.
"""

from dataclasses import dataclass
from enum import Enum, auto

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.brains.gemini.calls import fault_from, tool_call
from assistant.brains.gemini.lifecycle import LiveTimeouts
from assistant.brains.gemini.transcript_filters import (
    EchoFilter,
    LeakFilter,
    MarkFilter,
    RepeatFilter,
    ends_sentence,
)
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Restarted,
    Searched,
    ToolCallsCancelled,
    TurnDone,
)
from integrations.gemini import events as live


class Phase(Enum):
    """Progress of the current turn."""

    FREE = auto()  # no turn
    LISTENING = auto()  # the person has not finished the sentence
    ANSWERING = auto()  # the sentence has ended, so the model's output belongs to this turn


class TurnAttribution:
    """Decides which of a session's events belong to the current turn.

    Events must be passed in the order of arrival.
    """

    def __init__(self) -> None:
        self.phase = Phase.FREE
        self.debt = False  # the model hasn't ended its answer to an earlier turn yet
        self._cut = False  # that answer was interrupted
        self._spoken = False  # this turn's audio has begun, so transcripts belong to it
        self._replied = False  # the model has started to answer this turn
        self._owing = False  # the model hasn't ended its answer to this turn yet

    def attach(self) -> None:
        self.leave()
        self.phase = Phase.LISTENING
        self._spoken = self._replied = False

    def leave(self) -> None:
        """End the turn, and discard the remainder of its answer."""
        self.debt = self.debt or self._owing
        self._owing = False
        self.phase = Phase.FREE

    def speech_begins(self) -> None:
        self._spoken = True

    def sentence_over(self) -> None:
        """Record that the turn's input is complete and the model is about to answer."""
        self.phase = Phase.ANSWERING
        self._owing = True

    def continues(self) -> None:
        """Record that tool results are being sent, after which the model continues its answer."""
        if self.phase is Phase.ANSWERING:
            self._owing = True
        else:
            self.debt = True

    def judge(self, event: live.LiveEvent) -> bool:
        """Return True if the event belongs to the current turn."""
        if self.debt:
            self._pay(event)
            return False
        if self.phase is Phase.FREE:
            return False
        if isinstance(event, live.Interrupted) and not self._replied:
            # The service can report a finished answer as interrupted (langwatch/scenario #360).
            self.debt = self._cut = True
            return False
        if isinstance(event, live.InputText):
            return self._spoken
        if self.phase is Phase.LISTENING:
            return False
        if isinstance(event, live.OutputText | live.OutputAudio | live.FunctionCalls):
            self._replied = True
        if isinstance(event, live.TurnComplete) and event.idle:
            self._owing = False
        return True

    def _pay(self, event: live.LiveEvent) -> None:
        if isinstance(event, live.Interrupted):
            self._cut = True
        if isinstance(event, live.TurnComplete) and (event.idle or self._cut):
            self.debt = self._cut = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The results of these calls are about to be sent, and the model will continue."""

    ids: tuple[str, ...]


Item = live.LiveEvent | Reached | Answered

# Values of `turnCompleteReason` (google-genai 3.4.0) for a normal end. Any other value means that
# the service has declined to answer.
_NATURAL = (None, "TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT")
_LEAST_CHARACTERS_S = 11.0  # spoken English has 13 to 17 characters a second
_LEAST_SENTENCE_S = 2.0  # less can be a pause, or a number that is written in digits
_BOTCHED = ("MALFORMED_FUNCTION_CALL", "MAX_REGENERATION_REACHED")


class EventReader:
    """Translates a turn's milestones and session events to brain events.

    `over` becomes True when the turn has ended. With `native_voice`, the model's speech is played.
    """

    def __init__(self, native_voice: bool, timeouts: LiveTimeouts) -> None:
        self.over = False
        self.lost = False  # the session can't be used any longer
        self.empty = False  # the turn ended without an answer
        self.meant = True
        self.heard = ""
        self.answer = ""
        self._settled = 0  # length of the answer when it was last reported as complete
        # Calls in the frame with which the model ended the turn silently.
        self.dismissed: tuple[live.FunctionCall, ...] = ()
        self._native = native_voice
        self._timeouts = timeouts
        self._heard_marks = MarkFilter()
        self._marks = MarkFilter()
        self._leak = LeakFilter()
        self._repeats = RepeatFilter()
        self._echo = EchoFilter()
        self._open: set[str] = set()  # calls without a result
        # None until the sentence has ended.
        self._patience_s: float | None = None
        self._ended_at: float | None = None  # time of TurnComplete; the transcript can lag behind
        self._late_until = 0.0
        self._promised = False  # the model has announced that it will continue on its own
        self._reported_from = 0  # position in the answer after the latest result
        self._paused = False  # TurnComplete arrived while calls were open
        self._generated = False  # the answer has been generated completely
        self.rejected = False  # the service declined to answer
        self._called = False  # a call has been answered or cancelled
        self.acted = False  # a call has changed something, so the ledger can tell the result
        self._sounded = False
        self._audio_ms = 0.0  # duration of the model's speech

    def patience_s(self, now: float) -> float | None:
        """Return how many seconds to wait for the next item, or None for no limit."""
        if self._ended_at is not None:
            return max(0.0, self._late_until - now)
        return None if self._open else self._patience_s

    def take(self, item: Item, now: float) -> list[BrainEvent]:
        """Process one item and return the resulting brain events."""
        match item:
            case live.TurnComplete(idle, reason):
                return self._complete(idle, reason, now)
            case live.Closed(error):
                assert error is not None  # the connection always gives the turn a reason
                self.lost = True
                if self._ended_at is not None:
                    return self._finish()  # the answer was complete
                return self._fail(fault_from(error))
        if self._patience_s is not None:
            self._patience_s = self._timeouts.between_events_s
        match item:
            case Reached(moment):
                if moment == "upload_done":
                    self._patience_s = self._timeouts.first_event_s
                return [item]
            case Answered(ids):
                self._open.difference_update(ids)
                self._called = True
                self._reported_from = len(self.answer)
                self._patience_s = self._timeouts.after_answer_s
            case live.Grounded():
                return [Searched()]
            case live.InputText(text, language):
                return self._hear(text, language)
            case live.OutputText(text, with_sound):
                return self._transcript(text, with_sound, now)
            case live.OutputAudio(pcm, rate, ms):
                return self._sound(pcm, rate, ms)
            case live.FunctionCalls(calls):
                return self._call(calls)
            case live.CallWithoutId():
                self.lost = self.empty = True
                message = "Gemini made a call that cannot be answered."
                return self._fail(BrainFault("empty", message, retryable=True))
            case live.FunctionCallsCancelled(ids):
                self._open.difference_update(ids)
                self._called = True
                return [ToolCallsCancelled(ids)]
            case live.Interrupted():
                return self._break_off()
            case live.GenerationComplete():
                self._generated = True
                return self._settle()
        return []

    def overdue(self, now: float) -> list[BrainEvent]:
        """Return the events that result if no item arrives within `patience_s`."""
        if self._ended_at is not None:
            return self._finish()
        self.lost = True  # late output would be taken for the answer to the next sentence
        if self._paused and (self._said_something or self._called):
            return self._finish()  # the model had ended its turn and says nothing about the results
        if self._promised and self._reported:
            return self._finish()  # the model wanted to say more, but its answer is usable
        return self._fail(BrainFault("timeout", "Gemini stopped answering.", retryable=True))

    @property
    def _said_something(self) -> bool:
        return bool(self.answer.strip()) or (self._native and self._sounded)

    @property
    def _reported(self) -> bool:
        return self._called and not self._open and bool(self.answer[self._reported_from :].strip())

    @property
    def _unfinished(self) -> bool:
        said = self.answer.strip()
        if not said:
            return self._sounded
        # The audio is longer than speaking this text would take, so more text will arrive.
        enough = _LEAST_CHARACTERS_S * self._audio_ms / 1000
        return not ends_sentence(said) and len(said) < enough

    @property
    def _lacks_text(self) -> bool:
        # More sentences can be missing, although the last one is complete.
        missing_s = self._audio_ms / 1000 - len(self.answer.strip()) / _LEAST_CHARACTERS_S
        return self._unfinished or self._broken_off or missing_s > _LEAST_SENTENCE_S

    @property
    def _broken_off(self) -> bool:
        # The model can end its turn in the middle of a sentence (python-genai #2117). If an action
        # has to be reported, GenerationComplete doesn't prove that the answer is complete, because
        # the ledger can report the action instead.
        said = self.answer[self._reported_from :].strip()
        whole = ends_sentence(said) or (self._generated and not self.acted)
        return bool(said) and not whole and not self._native

    def _hear(self, text: str, language: str | None) -> list[BrainEvent]:
        self.heard += self._heard_marks.push(text)
        so_far = self.heard.strip()
        return [Heard(so_far, language)] if so_far else []

    def _transcript(self, text: str, with_sound: bool, now: float) -> list[BrainEvent]:
        events = self._say(self._echo.push(text, with_sound, answered=not self._open))
        if self._ended_at is not None:
            most = self._ended_at + self._timeouts.late_text_most_s
            soon = min(now + self._timeouts.late_text_s, most)
            self._late_until = most if self._lacks_text else soon
        return events

    def _only_said(self) -> list[BrainEvent]:
        self.empty, self.answer = True, ""
        message = "Gemini spoke its call instead of making it."
        return self._fail(BrainFault("empty", message, retryable=True))

    def _settle(self) -> list[BrainEvent]:
        # While more text is certain to follow, nothing is spoken: "about three hundred and eighty"
        # could become "three hundred and eighty thousand".
        if self._unfinished:
            return []
        news, self._settled = len(self.answer) > self._settled, len(self.answer)
        return [ReplySettled()] if news and not self._native else []

    def _say(self, text: str, last: bool = False) -> list[BrainEvent]:
        delta = self._leak.push(self._marks.push(text) + (self._marks.flush() if last else ""))
        if last:
            delta += self._leak.flush()
        if self._leak.leaked and not self._called and not self._open:
            return self._only_said()
        delta = self._repeats.push(delta) + (self._repeats.flush() if last else "")
        if not delta:
            return []
        if self._reported_from == len(self.answer) and self.answer.strip():
            delta = f" {delta.lstrip()}"  # what was said before a call often ends without a space
        self.answer += delta
        return [ReplyText(delta, voiced=not self._native)]

    def _sound(self, pcm: bytes, rate: int, ms: float) -> list[BrainEvent]:
        self._echo.sound()
        self._sounded = True
        self._audio_ms += ms
        return [ReplyAudio(pcm, rate)] if self._native and pcm else []

    def _call(self, calls: tuple[live.FunctionCall, ...]) -> list[BrainEvent]:
        if any(call.name == STAY_SILENT for call in calls):
            self.dismissed = calls
            self.meant = False
            self.over = True
            return [NotMeant()]
        self._open.update(call.id for call in calls)
        self._paused = self._generated = False
        self._ended_at = None  # the TurnComplete before it was the end of an earlier turn
        self._leak.begin()
        self._repeats.begin()
        meant = [tool_call(call) for call in calls]
        self._echo.called([one.arguments for one in calls] + [one.arguments for one in meant])
        return [*meant]

    def _complete(self, idle: bool, reason: str | None, now: float) -> list[BrainEvent]:
        if self._patience_s is not None:
            self._patience_s = self._timeouts.between_events_s
        if reason in _BOTCHED:
            self.empty = True
            return self._fail(BrainFault("empty", f"Gemini gave up: {reason}.", retryable=True))
        if reason not in _NATURAL:
            self.rejected = True
            message = f"Gemini declines to answer this: {reason}."
            return self._fail(BrainFault("blocked", message, retryable=False))
        if not idle:
            self._promised = True
            if self.acted and not self._open:
                # The person waits for the report, so the model gets no longer than after a result.
                self._patience_s = self._timeouts.after_answer_s
            return []
        if self._open:
            self._paused = True  # the model continues when it has the results
            return []
        if self._native:
            return self._finish()
        self._ended_at = now
        timeouts = self._timeouts
        late_s = timeouts.late_text_most_s if self._lacks_text else timeouts.late_text_s
        self._late_until = now + late_s
        return self._settle()

    def _break_off(self) -> list[BrainEvent]:
        # If the person interrupts, the turn ends before the service reports it. After any other
        # interruption, the session may never answer again (google-gemini/gemini-live-api-examples
        # #52).
        if self._generated and not self._open:
            return []  # the answer was already complete
        self.lost = True
        return self._fail(
            BrainFault("empty", "Gemini broke off in the middle of its answer.", retryable=True)
        )

    def _finish(self) -> list[BrainEvent]:
        rest = self._say(self._echo.flush(), last=True)
        if self.over:
            return rest
        self.over = True
        if self._broken_off:
            self.empty, self.answer = True, ""
            return [Restarted(), TurnDone()]
        if self._said_something or self._called:
            return [*rest, TurnDone()]
        self.empty = True
        return [*rest, BrainFault("empty", "Gemini gave no answer.", retryable=True)]

    def _fail(self, fault: BrainFault) -> list[BrainEvent]:
        self.over = True
        return [fault]
